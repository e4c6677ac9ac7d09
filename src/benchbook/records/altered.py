"""What other programs make of a record's files on their way: a Git LFS pointer in a file's place, other line ends."""

from __future__ import annotations

from pathlib import Path

__all__ = ["CR_LF", "LFS_POINTER", "is_lfs_pointer", "why_unreadable"]

LFS_POINTER = "is a Git LFS pointer, not the file itself: run `git lfs pull`"
CR_LF = "ends in CR LF; the record has LF (git autocrlf?)"

_POINTER = b"version https://git-lfs.github.com/spec/"
_LONGEST_POINTER = 1_024  # by its specification


def is_lfs_pointer(data: bytes) -> bool:
    """Whether the beginning of a file is that of a pointer which Git LFS left in its place."""
    return data.startswith(_POINTER) and len(data) <= _LONGEST_POINTER


def why_unreadable(path: Path, otherwise: str) -> str:
    """What is wrong with a file that can't be read: `otherwise`, unless a pointer is in its place."""
    try:
        with path.open("rb") as file:
            return LFS_POINTER if is_lfs_pointer(file.read(_LONGEST_POINTER + 1)) else otherwise
    except OSError:
        return otherwise
