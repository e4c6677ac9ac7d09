"""JSON as other tools write it: NaN and Infinity among the numbers, halves of characters in the texts, and an error
that says where it makes no sense.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeVar

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError
from benchbook.text import shorten

_Type = TypeVar("_Type")

# A string, which is left as it is, or a bare word that is no JSON.
_BARE = re.compile(rb'"(?:[^"\\]++|\\.)*+"|-?\bInfinity\b|\bNaN\b', re.DOTALL)
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

    Raises: InputError that says where it stops making sense.
    """
    try:
        return msgspec.json.decode(data, type=ready(form))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if not isinstance(error, RecursionError):
            data = bytes(data)  # a `msgspec.Raw` can't be searched
            plain = readable(data)
            if plain != data:
                return decoded(plain, form, path, line=line, within=within)
        raise unreadable(error, path, line=line, within=within) from None


def readable(data: bytes) -> bytes:
    """JSON in which what strict readers refuse are texts: NaN, Infinity and halves of characters."""
    if b"NaN" in data or b"Infinity" in data:
        data = _BARE.sub(_as_text, data)
    return _ESCAPE.sub(_whole, data) if b"\\ud" in data or b"\\uD" in data else data


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


def _as_text(match: re.Match[bytes]) -> bytes:
    found = match[0]
    return found if found.startswith(b'"') else b'"' + found + b'"'


def _whole(match: re.Match[bytes]) -> bytes:
    return b"\\\\u" + match[1].lower() if match[1] else match[0]
