"""Zstandard: the standard library's own, which Python has since 3.14, and before that its backport."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PackingError = zstd.ZstdError

_LEVEL = 3
_LARGEST_WINDOW = 27  # as a power of two: what a frame may ask for while it is unpacked


def packed(data: bytes) -> bytes:
    """A frame that says how long its content is. Raises: MemoryError."""
    try:
        return zstd.compress(data, _LEVEL)
    except PackingError as error:  # the one fault that compressing can have
        raise MemoryError(str(error)) from None


def unpacker() -> zstd.ZstdDecompressor:
    """Unpacks one frame, piece by piece; `decompress` raises PackingError."""
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _LARGEST_WINDOW})


def unpacked_size(data: bytes) -> int | None:
    """The length of a frame's content, as it says; None if it does not. Raises: PackingError."""
    return zstd.get_frame_info(data).decompressed_size


def unpacked(data: bytes, most: int) -> bytes:
    """The content of one frame, which is at most so many bytes. Raises: PackingError for any other."""
    frame = unpacker()
    content = frame.decompress(data, most + 1)
    if not frame.eof or len(content) > most:
        raise PackingError("the frame is cut, or longer than it says")
    return content
