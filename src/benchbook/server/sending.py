"""Answers as they are sent: the headers that all of them have, and pieces for as long as somebody takes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus

from starlette.types import Message

from benchbook.server.compression import goes_compressed, gzipped_pieces
from benchbook.server.operations import Stream, pieces_of
from benchbook.server.ranges import part_asked

_API_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_NO_STORE = (b"cache-control", b"no-store")
_SAFE: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)


def head(status: int, headers: Mapping[str, str], cookies: Sequence[str]) -> Message:
    """The head of an answer: with what keeps it to itself, and kept by nobody, where `headers` don't say otherwise."""
    sent: list[tuple[bytes, bytes]] = [*_SAFE]
    if "content-security-policy" not in headers:
        sent.append(_API_POLICY)
    if "cache-control" not in headers:
        sent.append(_NO_STORE)
    sent += [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    sent += [(b"set-cookie", cookie.encode("latin-1")) for cookie in cookies]
    return {"type": "http.response.start", "status": status, "headers": sent}


def sent_form(
    found: Stream, media: str, method: str, asked: Mapping[str, str], headers: dict[str, str]
) -> tuple[HTTPStatus, Stream]:
    """The status of a download, and its form: the part of a file that was asked for, or all of it, compressed where it
    shrinks. `asked` are the headers of the request; those of the answer are completed. Raises: ProblemError (416).
    """
    if found.file is None:
        if goes_compressed(media, asked, headers):
            found = replace(found, pieces=gzipped_pieces(found.pieces))
        return HTTPStatus.OK, found
    part = part_asked(asked, headers.get("etag"), found.length or 0) if method == "GET" else None
    if part is None:
        return HTTPStatus.OK, found
    headers |= part.headers
    return HTTPStatus.PARTIAL_CONTENT, replace(found, pieces=pieces_of(found.file, part.first, part.end))


async def until(pieces: AsyncIterator[bytes], gone: asyncio.Future[None]) -> AsyncIterator[bytes]:
    """The pieces, for as long as the client is there."""
    source = pieces.__aiter__()
    while True:
        coming = asyncio.ensure_future(source.__anext__())
        await asyncio.wait((coming, gone), return_when=asyncio.FIRST_COMPLETED)
        if not coming.done():
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
            return
        try:
            piece = coming.result()
        except StopAsyncIteration:
            return
        yield piece
