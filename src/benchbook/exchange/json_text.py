"""JSON as other tools write it: NaN and Infinity among the numbers, and an error that says where it makes no sense."""

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
_BARE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b', re.DOTALL)
NOT_A_NUMBER = "NaN"


def decoded(data: bytes, form: type[_Type], path: str | Path, *, line: int | None = None, within: str = "") -> _Type:
    """One JSON value of a form. A bare NaN or Infinity, as Python's `json` writes it, is the text of that name.

    `within` is the member of an archive that it stands in.

    Raises: InputError that says where it stops making sense.
    """
    try:
        return msgspec.json.decode(data, type=ready(form))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if not isinstance(error, RecursionError) and (b"NaN" in data or b"Infinity" in data):
            plain = _BARE.sub(_as_text, data)
            if plain != data:
                return decoded(plain, form, path, line=line, within=within)
        raise unreadable(error, path, line=line, within=within) from None


def unreadable(error: Exception, path: str | Path, *, line: int | None = None, within: str = "") -> InputError:
    """The error for JSON that can't be read, or is of another form than it must be."""
    if isinstance(error, RecursionError):
        return InputError(
            path, line=line, field=within or None, found="JSON nested too deeply", expected="at most about 500 levels"
        )
    said = shorten(str(error), 200)
    if isinstance(error, msgspec.ValidationError):
        return InputError(path, line=line, field=within or None, found=f"another form than it should have: {said}")
    return InputError(path, line=line, field=within or None, found=f"no whole JSON: {said}")


def _as_text(match: re.Match[bytes]) -> bytes:
    found = match[0]
    return found if found.startswith(b'"') else b'"' + found + b'"'
