"""Answers as gzip, where the client takes it and it pays (RFC 9110, 8.4 and 12.5.3).

Left as they are: what is compressed already, what is short, events, and whatever sets cookies. Where a secret stands in
a compressed answer beside what somebody else chose, its length tells of the secret (BREACH).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

LEAST_BYTES = 1_000  # below, the head of an answer weighs more than what is saved
IN_THREAD_BYTES = 32_768  # more takes longer than a third of a millisecond, in which others would wait
ONCE, EACH_TIME = 9, 1  # levels: of what is compressed once, and of what is made for one answer
_GZIP = zlib.MAX_WBITS | 16
_MEDIA = frozenset(("application/json", "application/problem+json", "application/x-ndjson", "image/svg+xml"))
_MARK = "-gzip"  # the two forms of an answer are two things to a cache, and have two tags


def takes_gzip(accept_encoding: str) -> bool:
    """True where the header allows gzip: by its name or by `*`, with a weight above 0."""
    weights: dict[str, float] = {}
    for one in accept_encoding.lower().split(","):
        coding, _, rest = one.partition(";")
        weights[coding.strip()] = _weight(rest)
    return next((weights[name] for name in ("gzip", "x-gzip", "*") if name in weights), 0.0) > 0


def _weight(parameter: str) -> float:
    """The weight of `q=0.5`; 1 where none is given, 0 for anything else."""
    name, equals, value = parameter.strip().partition("=")
    if not name:
        return 1.0
    try:
        weight = float(value)
    except ValueError:
        return 0.0
    return weight if name.strip() == "q" and equals and 0 <= weight <= 1 else 0.0


def shrinks(media: str | None) -> bool:
    """True for text: it is worth compressing. Events are not: each must go out when it comes."""
    kind = (media or "").partition(";")[0]
    return kind in _MEDIA or (kind.startswith("text/") and kind != "text/event-stream")


def gzipped(data: bytes, level: int = EACH_TIME) -> bytes:
    """The bytes as one gzip member without a time, so that the same bytes give the same."""
    return zlib.compress(data, level, _GZIP)


def gzipped_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces as one gzip member; none that is given on is empty."""
    packer = zlib.compressobj(EACH_TIME, zlib.DEFLATED, _GZIP)
    try:
        for piece in pieces:
            if packed := packer.compress(piece):
                yield packed
        yield packer.flush()
    finally:
        close = getattr(pieces, "close", None)  # what a generator has open
        if close is not None:
            close()


def goes_compressed(media: str | None, asked: Mapping[str, str], headers: dict[str, str]) -> bool:
    """True where an answer goes out compressed. `headers` are the answer's, and say so then; and where it depends on
    `asked`, the request's, that others may get another form."""
    if not shrinks(media):
        return False
    headers["vary"] = "accept-encoding"
    if not takes_gzip(asked.get("accept-encoding", "")):
        return False
    headers["content-encoding"] = "gzip"
    if "etag" in headers:
        headers["etag"] = gzipped_tag(headers["etag"])
    return True


def gzipped_tag(etag: str) -> str:
    """The tag of the answer's compressed form."""
    return f'{etag.removesuffix(chr(34))}{_MARK}"'


def forms_of(etag: str) -> tuple[str, str]:
    """The tags of both forms."""
    return etag, gzipped_tag(etag)
