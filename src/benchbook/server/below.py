"""Being asked below a path: a server in front hands on `/bench/…`, with `/bench` cut off or as it came.

Where it was cut off nothing has to be known: the page's addresses are relative. Where it was not, it is cut off here.
"""

from __future__ import annotations

import re

from benchbook.errors import ConfigError

__all__ = ["checked_root_path", "path_before"]


_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)+")


def checked_root_path(text: str) -> str:
    """`bench/` as `/bench`; empty for none. Raises: ConfigError for what is no path."""
    path = "/" + text.strip("/") if text.strip("/") else ""
    if path and not _PATH.fullmatch(path):
        raise ConfigError("root_path", repr(text), "a path without a query, such as /bench")
    return path


def path_before(raw_path: bytes, root_path: str, forwarded_prefix: str | None) -> tuple[str, str]:
    """What is to be cut off a path, and what stands before all addresses: the path that was set, or the one that the
    server in front names in `x-forwarded-prefix`; else nothing. It may have been cut off already.
    """
    forwarded = (forwarded_prefix or "").strip().rstrip("/")
    known = [path for path in (root_path, forwarded) if _PATH.fullmatch(path)]
    for path in known:
        if raw_path == path.encode("ascii") or raw_path.startswith(path.encode("ascii") + b"/"):
            return path, path
    return "", known[-1] if known else ""
