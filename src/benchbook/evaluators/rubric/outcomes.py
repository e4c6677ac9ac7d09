"""A sample's outcome, from which its score is computed: out of its facts as they are derived, or out of its row."""

from __future__ import annotations

from typing import cast

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.rubric.reply import counts_of
from benchbook.evaluators.rubric.row import scores_of
from benchbook.evaluators.rubric.rows import PanelVote, RubricRow
from benchbook.evaluators.rubric.scoring import NO_ANSWER, EvaluatorError, Further, SampleOutcome, Scores
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.steps import SampleHistory


def outcome_of(history: SampleHistory) -> SampleOutcome:
    """The outcome of a sample by its facts."""
    spec = history.spec
    if history.is_unanswered:
        return SampleOutcome(scores=spec.unscored, unanswered=True)
    candidate, failure = history.candidate, history.candidate_failure
    if history.answer is None:
        # Only a time-out has a latency (R1.2): a call that failed at once was not quick to answer.
        timed_out = failure is not None and failure.error == "timeout"
        elapsed_ms = failure.latency_ms if failure and timed_out else candidate.latency_e2e_ms if candidate else None
        return SampleOutcome(
            scores=spec.without_answer,
            score_origin=NO_ANSWER,
            timed_out=timed_out,
            latency_e2e_ms=elapsed_ms,
            latency_model_ms=candidate.latency_model_ms if candidate else None,
            input_tokens=candidate.input_tokens if candidate else None,
            output_tokens=candidate.output_tokens if candidate else None,
            further=_further(history) if spec.counts_more else None,
        )
    assert candidate is not None  # noqa: S101 - an answer has its reply
    scores, unread = history.scores, history.unread
    return SampleOutcome(
        scores=spec.unscored if scores is None else scores,
        some_do_not_apply=scores is not None and None in scores,
        # Of an answer without a score: the error of the first judge who gave none.
        evaluator_error=unread.error if unread is not None and scores is None else None,
        awaits_judge=scores is None and bool(history.unreached),
        latency_e2e_ms=candidate.latency_e2e_ms,
        latency_model_ms=candidate.latency_model_ms,
        input_tokens=candidate.input_tokens,
        output_tokens=candidate.output_tokens,
        further=_further(history) if spec.counts_more else None,
    )


def _further(history: SampleHistory) -> Further:
    parsed, candidate, prices = history.parsed, history.candidate, history.spec.prices
    verdict = history.verdict
    found = {} if parsed is None else {one.criterion: one.is_found for one in parsed.quotes}
    return Further(
        quotes_found=tuple(found.get(one.name) for one in history.spec.counted_quotes),
        cost_nano_usd=None
        if candidate is None or prices is None
        else prices.cost_nano_usd(candidate.input_tokens, candidate.output_tokens),
        met=None if verdict is None or not history.spec.by_item else counts_of(verdict.met),
    )


# ── of a row ─────────────────────────────────────────────────────────────────────────────────────────────────


def exact_scores_of(row: RubricRow | PanelVote, spec: RubricSpec) -> Scores:
    """The scores as they are reckoned with: what an item's own criteria come to, in nano-units."""
    scores = scores_of(row, spec)
    if not spec.by_item:
        return scores
    return tuple(
        [
            round(score * NANO) if one.by_item and score is not None else score
            for one, score in zip(spec.criteria, scores, strict=True)
        ]
    )


def outcome_in(row: RubricRow, spec: RubricSpec) -> SampleOutcome:
    """The outcome of a row's sample. Of quotes, and of an item's own criteria, it has the scores alone."""
    scores = exact_scores_of(row, spec)
    cost = row.cost_usd if spec.measures_cost else None
    return SampleOutcome(
        scores=scores,
        evaluator_error=cast("EvaluatorError | None", row.evaluator_error),
        score_origin=row.score_origin,
        latency_e2e_ms=row.latency_e2e_ms,
        latency_model_ms=row.latency_model_ms,
        timed_out=row.timed_out,
        unanswered=getattr(row, "candidate_error", None) is not None,
        some_do_not_apply=None in scores and row.score_origin is None and row.sample_score is not None,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        further=None if cost is None else Further(cost_nano_usd=round(cost * NANO)),
    )
