"""Lines that are written once and read by their place: in memory while they are few, else in a file without a name."""

from __future__ import annotations

import tempfile
from threading import Lock

from benchbook.errors import UsageError

__all__ = ["Spool"]

_IN_MEMORY = 8 * 1024**2  # bytes


class Spool:
    """May be read from several threads at once; its file is gone with the last who holds it."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - lives as long as its sets do
        self._lock = Lock()
        self._end = 0

    def add(self, line: bytes) -> int:
        """Write a line, which holds no line end; its place. Raises: UsageError."""
        at = self._end
        try:
            self._end += self._file.write(line + b"\n")
        except OSError as error:
            where = tempfile.gettempdir()
            raise UsageError(f"{where}: there is no room for a table's items ({error.strerror or error})") from None
        return at

    def line_at(self, place: int) -> bytes:
        with self._lock:
            self._file.seek(place)
            return self._file.readline()

    def __del__(self) -> None:
        self._file.close()
