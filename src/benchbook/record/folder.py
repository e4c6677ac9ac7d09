"""A record's folder: where its parts lie, and how it is created."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self, TypeAlias

import msgspec

from benchbook.canonical import decode_json, ready
from benchbook.errors import RecordDamagedError, RecordError, UsageError
from benchbook.evalsets.lines import NO_STAMP, Stamp, stamp_of, stamp_of_stat
from benchbook.locks import held, is_locked
from benchbook.record.facts import RunStarted
from benchbook.record.journal import JournalWriter, refuse_to_write
from benchbook.record.reading import SHARDS, first_line, is_sha256, read_journal, refuse_what_is_no_file, segment_files
from benchbook.text import did_you_mean, quoted
from benchbook.writing import folder_made_whole, sync_folder

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)

# What desktops, editors and file servers leave in any folder, and writers that were killed (`writing`): no part of a
# record, and no fault of it.
_LEFT_BEHIND = re.compile(
    r"\.new-[a-z0-9_]{8}|\..+\.tmp|\.DS_Store|\._.+|\.directory|\.localized|(eh)?Thumbs\.db|desktop\.ini|@eaDir|.+~|\..+\.sw[a-p]|\.~lock\..+#|\..+\.icloud",
    re.IGNORECASE,
)


def is_left_behind(name: str) -> bool:
    """True for the name of a file that a desktop, an editor, a file server or a killed writer left in a folder."""
    return _LEFT_BEHIND.fullmatch(name) is not None


class _Kind(msgspec.Struct):
    kind: str


_kind_decoder = msgspec.json.Decoder(ready(_Kind))


class Record:
    """Paths of one record. Nothing is read until it is asked for.

    `run_id` is the name of its folder, by which it is found. A record's own id stands in its first fact (`misnamed`).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path = Path(path)
        self.run_id = path.name if path.name not in ("", "..") else Path(os.path.realpath(path)).name
        self.journal, self.inputs = path / "journal", path / "inputs"
        self.is_sharded = (path / SHARDS).is_dir() and self.inputs.is_dir() and not self.journal.is_dir()
        if self.is_sharded:
            self.journal = path / SHARDS
        self.manifest, self.samples = path / "manifest.json", path / "samples.parquet"
        self.aggregates, self.decision = path / "aggregates.json", path / "decision.json"
        self.anchor = path / "anchor.json"  # of people's labels, which have none of the derived files
        self.held_inputs: frozenset[str] = frozenset()  # those that need not be hashed again

    def with_held(self, inputs: Iterable[str]) -> Self:
        """The same record, whose inputs of these hashes were just found to have them."""
        found = copy(self)
        found.held_inputs = frozenset(inputs)
        return found

    @property
    def at_work(self) -> Path:
        """The folder that is held while a process works at the record: asks, or derives.

        The journal's own lock is its writer's, and begins and ends in between.
        """
        return self.inputs

    def input(self, sha256: str) -> Path:
        """The file of an input. Raises: RecordError for a name that is no hash, and for a pipe or a device there."""
        if not is_sha256(sha256):
            found = quoted(sha256)
            raise RecordError(f"{self.path}: its first fact has the input {found}; expected 64 hexadecimal digits")
        refuse_what_is_no_file(self.inputs / sha256)
        return self.inputs / sha256

    def read_input(self, sha256: str) -> bytes:
        """The bytes of an input, held against its hash. Raises: RecordError."""
        path = self.input(sha256)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise RecordError(f"{path}: can't be read ({error.strerror})") from None
        if (found := hashlib.sha256(data).hexdigest()) != sha256:
            raise input_changed(path, found)
        return data

    def started(self) -> RunStarted:
        """The journal's first fact: the plan and settings of the run.

        Raises: RecordError for a folder without a record; RecordDamagedError.
        """
        for line in read_journal(self.journal):
            if isinstance(line.fact, RunStarted):
                return line.fact
            break
        else:
            if self.manifest.is_file():
                raise RecordDamagedError(self.journal / "000001.jsonl", None, "is missing, or has no line")
        raise RecordError(f"{self.path}: the journal does not begin with run_started")


class ShardRecord(Record):
    """One shard of a run, as a record of its own: it has a journal, and the inputs and the id are the run's."""

    def __init__(self, path: str | Path, run: str | Path | None = None) -> None:
        super().__init__(path)
        self.run = self.path.parents[1] if run is None else Path(run)
        whole = Record(self.run)
        self.run_id, self.inputs = whole.run_id, whole.inputs

    @property
    def at_work(self) -> Path:
        return self.path


def is_shard(path: Path) -> bool:
    """True for the folder of a shard, which has a journal, and no inputs of its own."""
    is_named = path.parent.name == SHARDS and path.name.isdecimal()
    return is_named and (path / "journal").is_dir() and not (path / "inputs").is_dir()


