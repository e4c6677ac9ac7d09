"""Reads a journal: its facts in order, with the chain checked, and by sample in bounded memory."""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchbook.canonical import decode_json
from benchbook.errors import RecordDamagedError, RecordError
from benchbook.record.facts import (
    FIRST_PREV,
    Fact,
    fact_decoder,
)
from benchbook.record.format import refuse_later
from benchbook.record.packing import PackingError, unpacked, unpacked_size, unpacker

if TYPE_CHECKING:
    from benchbook.record.joined import JoinedJournals

SHARDS = "shards"  # the folder of a run's shards; where there is one, it stands in the place of a journal
LFS_POINTER = "is a Git LFS pointer, not the file itself: run `git lfs pull`"
CR_LF = "ends in CR LF; the record has LF (git autocrlf?)"

_POINTER = b"version https://git-lfs.github.com/spec/"
_LONGEST_POINTER = 1_024  # by its specification


def is_lfs_pointer(data: bytes) -> bool:
    """True if a file begins as the pointer that Git LFS leaves in place of a file."""
    return data.startswith(_POINTER) and len(data) <= _LONGEST_POINTER


def why_unreadable(path: Path, otherwise: str) -> str:
    """The reason why a file can't be read: that a pointer is in its place, else `otherwise`."""
    try:
        with path.open("rb") as file:
            return LFS_POINTER if is_lfs_pointer(file.read(_LONGEST_POINTER + 1)) else otherwise
    except OSError:
        return otherwise


def is_file(path: Path) -> bool:
    """True for a file, and a link to one; false where a link leads nowhere or in a circle."""
    try:
        return path.is_file()
    except (OSError, RuntimeError):
        return False


def refuse_what_is_no_file(path: Path) -> None:
    """Refuse a folder, a pipe or a device in the place of a file, which may never end; one that is missing is not.

    Raises: RecordError.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except (OSError, RuntimeError) as error:
        raise RecordError(f"{path}: can't be read ({getattr(error, 'strerror', None) or error})") from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe" if stat.S_ISFIFO(mode) else "no file"
        raise RecordError(f"{path}: is {kind}; expected a file")


# A fact's place in 64 bits: sample (28) | segment (14) | offset (22), so that sorting gives plan order.
OFFSET_BITS, SEGMENT_BITS = 22, 14
MAX_SEGMENT_BYTES = 1 << OFFSET_BITS
MAX_SEGMENTS = 1 << SEGMENT_BITS
MAX_SAMPLES = 1 << 28
_MAX_UNPACKED_BYTES = 1 << 28  # a full segment and its last, longest line, or all that was written at once
MAX_WRITE_BYTES = _MAX_UNPACKED_BYTES >> 1
_PIECE = 1 << 16  # bytes that are unpacked at once, where one line is wanted


class JournalLine(msgspec.Struct, frozen=True, gc=False):
    """One line of the journal. `raw` are its bytes without the newline, `sha256` is their hash."""

    segment: int
    number: int  # from 1, within its segment
    offset: int
    sha256: str
    fact: Fact
    raw: bytes


_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


def is_sha256(text: str) -> bool:
    """True for a hash as records have it: 64 hexadecimal digits, in lower case."""
    return _SHA256.fullmatch(text) is not None


def segment_number(path: Path) -> int:
    """The number in a segment's name: 12 for `000012.jsonl.zst`."""
    return int(path.name.split(".", 1)[0])


def segment_files(journal: Path) -> list[Path]:
    """The segments in order: `000001.jsonl` or, once sealed, `000001.jsonl.zst`.

    Of a joined record, those of its shards, one shard after the other.
    Raises: RecordDamagedError if one is missing; RecordError for shards that were not joined.
    """
    if journal.name == SHARDS:
        return _joined(journal).segments
    found: dict[int, Path] = {}
    for path in sorted(journal.glob("[0-9][0-9][0-9][0-9][0-9][0-9].jsonl*")):
        if path.name.endswith((".jsonl", ".jsonl.zst")) and is_file(path):
            # After a crash both forms may be there; the plain one is complete whenever it exists.
            found.setdefault(segment_number(path), path)
    for number in range(1, len(found) + 1):
        if number not in found:
            raise RecordDamagedError(journal / f"{number:06d}.jsonl", None, "this segment is missing")
    return [found[number] for number in sorted(found)]


def place_in(journal: Path, segment: int) -> Path:
    """The file of a segment, sealed or not, as a message names it."""
    files = segment_files(journal)
    return files[segment - 1] if segment <= len(files) else journal / f"{segment:06d}.jsonl"


def read_segment(path: Path) -> bytes:
    """A segment's lines.

    Raises: RecordDamagedError for a file that does not decompress, and for a pointer to one.
    """
    data = path.read_bytes()
    if is_lfs_pointer(data):
        raise RecordDamagedError(path, None, LFS_POINTER)
    if path.suffix != ".zst":
        return data
    try:
        size = unpacked_size(data)
        if size is None or not 0 < size <= _MAX_UNPACKED_BYTES:
            raise RecordDamagedError(path, None, f"says that it unpacks to {size or 0} bytes")
        return unpacked(data, size)
    except PackingError as error:
        raise RecordDamagedError(path, None, f"does not decompress ({error})") from None


