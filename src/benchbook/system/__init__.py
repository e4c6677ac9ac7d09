"""The operating system's part in locks and disks, POSIX's or Windows': nobody else asks the system for them."""

from __future__ import annotations

from benchbook.system.layer import Layer

__all__ = ["SYSTEM"]


def _of_this_system() -> Layer:
    try:
        from benchbook.system.posix import Posix
    except ImportError:  # no `fcntl`
        from benchbook.system.windows import Windows

        return Windows()
    return Posix()


SYSTEM = _of_this_system()
