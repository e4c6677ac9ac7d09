"""Rust's words of a panic on standard error, held back in a process that is ours: its error is reported anyway.

Rust has no other place for it. So descriptor 2 is another file meanwhile, which nobody may do to a process of others.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

_PANIC = re.compile(rb"\n?thread '[^']*' \(?\d*\)? ?panicked at .*", re.DOTALL)


class _Process:
    is_ours = False
    is_holding = False


def hide_panics() -> None:
    """Hold back panics from now on: this process is a command's."""
    _Process.is_ours = True


@contextmanager
def panics_hidden() -> Iterator[None]:
    """Keep from standard error what is written of a panic while the block runs; all else is handed on after it.

    Nothing is done in a process that is not ours, and none where other threads run: what they say is not to wait.
    """
    if not _Process.is_ours or _Process.is_holding or threading.active_count() > 1:
        yield
        return
    held = _held()
    _Process.is_holding = held is not None
    try:
        yield
    finally:
        _Process.is_holding = False
        if held is not None:
            _put_back(*held)


def _held() -> tuple[int, IO[bytes]] | None:
    """Standard error as it was, and the file in its place; None with no descriptor left, no room, or nothing at 2."""
    with suppress(OSError):
        _flush()
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `_put_back`
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        return before, file
    return None


def _put_back(before: int, file: IO[bytes]) -> None:
    _flush()
    os.dup2(before, 2)
    os.close(before)
    with file, suppress(OSError):
        file.seek(0)
        if rest := _PANIC.sub(b"", file.read()):
            os.write(2, rest)


def _flush() -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
