"""Operations: one method at one path, with parameters, answers and scope. The API's document is made from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias
from urllib.parse import unquote_to_bytes

import msgspec

from benchbook.server.access import Principal
from benchbook.server.compression import forms_of
from benchbook.server.problems import ProblemError
from benchbook.server.questions import Nothing
from benchbook.server.services import Services
from benchbook.server.types import encoded

JSON, PARQUET = "application/json", "application/vnd.apache.parquet"
_NOT_OF_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_PIECE = 1 << 18  # bytes
_VERSION = version("benchbook")  # another version may answer otherwise
Scope: TypeAlias = Literal["read", "label", "write"]


class NotModified(Exception):  # noqa: N818 - an answer, not a failure
    """The client has this answer already (304)."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """An answer that is encoded already."""

    data: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer that is sent piece by piece; `name` is what a browser saves it under. `file` is the open file that the
    pieces are read from: parts of such an answer may be asked for, and its length is known."""

    pieces: Iterator[bytes]
    name: str
    length: int | None = None
    file: IO[bytes] | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers by which a browser saves the answer as a file: its name, and its length where that is known."""
        found = {"content-disposition": f'attachment; filename="{_NOT_OF_A_NAME.sub("-", self.name)[:150]}"'}
        if self.length is not None:
            found["content-length"] = str(self.length)
        if self.file is not None:
            found["accept-ranges"] = "bytes"
        return found


def file_stream(file: IO[bytes], name: str, length: int) -> Stream:
    """An open file of so many bytes, which is closed at the end."""
    return Stream(pieces_of(file, 0, length), name, length, file)


def pieces_of(file: IO[bytes], first: int, end: int) -> Iterator[bytes]:
    """The bytes from `first` up to `end` of an open file, which is closed at the end."""
    with file:
        file.seek(first)
        while first < end and (piece := file.read(min(_PIECE, end - first))):
            first += len(piece)
            yield piece


@dataclass(slots=True)
class Request:
    """One request, checked: what an operation's handler works on."""

    services: Services
    principal: Principal
    path: dict[str, str]
    query: Any
    body: Any
    request_headers: Mapping[str, str]
    below: str = ""  # the path before all addresses of this server, where one is known
    etag: str | None = None
    headers: dict[str, str] = field(default_factory=dict)  # of the answer
    cookies: list[str] = field(default_factory=list)

    def number(self, name: str) -> int | None:
        """The number in the path under this name; None for anything else."""
        text = self.path[name]
        return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else None

    def is_of(self, *what: str) -> None:
        """Name the state that is answered about, so that clients can keep the answer. Call it before any costly work.

        Raises: NotModified where the client has the answer to this state.
        """
        self.etag = f'"{"-".join((_VERSION, *what))}"'
        known = [one.strip().removeprefix("W/") for one in self.request_headers.get("if-none-match", "").split(",")]
        for form in forms_of(self.etag):
            if form in known:
                self.etag = form
                raise NotModified


def file_stamp(path: Path) -> str:
    """A name for the state that a file is in, for `Request.is_of`: by its time and its size."""
    try:
        found = path.stat()
    except OSError:
        return "none"
    return f"{found.st_mtime_ns}-{found.st_size}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`answers` are the types that its JSON answer may have; empty for another `media`.

    `body` is a type for a JSON body, or the media type of one that is taken as it comes. `heavy`: few run at once.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    name: str
    summary: str
    handler: Callable[[Request], Any]
    quick: Callable[[Request], bytes | None] | None = None  # an answer that is at hand, without waiting for anything
    answers: tuple[Any, ...] = ()
    media: str = JSON
    status: int = 200
    query: type[msgspec.Struct] = Nothing
    body: type[msgspec.Struct] | str | None = None
    scope: Scope | None = "read"
    heavy: bool = False
    if_match: bool = False  # refused where what is there is no longer what the header If-Match names
    most_body_bytes: int = 1 << 20
    tag: str = "runs"

    @property
    def is_file(self) -> bool:
        """True if it answers with a file of bytes, of which parts may be asked for."""
        return self.media == PARQUET

    @property
    def writes(self) -> bool:
        """True if it changes anything; such calls are in the audit log."""
        return self.method != "GET"


class Router:
    """Finds the operation of a path, segment by segment; each is decoded by itself, so no %2F makes a new one."""

    def __init__(self, operations: tuple[Operation, ...]) -> None:
        self._root: dict[str, Any] = {}
        for operation in operations:
            node = self._root
            for part in operation.path.strip("/").split("/"):
                node = node.setdefault("{}" if part.startswith("{") else part, {})
            names = tuple(part[1:-1] for part in operation.path.split("/") if part.startswith("{"))
            node.setdefault("", {})[operation.method] = operation, names

    def find(self, method: str, raw_path: bytes) -> tuple[Operation, dict[str, str]]:
        """The operation of a path, and the values in it. Raises: ProblemError (404, 405, 400)."""
        node, values = self._root, []
        for raw in raw_path.strip(b"/").split(b"/"):
            part = _decoded(raw)
            if part in node and part not in ("", "{}"):
                node = node[part]
            elif "{}" in node and part:
                node = node["{}"]
                values.append(part)
            else:
                raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such address")
        methods = node.get("")
        if methods is None:
            raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such address")
        found = methods.get("GET" if method == "HEAD" else method)
        if found is None:
            allowed = ", ".join(sorted(methods))
            raise ProblemError(HTTPStatus.METHOD_NOT_ALLOWED, f"this address takes {allowed}", {"allow": allowed})
        operation, names = found
        return operation, dict(zip(names, values, strict=True))


def _decoded(raw: bytes) -> str:
    try:
        return unquote_to_bytes(raw).decode("utf-8") if b"%" in raw else raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ProblemError(HTTPStatus.BAD_REQUEST, "the path is no UTF-8") from None


def carried_out(operation: Operation, call: Request) -> bytes | Stream:
    """The answer of an operation, encoded. Called in a thread."""
    found = operation.handler(call)
    if isinstance(found, Stream):
        return found
    if isinstance(found, Bytes):
        call.headers |= found.headers
        return found.data
    return encoded(found)
