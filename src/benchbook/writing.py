"""Writes so that a crash at any moment leaves what was there before, or all of what is new.

What is acknowledged is on the disk. A file that can be made again need not be (`synced=False`): after a power cut it
may be empty, and whoever reads it must see that.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

from benchbook.errors import BenchbookError, RecordError


def cant_be_written(path: Path, error: OSError) -> str:
    """The sentence for a file or folder that the system refuses to write."""
    reason = os.strerror(error.errno) if error.errno else str(error)  # Arrow's own message names the temporary file
    return f"{path}: can't be written ({reason})"


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`, of which the system may take a part at a time. Raises: OSError."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def sync_folder(folder: Path) -> None:
    """Put a folder's names on the disk. Raises: OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def written_whole(
    path: Path, *, synced: bool = True, mode: int = 0o666, refuse: type[BenchbookError] = RecordError
) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` when the block ends, and goes if it fails.

    `refuse` is raised where it can't be written; without `synced` the system may put it on the disk later.
    """
    try:
        with replacing(path, synced=synced, mode=mode) as file:
            yield file
    except OSError as error:
        raise refuse(cant_be_written(path, error)) from None


@contextmanager
def replacing(path: Path, *, synced: bool = True, mode: int = 0o666) -> Iterator[BinaryIO]:
    """As `written_whole`. Raises: OSError."""
    temporary, file = _open_temporary(path, mode)
    try:
        yield file
        file.flush()
        if synced:
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):  # where nothing could be written there may be nothing to take away
            temporary.unlink(missing_ok=True)
        raise
    finally:
        with suppress(OSError):  # of what was not taken before
            file.close()
    if synced:
        sync_folder(path.parent)


def write_file(path: Path, data: bytes, *, synced: bool = True, refuse: type[BenchbookError] = RecordError) -> None:
    """Write `data` to `path`, whole, or leave what was there before."""
    with written_whole(path, synced=synced, refuse=refuse) as file:
        file.write(data)


def _open_temporary(path: Path, mode: int) -> tuple[Path, BinaryIO]:
    """A file beside `path` for this writer alone, and what a killed one left of the same: it is locked as long as it
    is written."""
    for number in count():
        temporary = path.with_name(f".{path.name}.{number}.tmp" if number else f".{path.name}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, mode)
        if not _is_mine(descriptor, temporary):
            os.close(descriptor)
            continue
        try:
            os.ftruncate(descriptor, 0)
        except OSError:
            os.close(descriptor)
            with suppress(OSError):
                temporary.unlink()
            raise
        return temporary, os.fdopen(descriptor, "wb")
    raise AssertionError("numbers don't end")


def _is_mine(descriptor: int, temporary: Path) -> bool:
    """Lock the file; False where another writer has it, or has put it in its place meanwhile."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    try:
        return os.fstat(descriptor).st_ino == temporary.stat().st_ino
    except FileNotFoundError:
        return False
