"""One sample's row where a panel judged it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from benchbook.derivations.panel_rows import PanelRow, PanelVote
from benchbook.derivations.rows import RubricRow
from benchbook.derivations.rubric_row import failure_detail, parse_error_reason, total
from benchbook.derivations.rubric_steps import History, Judging
from benchbook.scorers.rubric import Outcome, RubricScale, score_sample

__all__ = ["panel_row"]


def panel_row(row: RubricRow, history: History, outcome: Outcome, scale: RubricScale, names: Sequence[str]) -> PanelRow:
    """The row with every judge's vote, and how far they are apart. `names` has one for each of the plan's judges."""
    asked = zip(names, history.judges, strict=True) if history.answer is not None else ()
    votes = [_vote(judge, name, judging, outcome, scale) for judge, (name, judging) in enumerate(asked)]
    scores = [(vote.accuracy_score, vote.faithfulness_score) for vote in votes if vote.evaluator_error is None]
    return PanelRow(
        **msgspec.structs.asdict(row),
        votes=votes,
        verdicts_differ=len({vote.passed for vote in votes if vote.passed is not None}) > 1,
        spread=_spread([accuracy for accuracy, _ in scores]) + _spread([faithfulness for _, faithfulness in scores]),
        n_dissenting=sum(one != (row.accuracy_score, row.faithfulness_score) for one in scores),
    )


def _vote(judge: int, name: str, judging: Judging, outcome: Outcome, scale: RubricScale) -> PanelVote:
    parsed = judging.parsed
    last = judging.replies[-1][0] if judging.replies else None
    return PanelVote(
        judge=judge,
        name=name,
        accuracy_score=parsed.accuracy_score if parsed else None,
        faithfulness_score=parsed.faithfulness_score if parsed else None,
        rationale=parsed.rationale if parsed else None,
        passed=score_sample(_alone(outcome, judging), scale).passed if parsed else None,
        evaluator_error=judging.error,
        parse_error_reason=parse_error_reason(judging),
        error_detail=failure_detail(judging.failure),
        latency_ms=last.latency_e2e_ms if last else None,
        input_tokens=total([reply.input_tokens for reply, _ in judging.replies]),
        output_tokens=total([reply.output_tokens for reply, _ in judging.replies]),
        model_reported=last.model_reported if last else None,
        fingerprint=last.fingerprint if last else None,
        reply_seqs=[reply.seq for reply, _ in judging.replies],
    )


def _alone(outcome: Outcome, judging: Judging) -> Outcome:
    """The same sample as this judge alone scores it."""
    parsed = judging.parsed
    return msgspec.structs.replace(
        outcome,
        accuracy_score=parsed.accuracy_score if parsed else None,
        faithfulness_score=parsed.faithfulness_score if parsed else None,
        evaluator_error=judging.error,
    )


def _spread(scores: list[int | None]) -> int:
    known = [score for score in scores if score is not None]
    return max(known) - min(known) if known else 0