def misnamed(record: Record, run_id: str) -> str | None:
    """The words for a record that stands in a folder of another name than its own id; None where it is its own.

    The folder may be named by a symbolic link. A path such as `.` is looked up.
    """
    names = (record.run_id, Path(os.path.realpath(record.path)).name)
    if run_id in names:
        return None
    folder = record.run_id.encode("unicode_escape").decode(
        "ascii"
    )  # an id is ASCII: what only looks like it is told apart
    return (
        f"the folder is called {quoted(folder, 100)}, and the record in it is {quoted(run_id, 100)}: rename the "
        "folder, or name the record by its hash (verify --expect HASH)"
    )


def input_changed(path: Path, found: str) -> RecordError:
    """The error for an input with other bytes than its name says."""
    return RecordError(
        f"{path}: was changed: its bytes hash to {found}, and the record was begun with {path.name}; put the file back "
        "as it was, or begin another run"
    )


def record_named(run: str, runs: str | Path) -> Record:
    """The record that a user means: a path, or an id in the folder of records.

    Raises: UsageError.
    """
    for path in (Path(run), Path(runs) / run):
        if is_record(path):
            return open_record(path)
    if Path(run).exists():
        raise UsageError(f"{run}: not a record (it has no journal/)")
    near = did_you_mean(run, (path.name for path in record_folders(runs)))
    raise UsageError(f"{run}: not a record, here or in {runs}/; `benchbook runs` lists those that are there{near}")


def open_record(path: str | Path) -> Record:
    """The record in `path`.

    Raises: UsageError where there is none, or in a place that can't be.
    """
    if not is_record(path):
        raise UsageError(f"{path}: not a record (it has no journal/)")
    _check_is_text(path)
    return ShardRecord(path) if is_shard(Path(path)) else Record(path)


def _check_is_text(path: str | Path) -> None:
    """Refuse a place with bytes that are no UTF-8: tables can't be opened there. Raises: UsageError."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError(
            f"{path}: found bytes that are no UTF-8 in the name; expected a folder named in UTF-8"
        ) from None


def is_record(path: str | Path) -> bool:
    """True if a folder is a record's, even one that has lost its journal."""
    record = Record(path)
    if record.journal.is_dir() or record.anchor.is_file():
        return True
    return record.manifest.is_file() and record.aggregates.is_file()


def records_in(runs: str | Path) -> list[Record]:
    """The records of runs in a folder, the most recently written first. Records of labels are left out."""
    found = [Record(path) for path in record_folders(runs)]
    return sorted((one for one in found if not is_of_labels(one)), key=written_ns, reverse=True)


def record_folders(runs: str | Path) -> list[Path]:
    """The folders of records in a folder, by their names. A link to another one of them is no record of its own."""
    here = Path(os.path.realpath(runs))
    return sorted(path for path in Path(runs).glob("[!.]*") if is_record(path) and not _is_another(path, here))


def record_in(runs: str | Path, run_id: str) -> Record | None:
    """The record of a run in a folder, by its id alone; None where that folder has none of this name."""
    path = Path(runs) / run_id
    if RUN_ID.fullmatch(run_id) is None or not is_record(path) or _is_another(path, Path(os.path.realpath(runs))):
        return None
    return Record(path)


def _is_another(path: Path, here: Path) -> bool:
    """True for a link to something else in the same folder."""
    return path.is_symlink() and Path(os.path.realpath(path)).parent == here


def is_of_labels(record: Record) -> bool:
    """True if its journal, sealed or not, begins as one of labels; no more than its first line is read.

    Where that can't be read, the anchor says it, which runs have none of.
    """
    if record.is_sharded:
        return False
    with suppress(OSError, RecordDamagedError, msgspec.DecodeError):
        for first in segment_files(record.journal)[:1]:
            kind = decode_json(first_line(first), _kind_decoder).kind
            if kind in ("run_started", "labels_started"):
                return bool(kind == "labels_started")
    return record.anchor.is_file()


def written_ns(record: Record) -> int:
    """When the record was last written to, by its journal's folder or its manifest; 0 where nobody knows."""
    for path in (record.journal, record.manifest):
        with suppress(OSError):
            return path.stat().st_mtime_ns
    return 0


def at_work(record: Record) -> AbstractContextManager[None]:
    """Say, for as long as the block lasts, that a process works at this record: asks, or derives. Readers see it."""
    return held(record.at_work)


def is_at_work(record: Record) -> bool:
    """True if a process asks for this record, or derives it; of a run with shards, at any of them."""
    if is_locked(record.at_work) or is_locked(record.journal):
        return True
    return record.is_sharded and any(is_at_work(ShardRecord(path)) for path in shard_folders(record.path))


