"""POSIX: `flock` on the file or folder itself, and `fsync` on folders."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO


class Posix:
    """A system where a folder can be opened, locked and synced as a file can (docs/decisions/0044-two-systems.md)."""

    no_records = None

    def to_lock(self, path: Path, *, only_look: bool = False, only_folder: bool = False) -> PosixLock:
        del only_look
        return PosixLock(os.open(path, os.O_RDONLY | (os.O_DIRECTORY | os.O_NOFOLLOW if only_folder else 0)))

    def lock_open(self, descriptor: int, *, wait: bool = True) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))

    def sync_folder(self, folder: Path) -> None:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def read_at(self, descriptor: int, length: int, offset: int) -> bytes:
        return os.pread(descriptor, length, offset)

    def open(self, path: Path, flags: int, mode: int = 0o666, *, follows_links: bool = True) -> int:
        return os.open(path, flags | (0 if follows_links else os.O_NOFOLLOW), mode)

    def put(self, file: BinaryIO, temporary: Path, path: Path) -> None:
        del file  # it stays open, and so locked, until it has its name
        temporary.replace(path)

    def drop(self, file: BinaryIO, temporary: Path) -> None:
        del file
        temporary.unlink(missing_ok=True)

    def put_new(self, file: BinaryIO, temporary: Path, path: Path) -> None:
        del file
        os.link(temporary, path)
        with suppress(OSError):  # it is a second name of the file then, and the next writer takes it away
            temporary.unlink()


class PosixLock:
    """A lock on a file or folder itself, open as `descriptor`: it leaves nothing behind."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def take(self, *, shared: bool = False, wait: bool = True) -> None:
        fcntl.flock(self._descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))

    def is_of(self, path: Path) -> bool:
        return os.path.samestat(os.fstat(self._descriptor), path.stat())

    def close(self) -> None:
        os.close(self._descriptor)
