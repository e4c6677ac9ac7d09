"""Standard streams that break nothing: whatever the locale, whoever reads, and where there are none."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

from benchbook.errors import OutputError

__all__ = ["prepare_streams"]


class _DeafPipe(io.FileIO):
    """A reader that went away (`| head`) is no fault: the rest is not written, and the exit code stays the answer's.

    Anything else (a full disk) is told once; on standard error nobody is left to tell.
    """

    _failed = False

    def write(self, data: Any, /) -> int:
        if not self._failed:
            try:
                return super().write(data) or 0
            except BrokenPipeError:
                self._failed = True
            except OSError as error:
                self._failed = True
                if self.fileno() == 1:
                    raise OutputError(f"standard output: can't be written ({error.strerror})") from None
        return len(memoryview(data).cast("B"))


def prepare_streams() -> None:
    """What a terminal can't show is escaped; closed streams (`>&-`) lead nowhere."""
    # Lowest first: a descriptor that is free would go to the next file that is opened, and be written into.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - stays open
    sys.stdout = _prepared(sys.stdout, 1)
    sys.stderr = _prepared(sys.stderr, 2)


def _prepared(stream: TextIO | None, descriptor: int) -> TextIO:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - stays open
    stream.flush()
    raw = _DeafPipe(descriptor, "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.isatty() or descriptor == 2,
    )
