"""A journal as objects: parts of whole lines, each created once, that put together are the bytes of the journal.

A part is named by where it begins, so of two writers that go on at the same place one gets it. It is a frame of
Zstandard, as a sealed segment is. A segment that was sealed before any of it went out is one part: the sealed file.
Else the sealed file follows its parts, since its hash stands in the chain.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import StoreError, TakenError
from benchbook.record.packing import PackingError, packed, unpacked, unpacked_size
from benchbook.record.reading import MAX_WRITE_BYTES, read_segment_there, segment_files, segment_number
from benchbook.stores.names import PutSegment, part_name, sealed_name
from benchbook.stores.objects import Objects

PART_BYTES = 4 << 20  # of lines, unless one is longer
MOST_SEGMENT_BYTES = 2 * MAX_WRITE_BYTES
_MOST_OBJECT_BYTES = MOST_SEGMENT_BYTES + (1 << 20)  # what can't be packed grows a little


def lines_of(found: bytes, words: str) -> bytes:
    """The lines of an object. Raises: StoreError, with `words` for what it is, where it is no part of a journal."""
    try:
        size = unpacked_size(found)
        if size is None or not 0 < size <= MOST_SEGMENT_BYTES:
            raise StoreError(f"{words}: says that it unpacks to {size or 0} bytes")
        data = unpacked(found, size)
    except PackingError as error:
        raise StoreError(f"{words}: is no part of a journal ({error})") from None
    if not data.endswith(b"\n"):
        raise StoreError(f"{words}: is no part of a journal (its last line is cut)")
    return data


def cut(data: bytes, start: int = 0, most: int = PART_BYTES) -> Iterator[tuple[int, bytes]]:
    """Whole lines from `start` on, in parts of at most so many bytes, and where each begins. A longer line is one."""
    end = data.rfind(b"\n") + 1
    while start < end:
        stop = data.rfind(b"\n", start, min(start + most, end)) + 1 or data.find(b"\n", start) + 1
        yield start, data[start:stop]
        start = stop


# ── from here to there ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _End:
    """Where the parts end that are there."""

    segment: int = 1
    offset: int = 0
    is_one_sealed: bool = False  # its only part is the sealed file


class JournalPusher:
    """Pushes one journal, as it grows, again and again: each time what has come since.

    `segments` are those that the store has. Raises: TakenError where it has other lines than the journal: another
    writer's; StoreError.
    """

    def __init__(self, objects: Objects, name: str, journal: Path, segments: dict[int, PutSegment]) -> None:
        self._objects = objects
        self._name = name
        self._journal = journal
        self._segments = segments
        self._end: _End | None = None
        self.n_put = 0

    def push(self) -> None:
        """Push every whole line that there is now. They are on this disk before they go."""
        if self._end is None:
            self._end = self._found_end()
        files = segment_files(self._journal)
        for path in files[self._end.segment - 1 :]:
            number = segment_number(path)
            if number > self._end.segment:
                self._end = _End(number)
            data, sealed = _read(path, _next(files, number))
            self._push_segment(self._end, data, sealed)

    @property
    def has_whole_segment(self) -> bool:
        """True if a segment has been filled since the last push."""
        return self._end is not None and len(segment_files(self._journal)) > self._end.segment

    def _push_segment(self, end: _End, data: bytes, sealed: bytes | None) -> None:
        there = self._segments.setdefault(end.segment, PutSegment())
        if sealed is not None and not there.parts:
            found = self._create(part_name(end.segment, 0), sealed, data)
            there.parts.append(0)
            end.offset, end.is_one_sealed = len(lines_of(found, self._name)), found == sealed
        while end.offset < len(data):
            _, lines = next(cut(data, end.offset))
            found = self._create(part_name(end.segment, end.offset), packed(lines), data[end.offset :])
            there.parts.append(end.offset)
            end.offset += len(lines_of(found, self._name))
        if sealed is not None and not (there.is_sealed or end.is_one_sealed):
            self._create(sealed_name(end.segment), sealed, data)
            there.is_sealed = True

    def _create(self, name: str, wanted: bytes, lines: bytes) -> bytes:
        """Create an object, and return the one that is there then: it has lines that go there, `lines` or the first of
        them. Another process that pushes the same journal may have cut it otherwise."""
        name = f"{self._name}/{name}"
        if self._objects.put_new(name, wanted):
            self.n_put += 1
            return wanted
        there = self._objects.get(name, _MOST_OBJECT_BYTES)
        if there != wanted and not lines.startswith(lines_of(there, name)):
            raise self._taken(name)
        return there

    def _found_end(self) -> _End:
        """Where the parts end that the store has, the last of which must be this journal's: each line holds the hash of
        the one before, so those before it are, too."""
        number = max((number for number, one in self._segments.items() if one.parts), default=None)
        if number is None:
            return _End()
        there = self._segments[number]
        offset = max(there.parts)
        name = f"{self._name}/{part_name(number, offset)}"
        found = self._objects.get(name, _MOST_OBJECT_BYTES)
        lines = lines_of(found, name)
        files = segment_files(self._journal)
        if number > len(files):
            raise self._behind()
        data, sealed = _read(files[number - 1], _next(files, number))
        here = data[offset : offset + len(lines)]
        if here != lines[: len(here)] or (not here and offset > len(data)):
            raise self._taken(name)
        if len(here) < len(lines):
            raise self._behind()
        return _End(number, offset + len(lines), there.parts == [0] and found == sealed)

    def _taken(self, name: str) -> TakenError:
        what = "has lines of another writer, who goes on with it, too, or has gone on with it elsewhere"
        return TakenError(f"{self._objects.address}/{name}: {what}; here it is {self._journal.parent}")

    def _behind(self) -> TakenError:
        what = "has more lines than this folder: another writer has gone on with it"
        return TakenError(
            f"{self._objects.address}/{self._name}: {what}; here it is {self._journal.parent}. Pull first"
        )


def _next(files: list[Path], number: int) -> Path | None:
    return files[number] if number < len(files) else None


def _read(path: Path, following: Path | None) -> tuple[bytes, bytes | None]:
    """A segment's whole lines, which are on the disk; and its sealed file, once the segment that follows names it."""
    try:
        with path.open("rb") as file:
            if path.suffix != ".zst":
                data = file.read()
                with suppress(OSError):  # where nothing is written any more there is nothing to wait for
                    os.fsync(file.fileno())
            else:
                data = read_segment_there(path)
    except FileNotFoundError:
        data = read_segment_there(path)
    data = data[: data.rfind(b"\n") + 1]
    sealed = None
    if following is not None and b"\n" in read_segment_there(following):
        sealed = path.with_name(sealed_name(segment_number(path))).read_bytes()
    return data, sealed


