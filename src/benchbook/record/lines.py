"""Files of lines that only grow, beside the records: what people wrote of runs, the audit log.

A line counts once its newline is there. One that was torn, by a kill or a full disk, was never acknowledged: it is cut
off before the next is written, so that it takes no other with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from benchbook.canonical import canonical_json
from benchbook.system import SYSTEM
from benchbook.writing import make_folder, sync_folder, write_all

STATE_FOLDER = ".server"  # within the folder of records, and copied with it: where such files lie
_BLOCK = 1 << 16


class LineFile:
    """Appends lines, each by one write, from any number of threads and processes. `mode` is that of a new file."""

    def __init__(self, path: Path, mode: int = 0o666) -> None:
        self._path = path
        self._mode = mode
        self._lock = Lock()

    def append(self, value: Any) -> None:
        """Append a value as canonical JSON, and return once it is on the disk.

        Raises: OSError, with the file as it was before.
        """
        self.append_made(lambda: (value,))

    def append_made(self, make: Callable[[], Iterable[Any]]) -> None:
        """Append the values that `make` gives, all or none of them; meanwhile nobody else writes here.

        Raises: OSError, with the file as it was before; whatever `make` raises.
        """
        with self._lock:
            is_new = not self._path.exists()
            if is_new:
                make_folder(self._path.parent)
            descriptor = SYSTEM.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, self._mode)
            try:
                if is_new:
                    sync_folder(self._path.parent)
                SYSTEM.lock_open(descriptor)  # ends with the descriptor
                if data := b"".join(canonical_json(value) + b"\n" for value in make()):
                    _append(descriptor, data)
            finally:
                os.close(descriptor)

    def lines(self, after: int = 0) -> tuple[list[bytes], int]:
        """The whole lines behind the byte `after`, and the byte behind the last of them. There may be no file yet."""
        try:
            with self._path.open("rb") as file:
                file.seek(after)
                whole = file.read().rpartition(b"\n")[0]
        except FileNotFoundError:
            return [], 0
        return (whole.split(b"\n"), after + len(whole) + 1) if whole else ([], after)

    @property
    def size(self) -> int:
        """Its bytes; 0 where there is no file yet."""
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0


def _append(descriptor: int, data: bytes) -> None:
    """Write lines behind the last whole one; where they can't be written or synced, take them back."""
    end = _end_of_lines(descriptor)
    try:
        os.ftruncate(descriptor, end)
        write_all(descriptor, data)
        os.fsync(descriptor)
    except OSError:
        with suppress(OSError):  # else it is cut off before the next line
            os.ftruncate(descriptor, end)
        raise


def _end_of_lines(descriptor: int) -> int:
    """The byte behind the last newline."""
    end = os.fstat(descriptor).st_size
    while end:
        begin = max(end - _BLOCK, 0)
        newline = SYSTEM.read_at(descriptor, end - begin, begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        end = begin
    return 0
