"""What a setting must be, in plain words: msgspec names Python's types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from benchbook.evalsets.table_values import comma_hint

__all__ = ["expected_words", "value_at_place"]

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
_STEP = re.compile(r"\[(\d+)\]|\.?([^.\[]+)")
_BOUND = re.compile(r" (>=|<=|>|<) ([\d.]+)")
_BOUNDS = {">=": "{} or more", "<=": "{} or less", ">": "more than {}", "<": "less than {}"}


def value_at_place(values: Mapping[str, Any], place: str) -> Any:
    """What stands at a place as messages name it, `judges[0].input_price`; None where nothing does."""
    value: Any = values
    for index, name in _STEP.findall(place):
        if index:
            value = value[int(index)] if isinstance(value, list | tuple) and int(index) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
    return value


def expected_words(message: str, settings: type[msgspec.Struct], name: str, found: Any = None) -> str:
    """`` Expected `int` >= 1 `` as `a whole number, 1 or more`; of a number with a comma, what it is with a point.

    Where a setting is one of a few words, they are listed. Other messages stay as they are.
    """
    if isinstance(found, str) and (hint := comma_hint(found)) and ("decimal" in message or "float" in message):
        return hint
    if message.startswith("Invalid decimal"):
        return "a decimal number, such as 0.25"
    if message.startswith("Invalid enum value"):
        hint = get_type_hints(settings).get(name)
        also = ["a number"] if float in _types_of(hint) else []
        return " or ".join([*also, *_words_of(hint)]) or message
    if not message.startswith("Expected "):
        return message
    wanted, _, _ = message.removeprefix("Expected ").partition(", got ")
    wanted = _TYPE.sub(lambda found: " or ".join(_TYPES.get(name, name) for name in found[1].split(" | ")), wanted)
    return _BOUND.sub(lambda found: ", " + _BOUNDS[found[1]].format(found[2]), wanted)


def _words_of(hint: Any) -> Iterator[str]:
    """The words of every `Literal` in a type."""
    if get_origin(hint) is Literal:
        yield from map(str, get_args(hint))
    else:
        for part in get_args(hint):
            yield from _words_of(part)


def _types_of(hint: Any) -> Iterator[Any]:
    """Every plain type in a type."""
    parts = get_args(hint) if get_origin(hint) is not Literal else ()
    if not parts:
        yield hint
    for part in parts:
        yield from _types_of(part)
