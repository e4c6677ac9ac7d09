"""One sample's row of samples.parquet: its columns under a rubric, with its criteria's, and how it is filled."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from types import GenericAlias
from typing import Any

import msgspec

from benchbook.evalsets import Item
from benchbook.evaluators.exact import as_float
from benchbook.evaluators.made import made
from benchbook.evaluators.rubric.aggregates import RubricAggregates, aggregates_type
from benchbook.evaluators.rubric.criteria import Criterion
from benchbook.evaluators.rubric.plan import Panel, Plan
from benchbook.evaluators.rubric.reply import ITEM_CRITERIA, Met, Parsed, Quoted, Rejected
from benchbook.evaluators.rubric.rows import (
    AggregatesFile,
    CausedPanelRow,
    CausedRow,
    JudgeReply,
    PanelRow,
    PanelVote,
    RubricRow,
    Slice,
)
from benchbook.evaluators.rubric.scoring import (
    RubricScore,
    SampleOutcome,
    Scores,
    score_sample,
)
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.steps import Judging, SampleHistory, candidate_error
from benchbook.record.facts import Failure, Reply

# ── the columns of a rubric ──────────────────────────────────────────────────────────────────────────────────


_Criteria = tuple[Criterion, ...]


def row_type(spec: RubricSpec, *, panel: bool, caused: bool) -> type[RubricRow]:
    """The type of a row: with the votes where a panel judged, and from derivation 3 on with the cause (`caused`)."""
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
        "rationale": _further_fields(criteria),
        "fail_reasons": [(norm, float | None) for norm in norms],
        "token_efficiency_ratio": [("cost_usd", float | None)] if costs else [],
    }
    return made(kind, added, {"votes": _list_of(_vote_type(criteria))})


def scores_of(row: RubricRow | PanelVote, spec: RubricSpec) -> Scores:
    """The scores of a row or of a judge's vote, by criterion."""
    return tuple([getattr(row, one.score_key) for one in spec.criteria])


def vote_type(spec: RubricSpec) -> type[PanelVote]:
    return _vote_type(spec.criteria)


@cache
def _vote_type(criteria: _Criteria) -> type[PanelVote]:
    return made(PanelVote, {"name": _scores(criteria), "rationale": _further_fields(criteria)})


def slice_type(spec: RubricSpec) -> type[Slice]:
    return _slice_type(spec.criteria)


@cache
def _slice_type(criteria: _Criteria) -> type[Slice]:
    return made(Slice, {"pass_rate": [(f"{one.name}_mean", float | None) for one in criteria]})


def aggregates_file_type(spec: RubricSpec) -> type[AggregatesFile]:
    """The type of aggregates.json."""
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


# ── those of some rubrics alone: quotes, and an item's own criteria ──────────────────────────────────────────


class QuoteSpan(msgspec.Struct, frozen=True):
    """A part of a text, half-open, in code points."""

    start: int
    end: int


class QuoteRow(msgspec.Struct, frozen=True, kw_only=True):
    """The judge's quote for a criterion, and where it stands."""

    criterion: str
    quote: str
    found: str  # exact, normalised, fragments, not_found (P4.1)
    turn: int | None  # of the transcript, from 1, the answer last; None: the spans are of the answer
    spans: list[QuoteSpan]  # one, or one a fragment; none where it was not found


class MetRow(msgspec.Struct, frozen=True, kw_only=True):
    """One of an item's own criteria, by its number from 1, and whether it is met."""

    number: int
    text: str
    weight: float
    met: bool
    rationale: str | None  # None: the rubric asks for none


def _further_fields(criteria: Sequence[Criterion]) -> list[tuple[str, Any]]:
    """Name and type of what a row, and a judge's vote, has after the rationale."""
    quoted = any(one.quote is not None for one in criteria)
    by_item = [(one.name, list[MetRow]) for one in criteria if one.by_item]
    return [*([("quotes", list[QuoteRow])] if quoted else []), *by_item]


def further_columns(quotes: Sequence[Quoted], met: Sequence[Met], spec: RubricSpec) -> dict[str, Any]:
    """The values of these for a sample, or for a judge's vote: none where no reply was read."""
    columns: dict[str, Any] = {}
    if spec.quoted:
        columns["quotes"] = [_quote_row(one) for one in quotes]
    if spec.by_item:
        columns[ITEM_CRITERIA] = [_met_row(number, one) for number, one in enumerate(met, start=1)]
    return columns


