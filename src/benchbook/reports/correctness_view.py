"""How `answer_correctness@v1` runs are shown."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchbook.derivations.compared_run import training_loss
from benchbook.derivations.kinds import DerivedFiles
from benchbook.records.folder import Record
from benchbook.reports.correctness_html import correctness_html
from benchbook.reports.correctness_markdown import correctness_markdown
from benchbook.reports.correctness_model import CorrectnessReport, missed_rows, why_missed
from benchbook.reports.correctness_terminal import correctness_lines
from benchbook.reports.views import Rows, View
from benchbook.reports.write import write_pieces

__all__ = ["VIEW"]


def _report(record: Record, derived: DerivedFiles, rows: Rows) -> CorrectnessReport:
    return CorrectnessReport(
        derived.manifest, derived.aggregates, derived.decision, rows, partial(training_loss, record)
    )


def _write(report: CorrectnessReport, folder: Path) -> list[Path]:
    """Write report.html and report.md."""
    missed = missed_rows(report)
    return [
        write_pieces(folder / "report.html", correctness_html(report, missed)),
        write_pieces(folder / "report.md", correctness_markdown(report, missed)),
    ]


VIEW = View(report=_report, summary_lines=correctness_lines, write=_write, fail_reasons=why_missed)