def shard_folders(run: Path) -> list[Path]:
    """The shards of a run that are there, by their numbers."""
    try:
        found = [path for path in (run / SHARDS).iterdir() if path.name.isdecimal() and (path / "journal").is_dir()]
    except OSError:
        return []
    return sorted(found, key=lambda path: int(path.name))


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file as it was when it was read: by how it looked before, or by its hash. A record takes it as that, or not."""

    path: Path
    stamp: Stamp | None = None  # `NO_STAMP` where there was none; whoever reads it says so
    sha256: str | None = None


def seen(path: str | Path) -> SeenFile:
    """A file as it is now, before it is read."""
    path = Path(path)
    try:
        return SeenFile(path, stamp_of_stat(path.stat()))
    except (OSError, ValueError):
        return SeenFile(path, NO_STAMP)


Inputs: TypeAlias = Mapping[str, Path | SeenFile | bytes]  # by the names that a first fact has for their hashes


def create_record(
    runs: str | Path,
    run_id: str,
    inputs: Inputs,
    first_fact: Callable[[dict[str, str]], RunStarted],
    fill: Callable[[Record], None] | None = None,
) -> Record:
    """Create a record under `runs`, with a copy of each input and its first fact, made from the inputs' hashes by name.

    `fill` adds whatever else belongs to it from the start (an import). The folder appears whole or not at all: if the
    process is killed at any moment, there is no record, or one that resumes.
    Raises: UsageError for an id that is taken or unfit, and for an input that was changed since it was seen;
    RecordError if the folder can't be written.
    """
    target = Path(runs) / run_id
    fit_for_run(target, run_id)
    if target.exists():
        raise UsageError(f"{target}: there is a record already; resume it, or choose another run id")
    with folder_made_whole(target) as made:
        record = Record(made)
        record.journal.mkdir()
        record.inputs.mkdir()
        hashes = copy_inputs(inputs, record.inputs)
        sync_folder(record.inputs)
        with JournalWriter(record.journal) as journal:
            journal.append(first_fact(hashes))
        if fill is not None:
            fill(record)
    return Record(target)


def fit_for_run(target: Path, run_id: str) -> None:
    """Refuse an id that is none, and a place where no record can be. Raises: UsageError, RecordError."""
    if not RUN_ID.fullmatch(run_id):
        raise UsageError(
            f"run id {run_id!r}: letters, digits, '.', '_' and '-', at most 100, not beginning with a mark"
        )
    refuse_to_write(target)
    _check_is_text(target)


def copy_inputs(inputs: Inputs, folder: Path) -> dict[str, str]:
    """Copy each input into a folder, under its hash, and return the hashes by the inputs' names.

    Raises: UsageError for a file that is not there, or that was changed since it was seen.
    """
    try:
        return {name: _copy_input(path, folder) for name, path in inputs.items()}
    except FileNotFoundError as error:
        raise UsageError(f"{error.filename}: can't be read (there is no such file)") from None


def hashes_of_inputs(inputs: Inputs) -> dict[str, str]:
    """The hashes that inputs would be copied under. Raises: as `copy_inputs`."""
    try:
        return {name: _read_input(path, lambda _: None) for name, path in inputs.items()}
    except FileNotFoundError as error:
        raise UsageError(f"{error.filename}: can't be read (there is no such file)") from None


def _copy_input(source: Path | SeenFile | bytes, folder: Path) -> str:
    temporary = folder / ".copy"
    with temporary.open("wb") as writer:
        sha256 = _read_input(source, writer.write)
        writer.flush()
        os.fsync(writer.fileno())
    temporary.rename(folder / sha256)
    return sha256


def _read_input(source: Path | SeenFile | bytes, take: Callable[[bytes], object]) -> str:
    """The hash of an input, all of whose bytes are given to `take`."""
    digest = hashlib.sha256()
    with _opened(source) as reader:
        _check_unchanged(source, reader)
        while block := reader.read(1 << 20):
            digest.update(block)
            take(block)
        _check_unchanged(source, reader, digest.hexdigest())
    return digest.hexdigest()


def _opened(source: Path | SeenFile | bytes) -> BinaryIO:
    if isinstance(source, bytes):
        return io.BytesIO(source)
    return (source.path if isinstance(source, SeenFile) else source).open("rb")


def _check_unchanged(source: Path | SeenFile | bytes, reader: BinaryIO, sha256: str | None = None) -> None:
    """Raises: UsageError where the file, or what was read of it (`sha256`), is not what was seen."""
    if not isinstance(source, SeenFile):
        return
    looks_so = source.stamp in (None, stamp_of(reader))
    if not looks_so or (None not in (sha256, source.sha256) and sha256 != source.sha256):
        raise UsageError(f"{source.path}: was changed while it was read; begin again once it is whole")