def _met_row(number: int, one: Met) -> MetRow:
    criterion = one.criterion
    return MetRow(
        number=number, text=criterion.text, weight=float(criterion.weight), met=one.met, rationale=one.rationale
    )


def _quote_row(one: Quoted) -> QuoteRow:
    spans = [QuoteSpan(start, end) for start, end in one.spans]
    return QuoteRow(criterion=one.criterion, quote=one.text, found=one.found, turn=one.turn, spans=spans)


# ── one row ──────────────────────────────────────────────────────────────────────────────────────────────────


class Rows:
    """Makes the rows of a record: everything that is known of each sample (SPEC R1.1).

    `caused`: from derivation 3 on, with the cause for which a sample is unanswered.
    """

    def __init__(self, plan: Plan, spec: RubricSpec, *, caused: bool) -> None:
        self._plan = plan
        self._spec = spec
        self._caused = caused
        self._has_more = spec.asks_more or spec.counts_more
        self._type = row_type(spec, panel=isinstance(plan.panel, Panel), caused=caused)
        self._vote_type = vote_type(spec)
        self._score_keys = [one.score_key for one in spec.criteria]
        self._norms = [*(one.norm for one in spec.criteria), *(one.norm for one in spec.measures)]

    def row(
        self, sample: int, item: Item, history: SampleHistory, outcome: SampleOutcome, score: RubricScore
    ) -> RubricRow:
        columns = _columns(sample, item, history, outcome, score, self._plan)
        columns |= zip(self._score_keys, outcome.scores, strict=True)
        columns |= zip(self._norms, map(as_float, score.norms_nano), strict=True)
        if isinstance(self._plan.panel, Panel):
            columns |= self._of_panel(history, outcome, self._plan.panel.names)
        if self._has_more:
            columns |= self._more(history, outcome)
        if self._caused:
            columns["candidate_error"] = candidate_error(history)
        return self._type(**columns)

    def _more(self, history: SampleHistory, outcome: SampleOutcome) -> dict[str, Any]:
        """The columns that rows have under some rubrics alone."""
        parsed, verdict = history.parsed, history.verdict
        columns = further_columns(parsed.quotes if parsed else (), verdict.met if verdict else (), self._spec)
        if self._spec.by_item:
            columns |= zip(self._score_keys, self._spec.shown_scores(outcome.scores), strict=True)
        if self._spec.measures_cost:
            columns["cost_usd"] = as_float(outcome.cost_nano_usd)
        return columns

    def _of_panel(self, history: SampleHistory, outcome: SampleOutcome, names: Sequence[str]) -> dict[str, Any]:
        """Every judge's vote, and how far they are apart. `names` has one for each of the plan's judges."""
        asked = zip(names, history.judges, strict=True) if history.answer is not None else ()
        votes = [self._vote(judge, name, judging, outcome) for judge, (name, judging) in enumerate(asked)]
        given = [judging.parsed.marks for judging in history.judges if judging.parsed is not None and votes]
        verdict = history.verdict
        return {
            "votes": votes,
            "verdicts_differ": len({vote.passed for vote in votes if vote.passed is not None}) > 1,
            "spread": sum(max(marks) - min(marks) for marks in zip(*given, strict=True)),
            "n_dissenting": sum(verdict is None or marks != verdict.marks for marks in given),
        }

    def _vote(self, judge: int, name: str, judging: Judging, outcome: SampleOutcome) -> PanelVote:
        parsed = judging.parsed
        last = judging.replies[-1][0] if judging.replies else None
        scores: Scores = parsed.scores if parsed else self._spec.unscored
        shown = self._spec.shown_scores(scores) if self._spec.by_item else scores
        quotes, met = (parsed.quotes, parsed.met) if parsed else ((), ())
        return self._vote_type(
            judge=judge,
            name=name,
            **dict(zip(self._score_keys, shown, strict=True)),
            rationale=parsed.rationale if parsed else None,
            passed=score_sample(msgspec.structs.replace(outcome, scores=scores), self._spec).passed if parsed else None,
            evaluator_error=judging.error,
            parse_error_reason=_parse_error_reason(judging),
            error_detail=_failure_detail(judging.failure),
            latency_ms=last.latency_e2e_ms if last else None,
            input_tokens=_total([reply.input_tokens for reply, _ in judging.replies]),
            output_tokens=_total([reply.output_tokens for reply, _ in judging.replies]),
            model_reported=last.model_reported if last else None,
            fingerprint=last.fingerprint if last else None,
            reply_seqs=[reply.seq for reply, _ in judging.replies],
            **(further_columns(quotes, met, self._spec) if self._spec.asks_more else {}),
        )


