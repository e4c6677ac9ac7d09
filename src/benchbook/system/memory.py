"""The memory of this process, and how its allocators give it back."""

from __future__ import annotations

import os
from pathlib import Path

_PAGES = Path("/proc/self/statm")
# Polars' allocator (jemalloc) otherwise keeps what was freed: of a comparison of a million items, hundreds of MB.
_GIVE_BACK = "background_thread:true,dirty_decay_ms:0,muzzy_decay_ms:0"


def resident_bytes() -> int | None:
    """The bytes of this process that are in memory; None where the system does not tell them so."""
    try:
        return int(_PAGES.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError, IndexError, ValueError):
        return None


def give_freed_memory_back() -> None:
    """Have Polars give freed memory back at once, for 10 % more CPU time. Call it before Polars is loaded; who set the
    allocator's options keeps them."""
    os.environ.setdefault("_RJEM_MALLOC_CONF", _GIVE_BACK)
