"""Errors as answers, problem+json (RFC 9457), and the reading of queries and bodies, which are refused by one.

They say what was wrong, and nothing of the server's inside.
"""

from __future__ import annotations

import asyncio
import errno
import os
import typing
from functools import cache
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive

from benchbook.canonical import decode_json, ready
from benchbook.catalog.queries import CursorError
from benchbook.errors import BenchbookError, RecordDamagedError, RecordError, RecordLockedError, UsageError
from benchbook.server.settings import Settings
from benchbook.server.types import Problem
from benchbook.text import shorten, storable

PROBLEM_MEDIA = "application/problem+json"
_LONGEST = 1_000


class ProblemError(Exception):
    """The end of an operation with this status. `detail` goes to the client, and `headers` with it."""

    def __init__(self, status: int, detail: str | None = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.headers = headers or {}


def problem_of(error: BenchbookError, settings: Settings | None = None) -> ProblemError:
    """The answer to an error of ours. It hides where on this machine the folders of `settings` are."""
    problem = disk_problem(error)
    is_of_record = isinstance(error, RecordError) and not isinstance(error, RecordDamagedError)
    if problem is not None and (is_of_record or problem.status == HTTPStatus.INSUFFICIENT_STORAGE):
        return problem
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    match error:
        case RecordLockedError():
            status = HTTPStatus.CONFLICT
        case RecordError():
            status = HTTPStatus.CONFLICT  # the record as it is now allows no answer
        case CursorError():
            return ProblemError(status, f"query: cursor: found {error.found}; expected {error.expected}")
        case UsageError():
            pass
        case _:
            return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "what is asked for can't be read at the moment")
    return ProblemError(status, str(error) if settings is None else hidden(str(error), settings))


def hidden(text: str, settings: Settings) -> str:
    """Words about files, without where the folders of records and of inputs are."""
    for folder in (settings.runs, *([settings.inputs.resolve()] if settings.inputs else [])):
        text = text.replace(f"{folder}/", "")
    return text.replace(str(settings.runs), "runs")


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_UNFIT = (errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def status_of_disk(error: OSError) -> HTTPStatus | None:
    """507 where the disk is full, 503 where files can't be opened or written for another reason; None for the rest."""
    if error.errno in _FULL:
        return HTTPStatus.INSUFFICIENT_STORAGE
    return HTTPStatus.SERVICE_UNAVAILABLE if error.errno in _UNFIT else None


def disk_problem(error: BaseException) -> ProblemError | None:
    """The answer to an error that comes of the disk, or of one of ours that was raised in its place; None otherwise."""
    cause = error if isinstance(error, OSError) else error.__cause__ or error.__context__
    status = status_of_disk(cause) if isinstance(cause, OSError) else None
    if status is None:
        return None
    if status == HTTPStatus.INSUFFICIENT_STORAGE:
        return ProblemError(status, "the disk is full, and nothing was changed; make room, and send it again")
    why = os.strerror(getattr(cause, "errno", None) or errno.EIO)
    return ProblemError(status, f"files can't be opened or written ({why}); mend that, and send it again")


def problem_bytes(status: int, detail: str | None) -> bytes:
    """The body of an error's answer."""
    text = None if detail is None else storable(detail)[:_LONGEST]
    return msgspec.json.encode(Problem(title=HTTPStatus(status).phrase, status=status, detail=text))


def too_large(most: int) -> ProblemError:
    """A body of more than `most` bytes."""
    if not most:
        return ProblemError(HTTPStatus.BAD_REQUEST, "body: expected none")
    return ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"body: expected at most {most:,} bytes")


# ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────

_BODY_S, _LEAST_RATE = 20.0, 64 << 10  # a body may take so long, and a second for so many bytes that came


class Room:
    """Memory for the bodies of all requests together."""

    def __init__(self, n_bytes: int) -> None:
        self.n_left = n_bytes

    def lend(self) -> Lent:
        """A part of it for one request: none yet."""
        return Lent(self)


