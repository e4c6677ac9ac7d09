"""A run's panel of judges: each alone, how they agree, and what a person should look at first."""

from __future__ import annotations

from http import HTTPStatus

import msgspec

from benchbook.derivations.kinds import kind_of
from benchbook.derivations.panel_rows import PanelRow
from benchbook.derivations.rows import AggregatesFile, Manifest, PanelManifest
from benchbook.records.tables import read_rows
from benchbook.reports.panel_tables import agreement_table, judges_table, panel_lines, panel_notices
from benchbook.server.operations import Call
from benchbook.server.problems import ProblemError
from benchbook.server.services import FoundRun
from benchbook.server.types import PanelOfRun

__all__ = ["get_panel"]

_MOST_SPLITS = 100
_ABOUT_BYTES = 1 << 16  # of an answer in memory


def get_panel(call: Call) -> PanelOfRun:
    """Computed when it is first asked for, and kept."""
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "panel")
    return call.services.kept.get(
        ("panel", found.row.run_id, found.state_id), lambda: _answer(found), lambda _: _ABOUT_BYTES
    )


def _answer(found: FoundRun) -> PanelOfRun:
    derived = kind_of(found.row.spec or "").read(found.record)
    manifest, file = derived.manifest, derived.aggregates
    if not isinstance(manifest, Manifest) or not isinstance(manifest.panel, PanelManifest):
        raise ProblemError(HTTPStatus.NOT_FOUND, "no panel judged this run")
    assert isinstance(file, AggregatesFile)  # noqa: S101 - as is its manifest
    from benchbook.derivations.panel_analysis import panel_analysis

    panel = panel_analysis(manifest, file, read_rows(found.record.samples, PanelRow))
    return PanelOfRun(
        lines=tuple(panel_lines(panel)),
        notices=tuple(panel_notices(panel)),
        judges_table=judges_table(panel, file),
        agreement_table=agreement_table(panel),
        n_splits=len(panel.splits),
        panel=msgspec.structs.replace(panel, splits=panel.splits[:_MOST_SPLITS]),
    )
