"""Eval sets that runs were made on, evaluators that they were made under, and the leaderboard over one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from http import HTTPStatus

import msgspec

from benchbook.catalog.queries import EvalSetRow, IndexedRun, eval_sets, evaluators, runs_on
from benchbook.comparison.contenders import AskedTables, Contender, contender
from benchbook.comparison.leaderboard import Apart, Leaderboard, board
from benchbook.comparison.records import ranked_run
from benchbook.errors import RecordError
from benchbook.evalsets.opening import shipped_names
from benchbook.evaluators.exact import as_float
from benchbook.record.derived_files import inside
from benchbook.server.by_people import labels_of, scores_for_people
from benchbook.server.comparison_types import RankedRuns
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import LeaderboardAsked
from benchbook.server.services import FoundRun, Services
from benchbook.server.types import EvalSetList, EvalSetSummary, EvaluatorList, EvaluatorOfRuns
from benchbook.text import shorten, storable
from benchbook.views.names import set_name
from benchbook.views.several_runs import with_titles

_MOST_KEPT = 20_000  # items of a run whose scores are kept for the next leaderboard
_BYTES_ASKED = 500  # what an item's texts take, as a rule


def list_of_evalsets(call: Request) -> EvalSetList:
    names = ("dataset_sha256", "dataset_id", "spec", "spec_sha256", "n_runs")
    found = [
        EvalSetSummary(
            **{name: getattr(row, name) for name in names},
            dataset_name=set_name(row.dataset_id, row.dataset_sha256),
            best=as_float(row.best_nano),
        )
        for row in eval_sets(call.services.catalog)
    ]
    return EvalSetList(evalsets=tuple(found), shipped=tuple(shipped_names()))


def list_of_evaluators(call: Request) -> EvaluatorList:
    names = EvaluatorOfRuns.__struct_fields__
    found = [
        EvaluatorOfRuns(**{name: getattr(row, name) for name in names}) for row in evaluators(call.services.catalog)
    ]
    return EvaluatorList(evaluators=tuple(found))


def get_leaderboard(call: Request) -> RankedRuns:
    question: LeaderboardAsked = call.query
    services = call.services
    chosen = _evalset(call, question)
    rows = runs_on(services.catalog, chosen.dataset_sha256, question.spec, spec_sha256=chosen.spec_sha256)
    whole = [row for row in rows if row.state == "complete" and row.error is None and row.manifest_sha256 is not None]
    if not any(row.primary_nano is not None for row in whole):
        raise ProblemError(HTTPStatus.NOT_FOUND, "no complete run on this eval set has a number to be ranked by")
    # A row says of what state it is: whatever changes in a record changes one of the two hashes.
    states = [f"{row.run_id} {row.state} {row.manifest_sha256} {row.journal_sha256} {row.error}" for row in rows]
    asked = (question.metric, str(question.confidence), *states)
    labels = labels_of(services, [row.run_id for row in whole])
    key = hashlib.sha256("\n".join((*asked, *labels.of_state)).encode("utf-8", "surrogatepass")).hexdigest()
    call.is_of(key[:32])

    def make() -> RankedRuns:
        unreadable: list[Apart] = []
        ranked = board(_contenders(services, whole, question.metric, unreadable), confidence=question.confidence)
        apart = (*ranked.apart, *unreadable, *map(_apart, _others(rows, whole)))
        found = msgspec.structs.replace(with_titles(ranked), apart=apart)
        people = scores_for_people(
            services, found, {storable(row.run_id): services.found(row) for row in whole}, labels
        )
        own = {name: getattr(found, name) for name in Leaderboard.__struct_fields__}
        return RankedRuns(**own, as_people_would_judge=msgspec.UNSET if people is None else people)

    return services.kept.get(("leaderboard", key), make, lambda _: 500 * len(rows))


def _contenders(
    services: Services, rows: Sequence[IndexedRun], metric: str, unreadable: list[Apart]
) -> Iterator[Contender]:
    """The runs. Small ones are kept as long as there is room, so that one that is new is all that has to be read."""
    n_items = max(row.n_items or 0 for row in rows)
    tables = AskedTables()
    if n_items <= _MOST_KEPT:
        name = ("asked tables", rows[0].dataset_sha256)
        tables = services.kept.get(name, AskedTables, lambda _: n_items * _BYTES_ASKED)
    for row in rows:
        found = services.found(row)
        make = partial(_contender, found, tables, metric)
        try:
            yield make() if n_items > _MOST_KEPT else services.kept.get(("contender", metric, found.name), make, _size)
        except RecordError as error:
            words = inside(found.record, str(error))
            unreadable.append(Apart(run=storable(row.run_id), model=row.model_id, score=None, reason=words))


def _size(found: Contender) -> int:
    return found.n_bytes


def _contender(found: FoundRun, tables: AskedTables, metric: str) -> Contender:
    return contender(replace(ranked_run(found.record), name=storable(found.row.run_id)), tables, metric)


def _others(rows: Sequence[IndexedRun], whole: Sequence[IndexedRun]) -> Iterator[IndexedRun]:
    ranked = {row.run_id for row in whole}
    return (row for row in rows if row.run_id not in ranked)


def _apart(row: IndexedRun) -> Apart:
    """A run that is not at its end, or whose record is not whole: what the catalog knows of it is all there is."""
    missing = row.predictions_unavailable or "its numbers are not there"
    reason = row.error or (missing if row.state == "complete" else f"not complete: it is {row.state}")
    return Apart(run=storable(row.run_id), model=row.model_id, score=as_float(row.primary_nano), reason=reason)


def _evalset(call: Request, question: LeaderboardAsked) -> EvalSetRow:
    """The eval set that is meant, by its hash or by an id that no other has, under the evaluator that is meant."""
    wanted = question.spec_sha256
    under_spec = [
        row
        for row in eval_sets(call.services.catalog)
        if row.spec == question.spec and wanted in (None, row.spec_sha256)
    ]
    found = [row for row in under_spec if question.dataset in (row.dataset_sha256, row.dataset_id)]
    if not found:
        shown = shorten(question.dataset, 100)
        raise ProblemError(
            HTTPStatus.NOT_FOUND, f"no run under {shorten(question.spec, 60)} is on an eval set {shown!r}"
        )
    if len({row.dataset_sha256 for row in found}) > 1:
        hashes = ", ".join(row.dataset_sha256[:12] for row in found)
        raise ProblemError(
            HTTPStatus.CONFLICT, f"several eval sets have this id ({hashes}): name one by its whole hash"
        )
    ranked = [row for row in found if row.best_nano is not None] or found[:1]
    if len(ranked) > 1:
        hashes = ", ".join(str(row.spec_sha256) for row in ranked)
        name = shorten(question.spec, 60)
        raise ProblemError(
            HTTPStatus.CONFLICT, f"several evaluators are called {name}: name one by spec_sha256, of {hashes}"
        )
    return ranked[0]
