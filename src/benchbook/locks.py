"""Locks on files and folders, which end with the process that holds them, however it ends.

A lock is the system's own (`flock`): nothing is left behind that could be taken for one.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold a folder, which must exist, alone; wait until nobody else does. Raises: OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a file or folder, for others to see. Where that can't be, nobody sees it."""
    descriptor = None
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def is_locked(path: Path) -> bool:
    """True if a process holds this file or folder; False also where there is none.

    To see it, it is held for a moment, along with others who only look.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False
