"""What a run's commands print at their end: the same summary, or the same JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchbook.cli.output import print_json
from benchbook.derivations.rows import RubricRow
from benchbook.derivations.rubric_tables import Derived
from benchbook.errors import RecordError
from benchbook.records.folder import Record

__all__ = ["print_decision", "print_run"]


def print_run(record: Record, derived: Derived, *, reports: str | None, as_json: bool, quiet: bool = False) -> None:
    """Write the reports (into `reports`/RUN_ID, unless that is None), and print the summary."""
    if quiet and reports is None and not as_json:
        return
    from benchbook.reports import RunReport, print_summary, write_reports

    report = RunReport(derived.manifest, derived.aggregates, derived.decision, rows_of(record))
    written: list[Path] = []
    if reports is not None:
        folder = Path(reports) / record.run_id
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordError(f"{folder}: can't be written ({error.strerror})") from None
        written = write_reports(report, folder)
    if as_json:
        print_json(run_json(record, derived) | {"reports": [str(path) for path in written]})
    elif not quiet:
        print_summary(report, sys.stdout, written=written)


def print_decision(record: Record, derived: Derived, *, as_json: bool) -> None:
    """The decision alone, with its gates."""
    from benchbook.reports import RunReport, print_summary

    if as_json:
        print_json(run_json(record, derived))
    else:
        print_summary(RunReport(derived.manifest, derived.aggregates, derived.decision, rows_of(record)), sys.stdout)


def run_json(record: Record, derived: Derived) -> dict[str, Any]:
    """A run for programs: the three derived files under their names."""
    return {
        "run": str(record.path),
        "manifest": derived.manifest,
        "aggregates": derived.aggregates,
        "decision": derived.decision,
    }


def rows_of(record: Record) -> Callable[[], Iterator[RubricRow]]:
    """Starts a pass over a record's rows each time it is called."""
    from benchbook.records.tables import read_rows

    return lambda: read_rows(record.samples, RubricRow)
