"""Runs: lists of them, their derived files, their tags, and whether a record holds."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import structs

from benchbook.catalog.queries import RunFilter, RunRow, RunsPage, list_runs
from benchbook.evaluators.checks.rows import ChecksDecision
from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.correctness.rows import CorrectnessDecision
from benchbook.evaluators.document import Opening
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.rubric.release import Decision
from benchbook.evaluators.verify import verify
from benchbook.server.operations import Call
from benchbook.server.problems import ProblemError
from benchbook.server.questions import RunsAsked
from benchbook.server.services import FoundRun, Services
from benchbook.server.training import spark_line
from benchbook.server.types import (
    ChecksDecisionOfRun,
    CorrectnessDecisionOfRun,
    DecisionOfRun,
    DecisionWords,
    FindingRow,
    HeadlineWords,
    Reasons,
    RefusedDecision,
    Tags,
    VerificationAnswer,
)
from benchbook.server.types import RunRow as RunAnswer
from benchbook.server.types import RunsPage as RunsAnswer
from benchbook.views.json import gate_words, table_json
from benchbook.views.rubric_tables import gates_table
from benchbook.views.views import view_of
from benchbook.views.words import reason

__all__ = [
    "get_aggregates",
    "get_decision",
    "get_manifest",
    "get_run",
    "list_of_runs",
    "put_tags",
    "run_answer",
    "verify_run",
]


_FROM_RECORDS = 1_000  # rows that are looked at together where a tag is asked for


def list_of_runs(call: Call) -> RunsAnswer:
    question: RunsAsked = call.query
    page = _tagged(call.services, question) if question.tag is not None else _listed(call.services, question)
    return RunsAnswer(runs=tuple(run_answer(call.services, row) for row in page.runs), next_cursor=page.next_cursor)


def get_run(call: Call) -> RunAnswer:
    return run_answer(call.services, call.services.run(call.path["run_id"]).row)


def run_answer(services: Services, row: RunRow) -> RunAnswer:
    """A row of the catalog as it is answered: numbers in place of billionths, tags, a few points of the loss."""
    values = {name: getattr(row, name) for name in RunAnswer.__struct_fields__ if hasattr(row, name)}
    tags = tuple(sorted({*row.tags, *services.tags.of(row.run_id)}))
    numbers = {name: as_float(getattr(row, f"{name}_nano")) for name in ("primary", "primary_low", "primary_high")}
    return RunAnswer(**values | numbers | {"tags": tags, "loss": spark_line(services, row)})


def _listed(services: Services, question: RunsAsked, *, after: str | None = None, limit: int | None = None) -> RunsPage:
    names = ("text", "spec", "model", "eval_set", "decision", "state")
    return list_runs(
        services.catalog,
        RunFilter(**{name: getattr(question, name) for name in names}),
        sort=question.sort,
        descending=question.order == "desc",
        after=after if limit is not None else question.cursor,
        limit=question.limit if limit is None else limit,
    )


def _tagged(services: Services, question: RunsAsked) -> RunsPage:
    """The runs with a tag. Tags are not in the catalog: its pages are read until enough of them were met."""
    wanted = services.tags.runs_with(question.tag or "")
    found: list[RunRow] = []
    after = question.cursor
    while True:
        page = _listed(services, question, after=after, limit=_FROM_RECORDS)
        for place, row in enumerate(page.runs):
            if row.run_id in wanted or question.tag in row.tags:
                found.append(row)
            if len(found) == question.limit:
                end = _listed(services, question, after=after, limit=place + 1)
                return RunsPage(runs=tuple(found), next_cursor=end.next_cursor)
        after = page.next_cursor
        if after is None:
            return RunsPage(runs=tuple(found), next_cursor=None)


def put_tags(call: Call) -> Tags:
    run_id = call.services.run(call.path["run_id"]).row.run_id
    return Tags(run_id=run_id, tags=call.services.tags.put(run_id, call.body.tags))


# ── derived files ────────────────────────────────────────────────────────────────────────────────────────────


def get_aggregates(call: Call) -> Any:
    return _derived(call, "aggregates").aggregates


def get_decision(call: Call) -> Any:
    """decision.json, and in words what reports say of it; of a decision that is refused, why."""
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, "decision")
    evaluator = evaluator_of(found.record)
    opening = view_of(evaluator).opening
    if opening is None or not found.record.decision.is_file():
        raise ProblemError(HTTPStatus.NOT_FOUND, f"{found.row.spec} decides nothing")
    derived = evaluator.read(found.record)
    words, decision = _words(opening(derived)), derived.decision
    if decision is None:
        kept = msgspec.json.decode(found.record.decision.read_bytes(), type=dict[str, Any])
        reasons = tuple(kept["reasons"])
        return RefusedDecision(decision=None, release_ready=False, reasons=reasons, words=HeadlineWords(**words))
    if isinstance(decision, Decision):
        said = tuple(reason(one) for one in decision.reasons)
        told = DecisionWords(**words, **_gates(decision), gates_table=table_json(gates_table(decision)))
        return DecisionOfRun(**structs.asdict(decision), said=said, words=told)
    if isinstance(decision, CorrectnessDecision):
        return CorrectnessDecisionOfRun(**structs.asdict(decision), words=HeadlineWords(**words))
    told = DecisionWords(**words, **_gates(decision), gates_table=None)
    if isinstance(decision, ChecksDecision):
        return ChecksDecisionOfRun(**structs.asdict(decision), words=told)
    return msgspec.to_builtins(decision) | {"words": msgspec.to_builtins(told)}


def _words(opening: Opening) -> dict[str, Any]:
    """The fields of `HeadlineWords`, as the report has them."""
    reasons = tuple(Reasons(title=one.title, entries=one.entries) for one in opening.reasons if one.entries)
    return {"headline": opening.headline, "tone": opening.tone, "meaning": opening.meaning, "reasons": reasons}


def _gates(decision: Any) -> dict[str, Any]:
    """Each gate in words; of a decision that has some."""
    gates = getattr(decision, "gates", ())
    return {"gates": () if gates is msgspec.UNSET else tuple(gate_words(gate) for gate in gates)}


def get_manifest(call: Call) -> Any:
    return _derived(call, "manifest").manifest


def _derived(call: Call, what: str) -> DerivedFiles:
    found = call.services.finished(call.path["run_id"])
    call.is_of(found.state_id, what)
    return _read(found)


def _read(found: FoundRun) -> DerivedFiles:
    return evaluator_of(found.record).read(found.record)


def verify_run(call: Call) -> VerificationAnswer:
    """Everything derived again from the journal, and compared."""
    found = call.services.run(call.path["run_id"])
    result = verify(found.record)
    return VerificationAnswer(
        run_id=found.row.run_id,
        holds=result.holds,
        state=result.state,
        n_facts=result.n_facts,
        journal_sha256=result.sha256,
        findings=tuple(FindingRow(file=one.file, line=one.line, message=one.what) for one in result.findings),
    )
