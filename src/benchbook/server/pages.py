"""The page: built files, the same index for every page of it, and nothing from another origin.

The page may lie below a path that only the browser knows, where another server passes requests on. So the addresses in
the index are written relative to the requested path: `../assets/…` for `/runs/a`.

Where the server in front passes its own path on (`/bench/…`), it is cut off here.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from pathlib import Path

from benchbook.errors import ConfigError
from benchbook.server.compression import ONCE, gzipped
from benchbook.server.problems import ProblemError

_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)+")


def checked_root_path(text: str) -> str:
    """`bench/` as `/bench`; empty for none. Raises: ConfigError for anything but a path."""
    path = "/" + text.strip("/") if text.strip("/") else ""
    if path and not _PATH.fullmatch(path):
        raise ConfigError("root_path", repr(text), "a path without a query, such as /bench")
    return path


def path_before(raw_path: bytes, root_path: str, forwarded_prefix: str | None) -> tuple[str, str]:
    """The part to cut off a path, and the prefix of all addresses: the path that was set, or the one that the server in
    front names in `x-forwarded-prefix`; else nothing. It may have been cut off already.
    """
    forwarded = (forwarded_prefix or "").strip().rstrip("/")
    known = [path for path in (root_path, forwarded) if _PATH.fullmatch(path)]
    for path in known:
        if raw_path == path.encode("ascii") or raw_path.startswith(path.encode("ascii") + b"/"):
            return path, path
    return "", known[-1] if known else ""


PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HASHED = re.compile(r".+-[A-Za-z0-9_-]{8,}\.\w+")
_ADDRESS = re.compile(rb'((?:src|href)=")/')
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
# How the page calls its own addresses (ui/src/router.ts): a reload of one gives the page again.
_PAGES = frozenset({"", "runs", "compare", "judges", "label", "leaderboard", "login"})


@dataclass(frozen=True)
class File:
    """A built file. `immutable`: its name has the hash of its content."""

    data: bytes
    media: str
    etag: str
    immutable: bool

    @cached_property
    def gzipped(self) -> bytes:
        """Its compressed form, made when it is first asked for: 20 ms for the largest."""
        return gzipped(self.data, ONCE)


class Pages:
    """The built files, read once."""

    def __init__(self, folder: Path) -> None:
        self._files = {path.relative_to(folder).as_posix(): _read(path) for path in folder.rglob("*") if path.is_file()}

    def find(self, path: str, raw_path: bytes) -> File:
        """The file of a path, or the page. `raw_path` is the path as the browser sent it, with its escapes.

        Raises: ProblemError (404).
        """
        parts = path.strip("/").split("/")
        file = self._files.get("/".join(parts)) if all(_NAME.fullmatch(part) for part in parts) else None
        if file is None and parts[0] in _PAGES:
            file = self._files.get("index.html")
            if file is None:
                raise ProblemError(
                    HTTPStatus.NOT_FOUND, "the page was not built into this installation; the API is at /api/v1"
                )
            file = _seen_from(file, raw_path)
        if file is None:
            raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such address")
        return file


def _seen_from(index: File, raw_path: bytes) -> File:
    """The index with its addresses relative to the path that was asked."""
    up = b"../" * (raw_path.count(b"/") - 1)
    return _file(_ADDRESS.sub(lambda found: found[1] + (up or b"./"), index.data), index.media)


def _file(data: bytes, media: str, *, immutable: bool = False) -> File:
    return File(data, media, f'"{hashlib.sha256(data).hexdigest()[:32]}"', immutable)


def _read(path: Path) -> File:
    data = path.read_bytes()
    media = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if media.startswith("text/") or media.endswith(("javascript", "json", "svg+xml")):
        media += "; charset=utf-8"
    return _file(data, media, immutable=_HASHED.fullmatch(path.name) is not None)
