"""Writes a journal: one writer, each fact bound to the one before, on disk within 50 ms."""

from __future__ import annotations

import hashlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from benchbook.errors import RecordError, RecordLockedError
from benchbook.record.facts import FIRST_PREV, Fact, Sealed, line_of
from benchbook.record.packing import packed
from benchbook.record.reading import (
    MAX_SEGMENT_BYTES,
    MAX_SEGMENTS,
    MAX_WRITE_BYTES,
    JournalLine,
    read_journal,
    segment_files,
    segment_number,
)
from benchbook.record.whereabouts import what_became_of
from benchbook.system import SYSTEM
from benchbook.system.layer import PathLock
from benchbook.writing import cant_be_written, replacing, sync_folder, write_all

SEGMENT_BYTES = MAX_SEGMENT_BYTES
_SYNC_SECONDS = 0.05
_SYNC_FACTS = 256
_LOOK_FACTS = 16  # after which it is looked whether the journal is still there, where no fsync came first
_PATIENCE_S = (0.01, 0.1, 0.0)  # with one that only looks whether anybody writes: `locks.is_locked`

# What is said of a journal that can't be written.
_WHOLE = "what was recorded is whole. Make room or mend the folder"
_TAKEN_BACK = (
    "the disk did not keep the last facts that it was given, which were taken back: what was recorded before them is "
    "whole. Mend the disk"
)

_SPLIT = "What is recorded is whole; a run of more is split among several writers, by --shard"

LineHandler = Callable[[JournalLine], None]  # called with each line that is there when a journal is opened
JournalReader = Callable[[Path], Iterator[JournalLine]]  # the lines that stand; what follows the last is cut off


_FIRST_S, _LAST_S = 0.0, 253_402_300_799.0  # the years 1970 to 9999, which `verify` takes


