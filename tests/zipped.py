"""Zip archives written by hand, byte by byte, right and wrong."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from benchbook.record.packing import zstd

STORED, DEFLATED, ZSTANDARD = 0, 8, 93
_ALL_ONES = 0xFFFFFFFF


@dataclass(frozen=True)
class Entry:
    """A member, and in which way it is written. What is None is as it should be."""

    name: str
    content: bytes = b"{}"
    method: int = DEFLATED
    flags: int = 0
    sizes: Literal["before", "behind", "behind_unsigned", "behind_64", "of_64"] = "before"
    size: int | None = None  # as is said
    checksum: int | None = None
    at: int | None = None  # where its own header is, as the directory says
    local_name: str | None = None
    frames: int = 1  # of Zstandard

    @cached_property
    def packed(self) -> bytes:
        if self.method == DEFLATED:
            packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
            return packer.compress(self.content) + packer.flush()
        if self.method == ZSTANDARD:
            step = -(-len(self.content) // self.frames) or 1
            return b"".join(_frame(self.content[step * n : step * (n + 1)]) for n in range(self.frames))
        return self.content

    @property
    def all_flags(self) -> int:
        return self.flags | (0 if self.name.isascii() else 0x800) | (0x8 if self.sizes.startswith("behind") else 0)

    @property
    def said(self) -> tuple[int, int, int]:
        """Checksum, packed size and size."""
        checksum = zlib.crc32(self.content) if self.checksum is None else self.checksum
        return checksum, len(self.packed), len(self.content) if self.size is None else self.size


def _frame(content: bytes) -> bytes:
    stream = zstd.ZstdCompressor()  # as Inspect does: its size is not in the frame
    return stream.compress(content) + stream.flush()


def _local(entry: Entry) -> bytes:
    checksum, packed, size = entry.said
    extra = b""
    if entry.sizes.startswith("behind"):
        checksum = packed = size = 0
    if entry.sizes == "of_64":
        extra = struct.pack("<HHQQ", 1, 16, size, packed)
        packed = size = _ALL_ONES
    name = (entry.local_name or entry.name).encode()
    head = struct.pack(
        "<4s5H3L2H",
        b"PK\3\4",
        45,
        entry.all_flags,
        entry.method,
        0,
        0x21,
        checksum,
        packed,
        size,
        len(name),
        len(extra),
    )
    behind = b""
    if entry.sizes.startswith("behind"):
        signature = b"" if entry.sizes == "behind_unsigned" else b"PK\7\x08"
        behind = signature + struct.pack("<LQQ" if entry.sizes == "behind_64" else "<LLL", *entry.said)
    return head + name + extra + entry.packed + behind


def _listed(entry: Entry, at: int) -> bytes:
    checksum, packed, size = entry.said
    at = at if entry.at is None else entry.at
    extra = b""
    if entry.sizes == "of_64":
        extra = struct.pack("<HHL", 0x7075, 4, 0) + struct.pack("<HHQQQ", 1, 24, size, packed, at)
        packed = size = at = _ALL_ONES
    name = entry.name.encode()
    return struct.pack(
        "<4s6H3L5H2L", b"PK\1\2", 45, 45, entry.all_flags, entry.method, 0, 0x21, checksum, packed, size, len(name),
        len(extra), 0, 0, 0, 0, at,
    ) + name + extra  # fmt: skip


def archive(
    entries: Sequence[Entry],
    *,
    prefix: bytes = b"",
    comment: bytes = b"",
    end_of_64: bool = False,
    has_directory: bool = True,
    disk: int = 0,
    length: int | None = None,
) -> bytes:
    """The bytes of an archive; `length` is the directory's, as its end says."""
    body, directory = bytearray(), bytearray()
    for entry in entries:
        directory += _listed(entry, len(body))
        body += _local(entry)
    if not has_directory:
        return prefix + bytes(body)
    n, size, start = len(entries), len(directory) if length is None else length, len(body)
    end = b""
    if end_of_64:
        end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, disk, disk, n, n, size, start)
        end += struct.pack("<4sLQL", b"PK\6\7", 0, len(prefix) + len(body) + len(directory), 1)
        n, size, start = 0xFFFF, _ALL_ONES, _ALL_ONES
    end += struct.pack("<4s4H2LH", b"PK\5\6", disk, disk, n, n, size, start, len(comment)) + comment
    return prefix + bytes(body + directory) + end


def bomb(name: str, size: int, *, method: int = DEFLATED, said: int | None = None) -> Entry:
    """A member that unpacks to so many zeros."""
    return replace(Entry(name, bytes(size), method), size=said)
