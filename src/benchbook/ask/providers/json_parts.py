"""Parts of JSON whose types nobody vouches for: a count, a text, the objects of a list; of others, nothing."""

from __future__ import annotations

from typing import Any

_MOST = 10**12  # a larger count can't be meant, and would not fit into a table


def count(value: Any) -> int | None:
    """A count of tokens; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else None


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; none where it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
