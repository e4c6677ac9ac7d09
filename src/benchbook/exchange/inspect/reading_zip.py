"""A zip archive as a stream of members: its directory is gone through, and never held.

Nothing is ever written to disk, so no member's name can lead anywhere. An archive without a directory, which is cut off
or not whole yet, is gone through from its start, as far as whole members go.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, Self

from benchbook.errors import InputError
from benchbook.record.packing import PackingError, unpacker
from benchbook.system import SYSTEM
from benchbook.text import plural, quoted

STORED, DEFLATED, ZSTANDARD = 0, 8, 93

_LOCAL = struct.Struct("<4s5H3L2H")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_ENCRYPTED, _SIZES_BEHIND, _UTF_8 = 0x1, 0x8, 0x800
_IN_EXTRA = 0xFFFFFFFF  # a size or place that stands in the extra field, for it has 64 bits

_BLOCK = 1 << 20
_PIECE = 1 << 10  # what is unpacked at once where nothing says its size: of a bomb, a few MB
_MOST_BYTES = 1 << 30  # of a member, unpacked
_UNSUSPICIOUS = 64 << 20  # up to here a member may be packed as tightly as it likes
_MOST_FRAMES = 10_000  # of Zstandard in a member, each of which costs a little however short it is
_MOST_TIMES = 1000  # beyond, its size over what it takes in the archive


class Member(NamedTuple):
    """A member of an archive: where it begins, and what is said of it."""

    name: str
    method: int
    flags: int
    checksum: int
    packed: int  # bytes in the archive
    size: int  # bytes, unpacked
    at: int  # of its own header, from the file's start


class ZipArchive:
    """A zip file, open until `close`.

    `is_whole` is False for one whose directory is not there: `members` are then those that are whole.
    """

    def __init__(self, path: str | Path) -> None:
        """Raises: InputError where it can't be read, or is no archive that is gone through from its start."""
        self.path = Path(path)
        try:
            self._file = SYSTEM.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise InputError(self.path, found=f"a file that can't be read ({error.strerror})") from None
        try:
            self._size = os.fstat(self._file).st_size
            found = self._directory()
            self.is_whole = found is not None
            self._start, self._end, self._n, self._shift = found or (0, 0, 0, 0)
        except BaseException:
            self.close()
            raise

    def members(self) -> Iterator[Member]:
        """Its members, in the order of its directory.

        Raises: InputError where that makes no sense, or members lie over one another.
        """
        taken = 0
        for member in self._listed() if self.is_whole else self._found():
            taken += member.packed
            if taken > self._size:
                raise self._broken(member.name, "members that lie over one another", "members one after another")
            yield member

    def read(self, member: Member) -> bytes:
        """A member's content. Raises: InputError where it is damaged, encrypted, a bomb, or packed in another way."""
        if member.flags & _ENCRYPTED:
            raise self._broken(member.name, "an encrypted member", "one that anyone can read")
        self._check_size(member)
        expected = _LOCAL.size + len(member.name.encode(errors="replace")) + member.packed
        raw = self._at(member.at, expected + 64)  # its extra field is short, and seldom needs a second read
        begin = self._begin_of(member, raw)
        if len(raw) < begin + member.packed:
            raw = self._at(member.at, begin + member.packed)
        packed = raw[begin : begin + member.packed]
        if len(packed) < member.packed:
            raise self._broken(member.name, "the file's end in the middle of it", plural(member.packed, "byte"))
        content = self._unpacked(member, packed)
        if zlib.crc32(content) != member.checksum:
            raise self._broken(member.name, "other bytes than its checksum is of", "a member as it was written")
        return content

    def close(self) -> None:
        """Close the file; again is no fault."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── by the directory ─────────────────────────────────────────────────────────────────────────────────────

    def _directory(self) -> tuple[int, int, int, int] | None:
        """Where the directory begins and ends, how many members it has, and how far all places in it are off.

        They are, by what was put before the archive. None where there is no directory.
        """
        tail_at = max(0, self._size - _END.size - 0xFFFF)
        tail = self._at(tail_at, self._size - tail_at)
        at = tail.rfind(b"PK\5\6")
        while at >= 0 and not _ends_with(tail, at):
            at = tail.rfind(b"PK\5\6", 0, at)
        if at < 0:
            return None
        _, disk, first_disk, _, n, length, start, _ = _END.unpack_from(tail, at)
        end = tail_at + at
        locator = self._at(end - _LOCATOR_64.size, _LOCATOR_64.size) if end >= _LOCATOR_64.size else b""
        if locator.startswith(b"PK\6\7"):
            end -= _LOCATOR_64.size + _END_64.size
            large = self._at(end, _END_64.size)
            if len(large) < _END_64.size or not large.startswith(b"PK\6\6"):
                raise self._broken(None, "a directory of 64 bits that is not where it should be")
            _, _, _, _, disk, first_disk, _, n, length, start = _END_64.unpack(large)
        begin = end - length
        if disk or first_disk or begin < 0 or begin < start:
            raise self._broken(None, "a directory that does not fit into the file")
        if n and self._at(begin, 4) != b"PK\1\2":
            raise self._broken(None, "no directory where its end says that it begins")
        return begin, end, n, begin - start

    def _listed(self) -> Iterator[Member]:
        at, block, block_at = self._start, b"", self._start
        for number in range(self._n):
            if at + _ENTRY.size + 3 * 0xFFFF > block_at + len(block) and block_at + len(block) < self._end:
                block_at, block = at, self._at(at, min(self._end - at, _BLOCK))
            place = at - block_at
            if place + _ENTRY.size > len(block) or block[place : place + 4] != b"PK\1\2":
                raise self._broken(f"directory[{number}]", "no entry", plural(self._n, "entry", "entries"))
            entry = _ENTRY.unpack_from(block, place)
            flags, method, checksum, packed, size, length, extra, comment = (*entry[3:5], *entry[7:13])
            name = block[place + _ENTRY.size : place + _ENTRY.size + length]
            begin = entry[16]
            if _IN_EXTRA in (packed, size, begin):
                first = place + _ENTRY.size + length
                size, packed, begin = self._of_64(block[first : first + extra], size, packed, begin)
            yield Member(_text(name, flags), method, flags, checksum, packed, size, begin + self._shift)
            at += _ENTRY.size + length + extra + comment

    # ── without one ──────────────────────────────────────────────────────────────────────────────────────────

    def _found(self) -> Iterator[Member]:
        """Members as their own headers say, one after another, up to the first that is not whole."""
        at = 0
        while True:
            head = self._at(at, _LOCAL.size)
            if len(head) < _LOCAL.size or not head.startswith(b"PK\3\4"):
                return
            _, _, flags, method, _, _, checksum, packed, size, length, extra = _LOCAL.unpack(head)
            rest = self._at(at + _LOCAL.size, length + extra)
            if len(rest) < length + extra:
                return
            begin = at + _LOCAL.size + length + extra
            if _IN_EXTRA in (packed, size):
                size, packed, _ = self._of_64(rest[length:], size, packed, 0)
            member = Member(_text(rest[:length], flags), method, flags, checksum, packed, size, at)
            at = begin + packed
            if flags & _SIZES_BEHIND and not checksum and not packed:
                measured = self._measured(member, begin)
                if measured is None:
                    return
                member, at = measured
            if at > self._size:
                return
            yield member

    def _measured(self, member: Member, begin: int) -> tuple[Member, int] | None:
        """A member whose sizes stand behind it, measured by unpacking it, and where the next one begins.

        None where it is not whole, or its end can't be seen.
        """
        stream = _stream(member.method)
        if stream is None:
            return None
        at, size, checksum = begin, 0, 0
        while not stream.eof:
            piece = self._at(at, _PIECE)
            try:
                content = stream.decompress(piece) if piece else b""
            except (zlib.error, PackingError):
                return None
            at, size, checksum = at + len(piece), size + len(content), zlib.crc32(content, checksum)
            if not piece or size > _MOST_BYTES:
                return None
        end = at - len(stream.unused_data)
        whole = member._replace(checksum=checksum, packed=end - begin, size=size)
        behind = self._at(end, 24)
        signed = 4 if behind.startswith(b"PK\7\x08") else 0
        for width in ("<LLL", "<LQQ"):
            length = signed + struct.calcsize(width)
            fits = len(behind) >= length and struct.unpack_from(width, behind, signed) == (checksum, end - begin, size)
            # Both fit to an empty member: then what follows tells them apart.
            if fits and (width == "<LQQ" or self._at(end + length, 2) in (b"PK", b"")):
                return whole, end + length
        return None

    # ── a member ─────────────────────────────────────────────────────────────────────────────────────────────

    def _check_size(self, member: Member) -> None:
        if member.size > _MOST_BYTES:
            raise self._broken(member.name, plural(member.size, "byte"), f"at most {_MOST_BYTES:,}")
        if member.size > max(_UNSUSPICIOUS, _MOST_TIMES * member.packed):
            found = f"{member.size:,} bytes in {member.packed:,}, which looks like a bomb"
            raise self._broken(member.name, found, f"at most {_MOST_TIMES:,} times what it takes in the archive")

    def _begin_of(self, member: Member, raw: bytes) -> int:
        """How far behind its own header a member's bytes begin."""
        if len(raw) < _LOCAL.size or not raw.startswith(b"PK\3\4"):
            raise self._broken(member.name, "no member where the directory says that it begins")
        length, extra = _LOCAL.unpack_from(raw)[-2:]
        return _LOCAL.size + int(length) + int(extra)

    def _unpacked(self, member: Member, packed: bytes) -> bytes:
        try:
            content = self._content(member.method, packed, member.size + 1)
        except (zlib.error, PackingError) as error:
            raise self._broken(member.name, f"bytes that can't be unpacked ({error})") from None
        if content is None:
            expected = f"{STORED}, {DEFLATED} or {ZSTANDARD}"
            raise self._broken(member.name, f"compression {member.method}", expected)
        if len(content) != member.size:
            more = "more" if len(content) > member.size else f"{len(content):,}"
            raise self._broken(member.name, f"{more} bytes", f"{member.size:,}, as its directory says")
        return content

    def _content(self, method: int, packed: bytes, most: int) -> bytes | None:
        """At most so many bytes of what was packed; None for a method that is not known."""
        if method == STORED:
            return packed[:most]
        if method == DEFLATED:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
        if method != ZSTANDARD:
            return None
        return _of_frames(packed, most)

    def _of_64(self, extra: bytes, size: int, packed: int, begin: int) -> tuple[int, int, int]:
        """The same three, those of 64 bits taken from the extra field."""
        at = 0
        while at + 4 <= len(extra):
            kind, length = struct.unpack_from("<HH", extra, at)
            if kind == 1:
                values = iter(struct.unpack_from(f"<{min(length, len(extra) - at - 4) // 8}Q", extra, at + 4))
                three = [next(values, one) if one == _IN_EXTRA else one for one in (size, packed, begin)]
                return three[0], three[1], three[2]
            at += 4 + length
        return size, packed, begin

    def _at(self, at: int, length: int) -> bytes:
        try:
            return SYSTEM.read_at(self._file, max(length, 0), at)
        except OSError as error:
            raise InputError(self.path, found=f"a file that can't be read ({error.strerror})") from None

    def _broken(self, name: str | None, found: str, expected: str | None = None) -> InputError:
        return InputError(self.path, field=None if name is None else quoted(name), found=found, expected=expected)


