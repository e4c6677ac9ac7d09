"""Derived files that all records share: the manifest, JSON laid out to be read, and whether these may be trusted.

Derived files prove nothing without the journal that they came from. Before they are read, both ends of it are checked
(`check_whole`), without a scan; only `verify` shows whether all of it holds.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import decode_json, ready, storable_json
from benchbook.errors import RecordDamagedError, RecordError
from benchbook.locks import locked_folder
from benchbook.record.anchor import Anchor, anchor_of
from benchbook.record.facts import Fact, LabelsStarted, RunStarted, fact_decoder
from benchbook.record.folder import Record, misnamed
from benchbook.record.format import refuse_later
from benchbook.record.joined import JoinedJournals
from benchbook.record.reading import (
    CR_LF,
    LFS_POINTER,
    first_line,
    is_lfs_pointer,
    read_segment,
    refuse_what_is_no_file,
    segment_files,
    why_unreadable,
)
from benchbook.record.sets import read_set, set_files
from benchbook.record.state import JournalState
from benchbook.text import shorten
from benchbook.writing import cant_be_written, temporary_folder, write_file


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """manifest.json: what was recorded when, by which rules and code, and the hash that names the record.

    Each evaluator adds who was asked what (SPEC R7.1).
    """

    run_id: str
    timestamp_utc: str
    ended_utc: str | None
    state: str  # the journal's own word: complete, interrupted, open
    state_detail: str | None
    spec: str
    spec_sha256: str
    dataset_id: str
    dataset_version_or_hash: str
    repeats: int
    code_version: dict[str, Any]
    environment: dict[str, Any]
    config: dict[str, Any]
    plan_sha256: str
    inputs: dict[str, str]  # what it is -> its SHA-256, under inputs/
    journal_segments: int
    journal_facts: int
    journal_sha256: str  # the last fact's hash: it names the whole record
    derived: dict[str, str]  # file -> its SHA-256
    derived_by: dict[str, str]  # the versions that wrote them
    manifest_sha256: str  # of this manifest with this field empty: no byte of it changes unseen
    # Of the repository that holds the user's config; left out of records before derivation 3.
    project_version: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


def told_by_journal(state: JournalState, derived: dict[str, str]) -> dict[str, Any]:
    """The part of every manifest that follows from the journal; `derived` holds the other derived files' hashes."""
    from benchbook.record.tables import writer_version  # loads the room of eval sets, as the one below

    started, ended = state.started, state.ended or state.interrupted
    return {
        "run_id": started.run_id,
        "timestamp_utc": started.at,
        "ended_utc": ended.at if ended else None,
        "state": state.state,
        "state_detail": state.interrupted.reason if state.interrupted and not state.ended else None,
        "spec": started.spec,
        "spec_sha256": started.spec_sha256,
        "dataset_id": started.identity["dataset_id"],
        "code_version": started.code_version,
        "environment": started.environment,
        "config": started.config,
        "plan_sha256": started.plan_sha256,
        "inputs": started.inputs,
        "journal_segments": state.n_segments,
        "journal_facts": state.n_facts,
        "journal_sha256": state.last_sha256,
        "derived": derived,
        "derived_by": {"tables": writer_version()},
        "manifest_sha256": "",
        "project_version": started.identity.get("project_version", msgspec.UNSET),
    }


_HEAD = 1_025  # bytes: enough to tell a pointer from a segment
_TAIL = 1 << 16


class _Ends(msgspec.Struct):
    """The part of a manifest that says where its journal ends, and which files follow from it."""

    journal_facts: int
    journal_sha256: str
    derived: dict[str, str] = {}


def check_whole(record: Record) -> RunStarted | LabelsStarted:
    """Check a record's first fact, which is returned, and its last one against the manifest, and against that the small
    derived files; of people's labels, against the anchor.

    A journal that has grown since its files were derived is whole: the run was resumed.

    Raises: RecordDamagedError saying what is wrong with the journal; RecordError for a manifest that can't be read, and
        for files that are not those of the manifest.
    """
    segments = segment_files(record.journal)
    if not segments:
        raise RecordDamagedError(record.journal / "000001.jsonl", None, "is missing")
    for path in (record.manifest, record.aggregates, record.decision, record.samples):
        refuse_what_is_no_file(path)
    try:
        for path in segments:
            _check_head(path)
        first = _check_first(segments[0])
        is_run = isinstance(first, RunStarted)
        found = _ends_of(record) if is_run else anchor_of(record, first)
        if record.is_sharded:
            _check_set(record, found.journal_sha256 if found is not None else None)
        elif found is not None:
            _check_last(segments, found, "manifest.json" if is_run else "anchor.json")
        if isinstance(found, _Ends):
            _check_of_one_time(record, found)
    except OSError as error:
        where = error.filename or record.path
        raise RecordDamagedError(where, None, f"can't be read ({error.strerror or error})") from None
    return first