# ── from there to here ───────────────────────────────────────────────────────────────────────────────────────


def last_part_of(objects: Objects, journal: str, number: int, segment: PutSegment) -> tuple[int, bytes]:
    """Where the last part of a segment begins, and its lines. Raises: StoreError."""
    offset = max(segment.parts)
    name = f"{journal}/{part_name(number, offset)}"
    return offset, lines_of(objects.get(name, _MOST_OBJECT_BYTES), name)


def segment_of(objects: Objects, journal: str, number: int, segment: PutSegment) -> tuple[bytes, bytes | None]:
    """A segment's lines as the store has them, and the bytes of its sealed file, or of its only part: they are what its
    sealed file must be.

    Raises: StoreError where a part is missing, or is none.
    """
    if segment.is_sealed:
        name = f"{journal}/{sealed_name(number)}"
        found = objects.get(name, _MOST_OBJECT_BYTES)
        return lines_of(found, name), found
    found, lines = b"", bytearray()
    for offset in sorted(segment.parts):
        name = f"{journal}/{part_name(number, offset)}"
        if offset != len(lines):
            raise StoreError(f"{name}: begins at byte {offset:,}, and the part before it ends at {len(lines):,}")
        found = objects.get(name, _MOST_OBJECT_BYTES)
        lines += lines_of(found, name)
        if len(lines) > MOST_SEGMENT_BYTES:
            raise StoreError(f"{name}: its segment has more than {MOST_SEGMENT_BYTES:,} bytes")
    return bytes(lines), found if len(segment.parts) == 1 else None
