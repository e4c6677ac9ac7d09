"""The system's limits of this process; Windows has none of these."""

from __future__ import annotations

from contextlib import suppress


def open_files_limit() -> int | None:
    """As many files as this process may open; None where nothing says."""
    return _soft_limit("RLIMIT_NOFILE")


def address_space_limit() -> int | None:
    """The bytes of addresses that this process may use (`ulimit -v`); None where nothing says."""
    return _soft_limit("RLIMIT_AS")


def _soft_limit(name: str) -> int | None:
    try:
        import resource
    except ImportError:
        return None
    soft: int = resource.getrlimit(getattr(resource, name))[0]
    return None if soft == resource.RLIM_INFINITY else soft


def raise_open_files_limit(needed: int) -> None:
    """Raise the soft limit on open files to `needed`, as far as the hard limit allows. Never lower it."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    wanted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if wanted > soft:
        with suppress(ValueError, OSError):  # a system may refuse what its hard limit allows
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