def misnamed_words(record: Record, first: Fact | None = None) -> str | None:
    """The words for a record of a run that stands under another name than its own (`misnamed`); None for all others.

    `first` is its first fact, where that was read. One whose first fact can't be read is damaged, and says no name.
    """
    if first is None:
        try:
            segments = segment_files(record.journal)
            first = _decoded(segments[0], 1, first_line(segments[0])) if segments else None
        except (RecordError, OSError):
            return None
    return misnamed(record, first.run_id) if isinstance(first, RunStarted) else None


def inside(record: Record, words: str) -> str:
    """Words about a record's file, with paths shortened to their place within the record."""
    return words.replace(f"{record.path}{os.sep}", "").removeprefix(f"{record.path}: ")


def _check_head(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if is_lfs_pointer(head):
        raise RecordDamagedError(path, None, LFS_POINTER)


def _check_first(path: Path) -> RunStarted | LabelsStarted:
    """The first fact. A journal that does not begin with the start of a run or of labels is refused.

    Raises: LaterRecordError, RecordDamagedError.
    """
    line = first_line(path)
    refuse_later(path.parents[1], line)
    fact = _decoded(path, 1, line)
    if not isinstance(fact, RunStarted | LabelsStarted):
        raise RecordDamagedError(path, 1, "is not a record's first fact")
    return fact


def _ends_of(record: Record) -> _Ends | None:
    """The manifest's end of the journal; None if nothing was derived yet."""
    try:
        data = record.manifest.read_bytes()
    except FileNotFoundError:
        return None
    if is_lfs_pointer(data):
        raise RecordError(f"{record.manifest}: {LFS_POINTER}")
    try:
        return msgspec.json.decode(data, type=ready(_Ends))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = f"its derived files can't be read (manifest.json: {error}); `benchbook rescore` it"
        raise RecordError(f"{record.path}: {why}") from None


def _check_last(segments: list[Path], ends: _Ends | Anchor, named_in: str) -> None:
    path, line = next(_last_lines(segments), (segments[-1], b""))
    if hashlib.sha256(line.removesuffix(b"\n")).hexdigest() == ends.journal_sha256:
        return
    if line.endswith(b"\r\n"):
        raise RecordDamagedError(path, None, f"its last line {CR_LF}")
    if _decoded(path, None, line).seq < ends.journal_facts:
        raise RecordDamagedError(path, None, f"the journal ends with another fact than {named_in} names")


def _check_set(record: Record, derived_from: str | None) -> None:
    """Check that the derived files are of the newest set, or of one before it; and that no shard is shorter than it was
    when it was joined: its other bytes are left to `verify`."""
    shards = JoinedJournals(record.journal)
    if derived_from not in (None, shards.set.root):
        earlier = (read_set(path).root for path in set_files(record.path)[:-1])
        if derived_from not in earlier:
            raise RecordDamagedError(set_files(record.path)[-1], None, "has another root than manifest.json names")
    for path, n_bytes in shards.last_segments():
        if path.suffix != ".zst" and path.stat().st_size < n_bytes:
            raise RecordDamagedError(path, None, f"ends before the {n_bytes:,} bytes that were joined")


def _check_of_one_time(record: Record, ends: _Ends) -> None:
    """Refuse files of which a derivation that was broken off, or a power cut, left some as they were before."""
    for path in (record.aggregates, record.decision):
        with suppress(FileNotFoundError):
            if path.name in ends.derived and sha256_of(path) != ends.derived[path.name]:
                raise _changed(path)


def check_derived(record: Record, name: str) -> None:
    """Hold a derived file, such as a table, against the hash that the manifest has of it. Raises: RecordError."""
    ends = _ends_of(record)
    path = record.path / name
    try:
        if ends is not None and name in ends.derived and sha256_of(path) != ends.derived[name]:
            raise _changed(path)
    except OSError as error:
        raise RecordError(f"{path}: can't be read ({error.strerror}); `benchbook rescore` the run") from None


def _changed(path: Path) -> RecordError:
    why = "was changed: it does not have the hash that manifest.json names; `benchbook rescore` the run"
    return RecordError(f"{path}: {why_unreadable(path, why)}")


def _last_lines(segments: list[Path]) -> Iterator[tuple[Path, bytes]]:
    """The last whole line of each segment, from the last segment back. A line that is cut off does not count."""
    for path in reversed(segments):
        tail = read_segment(path) if path.suffix == ".zst" else _tail(path)
        end = tail.rfind(b"\n")
        if end >= 0:
            yield path, tail[tail.rfind(b"\n", 0, end) + 1 : end + 1]


def _tail(path: Path) -> bytes:
    """The end of a file, long enough to hold its last whole line."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        length = _TAIL
        while True:
            file.seek(max(size - length, 0))
            tail = file.read()
            if tail[:-1].count(b"\n", 0, max(tail.rfind(b"\n"), 0)) or length >= size:
                return tail
            length *= 4


def _decoded(path: Path, number: int | None, line: bytes) -> Fact:
    if not line.endswith(b"\n"):
        raise RecordDamagedError(path, number, "the line is cut, and it is the only one" if line else "is empty")
    if line.endswith(b"\r\n"):
        raise RecordDamagedError(path, number, f"the line {CR_LF}")
    try:
        fact: Fact = decode_json(line[:-1], fact_decoder)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordDamagedError(path, number, f"not a fact ({error})") from None
    return fact


def pretty_json(value: Any) -> bytes:
    """Canonical JSON, laid out to be read: same values, same bytes. All texts are `storable`, whatever was given."""
    return msgspec.json.format(storable_json(value), indent=2) + b"\n"


def sha256_of(path: Path | bytes) -> str:
    """The SHA-256 of a file, or of bytes."""
    if isinstance(path, bytes):
        return hashlib.sha256(path).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hashes_of(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Name -> SHA-256, for a manifest's `derived`; the manifest itself is left out."""
    return {name: sha256_of(folder / name) for name in names if name != "manifest.json"}


def write_manifest(folder: Path, manifest: dict[str, Any]) -> str:
    """Write manifest.json with its own hash in it, as `manifest_sha256`, and return that hash."""
    manifest = {name: value for name, value in manifest.items() if value is not msgspec.UNSET}
    digest = hashlib.sha256(storable_json(manifest | {"manifest_sha256": ""})).hexdigest()
    write_file(folder / "manifest.json", pretty_json(manifest | {"manifest_sha256": digest}), synced=False)
    return digest


@contextmanager
def deriving(record: Record) -> Iterator[None]:
    """Hold a record while its files are derived in place, once nobody else does: who writes last has read last.

    Raises: RecordError.
    """
    with ExitStack() as held:
        try:
            held.enter_context(locked_folder(record.path))
        except OSError as error:
            raise RecordError(f"{record.path}: can't be held ({error.strerror})") from None
        yield


@contextmanager
def tables_put_last(target: Path) -> Iterator[Path]:
    """A folder for tables, which go to `target` when the block ends: after the files that it writes there itself.

    These are small, and `check_whole` holds them against the manifest, which comes last of all: of files that are
    replaced one by one, a reader never takes the new ones with the old.
    """
    try:
        with temporary_folder(target) as tables:
            yield tables
            for path in sorted(tables.iterdir()):
                path.replace(target / path.name)
    except OSError as error:
        raise RecordError(cant_be_written(target, error)) from None


@contextmanager
def reading_frame(path: Path) -> Iterator[None]:
    """Report whatever Polars finds wrong with a record's table as RecordError, also where it panics."""
    from benchbook.evalsets.parquet import ParquetError, reading_parquet

    try:
        with reading_parquet():
            yield
    except FileNotFoundError:
        raise RecordError(f"{path}: not there; resume the run, or `benchbook rescore` it") from None
    except (OSError, ParquetError) as error:
        why = why_unreadable(path, f"not a readable table ({shorten(str(error), 300)}); `benchbook rescore` it")
        raise RecordError(f"{path}: {why}") from None


@contextmanager
def reading_derived(record: Record) -> Iterator[None]:
    """Report whatever is wrong with a record's derived files, while the block reads them, as RecordError.

    If the journal that they came from is gone or is another one, the block is not entered (RecordDamagedError).
    """
    check_whole(record)
    try:
        yield
    except FileNotFoundError as error:
        hint = "the run was not ended: resume it, or `benchbook rescore` it"
        raise RecordError(f"{error.filename or record.path}: not there; {hint}") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        why = f"its derived files can't be read ({error}); `benchbook rescore` it"
        for path in (record.aggregates, record.decision):
            why = f"{path.name} {LFS_POINTER}" if why_unreadable(path, why) == LFS_POINTER else why
        raise RecordError(f"{record.path}: {why}") from None


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """One thing that is not as it was written. `line` counts from 1 within the file; None means the whole file."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.what}"
