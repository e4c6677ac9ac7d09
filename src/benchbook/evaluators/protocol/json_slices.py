"""Parts of a JSON text as they stand in it, byte for byte. The text was read before: it is known to be JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

__all__ = ["element_slices", "member_slice"]


_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_SCALAR = re.compile(_STRING + rb"|[^ \t\r\n,\]}]++")
_MARK = re.compile(_STRING + rb"|[\[\]{}]")
_OPENING, _CLOSING = b"[{", b"]}"


def element_slices(data: bytes, path: str) -> Iterator[bytes]:
    """The elements of the array that stands in nested objects under names joined by dots.

    Raises: KeyError where there is no such name.
    """
    at = _after_space(data, 0)
    for name in path.split("."):
        at = _place_of(data, at, name)
    for start, end in _elements(data, at):
        yield data[start:end]


def member_slice(data: bytes, name: str) -> bytes:
    """The value of an object's member. Raises: KeyError where there is none."""
    start = _place_of(data, _after_space(data, 0), name)
    return data[start : _end_of(data, start)]


def _place_of(data: bytes, at: int, name: str) -> int:
    for key, start in _members(data, at):
        if key == name:
            return start
    raise KeyError(name)


def _members(data: bytes, at: int) -> Iterator[tuple[str, int]]:
    """`(name, where its value begins)` of the object that begins at `at`."""
    at = _after_space(data, at + 1)
    while data[at : at + 1] != b"}":
        end = _end_of(data, at)
        start = _after_space(data, _after_space(data, end) + 1)  # the colon is between
        yield json.loads(data[at:end]), start
        at = _next(data, _end_of(data, start))


def _elements(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    at = _after_space(data, at + 1)
    while data[at : at + 1] != b"]":
        end = _end_of(data, at)
        yield at, end
        at = _next(data, end)


def _next(data: bytes, at: int) -> int:
    """Past a comma, if there is one."""
    at = _after_space(data, at)
    return _after_space(data, at + 1) if data[at : at + 1] == b"," else at


def _after_space(data: bytes, at: int) -> int:
    found = _SPACE.match(data, at)
    return found.end() if found else at


def _end_of(data: bytes, at: int) -> int:
    """Where the value that begins at `at` ends."""
    if data[at] not in _OPENING:
        scalar = _SCALAR.match(data, at)
        if scalar is None:
            raise ValueError("no JSON value")
        return scalar.end()
    depth = 0
    for mark in _MARK.finditer(data, at):
        first = data[mark.start()]
        depth += (first in _OPENING) - (first in _CLOSING)
        if depth == 0:
            return mark.end()
    raise ValueError("no JSON value")
