"""How many files this process may have open: a connection is one."""

from __future__ import annotations

import resource
from contextlib import suppress

__all__ = ["allow_open_files"]

_OTHERS = 100  # the record's, the eval set's, libraries'


def allow_open_files(connections: int) -> None:
    """Raise the soft limit for so many connections, as far as the hard limit goes. Never lowers it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + _OTHERS
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    wanted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if wanted > soft:
        with suppress(ValueError, OSError):  # a system may refuse what its hard limit allows
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
