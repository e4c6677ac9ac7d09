"""How `rubric@v1` runs are shown."""

from __future__ import annotations

from functools import partial

from benchbook.derivations.asked import items_of
from benchbook.derivations.kinds import DerivedFiles
from benchbook.derivations.panel_results import PanelAnalysis
from benchbook.derivations.rows import PanelManifest
from benchbook.records.folder import Record
from benchbook.reports.model import RunReport
from benchbook.reports.terminal import summary_lines
from benchbook.reports.views import Rows, View
from benchbook.reports.write import write_reports

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
    from benchbook.derivations.panel_analysis import panel_analysis  # loads NumPy: only where there is a panel

    return panel_analysis(derived.manifest, derived.aggregates, rows())


VIEW = View(report=_report, summary_lines=summary_lines, write=write_reports, fail_reasons=lambda row: row.fail_reasons)
