"""Records that are there: opened and verified."""

from __future__ import annotations

from pathlib import Path

from benchbook.labels.verify import verify_record
from benchbook.library.objects import AnyRun, Run, record_of, run_of
from benchbook.library.verified import Verified


def load(run: str | Path, *, runs: str | Path = "runs") -> Run:
    """A record that is there already, of any spec: a path, or its id in the folder `runs`.

    Raises: UsageError where there is no such record; RecordError where its derived files are missing.
    """
    return run_of(record_of(run, runs))


def verify(run: AnyRun, *, expect: str | None = None, runs: str | Path = "runs") -> Verified:
    """Derive everything in a record again, offline, and name every byte that was changed.

    `run` may also be people's labels: they are held against the run that they name, where it lies beside them or in
    `runs`.
    """
    return Verified.of(verify_record(record_of(run, runs), expect=expect, runs=runs))
