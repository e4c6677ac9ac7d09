"""Bodies that a server compressed though it was asked not to."""

from __future__ import annotations

import zlib

from benchbook.providers.http_connection import BodyTooLargeError, HttpError

__all__ = ["EncodingError", "decoded"]

_GZIP, _ZLIB, _RAW = 31, 15, -15  # zlib's window bits for each


class EncodingError(HttpError):
    """A `Content-Encoding` that can't be read. Asking again would bring it again."""


def decoded(body: bytes, encoding: str, limit: int) -> bytes:
    """`body` as it was before it was compressed, at most `limit` bytes.

    Raises: EncodingError; BodyTooLargeError; HttpError for what is not what its header says, or is cut.
    """
    for name in reversed([name.strip().lower() for name in encoding.split(",")]):
        match name:
            case "" | "identity":
                pass
            case "gzip" | "x-gzip":
                body = _inflated(body, _GZIP, name, limit)
            case "deflate":
                # Some servers send it without the zlib header that the standard asks for.
                body = _inflated(body, _ZLIB if body[:1] and body[0] & 15 == 8 else _RAW, name, limit)
            case _:
                raise EncodingError(f"content-encoding {name[:40]} is not supported", cause="broken_reply")
    return body


def _inflated(body: bytes, window_bits: int, name: str, limit: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while body:
        stream = zlib.decompressobj(window_bits)
        try:
            piece = stream.decompress(body, limit + 1 - size)
        except zlib.error as error:
            raise HttpError(f"the body is no {name} ({error})", cause="broken_reply") from None
        size += len(piece)
        if size > limit:
            raise BodyTooLargeError(f"the reply is larger than {limit} bytes", cause="broken_reply")
        if not stream.eof:
            raise HttpError(f"the {name} body is cut", cause="broken_reply")
        pieces.append(piece)
        body = stream.unused_data if window_bits == _GZIP else b""  # gzip may have several members
    return b"".join(pieces)
