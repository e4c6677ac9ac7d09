"""A bound on the bytes of answers that are held at once: memory grows neither with connections nor with long answers.

Short answers are not counted. A long one is counted as it comes; over the bound only the oldest is read on, and the
others stay unread in their connections, so that their servers wait, too.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from weakref import WeakKeyDictionary

from benchbook.errors import UsageError
from benchbook.system.limits import address_space_limit

SHORT = 256 << 10  # bytes of an answer that are not counted: hardly a model gives as many
_MOST = 64 << 20
_LEAST = 4 << 20
_SHARE = 16  # of this process's memory, one part: a byte that came is held as bytes, text and lines of the journal
_LEAST_ADDRESSES = 3 << 29
_CGROUP = Path("/sys/fs/cgroup/memory.max")


class Reader(Protocol):
    """A connection on which a long answer comes."""

    def pause(self) -> None: ...

    def go_on(self) -> None: ...


class BytesInFlight:
    """The bytes of long answers that come, or that a sample under way still needs; those of one event loop."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most if most is not None else _most_by_memory(memory_limit())
        self._held = 0
        self._readers: dict[Reader, int] = {}  # the oldest first

    def read(self, reader: Reader, n_bytes: int) -> None:
        """Count bytes that came. Over the bound, the reader is paused unless it is the oldest."""
        self._readers[reader] = self._readers.get(reader, 0) + n_bytes
        self._held += n_bytes
        if self._held > self._most and next(iter(self._readers)) is not reader:
            reader.pause()

    def has_read(self, reader: Reader) -> None:
        """Forget what came to a reader, whose answer is whole or given up."""
        self._held -= self._readers.pop(reader, 0)
        self._wake()

    def keep(self, n_bytes: int) -> None:
        """Count a whole answer that is still needed."""
        self._held += n_bytes

    def drop(self, n_bytes: int) -> None:
        """Forget an answer that was kept."""
        self._held -= n_bytes
        self._wake()

    def _wake(self) -> None:
        for reader in list(self._readers):
            reader.go_on()
            if self._held > self._most:
                return  # the oldest alone


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, BytesInFlight] = WeakKeyDictionary()


def bytes_in_flight() -> BytesInFlight:
    """The bytes in flight of the event loop that runs."""
    loop = asyncio.get_running_loop()
    if loop not in _of_loop:
        _of_loop[loop] = BytesInFlight()
    return _of_loop[loop]


def _most_by_memory(limit: int | None) -> int:
    return _MOST if limit is None else max(_LEAST, min(_MOST, limit // _SHARE))


def memory_limit() -> int | None:
    """The bytes of memory that this process may have, by `ulimit -v` or its control group; None if neither says."""
    limits = [] if (addresses := address_space_limit()) is None else [addresses]
    with suppress(OSError, ValueError):  # there is no such file, or it says `max`
        limits.append(int(_CGROUP.read_text(encoding="ascii")))
    return min(limits, default=None)


def check_address_space() -> None:
    """Refuse to begin where libraries would break in ways that nobody can catch: they reserve more than they use.

    Measured: on 2 CPUs a table of 3 rows reserves 1.0 GB, and uses 71 MB. Under a limit of 600 MB Polars panics.
    Raises: UsageError.
    """
    limit = address_space_limit()
    if limit is not None and limit < _LEAST_ADDRESSES:
        raise UsageError(
            f"this process may use {limit >> 20:,} MB of addresses (ulimit -v); a run reserves up to "
            f"{_LEAST_ADDRESSES >> 20:,} MB, most of which it never uses. Raise that limit, or limit memory itself: "
            "`systemd-run -p MemoryMax=400M`, or a container's"
        )