def _columns(
    sample: int, item: Item, history: SampleHistory, outcome: SampleOutcome, score: RubricScore, plan: Plan
) -> dict[str, Any]:
    """The columns of every rubric's row."""
    candidate = history.candidate
    replies = history.judge_replies
    last_replies = [judging.replies[-1][0] for judging in history.judges if judging.replies]
    judge = last_replies[0] if last_replies and len(history.judges) == 1 else None
    unread = history.unread if outcome.evaluator_error is not None else None
    judge_failure = unread.failure if unread is not None else None
    failure = judge_failure if history.answer is not None else history.candidate_failure
    if history.is_unanswered:
        failure = history.last_failure
    call = candidate or history.candidate_failure
    return {
        "sample": sample,
        "repeat": sample // plan.n_items,
        "item_id": item.id,
        "section": item.section,
        "category": item.category,
        "difficulty": item.difficulty,
        "group": item.group,
        "candidate_answer": history.answer,
        "rationale": _rationale(history),
        "score_origin": outcome.score_origin,
        "evaluator_error": outcome.evaluator_error,
        "parse_error_reason": _parse_error_reason(unread) if unread is not None else None,
        "error_detail": _failure_detail(failure),
        "sample_score": as_float(score.sample_score_nano),
        "passed": score.passed,
        "fail_reasons": list(score.fail_reasons),
        "latency_e2e_ms": outcome.latency_e2e_ms,
        "latency_model_ms": outcome.latency_model_ms,
        "time_to_first_token_ms": candidate.time_to_first_token_ms if candidate else None,
        "queue_ms": call.queue_ms if call else None,
        "retry_ms": call.retry_ms if call else None,
        "timed_out": outcome.timed_out,
        "input_tokens": outcome.input_tokens,
        "output_tokens": outcome.output_tokens,
        "total_tokens": outcome.total_tokens,
        "token_efficiency_ratio": as_float(score.token_efficiency_ratio_nano),
        "finish_reason": candidate.finish_reason if candidate else None,
        "truncated": candidate is not None and candidate.finish_reason == "length",
        "model_reported": candidate.model_reported if candidate else None,
        "model_fingerprint": candidate.fingerprint if candidate else None,
        "cached": candidate is not None and candidate.cached,
        "transport_retries": history.transport_retries,
        "parse_retries": sum(max(len(judging.replies) - 1, 0) for judging in history.judges),
        "judge_replies": [_judge_reply(reply, found) for reply, found in replies],
        "reasoning": history.reasoning,
        "evaluator_latency_ms": _total(
            [judging.replies[-1][0].latency_e2e_ms for judging in history.judges if judging.replies]
        ),
        "evaluator_input_tokens": _total([reply.input_tokens for reply, _ in replies]),
        "evaluator_output_tokens": _total([reply.output_tokens for reply, _ in replies]),
        "evaluator_reported": judge.model_reported if judge else None,
        "evaluator_fingerprint": judge.fingerprint if judge else None,
        "answer_seq": candidate.seq if candidate else None,
        "answer_sha256": _sha256(history.answer),
    }


def _judge_reply(reply: Reply, found: Parsed | Rejected) -> JudgeReply:
    rejected = found if isinstance(found, Rejected) else None
    return JudgeReply(
        attempt=reply.attempt,
        text=reply.text,
        parse_error_reason=rejected.reason if rejected else None,
        detail=rejected.detail if rejected else None,
        seq=reply.seq,
    )


def _rationale(history: SampleHistory) -> str | None:
    """The judge's rationale; of a panel, that of the first judge who gave the panel's scores."""
    found = history.parsed
    return None if found is None else found.rationale


def _parse_error_reason(judging: Judging) -> str | None:
    """The fault of the last reply, where no reply was read."""
    return judging.rejected.reason if judging.rejected is not None and judging.error == "parse_error" else None


def _failure_detail(failure: Failure | None) -> str | None:
    """The detail of a failed call, else its kind."""
    return failure.detail or failure.error if failure is not None else None


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _sha256(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
