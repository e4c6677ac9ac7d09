"""Eval sets that runs were made on, evaluators that they were made under, and the leaderboard over one."""

from __future__ import annotations

from http import HTTPStatus

from benchbook.catalog.queries import EvalSetRow, eval_sets, evaluators
from benchbook.catalog.queries import leaderboard as best_runs
from benchbook.comparison.leaderboard import Leaderboard, leaderboard
from benchbook.evalsets.opening import shipped_names
from benchbook.evaluators.exact import as_float
from benchbook.server.comparisons import compared
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import LeaderboardAsked
from benchbook.server.types import EvalSetList, EvalSetSummary, EvaluatorList, EvaluatorOfRuns
from benchbook.text import shorten
from benchbook.views.names import set_name

_MOST_RUNS = 50


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


def get_leaderboard(call: Request) -> Leaderboard:
    question: LeaderboardAsked = call.query
    services = call.services
    chosen = _evalset(call, question)
    ranked = best_runs(
        services.catalog, chosen.dataset_sha256, question.spec, spec_sha256=chosen.spec_sha256, limit=_MOST_RUNS
    )
    if not ranked:
        raise ProblemError(HTTPStatus.NOT_FOUND, "no complete run on this eval set has a number to be ranked by")
    runs = [services.finished(row.run_id) for row in ranked]
    call.is_of(*(found.state_id[:12] for found in runs), str(question.confidence))
    key = ("leaderboard", question.confidence, *(found.name for found in runs))
    return services.kept.get(
        key,
        lambda: leaderboard([compared(services, found) for found in runs], confidence=question.confidence),
        lambda _: 1 << 16,
    )


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
