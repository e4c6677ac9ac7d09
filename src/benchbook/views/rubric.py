"""How `rubric@v1` runs are shown."""

from __future__ import annotations

from functools import partial

from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.recorded_set import items_of
from benchbook.evaluators.rubric.rows import PanelManifest
from benchbook.labels.panel import PanelAnalysis
from benchbook.record.folder import Record
from benchbook.views.model import RunReport
from benchbook.views.terminal import summary_lines
from benchbook.views.views import Rows, View
from benchbook.views.write import write_reports

__all__ = ["VIEW"]


def _report(record: Record, derived: DerivedFiles, rows: Rows) -> RunReport:
    return RunReport(
        derived.manifest,
        derived.aggregates,
        derived.decision,
        rows,
        partial(items_of, record),
        _panel(derived, rows),
    )


def _panel(derived: DerivedFiles, rows: Rows) -> PanelAnalysis | None:
    if not isinstance(derived.manifest.panel, PanelManifest):
        return None
    from benchbook.labels.panel import panel_analysis

    return panel_analysis(derived.manifest, derived.aggregates, rows())


VIEW = View(report=_report, summary_lines=summary_lines, write=write_reports, fail_reasons=lambda row: row.fail_reasons)
