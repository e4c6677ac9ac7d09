"""Sealed segments: frames of one size that says how long it is, by whichever library they were packed."""

from __future__ import annotations

import pytest

from benchbook.record.packing import PackingError, packed, unpacked, unpacked_size, zstd

LINES = b'{"seq":0}\n{"seq":1}\n'
# By the package `zstandard` 0.25, with which segments were sealed before.
BEFORE = bytes.fromhex("28b52ffd2014a100007b22736571223a307d0a7b22736571223a317d0a")


@pytest.mark.parametrize("data", [BEFORE, packed(LINES)], ids=["before", "now"])
def test_a_frame_says_its_size_and_is_unpacked(data: bytes) -> None:
    assert unpacked_size(data) == len(LINES)
    assert unpacked(data, len(LINES)) == LINES


@pytest.mark.parametrize(
    ("data", "most"),
    [
        pytest.param(BEFORE[:-1], 20, id="cut"),
        pytest.param(BEFORE, 19, id="longer-than-may-be"),
        pytest.param(zstd.compress(bytes(1 << 20)), 1_000, id="a-bomb"),
        pytest.param(BEFORE[:5] + b"\x13" + BEFORE[6:], 19, id="size-that-lies"),
        pytest.param(b"no frame", 20, id="garbage"),
        pytest.param(b"", 20, id="empty"),
    ],
)
def test_what_is_no_such_frame_is_refused(data: bytes, most: int) -> None:
    with pytest.raises(PackingError):
        unpacked(data, most)


def test_a_frame_may_keep_its_size_to_itself() -> None:
    stream = zstd.ZstdCompressor()
    assert unpacked_size(stream.compress(LINES) + stream.flush()) is None
