"""The words of a rubric: why samples fail or have no score, and what its decision goes by (SPEC R5, R6)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from benchbook.evaluators.gates import WHY_NOT, Decision, ToSettle
from benchbook.evaluators.rubric.criteria import Criterion
from benchbook.evaluators.rubric.row import scores_of
from benchbook.evaluators.rubric.rows import PanelVote, RubricRow
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.labels.state import NOT_APPLYING
from benchbook.statistics.ground import REASONS
from benchbook.text import plural
from benchbook.views import numbers
from benchbook.views.words import aggregate_word

FAIL_REASONS: Mapping[str, str] = {
    "latency_above_maximum": "too slow",
    "latency_unmeasured": "latency not measured",
    "tokens_above_maximum": "too many tokens",
    "tokens_unmeasured": "tokens not reported",
    "cost_above_maximum": "too expensive",
    "cost_unmeasured": "cost not known",
    "score_below_minimum": "sample score below the minimum",
    "too_few_criteria": "too few criteria at their minimum",
    "no_answer": "no answer passes",
}


# The words for a criterion's reasons, whatever it is called, by how they end.
FAIL_ENDINGS: Mapping[str, str] = {"_below_minimum": " below the minimum", "_unscored": " not scored"}


def fail_reason(name: str) -> str:
    """Why a sample did not pass (R5.1), in words."""
    if name not in FAIL_REASONS:
        for ending, words in FAIL_ENDINGS.items():
            if name.endswith(ending):
                return f"{name.removesuffix(ending).replace('_', ' ')}{words}"
    return FAIL_REASONS.get(name, name)


def unscored_because(row: RubricRow) -> tuple[str, str] | None:
    """`(name, words)` of why a sample has no score; None where it has one: `("parse_error", "unscored (…)")`."""
    cause = getattr(row, "candidate_error", None)
    if cause is not None:
        return cause, f"unanswered ({cause})"
    if row.evaluator_error is None:
        return None
    why = f"{row.evaluator_error}: {row.parse_error_reason}" if row.parse_error_reason else row.evaluator_error
    return row.evaluator_error, f"unscored ({why})"


def scores_words(row: RubricRow | PanelVote, spec: RubricSpec) -> str:
    """`accuracy 2, faithfulness 1`."""
    scores = zip(spec.criteria, scores_of(row, spec), strict=True)
    return ", ".join(f"{one.name} {given_words(one, score, row)}" for one, score in scores)


def given_words(one: Criterion, score: float | None, row: RubricRow | PanelVote) -> str:
    """A score as its judge gave it: by the grade's name, where it has one; by an item's own criteria, a share of 1."""
    if score is None:
        return NOT_APPLYING if does_not_apply(one, row) else numbers.DASH
    if one.grades:
        return one.grades[int(score) - one.lowest]
    return numbers.show("score" if one.by_item else "count", score)


def does_not_apply(one: Criterion, row: RubricRow | PanelVote) -> bool:
    """True if a criterion without a score does not apply; never in a panel, which has no such criteria."""
    scored = isinstance(row, RubricRow) and row.sample_score is not None and row.score_origin is None
    return one.may_not_apply and scored


def decided_lines(decision: Decision) -> list[str]:
    """A sentence on what the decision goes by, and on the rubric's rule by the values alone (R6.2, R6.4)."""
    by = decision.decided_by
    if isinstance(by, msgspec.UnsetType):
        if not isinstance(decision.confidence, float):
            return []
        bound = numbers.limit("rate", decision.confidence)
        return [f"It was asked that the bounds of the {bound} intervals hold too."]
    confidence = None if by.confidence is None else numbers.limit("rate", by.confidence)
    match by.rule:
        case "bounds":
            went_by = f"Decided by what is shown at {confidence} confidence"
        case "points":
            went_by = "Decided by the values, in the worst and the best case (--confidence none)"
        case "until_decided":
            went_by = f"Decided once it was sure enough, at {confidence}, what all items would give"
        case "comparison":
            went_by = f"The run ended by its comparison with another, at {confidence}; its gates decided nothing"
    rule = "release-ready" if decision.release_ready else "not release-ready"
    return [f"{went_by}. By the rubric's rule: {rule}."]


def settling_lines(decision: Decision) -> list[str]:
    """The samples that would settle each gate that leaves a decision open, a sentence each; none where bounds were not
    asked for, or where the reasons say it."""
    if not isinstance(decision.decided_by, msgspec.UnsetType):
        return []
    return [
        f"{aggregate_word(gate.aggregate).label}: {settling(gate.n_to_settle)}"
        for gate in decision.gates
        if isinstance(gate.n_to_settle, ToSettle)
    ]


def settling(found: ToSettle) -> str:
    """`1,200 more samples (1,300 in all) would settle that it holds, if its value stays what it is`."""
    if found.n_in_all is None or found.n_more is None:
        why = WHY_NOT.get(found.reason or "") or REASONS.get(found.reason or "", found.reason or "not known")
        words = f"how many samples would settle it can't be told: {why}"
    else:
        outcome = "holds" if found.would == "hold" else "does not hold"
        words = (
            f"{plural(found.n_more, 'more sample')} ({found.n_in_all:,} in all) would settle that it {outcome}, "
            "if its value stays what it is"
        )
    if not found.n_unscored:
        return words
    unscored = "the 1 unscored sample" if found.n_unscored == 1 else f"the {found.n_unscored:,} unscored samples"
    return f"{words}; {unscored} may move it whatever their number"
