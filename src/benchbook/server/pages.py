"""The page: built files, the same index for every page of it, and nothing from another origin.

The page may lie below a path that only the browser knows, where another server passes requests on. So the addresses in
the index are written relative to the requested path: `../assets/…` for `/runs/a`.

Where the server in front passes its own path on (`/bench/…`), it is cut off here.

An address that leads nowhere is a page, too, for whoever reads pages; a program gets a problem.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from dataclasses import dataclass, replace
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
# How the page calls its own addresses (ui/src/app.tsx): a reload of one gives the page again.
_PAGE = re.compile(rb"/(?:(?:runs|compare|judges|audits|pairs|label|leaderboard|login|start)/?|runs/[^/]+)?")


@dataclass(frozen=True)
class File:
    """A built file. `immutable`: its name has the hash of its content. `is_there`: else it says that nothing is."""

    data: bytes
    media: str
    etag: str
    immutable: bool
    is_there: bool = True

    @cached_property
    def gzipped(self) -> bytes:
        """Its compressed form, made when it is first asked for: 20 ms for the largest."""
        return gzipped(self.data, ONCE)


class Pages:
    """The built files, read once."""

    def __init__(self, folder: Path) -> None:
        self._files = {path.relative_to(folder).as_posix(): _read(path) for path in folder.rglob("*") if path.is_file()}

    def find(self, path: str, raw_path: bytes, accept: str = "") -> File:
        """The file of a path, or the page. `raw_path` is the path as the browser sent it, with its escapes.

        Where nothing is, a client that accepts HTML gets the page, which says so. Raises: ProblemError (404).
        """
        parts = path.strip("/").split("/")
        file = self._files.get("/".join(parts)) if all(_NAME.fullmatch(part) for part in parts) else None
        if file is not None:
            return file
        is_page = _PAGE.fullmatch(raw_path) is not None
        if not is_page and "text/html" not in accept.lower():
            raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such address")
        index = self._files.get("index.html")
        if index is None:
            raise ProblemError(
                HTTPStatus.NOT_FOUND, "the page was not built into this installation; the API is at /api/v1"
            )
        return replace(_seen_from(index, raw_path), is_there=is_page)


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