def read_segment_there(path: Path) -> bytes:
    """A segment's lines, even if its writer has sealed it since it was found: the same lines, in another file."""
    try:
        return read_segment(path)
    except FileNotFoundError:
        if path.suffix == ".zst":
            raise
        return read_segment(path.with_name(f"{path.name}.zst"))


def first_line(path: Path) -> bytes:
    """A segment's first line, sealed or not, without unpacking the rest; without a newline where it is cut.

    Raises: RecordDamagedError for a file that does not decompress.
    """
    with path.open("rb") as file:
        if path.suffix != ".zst":
            return file.readline(_MAX_UNPACKED_BYTES)
        try:
            frame, line = unpacker(), bytearray()
            while b"\n" not in line[-_PIECE:] and len(line) < _MAX_UNPACKED_BYTES and not frame.eof:
                piece = file.read(_PIECE) if frame.needs_input else b""
                if frame.needs_input and not piece:
                    break
                line += frame.decompress(piece, _PIECE)
        except PackingError as error:
            raise RecordDamagedError(path, None, f"does not decompress ({error})") from None
    return bytes(line[: line.find(b"\n") + 1])


def read_journal(journal: Path, since: JournalLine | None = None) -> Iterator[JournalLine]:
    """Every whole line in order, with the chain checked on the way; those after `since`, where that was read before.
    A torn last line does not count. Of a joined record, the lines that one writer would have written (`joined`).

    Raises: RecordDamagedError naming file and line, also where `since` is not there as it was; LaterRecordError.
    """
    return _joined(journal).lines() if journal.name == SHARDS else read_chain(journal, since)


def _joined(journal: Path) -> JoinedJournals:
    from benchbook.record.joined import JoinedJournals  # which reads chains, as they are read here

    return JoinedJournals(journal)


def read_chain(journal: Path, since: JournalLine | None = None) -> Iterator[JournalLine]:
    """The lines of one journal, as `read_journal` gives them."""
    prev, seq = FIRST_PREV, 0
    before: tuple[Path, int] | None = None
    segments = segment_files(journal)
    for path in segments if since is None else segments[since.segment - 1 :]:
        data = read_segment_there(path)
        offset, number = 0, 0
        if since is not None and before is None:
            offset, number = _after(since, path, data), since.number
            prev, seq, before = since.sha256, since.fact.seq + 1, (path, number)
        while (end := data.find(b"\n", offset)) >= 0:
            number += 1
            raw = data[offset:end]
            if raw.endswith(b"\r"):
                raise RecordDamagedError(path, number, f"the line {CR_LF}")
            if before is None:
                refuse_later(journal.parent, raw)
            fact = _decode(raw, path, number)
            if fact.prev != prev or fact.seq != seq:
                intact = _next_prev(data, end + 1) == hashlib.sha256(raw).hexdigest()
                raise _broken_chain(path, number, before, fact, seq, intact=intact)
            prev, seq = hashlib.sha256(raw).hexdigest(), seq + 1
            yield JournalLine(segment_number(path), number, offset, prev, fact, raw)
            before = (path, number)
            offset = end + 1
        if offset < len(data) and path is not segments[-1]:
            raise RecordDamagedError(path, number + 1, "the line is cut, and it is not the journal's last")


def _after(line: JournalLine, path: Path, data: bytes) -> int:
    """Where the line after `line` begins, which was read before. Raises: RecordDamagedError where it is not there."""
    end = line.offset + len(line.raw) + 1
    if segment_number(path) != line.segment or data[line.offset : end] != line.raw + b"\n":
        raise RecordDamagedError(path, line.number, "is no longer what was read there before")
    return end


def _decode(raw: bytes, path: Path, number: int) -> Fact:
    try:
        fact: Fact = decode_json(raw, fact_decoder)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordDamagedError(path, number, f"not a fact ({error})") from None
    return fact


def _next_prev(data: bytes, start: int) -> str | None:
    """The `prev` of the line at `start`; None if there is no whole line, or it can't be read."""
    end = data.find(b"\n", start)
    try:
        fact: Fact = decode_json(data[start:end], fact_decoder)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return fact.prev if end >= 0 else None


def _broken_chain(
    path: Path, number: int, before: tuple[Path, int] | None, fact: Fact, seq: int, *, intact: bool
) -> RecordDamagedError:
    """The error for a line that breaks the chain. `intact`: the next line holds its hash, so it was not changed."""
    if fact.seq != seq:
        reason = f"seq is {fact.seq} where {seq} follows: lines were added, removed or swapped"
        return RecordDamagedError(path, number, reason)
    if before is not None and intact:
        return RecordDamagedError(*before, "was changed: the next line holds another hash of it")
    where = f"{before[0].name}:{before[1]}" if before else "the start"
    return RecordDamagedError(path, number, f"prev is not the hash of {where}: one of the two lines was changed")
