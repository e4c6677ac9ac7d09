"""Hostile inputs for parsers: bytes that were once right, and what chance makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

CORPUS = Path(__file__).parent / "corpus"

# What breaks readers: where one piece of a file is replaced by, or followed by, one of these.
TOKENS: tuple[bytes, ...] = (
    b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n", b"\x1a", b"\xe2\x80\xa8", b"\xc2\x85",
    b"\xed\xa0\x80",
    b"\\ud800", b"\\udfff\\ud800", b"\\u0000", b'"', b'""', b"'", b",", b",,", b";", b"\t", b":", b"{", b"}", b"[",
    b"]", b"{}",
    b"[[]]", b"null", b"true", b"NaN", b"-Infinity", b"1e400", b"-0", b"0.1e-400", b"9" * 30, b"9" * 5_000, b"1_0",
    b"0x1",
    b"[" * 300, b'{"a":' * 300, b"[" * 20_000, b"a" * 70_000, b"=1+1", b"\xe2\x80\xae", b"\xf0\x9f\x92\xa9",
    b"e\xcc\x81",
    b"\xc4\xb0", b"\xef\xac\x80", b"../../../etc/passwd", b"{{prompt}}", b"{{", b"}}", b"<think>", b"</think>", b"%00",
    b"2026-02-30", b"9999-12-31T24:60:60Z", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n",
    b"PAR1", b"PK\x03\x04",
    b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b'"a":1,"a":2', b"__proto__", b"constructor", b"# ", b'"""', b"[a.b]",
    b"[[a]]", b"inf", b"\x7f",
)  # fmt: skip
_LONGEST = 400_000


@st.composite
def hostile(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds after some changes, or as it is; now and then bytes that nobody ever wrote."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        data = _changed(draw, data, seeds)[:_LONGEST]
    return data


def _changed(draw: st.DrawFn, data: bytes, seeds: Sequence[bytes]) -> bytes:
    start = draw(st.integers(0, len(data)))
    end = min(len(data), start + draw(st.sampled_from((0, 1, 2, 5, 20, 200, 10_000))))
    match draw(st.integers(0, 8)):
        case 0:  # a bit
            bit = 1 << draw(st.integers(0, 7))
            return data[:start] + bytes(byte ^ bit for byte in data[start : start + 1]) + data[start + 1 :]
        case 1 | 2:  # a token, between or instead
            return data[:start] + draw(st.sampled_from(TOKENS)) + data[end:]
        case 3 | 4:  # a piece gone, or again
            return data[:start] + data[start:end] * draw(st.sampled_from((0, 2, 3, 50))) + data[end:]
        case 5:  # cut
            return data[:start]
        case 6:  # a piece of another
            other = draw(st.sampled_from(seeds))
            at = draw(st.integers(0, len(other)))
            return data[:start] + other[at : at + 200] + data[end:]
        case 7:  # bytes that nobody wrote
            return data[:start] + draw(st.binary(max_size=20)) + data[end:]
        case _:  # in another encoding
            return data.decode("utf-8", "replace").encode(
                draw(st.sampled_from(("utf-16", "latin-1", "utf-8-sig", "cp037"))), "replace"
            )
