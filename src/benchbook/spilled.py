"""Long lists of whole numbers, eight bytes each, that move into a temporary file once they are many."""

from __future__ import annotations

import tempfile
from array import array
from threading import Lock
from typing import BinaryIO, cast

from benchbook.errors import UsageError

IN_MEMORY = 1 << 19  # numbers; those before them are in the file
_READ_AT_ONCE = 1 << 13
_BYTES = 8


class SpilledNumbers:
    """Numbers from 0 to 2**64 - 1, added at the end and read by place. Several threads may read at once.

    Raises, where it is written: UsageError, if the disk has no room.
    """

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._last = array("Q")
        self._file: BinaryIO | None = None
        self._n_filed = 0
        self._lock = Lock()
        self._read: tuple[int, array[int]] = 0, array("Q")  # from which place on, and the numbers there

    def append(self, number: int) -> None:
        """Add a number."""
        self._last.append(number)
        if len(self._last) >= self._in_memory:
            self._spill()

    def extend(self, numbers: array[int]) -> None:
        """Add numbers of eight bytes each."""
        if len(self._last) + len(numbers) < self._in_memory:
            self._last.frombytes(numbers.tobytes())
        else:
            self._spill()
            self._write(numbers)

    def _spill(self) -> None:
        self._write(self._last)
        self._last = array("Q")

    def _write(self, numbers: array[int]) -> None:
        try:
            if self._file is None:
                self._file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - it lives as long as the list
            with self._lock:
                self._file.seek(self._n_filed * _BYTES)
                self._file.write(numbers)
        except OSError as error:
            where, reason = tempfile.gettempdir(), error.strerror or error
            raise UsageError(f"{where}: there is no room for the places of a large file's lines ({reason})") from None
        self._n_filed += len(numbers)

    def __len__(self) -> int:
        return self._n_filed + len(self._last)

    def __getitem__(self, at: int) -> int:
        place = range(len(self))[at]
        if place >= self._n_filed:
            return self._last[place - self._n_filed]
        first, numbers = self._read
        if not first <= place < first + len(numbers):
            first = place - place % _READ_AT_ONCE
            numbers = self.some(first, min(first + _READ_AT_ONCE, self._n_filed))
            self._read = first, numbers
        return numbers[place - first]

    def some(self, start: int, end: int) -> array[int]:
        """A copy of the numbers from one place to before another; fewer where the list ends before."""
        found = array("Q", (0,)) * (min(end, self._n_filed) - start)
        if found and self._file is not None:
            with self._lock:
                self._file.seek(start * _BYTES)
                self._file.readinto(found)  # type: ignore[attr-defined]  # it is buffered, and all is there
        found += self._last[max(start - self._n_filed, 0) : max(end - self._n_filed, 0)]
        return found

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()
