"""The cores that this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int | None:
    """Their number: those that it was bound to, where the system can say so, else all; None where it can't say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()