def utc_now(now: float | None = None) -> str:
    """The time by RFC 3339, with milliseconds and `Z` (SPEC C7). A clock beyond its years is at their end."""
    now = min(max(time.time() if now is None else now, _FIRST_S), _LAST_S)
    return datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JournalWriter:
    """Appends facts to `journal`, alone: a second writer is refused until this one or its process is gone.

    A fact's bytes go to the operating system at once (they outlive the process) and to the disk in groups: at most
    50 ms or 256 facts later (they outlive the machine). `sync` and `close` return once all of them are there. A torn
    last line is cut off when the journal is opened, and so is whatever else `read` leaves out at the end; `cut` is the
    number of these bytes.

    Raises: RecordLockedError, RecordDamagedError; RecordError where records are only read (`refuse_to_write`); and if
    the disk is full, read-only or failing, or the journal was moved, deleted or cut off meanwhile: at the latest by
    `close`. After that nothing more is written, and what is there is whole: after a failed fsync nobody knows what the
    disk has of the facts since the last one (the system may forget them, and a second fsync says nothing of them), so
    these are taken back.
    """

    def __init__(
        self,
        journal: Path,
        *,
        on_line: LineHandler | None = None,
        segment_bytes: int | None = None,
        read: JournalReader = read_journal,
    ):
        refuse_to_write(journal.parent)
        self._journal = journal
        self._segment_bytes = min(segment_bytes or SEGMENT_BYTES, MAX_SEGMENT_BYTES)
        self._lock = lock_journal(journal)
        self._syncing = threading.Lock()  # one fsync at a time: the system tells of a failure only once
        self._unsynced: OSError | None = None  # an fsync failed
        self._lost: str | None = None  # the journal is no longer where it was
        self._stopped: str | None = None  # why nothing more is written; it has been told
        self._at_second = -1
        self._at_prefix = ""
        self._fd = -1
        try:
            self._recover(on_line, read)
        except BaseException as error:
            self._let_go()
            if isinstance(error, OSError):
                raise _write_error(journal, error) from None
            raise
        self._pending = 0
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._closing = False
        self._syncer = threading.Thread(target=self._sync_groups, name="journal-sync", daemon=True)
        self._syncer.start()

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────

    def _recover(self, on_line: LineHandler | None, read: JournalReader) -> None:
        for path in self._journal.glob("*.tmp"):
            path.unlink()
        self.seq, self.last_sha256 = 0, FIRST_PREV
        end = 0
        sealed: set[int] = set()
        last_segment = 1
        for line in read(self._journal):
            if line.segment != last_segment:
                last_segment, end = line.segment, 0
            if isinstance(line.fact, Sealed):
                sealed.add(line.fact.segment)
            self.seq, self.last_sha256 = line.fact.seq + 1, line.sha256
            end = line.offset
            if on_line is not None:
                on_line(line)
        n_begun = self._drop_begun(last_segment)
        files = segment_files(self._journal)
        self._segment = segment_number(files[-1]) if files else 1
        if self._segment != last_segment:
            end = 0
        path = self._path(self._segment)
        self._fd = SYSTEM.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        size = os.fstat(self._fd).st_size
        self._size = self._synced = _end_of_line(self._fd, end, size) if size else 0
        self.cut = size - self._size + n_begun
        if size > self._size:
            os.ftruncate(self._fd, self._size)
        sync_folder(self._journal)
        self._settle_sealing(sealed)

    def _drop_begun(self, last_segment: int) -> int:
        """Remove a segment that has no line yet, since its writer was killed before the seal of the one before, which
        stands as it was: it is sealed anew. Return the number of bytes that were in it."""
        files = segment_files(self._journal)
        if len(files) < 2 or segment_number(files[-1]) == last_segment or files[-2].suffix == ".zst":
            return 0
        size = files[-1].stat().st_size
        files[-1].unlink()
        return size

    def _settle_sealing(self, sealed: set[int]) -> None:
        """Settle a crash while sealing, which left both forms of a segment: remove the one that the journal lacks."""
        for path in self._journal.glob("*.jsonl.zst"):
            plain = self._path(segment_number(path))
            if plain.exists():
                (plain if segment_number(path) in sealed else path).unlink()

    def _path(self, number: int) -> Path:
        return self._journal / f"{number:06d}.jsonl"

    # ── appending ────────────────────────────────────────────────────────────────────────────────────────

    def append(self, *facts: Fact) -> str:
        """Write a fact, or several at once, and return the last one's hash."""
        if self.seq % _LOOK_FACTS == 0:
            self._look(self._size)
        self._check()
        if self._size >= self._segment_bytes:
            self._roll()
        return self._write(facts)

    def _write(self, facts: Sequence[Fact]) -> str:
        seq, sha256, at, lines = self.seq, self.last_sha256, self._now(), list[bytes]()
        for fact in facts:
            fact.seq, fact.prev, fact.at = seq, sha256, at
            raw = line_of(fact)
            seq, sha256 = seq + 1, hashlib.sha256(raw).hexdigest()
            lines += raw, b"\n"
        data = b"".join(lines)
        if len(data) > MAX_WRITE_BYTES:
            what = f"{len(data):,} bytes of facts at once; expected at most {MAX_WRITE_BYTES:,}"
            raise RecordError(f"{self._journal.parent}: {what}. Nothing of them is recorded: give them in parts")
        try:
            write_all(self._fd, data)
        except OSError as error:
            raise self._stop(error, self._size) from None
        self._size += len(data)
        self.seq, self.last_sha256 = seq, sha256
        self._pending += len(facts)
        if not self._wake.is_set():
            self._wake.set()
        if self._pending >= _SYNC_FACTS:
            self._hurry.set()
        return self.last_sha256

    def _check(self) -> None:
        if self._stopped is not None:
            raise RecordError(self._stopped)
        if self._unsynced is not None:
            raise self._stop(self._unsynced, self._synced, _TAKEN_BACK) from self._unsynced
        if self._lost is not None:
            self._stopped = self._lost
            raise RecordError(self._lost)

    def _look(self, size: int) -> None:
        """Look whether the open segment, of at least `size` bytes, is where it was."""
        self._lost = self._lost or what_became_of(self._fd, self._path(self._segment), size)

    def _stop(self, error: OSError, end: int, words: str = _WHOLE) -> RecordError:
        """Write nothing from here on, and cut off what follows `end`: a torn line, or facts that nobody can vouch for.
        Where that fails, too, a torn line is cut off when the journal is opened again."""
        with suppress(OSError):
            os.ftruncate(self._fd, end)
        told = _write_error(self._journal, error, words)
        self._stopped = str(told)
        return told

    def _now(self) -> str:
        now = time.time()
        second = math.floor(now)  # also of a clock before 1970
        if second != self._at_second:
            self._at_second, self._at_prefix = second, utc_now(now)[:19]
        return f"{self._at_prefix}.{int((now - second) * 1000):03d}Z"

    # ── to the disk ──────────────────────────────────────────────────────────────────────────────────────

    def _sync_groups(self) -> None:
        while not self._closing:
            self._wake.wait()
            self._hurry.wait(_SYNC_SECONDS)
            self._wake.clear()
            self._hurry.clear()
            self._pending = 0
            if not self._fsync():
                return

    def _fsync(self) -> bool:
        """Put what was written on the disk; False where this fails, or has failed before."""
        with self._syncing:
            if self._unsynced is None:
                size = self._size
                try:
                    os.fsync(self._fd)
                    self._synced = size
                    self._look(size)
                except OSError as error:
                    self._unsynced = error
            return self._unsynced is None

    def sync(self) -> None:
        """Return once every fact so far is on the disk."""
        self._fsync()
        self._check()

    def _roll(self) -> None:
        """Seal this segment and continue in the next.

        First the compressed file is written, then the fact that names it, and then the plain file is removed: a crash
        in between loses nothing.
        """
        full, number = self._path(self._segment), self._segment
        if number + 1 == MAX_SEGMENTS:  # a fact's place has no more bits for it
            self._stopped = f"{self._journal}: is full, with {number:,} segments. {_SPLIT}"
            raise RecordError(self._stopped)
        self.sync()
        try:
            lines = full.read_bytes()
            sealed = packed(lines)
            with replacing(full.with_suffix(".jsonl.zst")) as file:
                file.write(sealed)
            following = SYSTEM.open(self._path(number + 1), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise self._stop(error, self._size) from None
        with self._syncing:
            os.close(self._fd)
            self._fd, self._segment, self._size, self._synced = following, number + 1, 0, 0
        seal = Sealed(
            segment=number, sha256=hashlib.sha256(sealed).hexdigest(), lines_sha256=hashlib.sha256(lines).hexdigest()
        )
        self._write([seal])
        self.sync()
        try:
            sync_folder(self._journal)
            full.unlink()
        except OSError as error:
            raise self._stop(error, self._size) from None

    def close(self) -> None:
        """Put everything on the disk and release the lock. Safe to call twice.

        Raises: RecordError where something did not come to the disk, unless that was told before.
        """
        if self._closing:
            return
        self._closing = True
        self._wake.set()
        self._hurry.set()
        self._syncer.join()
        try:
            if self._stopped is None:
                self.sync()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._lock.close()

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def refuse_to_write(record: Path) -> None:
    """Raises: RecordError on a system where records are only read."""
    if SYSTEM.no_records is not None:
        raise RecordError(f"{record}: can't be written ({SYSTEM.no_records})")


def lock_journal(journal: Path) -> PathLock:
    """Lock the folder itself, as its one writer: the lock leaves no file behind and ends with its process.

    Raises: RecordLockedError where another has it; RecordError.
    """
    try:
        lock = SYSTEM.to_lock(journal)
    except OSError as error:
        raise RecordError(f"{journal}: can't be opened ({error.strerror})") from None
    for patience in _PATIENCE_S:
        with suppress(OSError):
            lock.take(wait=False)
            return lock
        time.sleep(patience)
    lock.close()
    raise RecordLockedError(f"{journal.parent}: another process is writing this record")


def _end_of_line(descriptor: int, offset: int, size: int) -> int:
    """The end of the line that starts at `offset`; `offset` itself where that is cut."""
    data = SYSTEM.read_at(descriptor, size - offset, offset)
    return offset + data.find(b"\n") + 1


def _write_error(journal: Path, error: OSError, words: str = _WHOLE) -> RecordError:
    return RecordError(f"{cant_be_written(journal.parent, error)}; {words}, then resume")
