"""The baseline of a folder of records: baseline.json there, and the record that it names."""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError, RecordError, UsageError
from benchbook.record.derived_files import check_whole
from benchbook.record.facts import RunEnded
from benchbook.record.folder import Record, is_record, write_file
from benchbook.record.reading import read_journal

__all__ = [
    "BASELINE_FILE",
    "Baseline",
    "baseline_from_json",
    "baseline_json",
    "baseline_record",
    "clear_baseline",
    "read_baseline",
    "set_baseline",
]


BASELINE_FILE = "baseline.json"


class Baseline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """baseline.json in the folder of records: a run's id, and the last hash of its journal."""

    run_id: str
    journal_sha256: str


def baseline_json(baseline: Baseline) -> bytes:
    """The file's bytes."""
    return msgspec.json.format(msgspec.json.encode(baseline), indent=2) + b"\n"


def baseline_from_json(data: bytes, path: str | Path) -> Baseline:
    """Raises: InputError naming `path` for anything but such a file."""
    try:
        return msgspec.json.decode(data, type=ready(Baseline))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            path, found=f"no baseline ({error})", expected="what `benchbook baseline set RUN` writes"
        ) from None


def set_baseline(runs: str | Path, record: Record) -> Baseline:
    """Make `record` the baseline of the folder `runs`, in which it must lie.

    Raises: UsageError for a record elsewhere, and for one whose run has not come to its end, failed itself (A3), or was
    a dry run (A6): nothing could regress from it; RecordError.
    """
    if record.path.resolve().parent != Path(runs).resolve():
        raise UsageError(f"{record.path}: not in {runs}; a baseline is one of the folder's own records")
    last_sha256, is_ended = _end_of(record)
    if not is_ended:
        raise UsageError(f"{record.path}: the run has not come to its end; resume it, or choose another baseline")
    check_whole(record)
    identity = record.started().identity
    status = "dry_run" if identity.get("dry_run") else identity.get("run_status", "completed")
    if status != "completed":
        raise UsageError(f"{record.path}: {str(status).replace('_', ' ')}; a baseline is a run that was scored")
    baseline = Baseline(run_id=record.run_id, journal_sha256=last_sha256)
    write_file(Path(runs) / BASELINE_FILE, baseline_json(baseline))
    return baseline


def read_baseline(runs: str | Path) -> Baseline | None:
    """What baseline.json says; None where there is none.

    Raises: InputError where it is no such file; RecordError where it can't be read.
    """
    path = Path(runs) / BASELINE_FILE
    try:
        return baseline_from_json(path.read_bytes(), path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordError(f"{path}: can't be read ({error.strerror})") from None


def clear_baseline(runs: str | Path) -> Baseline | None:
    """Forget the baseline; the record stays. Returns what it was.

    Raises: as `read_baseline`.
    """
    path = Path(runs) / BASELINE_FILE
    baseline = read_baseline(runs)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise RecordError(f"{path}: can't be removed ({error.strerror})") from None
    return baseline


def baseline_record(runs: str | Path) -> Record:
    """The record that the baseline names, held against its hash.

    Raises: UsageError where no baseline is set, or its record is gone; RecordError where the record is another one now.
    """
    baseline = read_baseline(runs)
    if baseline is None:
        raise UsageError(f"{runs}: no baseline is set; `benchbook baseline set RUN`, or name one with --baseline")
    record = Record(Path(runs) / baseline.run_id)
    if Path(baseline.run_id).name != baseline.run_id or not is_record(record.path):
        raise UsageError(f"{Path(runs) / BASELINE_FILE}: names the run {baseline.run_id!r}, which is not there")
    found, _ = _end_of(record)
    if found != baseline.journal_sha256:
        raise RecordError(
            f"{record.path}: its journal ends with the hash {found}, the baseline's with {baseline.journal_sha256}: "
            "it is another record now; set the baseline anew"
        )
    return record


def _end_of(record: Record) -> tuple[str, bool]:
    """The journal's last hash, its chain checked on the way, and whether the run came to its end."""
    last, is_ended = None, False
    for line in read_journal(record.journal):
        last = line.sha256
        is_ended = is_ended or isinstance(line.fact, RunEnded)
    if last is None:
        raise RecordError(f"{record.path}: the journal is empty")
    return last, is_ended
