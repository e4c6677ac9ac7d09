"""Reads the values of a `spec.toml`, one reader for each type: the value as it is used, or an error that says what
would be right.
"""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from benchbook.text import quoted

NAME = re.compile("[a-z][a-z0-9_]{0,47}")
NAME_WORDS = "a name of at most 48 small letters, digits and _, a letter first"
# For a number in a spec or an answer: with more digits, or a larger exponent, exact arithmetic would never end.
LIMIT_DIGITS = 1000
MOST_STEPS = 100  # of a scale


def text_of(value: Any) -> str | None:
    """A value of a spec or an item as text; None unless it is a text, truth value or number.

    A number is written as in JSON or TOML, a truth value as `true` or `false`.
    """
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() if abs(value) >= 10**4000:
            return None  # Python refuses to write it, and nobody wrote it
        case int() | float():
            return repr(value)
        case Decimal():
            return str(value)
        case _:
            return None


class WrongValueError(ValueError):
    """A value of a spec is not of the kind that its key needs."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found, expected)
        self.found = found
        self.expected = expected


def said(value: Any) -> str:
    """A value as a message names it."""
    match value:
        case str():
            return quoted(value)
        case dict():
            return "a table"
        case list():
            return "a list" if value else "an empty list"
        case datetime.date() | datetime.time():
            return "a date or time"
        case _:
            text = text_of(value)
            return "a number beyond reading" if text is None else quoted(text)[1:-1]


def read_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise WrongValueError(said(value), "text that is not blank")
    return value


def read_name(value: Any) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise WrongValueError(said(value), NAME_WORDS)
    return value


def read_about(value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    if not text or len(text) > 200 or len(text.splitlines()) > 1:
        raise WrongValueError(said(value), "one sentence on one line, of at most 200 characters")
    return text


def read_truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValueError(said(value), "true or false")
    return value


def read_count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1_000_000_000:
        raise WrongValueError(said(value), "a whole number from 1 to 1000000000")
    return value


def read_steps(value: Any, expected: str) -> tuple[int, int]:
    """The lowest and highest step of a scale of consecutive whole numbers; `expected` says what would be right."""
    if not isinstance(value, list) or not value or not all(type(one) is int for one in value):
        raise WrongValueError(said(value), expected)
    if len(value) < 2 or value != list(range(value[0], value[0] + len(value))) or len(value) > MOST_STEPS + 1:
        raise WrongValueError(f"[{', '.join(map(str, value[:8]))}{', …' if len(value) > 8 else ''}]", expected)
    return value[0], value[-1]


_Word = TypeVar("_Word", bound=str)


def of_these(value: Any, words: tuple[_Word, ...]) -> _Word:
    """The value, which must be one of `words`."""
    for word in words:
        if value == word:
            return word
    raise WrongValueError(said(value), _listed(words))


def _listed(words: tuple[str, ...]) -> str:
    named = [f'"{word}"' for word in words]
    return f"{', '.join(named[:-1])} or {named[-1]}" if len(named) > 1 else named[0]


def as_fraction(value: Any) -> Fraction | None:
    """A number of a spec, exactly; None unless it is a finite number of bounded size."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    if isinstance(value, int):
        return Fraction(value) if abs(value) < 10**LIMIT_DIGITS else None
    if not value.is_finite() or abs(value.adjusted()) > LIMIT_DIGITS or len(value.as_tuple().digits) > LIMIT_DIGITS:
        return None
    return Fraction(value)


def read_share(value: Any) -> Fraction:
    share = as_fraction(value)
    if share is None or not 0 <= share <= 1:
        raise WrongValueError(said(value), "a number from 0 to 1")
    return share


def read_tolerance(value: Any) -> Fraction:
    tolerance = as_fraction(value)
    if tolerance is None or tolerance < 0:
        raise WrongValueError(said(value), "a number that is not negative")
    return tolerance


def read_weight(value: Any) -> Fraction:
    weight = as_fraction(value)
    if weight is None or not 0 < weight <= 1_000_000:
        raise WrongValueError(said(value), "a number above 0, of at most 1000000")
    return weight
