"""Values out of tables, by one rule for all of them: whole numbers and texts, and what is said where one is neither.

Pandas writes a whole number beside a gap as `100.0`, and the gap as NaN: they are 100 and null.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from benchbook.errors import InputError
from benchbook.text import quoted

__all__ = [
    "MOST_COUNT",
    "choice_at",
    "comma_hint",
    "count_at",
    "id_at",
    "is_missing",
    "optional_text_at",
    "shown",
    "text_at",
]

MOST_COUNT = 10**12  # of milliseconds, 31 years; sums over a run then fit wherever they are kept

_NUMBER = re.compile(r"-?\d+(?:\.\d*)?", re.ASCII)
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+)", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+", re.ASCII)
_WIDTH = 60


def is_missing(value: Any) -> bool:
    """Whether a value says nothing: a null, or NaN, which stands for one."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def shown(value: Any) -> str:
    """A value as messages show it: short, and nothing in it unseen."""
    if is_missing(value):
        return "nothing"
    return quoted(value, _WIDTH) if isinstance(value, str) else quoted(repr(value), _WIDTH)[1:-1]


def comma_hint(text: str) -> str | None:
    """What is right for a number that was written with commas: `a decimal point: 1.5`; None for any other text."""
    found = _DECIMAL_COMMA.fullmatch(text.strip())
    if found is None and _THOUSANDS.fullmatch(text.strip()) is None:
        return None
    if _THOUSANDS.fullmatch(text.strip()) is None:
        return f"a decimal point: {text.strip().replace(',', '.')}"
    plain = text.strip().replace(",", "")
    return plain if found is None else f"{plain}, or a decimal point: {text.strip().replace(',', '.')}"


def count_at(
    path: str | Path, line: int | None, field: str, value: Any, *, most: int = MOST_COUNT, what: str = "a whole number"
) -> int | None:
    """A whole number, 0 or more, as a number or as text; None where the value is missing.

    Raises: InputError for what is none, or more than `most`.
    """
    number = _number(path, line, field, value.strip(" "), what) if isinstance(value, str) else value
    if is_missing(number):
        return None
    found = shown(value)
    if isinstance(number, float) and math.isinf(number):
        found, expected = "Infinity, or a number that is too large", f"{what}, at most {most:,}, or nothing"
    elif isinstance(number, bool) or not isinstance(number, int | float) or number != int(number) or number < 0:
        expected = f"{what}, 0 or more, or nothing"
    elif number > most:
        expected = f"{what}, at most {most:,}"
    else:
        return int(number)
    raise InputError(path, line=line, field=field, found=found, expected=expected)


def _number(path: str | Path, line: int | None, field: str, text: str, what: str) -> float | None:
    """The number that a text is, whole where it has no point; None for an empty text and NaN."""
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) < 1_000:
        return int(text)
    if _NUMBER.fullmatch(text) or _NOT_FINITE.fullmatch(text):
        return float(text)
    expected = comma_hint(text) or f"{what}, 0 or more, or nothing"
    raise InputError(path, line=line, field=field, found=shown(text), expected=expected)


def choice_at(
    path: str | Path, line: int | None, field: str, value: Any, choices: Collection[int], *, what: str = ""
) -> int | None:
    """One of a few whole numbers, as a number or as text; None where the value is missing.

    Raises: InputError.
    """
    expected = what or f"{', '.join(map(str, choices))}, or nothing"
    try:
        number = count_at(path, line, field, value)
    except InputError:
        if isinstance(value, str) and comma_hint(value):
            raise
        raise InputError(path, line=line, field=field, found=shown(value), expected=expected) from None
    if number is not None and number not in choices:
        raise InputError(path, line=line, field=field, found=shown(value), expected=expected)
    return number


def id_at(path: str | Path, line: int | None, field: str, value: Any) -> str:
    """What names something: a text, or a whole number as one, for tables often number their items.

    Raises: InputError.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_at(path, line, field, value)


def text_at(path: str | Path, line: int | None, field: str, value: Any) -> str:
    """A text with something in it. Raises: InputError."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(path, line=line, field=field, found=shown(value), expected="a text")
    return value


def optional_text_at(path: str | Path, line: int | None, field: str, value: Any) -> str | None:
    """A text, or None where the value is missing. Raises: InputError."""
    if is_missing(value):
        return None
    if not isinstance(value, str):
        raise InputError(path, line=line, field=field, found=shown(value), expected="a text, or nothing")
    return value
