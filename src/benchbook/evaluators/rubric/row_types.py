"""The structs of `rows` as a rubric has them: with its criteria's columns."""

from __future__ import annotations

from functools import cache
from types import GenericAlias
from typing import Any

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.made import made
from benchbook.evaluators.rubric.aggregates import RubricAggregates, aggregates_type
from benchbook.evaluators.rubric.further import Further
from benchbook.evaluators.rubric.further_rows import further_fields
from benchbook.evaluators.rubric.rows import (
    AggregatesFile,
    CausedPanelRow,
    CausedRow,
    PanelRow,
    PanelVote,
    RubricRow,
    Slice,
)
from benchbook.evaluators.rubric.scoring import Scores
from benchbook.evaluators.rubric.spec import Criterion, RubricSpec

__all__ = ["aggregates_file_type", "further_of", "row_type", "scores_of", "slice_type", "vote_type"]


_Criteria = tuple[Criterion, ...]


def row_type(spec: RubricSpec, *, panel: bool, caused: bool) -> type[RubricRow]:
    """What a row is: with the votes where a panel judged, and from derivation 3 on with the cause (`caused`)."""
    kind: type[RubricRow] = RubricRow
    if caused:
        kind = CausedPanelRow if panel else CausedRow
    elif panel:
        kind = PanelRow
    return _row_type(kind, spec.criteria, tuple(one.norm for one in spec.measures), spec.measures_cost)


@cache
def _row_type(
    kind: type[RubricRow], criteria: _Criteria, norms_measured: tuple[str, ...], costs: bool
) -> type[RubricRow]:
    norms = (*(one.norm for one in criteria), *norms_measured)
    added = {
        "candidate_answer": _scores(criteria),
        "rationale": further_fields(criteria),
        "fail_reasons": [(norm, float | None) for norm in norms],
        "token_efficiency_ratio": [("cost_usd", float | None)] if costs else [],
    }
    return made(kind, added, {"votes": _list_of(_vote_type(criteria))})


def scores_of(row: RubricRow | PanelVote, spec: RubricSpec) -> Scores:
    """The scores of a row or of a judge's vote, by criterion."""
    return tuple([getattr(row, one.score_key) for one in spec.criteria])


def further_of(row: RubricRow, spec: RubricSpec) -> Further | None:
    """What a row's score is made of beside scores, latency and tokens: its cost."""
    if not spec.measures_cost:
        return None
    cost = row.cost_usd
    return Further(cost_nano_usd=None if cost is None else round(cost * NANO))


def vote_type(spec: RubricSpec) -> type[PanelVote]:
    return _vote_type(spec.criteria)


@cache
def _vote_type(criteria: _Criteria) -> type[PanelVote]:
    return made(PanelVote, {"name": _scores(criteria), "rationale": further_fields(criteria)})


def slice_type(spec: RubricSpec) -> type[Slice]:
    return _slice_type(spec.criteria)


@cache
def _slice_type(criteria: _Criteria) -> type[Slice]:
    return made(Slice, {"pass_rate": [(f"{one.name}_mean", float | None) for one in criteria]})


def aggregates_file_type(spec: RubricSpec) -> type[AggregatesFile]:
    """What aggregates.json is."""
    return _file_type(spec.criteria, aggregates_type(spec))


@cache
def _file_type(criteria: _Criteria, aggregates: type[RubricAggregates]) -> type[AggregatesFile]:
    counts = [(f"{one.name}_counts", dict[str, int]) for one in criteria if not one.by_item]
    return made(
        AggregatesFile, {"fail_reasons": counts}, {"aggregates": aggregates, "slices": _list_of(_slice_type(criteria))}
    )


def _list_of(kind: type[Any]) -> Any:
    return GenericAlias(list, (kind,))


def _scores(criteria: _Criteria) -> list[tuple[str, Any]]:
    return [(one.score_key, float | None if one.by_item else int | None) for one in criteria]
