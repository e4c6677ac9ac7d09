"""A record's folder: where its parts lie, and how it is created."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from benchbook.errors import RecordDamagedError, RecordError, UsageError
from benchbook.record.facts import RunStarted
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from benchbook.writing import folder_made_whole, sync_folder

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Record:
    """Paths of one record. Nothing is read until it is asked for."""

    def __init__(self, path: str | Path) -> None:
        self.path = path = Path(path)
        self.run_id = path.name
        self.journal, self.inputs = path / "journal", path / "inputs"
        self.manifest, self.samples = path / "manifest.json", path / "samples.parquet"
        self.aggregates, self.decision = path / "aggregates.json", path / "decision.json"

    def input(self, sha256: str) -> Path:
        return self.inputs / sha256

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


def record_named(run: str, runs: str | Path) -> Record:
    """The record that a user means: a path, or an id in the folder of records.

    Raises: UsageError.
    """
    for path in (Path(run), Path(runs) / run):
        if is_record(path):
            return Record(path)
    if Path(run).exists():
        raise UsageError(f"{run}: not a record (it has no journal/)")
    raise UsageError(f"{run}: not a record, here or in {runs}/; `benchbook runs` lists those that are there")


def open_record(path: str | Path) -> Record:
    """The record in `path`.

    Raises: UsageError where there is none.
    """
    if not is_record(path):
        raise UsageError(f"{path}: not a record (it has no journal/)")
    return Record(path)


def is_record(path: str | Path) -> bool:
    """True if a folder is a record's, even one that has lost its journal."""
    record = Record(path)
    return record.journal.is_dir() or (record.manifest.is_file() and record.aggregates.is_file())


def records_in(runs: str | Path) -> list[Record]:
    """The records of runs in a folder, the most recently written first. Records of labels are left out."""
    found = [Record(path) for path in Path(runs).glob("[!.]*") if is_record(path)]
    return sorted((one for one in found if not _is_of_labels(one)), key=_written_ns, reverse=True)


def _is_of_labels(record: Record) -> bool:
    """True if its journal begins as one of labels. An unreadable one counts as a run's, and is reported as damaged."""
    if record.manifest.exists():
        return False
    with suppress(OSError, ValueError, RecursionError), (record.journal / "000001.jsonl").open("rb") as file:
        first = json.loads(file.readline())
        return isinstance(first, dict) and first.get("kind") == "labels_started"
    return False


def _written_ns(record: Record) -> int:
    for path in (record.journal, record.manifest):
        with suppress(OSError):
            return path.stat().st_mtime_ns
    return 0


def create_record(
    runs: str | Path,
    run_id: str,
    inputs: Mapping[str, Path | bytes],
    first_fact: Callable[[dict[str, str]], RunStarted],
    fill: Callable[[Record], None] | None = None,
) -> Record:
    """Create a record under `runs`, with a copy of each input (a path or bytes) and its first fact, made from the
    inputs' hashes by name.

    `fill` adds whatever else belongs to it from the start (an import). The folder appears whole or not at all: if the
    process is killed at any moment, there is no record, or one that resumes.
    Raises: UsageError for an id that is taken or unfit; RecordError if the folder can't be written.
    """
    if not RUN_ID.fullmatch(run_id):
        raise UsageError(
            f"run id {run_id!r}: letters, digits, '.', '_' and '-', at most 100, not beginning with a mark"
        )
    target = Path(runs) / run_id
    if target.exists():
        raise UsageError(f"{target}: there is a record already; resume it, or choose another run id")
    with folder_made_whole(target) as made:
        record = Record(made)
        record.journal.mkdir()
        record.inputs.mkdir()
        try:
            hashes = {name: _copy_input(path, record.inputs) for name, path in inputs.items()}
        except FileNotFoundError as error:
            raise UsageError(f"{error.filename}: can't be read (there is no such file)") from None
        sync_folder(record.inputs)
        with JournalWriter(record.journal) as journal:
            journal.append(first_fact(hashes))
        if fill is not None:
            fill(record)
    return Record(target)


def _copy_input(source: Path | bytes, folder: Path) -> str:
    temporary = folder / ".copy"
    digest = hashlib.sha256()
    with (
        io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as reader,
        temporary.open("wb") as writer,
    ):
        while block := reader.read(1 << 20):
            digest.update(block)
            writer.write(block)
        writer.flush()
        os.fsync(writer.fileno())
    temporary.rename(folder / digest.hexdigest())
    return digest.hexdigest()
