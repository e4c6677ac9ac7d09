"""`rubric@v1` for tests: its types of rows, and outcomes by the names of its two criteria."""

from __future__ import annotations

from typing import Any

from benchbook.evaluators.rubric.row import aggregates_file_type, row_type, slice_type, vote_type
from benchbook.evaluators.rubric.rows import PanelRow, RubricRow
from benchbook.evaluators.rubric.scoring import SampleOutcome
from benchbook.evaluators.rubric.spec import RubricSpec, rubric_v1

V1: RubricSpec = rubric_v1()
ROW: type[RubricRow] = row_type(V1, panel=False, caused=False)  # reads every form: further columns are ignored
CAUSED_ROW: type[RubricRow] = row_type(V1, panel=False, caused=True)
PANEL_ROW: type[PanelRow] = row_type(V1, panel=True, caused=False)  # type: ignore[assignment]


SLICE = slice_type(V1)
VOTE = vote_type(V1)
AGGREGATES_FILE = aggregates_file_type(V1)


def outcome_v1(accuracy_score: int | None = None, faithfulness_score: int | None = None, **rest: Any) -> SampleOutcome:
    return SampleOutcome(scores=(accuracy_score, faithfulness_score), **rest)
