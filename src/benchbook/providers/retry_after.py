"""How long a server asks to wait: `Retry-After` in both its forms (RFC 9110, section 10.2.3), OpenAI's in milliseconds,
when its limit begins anew, and what the body says in fields or in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from benchbook.providers.error_body import Told

__all__ = ["reset_s", "retry_after_s", "told_wait_s"]

_DECIMAL = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?)")
_LONGEST = 1e12
_MAX_DEPTH = 8
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# The fields that name a wait, without case and punctuation, and the unit of a bare number in each.
_UNIT_OF_FIELD = {
    "retryafter": 1.0, "retryafterseconds": 1.0, "retrydelay": 1.0,
    "retryafterms": 0.001, "retryaftermilliseconds": 0.001,
}  # fmt: skip
_UNIT = (
    r"(?:(?P<ms>ms|msecs?|milliseconds?)|(?P<s>s|secs?|seconds?)|(?P<m>m|mins?|minutes?)|(?P<h>h|hrs?|hours?)"
    r"|(?P<d>d|days?))"
)
_ONE = re.compile(rf"([0-9]{{1,15}}(?:\.[0-9]{{1,12}})?)\s*{_UNIT}(?![a-z])", re.IGNORECASE)
_SOME = r"[0-9]{1,15}(?:\.[0-9]{1,12})?\s*(?:[a-z]+)"
# `try again in 1.5s`, `retry after 26 seconds`, `wait 2 minutes`, `resets in 1h2m3s`
_IN_WORDS = re.compile(
    r"\b(?:again|retry(?:ing)?|wait(?:ing)?|resets?|available|back(?: off)?|try|retried)\b(?:\s+[a-z'-]+){0,6}?[\s:]+"
    r"(?:(?:in|after|for|within|about|another|approximately|around|at least)\s+)*"
    rf"(?P<time>{_SOME}(?:[\s,]*(?:and\s+)?{_SOME}){{0,3}})",
    re.IGNORECASE,
)


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, 0 or more; None where the server does not say, or says what can't be read.

    The names in `headers` are in lower case. A date in the past means 0: no negative wait, and no error.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def reset_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """When a limit that was met begins anew, by `x-ratelimit-reset…`: the spent one, else the first."""
    waits: list[float] = []
    spent: list[float] = []
    for kind in ("-requests", "-tokens", ""):
        wait_s = _moment_s(headers.get(f"x-ratelimit-reset{kind}", ""), now)
        if wait_s is not None:
            waits.append(wait_s)
            if _number(headers.get(f"x-ratelimit-remaining{kind}")) == 0:
                spent.append(wait_s)
    return max(spent) if spent else min(waits, default=None)


def told_wait_s(told: Told) -> float | None:
    """Seconds to wait by an error's body: a field of it, else its words."""
    for name, value in _fields(told.parts[-1] if told.parts else None, 0):
        if name in _UNIT_OF_FIELD:
            wait_s = _plain(value)
            if wait_s is not None:
                return round(wait_s * _UNIT_OF_FIELD[name], 6)
            if isinstance(value, str) and (wait_s := _duration_s(value)) is not None:
                return wait_s
    waits = (_duration_s(found["time"]) for found in _IN_WORDS.finditer(told.message))
    return next((wait_s for wait_s in waits if wait_s is not None), None)


def _fields(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Every named value in an object, whatever its depth."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for name, entry in value.items():
            yield re.sub(r"[\W_]", "", str(name)).lower(), entry
            yield from _fields(entry, depth + 1)
    elif isinstance(value, list):
        for entry in value:
            yield from _fields(entry, depth + 1)


def _plain(value: Any) -> float | None:
    if isinstance(value, str):
        return _number(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return min(float(value), _LONGEST)


def _duration_s(text: str) -> float | None:
    """`6m0s`, `1.5s`, `120ms`, `2 minutes`; None where the first piece is no time."""
    total, at = 0.0, 0
    for piece in _ONE.finditer(text):
        if text[at : piece.start()].strip(" ,\tand"):
            break
        total += float(piece[1]) * _UNITS[str(piece.lastgroup)]
        at = piece.end()
    return round(min(total, _LONGEST), 6) if at else None


def _moment_s(value: str, now: datetime) -> float | None:
    """A duration, a number of seconds, or a moment in seconds or milliseconds since 1970."""
    number = _number(value)
    if number is None:
        return _duration_s(value)
    if number > 1e11:
        number /= 1000
    return max(0.0, number - now.timestamp()) if number > 1e9 else number


def _number(value: str | None) -> float | None:
    """A plain decimal. Less than 0 is 0, and more than anyone can wait is `_LONGEST`."""
    match = _DECIMAL.fullmatch(value.strip()) if value is not None else None
    if match is None:
        return None
    return 0.0 if match[1] == "-" else min(float(match[2]), _LONGEST)
