"""Locks on files and folders, which end with the process that holds them, however it ends.

A lock is the system's own: nothing is left behind that could be taken for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchbook.system import SYSTEM


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold a folder, which must exist, alone; wait until nobody else does. Raises: OSError."""
    lock = SYSTEM.to_lock(folder)
    try:
        lock.take()
        yield
    finally:
        lock.close()


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a file or folder, for others to see. Where that can't be, nobody sees it."""
    lock = None
    with suppress(OSError):
        lock = SYSTEM.to_lock(path)
        lock.take(wait=False)
    try:
        yield
    finally:
        if lock is not None:
            lock.close()


def is_locked(path: Path) -> bool:
    """True if a process holds this file or folder; False also where there is none.

    To see it, it is held for a moment, along with others who only look.
    """
    try:
        lock = SYSTEM.to_lock(path, only_look=True)
    except OSError:
        return False
    try:
        lock.take(shared=True, wait=False)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        lock.close()
    return False
