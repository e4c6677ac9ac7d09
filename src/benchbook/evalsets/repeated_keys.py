"""A key that an object has twice: decoders take the last and say nothing, so a value would be lost unseen."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

__all__ = ["Pairs", "repeated_key"]


class Pairs(list[tuple[str, Any]]):
    """An object as its pairs, duplicates and all: what `json` makes of one by `object_pairs_hook`."""


@lru_cache(maxsize=16)  # nearly every row of a table has the same
def _written(names: tuple[str, ...]) -> tuple[bytes, ...]:
    """Each name as it stands on a line, in quotes."""
    return tuple(f'"{name}"'.encode() for name in names)


def repeated_key(data: bytes, names: Iterable[str]) -> str | None:
    """The first of `names` that the object on a line has more than once; None too for what is no object.

    Quick where none stands there twice, which is nearly always; a name in a value or deeper down is looked at again.
    """
    if b"\\u" not in data and max(map(data.count, _written(tuple(names))), default=0) < 2:
        return None
    try:
        # Numbers stay text: only the keys are of interest, and an int of over 4,300 digits would raise.
        value = json.loads(data, object_pairs_hook=Pairs, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, Pairs):
        return None
    counts = Counter(name for name, _ in value)
    return next((name for name in names if counts[name] > 1), None)
