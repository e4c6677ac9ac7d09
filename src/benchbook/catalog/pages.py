"""Pages by cursor: a page begins after the last row of the one before, so the last is as fast as the first."""

from __future__ import annotations

import base64
import binascii
from functools import cache
from typing import TypeVar

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import ConfigError

__all__ = ["MOST_ROWS", "Position", "checked_limit", "cursor_of", "position_of", "wrong_cursor"]

MOST_ROWS = 1_000
_EXPECTED = "a cursor that an earlier page gave, for the same order"

Position = TypeVar("Position", bound=msgspec.Struct)


def checked_limit(limit: int) -> int:
    """Raises: ConfigError for a page of no rows or of too many."""
    if not 1 <= limit <= MOST_ROWS:
        raise ConfigError("limit", str(limit), f"1 to {MOST_ROWS}")
    return limit


def cursor_of(position: msgspec.Struct) -> str:
    """A place in a list, as a text that fits into a URL."""
    return base64.urlsafe_b64encode(canonical_json(position)).decode("ascii").rstrip("=")


def position_of(cursor: str, kind: type[Position]) -> Position:
    """The place that `cursor_of` was given.

    Raises: ConfigError for a text that is no cursor.
    """
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        found: Position = decode_json(data, _decoder(kind))
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise ConfigError("after", "a text that is none", _EXPECTED) from None
    return found


@cache
def _decoder(kind: type[Position]) -> msgspec.json.Decoder[Position]:
    return msgspec.json.Decoder(ready(kind))


def wrong_cursor() -> ConfigError:
    """For a cursor that can be read, and belongs to another list or order."""
    return ConfigError("after", "a cursor of another list", _EXPECTED)