class Lent:
    """A part of the room for bodies."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._n_taken = 0

    def take(self, n_bytes: int) -> None:
        """Take so much more. Raises: ProblemError (503) where others have it."""
        if n_bytes > self._room.n_left:
            raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "too much is sent at once", {"retry-after": "10"})
        self._room.n_left -= n_bytes
        self._n_taken += n_bytes

    def give_back(self) -> None:
        self._room.n_left += self._n_taken
        self._n_taken = 0


async def read_body(receive: Receive, length: str | None, most: int, lent: Lent) -> bytes | None:
    """The whole body of a request; None where the client went away. `length` is what the request said of it.

    Raises: ProblemError (413) for more than `most` bytes, before any is read where `length` tells; (408) for one that
    comes too slowly; (503) where bodies of others fill the room.
    """
    if length is not None and length.isascii() and length.isdigit() and int(length[:20]) > most:
        raise too_large(most)
    parts: list[bytes] = []
    n_bytes = 0
    try:
        async with asyncio.timeout(_BODY_S) as limit:
            ends = limit.when() or 0.0
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                part = message.get("body", b"")
                n_bytes += len(part)
                if n_bytes > most:
                    raise too_large(most)
                lent.take(len(part))
                parts.append(part)
                if not message.get("more_body"):
                    return b"".join(parts)
                limit.reschedule(ends + n_bytes / _LEAST_RATE)
    except TimeoutError:
        raise ProblemError(HTTPStatus.REQUEST_TIMEOUT, "the body took too long", {"connection": "close"}) from None


_Type = TypeVar("_Type", bound=msgspec.Struct)
_MOST_PARAMETERS = 100


def decoded_query(raw: bytes, kind: type[_Type]) -> _Type:
    """The parameters of a query string.

    Raises: ProblemError (400) for one that is unknown, given twice, or of the wrong form.
    """
    if not raw:
        return _converted({}, kind, "query")
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_PARAMETERS)
    except (UnicodeDecodeError, ValueError):
        raise ProblemError(HTTPStatus.BAD_REQUEST, "the query can't be read: expected name=value, in UTF-8") from None
    lists = _list_fields(kind)
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            values.setdefault(name, []).append(value)
        elif name in values:
            raise ProblemError(HTTPStatus.BAD_REQUEST, f"query: {shorten(name, 60)} is there more than once")
        else:
            values[name] = value
    return _converted(values, kind, "query")


def decoded_body(data: bytes, kind: type[_Type]) -> _Type:
    """A JSON body, its texts made storable: each names or describes something.

    Raises: ProblemError (400) where it isn't JSON, (422) where it has another form.
    """
    try:
        found: _Type = decode_json(data, _decoder(kind), as_storable=True)
    except msgspec.ValidationError as error:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, f"body: {shorten(str(error), 300)}") from None
    except msgspec.DecodeError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"body: no JSON ({shorten(str(error), 200)})") from None
    return found


def _converted(values: dict[str, Any], kind: type[_Type], where: str) -> _Type:
    try:
        return msgspec.convert(values, ready(kind), strict=False)
    except msgspec.ValidationError as error:
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"{where}: {shorten(str(error), 300)}") from None
    except UnicodeEncodeError:  # a lone surrogate can't come out of UTF-8; a name of one can't be looked up
        raise ProblemError(HTTPStatus.BAD_REQUEST, f"{where}: no valid Unicode") from None


@cache
def _decoder(kind: type[msgspec.Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(ready(kind))


@cache
def _list_fields(kind: type[msgspec.Struct]) -> frozenset[str]:
    """Parameters that may be given more than once."""
    return frozenset(one.encode_name for one in msgspec.structs.fields(kind) if _is_list(one.type))


def _is_list(hint: Any) -> bool:
    while typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    return typing.get_origin(hint) in (tuple, list)
