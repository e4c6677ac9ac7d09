"""Notices a journal that is moved, deleted, replaced or cut off while it is written, before more is paid for."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def what_became_of(descriptor: int, path: Path, size: int) -> str | None:
    """The fate of the open file that was at `path` and had `size` bytes, in words; None where it is as it was.

    It costs two calls of the system, and reads nothing.
    """
    found = os.fstat(descriptor)
    record = path.parents[1]
    try:
        there = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        there = None
    except OSError:
        return None  # nobody can say
    if there is not None and (there.st_dev, there.st_ino) == (found.st_dev, found.st_ino):
        if found.st_size >= size:
            return None
        return (
            f"{path}: was cut off while the run wrote it, from {size:,} bytes to {found.st_size:,}; what was recorded "
            "after that is lost. Put it back from a copy, or begin another run"
        )
    if found.st_nlink:
        place = _place_of(descriptor)
        where = f"to {place.parents[1]}" if place is not None else "elsewhere"
        return f"{record}: was moved {where} while the run wrote it. All that was recorded is there: resume it there"
    if there is not None:
        return (
            f"{path}: was replaced by another file while the run wrote it; what was recorded since is lost. Put the "
            "record back from a copy, or begin another run"
        )
    return f"{record}: was deleted while the run wrote it; what was recorded is lost. Begin another run"


def _place_of(descriptor: int) -> Path | None:
    """The path of an open file, where the system tells."""
    with suppress(OSError):
        return Path(f"/proc/self/fd/{descriptor}").readlink()
    return None