# ── how members are packed ───────────────────────────────────────────────────────────────────────────────────────


class _Stream(Protocol):
    """Unpacks what it is given piece by piece, and notices the end."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


def _of_frames(packed: bytes, most: int) -> bytes:
    """At most so many bytes of what is in a member's frames: mostly one, and no more of them than is reasonable."""
    content, at = bytearray(), 0
    for _ in range(_MOST_FRAMES):
        if at == len(packed) or len(content) == most:
            break
        frame = unpacker()
        while not frame.eof and len(content) < most and (at < len(packed) or not frame.needs_input):
            piece = packed[at : at + _BLOCK] if frame.needs_input else b""
            content += frame.decompress(piece, most - len(content))
            at += len(piece)
        at -= len(frame.unused_data)
    return bytes(content)


def _stream(method: int) -> _Stream | None:
    """None for a method that is not known, or does not say where it ends."""
    if method == DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS)
    return unpacker() if method == ZSTANDARD else None


def _ends_with(tail: bytes, at: int) -> bool:
    """True if the end of a directory, which seems to begin here, reaches to the end of the file."""
    return at + _END.size <= len(tail) and at + _END.size + int(_END.unpack_from(tail, at)[-1]) == len(tail)


def _text(name: bytes, flags: int) -> str:
    return name.decode("utf-8" if flags & _UTF_8 else "cp437", "replace")
