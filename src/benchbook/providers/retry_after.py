"""`Retry-After` in both its forms (RFC 9110, section 10.2.3), and OpenAI's in milliseconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["retry_after_s"]

_DECIMAL = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?)")
_LONGEST = 1e12


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


def _number(value: str | None) -> float | None:
    """A plain decimal. Less than 0 is 0, and more than anyone can wait is `_LONGEST`."""
    match = _DECIMAL.fullmatch(value.strip()) if value is not None else None
    if match is None:
        return None
    return 0.0 if match[1] == "-" else min(float(match[2]), _LONGEST)
