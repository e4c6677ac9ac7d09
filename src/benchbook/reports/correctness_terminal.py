"""The summary of an `answer_correctness@v1` run, in plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchbook.reports import numbers
from benchbook.reports.correctness_model import CorrectnessReport, headline, notices
from benchbook.reports.correctness_report_tables import counted_line, misses_table, slice_tables
from benchbook.reports.tables import Table
from benchbook.reports.terminal import COLOURS, first_lines, painted, table_lines, wrapped
from benchbook.reports.unanswered import first_warnings
from benchbook.reports.words import asked_items

__all__ = ["correctness_lines"]


def correctness_lines(
    report: CorrectnessReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()
) -> Iterator[str]:
    """The score, why items missed, the scorecard's slices, and where the reports are."""
    manifest, file = report.manifest, report.aggregates
    top = headline(report)
    first = first_warnings(file)
    yield from first_lines(first, width, colour)
    yield ""
    yield from (painted(line, f"1;{COLOURS[top.tone]}", colour) for line in wrapped(top.words, width, ""))
    yield from wrapped(top.meaning, width, "")
    yield ""
    yield from wrapped(numbers.short_model(manifest.model_id), width, "")
    yield from wrapped(f"{manifest.dataset_id}, {asked_items(manifest)}; run {manifest.run_id}", width, "")
    for warning in (one for one in notices(report) if one not in first):
        yield from (painted(line, COLOURS["doubt"], colour) for line in wrapped(warning, width, "  ! "))
    yield ""
    for table in (_by_name(misses_table(file)), *slice_tables(file)):
        yield from table_lines(table, width, wrap=True)
    yield from wrapped(counted_line(file), width, "")
    yield from wrapped(f"record {manifest.journal_sha256}", max(width, 80), "")
    for path in written:
        yield from wrapped(str(path), max(width, 10_000), "  ")
    yield ""


def _by_name(misses: Table) -> Table:
    """The reasons by the spec's names alone: a terminal is narrow."""
    return Table(misses.caption, misses.columns[1:], tuple(row[1:] for row in misses.rows))
