"""JSON as other tools write it: NaN and Infinity among the numbers, halves of characters in the texts, and an error
that says where it makes no sense.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError
from benchbook.text import shorten

_Type = TypeVar("_Type")

_MOST_VALUES = 1_000_000  # of one piece: beyond, what is built of it is dozens of times as large as its bytes
_UNSUSPICIOUS = 2 << 20  # bytes, of which so many values can't be made

# A string, which is left as it is, or a bare word that is no JSON.
_BARE = re.compile(rb'"(?:[^"\\]++|\\.)*+"|-?\bInfinity\b|\bNaN\b', re.DOTALL)
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
NOT_A_NUMBER = "NaN"
NO_WHOLE_JSON = "no whole JSON"  # so begins the error of what is cut off
# An escape: of a whole character outside the first plane, of a half alone, or any other.
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u([dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)


def decoded(
    data: bytes | msgspec.Raw, form: type[_Type], path: str | Path, *, line: int | None = None, within: str = ""
) -> _Type:
    """One JSON value of a form. A bare NaN or Infinity, as Python's `json` writes it, is the text of that name; half a
    character (a lone surrogate), as JavaScript and Python write it, is the text of its escape, as `storable` has it.

    `within` is the member of an archive that it stands in.

    Raises: InputError that says where it stops making sense, or that it holds more values than are built at once.
    """
    check_values(data, form, path, line=line, within=within)
    try:
        return msgspec.json.decode(data, type=ready(form))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if not isinstance(error, RecursionError):
            data = bytes(data)  # a `msgspec.Raw` can't be searched
            plain = readable(data)
            if plain != data:
                return decoded(plain, form, path, line=line, within=within)
        raise unreadable(error, path, line=line, within=within) from None


def check_values(
    data: bytes | msgspec.Raw, form: Any, path: str | Path, *, line: int | None = None, within: str = ""
) -> None:
    """Refuse JSON that is small in a file and huge once it is built, such as millions of empty objects.

    Only what the form keeps counts: a log may hold as much beside it as it likes.

    Raises: InputError.
    """
    if len(data) <= _UNSUSPICIOUS or _n_values(bytes(data)) <= _MOST_VALUES:
        return
    kind = _in_pieces(form)
    try:
        n = _n_kept(msgspec.json.decode(data, type=kind))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        n = _n_values(bytes(data))
    if n > _MOST_VALUES:
        found, expected = f"{n:,} values in one piece", f"at most {_MOST_VALUES:,}"
        raise InputError(path, line=line, field=within or None, found=found, expected=expected)


def _n_values(data: bytes) -> int:
    """How many values there are, about: of commas and of brackets the more, in no text where that is much."""
    n = max(data.count(b","), data.count(b"[") + data.count(b"{"))
    if n <= _MOST_VALUES:
        return n
    commas, brackets = data.count(b","), data.count(b"[") + data.count(b"{")
    for match in _TEXT.finditer(data):
        text = match[0]
        commas -= text.count(b",")
        brackets -= text.count(b"[") + text.count(b"{")
    return max(commas, brackets)


def _n_kept(pieces: Any) -> int:
    if isinstance(pieces, msgspec.Raw):
        return _n_values(bytes(pieces))
    return 0 if pieces is None else sum(_n_kept(getattr(pieces, name)) for name in pieces.__struct_fields__)


@lru_cache(64)
def _in_pieces(form: Any) -> Any:
    """A form of the same fields, in which all that is no object of a known form is left as it stands."""
    if not (isinstance(form, type) and issubclass(form, msgspec.Struct)):
        return msgspec.Raw
    fields = []
    for one in msgspec.structs.fields(ready(form)):
        inner = [kind for kind in (get_args(one.type) or (one.type,)) if kind is not NoneType]
        known = inner[0] if len(inner) == 1 and get_origin(one.type) in (None, Union, UnionType) else None
        piece = _in_pieces(known)
        kind, absent = (piece, msgspec.Raw()) if piece is msgspec.Raw else (piece | None, None)
        fields.append((one.name, kind, msgspec.field(name=one.encode_name, default=absent)))
    return ready(msgspec.defstruct(f"{form.__name__}InPieces", fields))


def readable(data: bytes) -> bytes:
    """JSON in which what strict readers refuse are texts: NaN, Infinity and halves of characters."""
    if b"NaN" in data or b"Infinity" in data:
        data = _replaced(_BARE, data, _as_text)
    return _replaced(_ESCAPE, data, _whole) if b"\\ud" in data or b"\\uD" in data else data


def _replaced(pattern: re.Pattern[bytes], data: bytes, new: Callable[[re.Match[bytes]], bytes | None]) -> bytes:
    """The same with what `new` gives for each match; None leaves it. Unlike `sub`, it holds no match but the last one:
    of millions, they would take dozens of times as much as the data."""
    found, kept = bytearray(), 0
    for match in pattern.finditer(data):
        if (text := new(match)) is not None:
            found += data[kept : match.start()]
            found += text
            kept = match.end()
    return bytes(found + data[kept:]) if kept else data


def number_of(value: object) -> float | None:
    """A number as such; None for anything else, a truth value too, and for one that is too large to be one here."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def unreadable(error: Exception, path: str | Path, *, line: int | None = None, within: str = "") -> InputError:
    """The error for JSON that can't be read, or is of another form than it must be."""
    if isinstance(error, RecursionError):
        return InputError(
            path, line=line, field=within or None, found="JSON nested too deeply", expected="at most about 500 levels"
        )
    said = shorten(str(error), 200)
    if isinstance(error, msgspec.ValidationError):
        return InputError(path, line=line, field=within or None, found=f"another form than it should have: {said}")
    return InputError(path, line=line, field=within or None, found=f"{NO_WHOLE_JSON}: {said}")


def _as_text(match: re.Match[bytes]) -> bytes | None:
    found = match[0]
    return None if found.startswith(b'"') else b'"' + found + b'"'


def _whole(match: re.Match[bytes]) -> bytes | None:
    return b"\\\\u" + match[1].lower() if match[1] else None
