"""The memory of this process, and how its allocators give it back."""

from __future__ import annotations

import os
from pathlib import Path

_OPTIONS = "_RJEM_MALLOC_CONF"
_OF_POLARS = "dirty_decay_ms:500,muzzy_decay_ms:1000"  # which who loads Polars leaves to the processes that it starts
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
    """Have Polars give freed memory back at once, for 10 to 25 % more CPU time. Call it before Polars is loaded.

    Who set the allocator's options keeps them: the last of two counts.
    """
    theirs = os.environ.get(_OPTIONS, "").removeprefix(_OF_POLARS).removeprefix(_GIVE_BACK).strip(",")
    os.environ[_OPTIONS] = f"{_GIVE_BACK},{theirs}".strip(",")
