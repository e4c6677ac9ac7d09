"""What a setting must be, in plain words: msgspec names Python's types."""

from __future__ import annotations

import re

__all__ = ["expected_words"]

_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}
_TYPE = re.compile(r"`(\w+(?: \| \w+)*)`")
_BOUND = re.compile(r" (>=|<=|>|<) ([\d.]+)")
_BOUNDS = {">=": "{} or more", "<=": "{} or less", ">": "more than {}", "<": "less than {}"}


def expected_words(message: str) -> str:
    """`` Expected `int` >= 1 `` as `a whole number, 1 or more`; what was found is told elsewhere.

    Other messages stay as they are.
    """
    if not message.startswith("Expected "):
        return message
    wanted, _, _ = message.removeprefix("Expected ").partition(", got ")
    wanted = _TYPE.sub(lambda found: " or ".join(_TYPES.get(name, name) for name in found[1].split(" | ")), wanted)
    return _BOUND.sub(lambda found: ", " + _BOUNDS[found[1]].format(found[2]), wanted)
