"""Steps, tokens, times and values out of what a log holds, which in CSV is text."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Any

from benchbook.evalsets.table_values import comma_hint

__all__ = ["Unfit", "is_number", "seconds", "value", "whole"]

_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)", re.ASCII | re.IGNORECASE
)
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_LATEST_S = 1e11  # in the year 5138: what is later was meant as milliseconds


class Unfit(ValueError):  # noqa: N818 - not an error of ours: the caller knows file, line and field
    """What would have been right."""


def is_number(found: Any) -> bool:
    """Whether something is a number, or the text of one, NaN and the infinities among them."""
    return _number(found) is not None


def value(found: Any) -> float | None:
    """A metric's value; None for NaN and the infinities, and for what is beyond a float.

    Raises: Unfit.
    """
    number = _number(found)
    if number is None:
        raise Unfit((comma_hint(found) if isinstance(found, str) else None) or "a number")
    return number if math.isfinite(number) else None


def whole(found: Any, *, least: int | None = None) -> int:
    """A step or a count, as `7`, `7.0` or the text of one.

    Raises: Unfit.
    """
    expected = "a whole number" if least is None else f"a whole number, {least} or more"
    exact = int(found) if isinstance(found, str) and _WHOLE.fullmatch(found) else found
    number = exact if type(exact) is int else _number(exact)
    if number is None or not math.isfinite(number) or number != int(number) or abs(number) >= 2**63:
        raise Unfit(expected)
    if least is not None and number < least:
        raise Unfit(expected)
    return int(number)


def seconds(found: Any) -> float:
    """A time as seconds: a number stands for itself, a text of ISO 8601 for seconds since 1970.

    A text without an offset is taken as UTC. Raises: Unfit.
    """
    number = _number(found)
    if number is None and isinstance(found, str):
        number = _timestamp(found)
    if number is None or not abs(number) < _LATEST_S:
        raise Unfit("seconds, or a time of ISO 8601")
    return number


def _number(found: Any) -> float | None:
    if isinstance(found, str):
        text = found.strip(" ")
        return float(text) if _NUMBER.fullmatch(text) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        return float(found)
    except OverflowError:
        return math.inf


def _timestamp(text: str) -> float | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
