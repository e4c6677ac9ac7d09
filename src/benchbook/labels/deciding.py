"""The gates that labels may settle, and how many labels that is expected to take. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from benchbook.errors import UsageError
from benchbook.evaluators.contract import LabelCriterion
from benchbook.evaluators.correctable import MeanOfScores, SampleCounts
from benchbook.evaluators.gates import Decision, Gate, Threshold
from benchbook.labels.allocation import Doubt, ExpectedScores, Needed, expected_scores, labels_needed, weights_of
from benchbook.labels.calibration import corrected_decision
from benchbook.labels.calibration_corrected import GoldScores, corrected_aggregates, worth_by
from benchbook.labels.calibration_results import Drawing, ScoredAnswer
from benchbook.statistics.distributions import normal_quantile

WhyNone = Literal["on_the_limit", "unscored", "too_few_answers"]

WHY_NONE: Mapping[WhyNone, str] = {
    "on_the_limit": "its value is the limit itself",
    "unscored": "it depends on the samples that have no score",
    "too_few_answers": "labels of all answers would not be enough: more answers are",
}


class DecisionPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The gates that labels are drawn for, and the numbers of labels that are expected to settle them: earlier ones are
    counted in. `n_to_settle` is None where no number does, for `reason`; `n_by_chance` where not even all answers
    would."""

    aggregates: tuple[str, ...]
    would: Literal["hold", "fail"]
    n_to_settle: int | None
    n_by_chance: int | None
    n_labelled: int
    reason: WhyNone | None = None


@dataclass(frozen=True, slots=True)
class Deciding:
    """A plan, and what an answer of each stratum weighs for it."""

    plan: DecisionPlan
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Open:
    """A gate in doubt. It would hold, or not, if people's scores are as expected."""

    doubt: Doubt
    holds: bool


def deciding(
    answers: Sequence[ScoredAnswer],
    gold: GoldScores,
    criteria: Sequence[LabelCriterion],
    means: Sequence[MeanOfScores],
    *,
    frozen: Decision,
    counted: SampleCounts,
    already: Mapping[str, int],
    confidence: float = 0.95,
) -> Deciding:
    """Plan which labels settle the decision. Each answer has its stratum.

    READY asks that every gate in doubt be shown to hold. For NOT_READY one that is shown not to is enough: the one that
    takes the fewest labels.

    Raises: UsageError where no label changes the decision.
    """
    names = {mean.name for mean in means}
    _check_others([gate for gate in frozen.gates if gate.aggregate not in names and not gate.unmeasured])
    in_doubt = _in_doubt(answers, gold, criteria, means, frozen, counted, confidence)
    values = _values(answers, gold, criteria, means)
    found = [
        _open(gate, mean, values[place], counted.bases[mean.name])
        for place, mean in enumerate(means)
        for gate in frozen.gates
        if gate.aggregate == mean.name and mean.name in in_doubt
    ]
    z = normal_quantile((1 + confidence) / 2)
    failing = [one for one in found if not one.holds]
    options = [[one.doubt] for one in failing] or [[one.doubt for one in found]]
    planned = [(labels_needed(doubts, z, already), doubts) for doubts in options]
    needed, doubts = min(planned, key=lambda one: _cost(*one))
    plan = DecisionPlan(
        aggregates=tuple(one.aggregate for one in doubts),
        would="fail" if failing else "hold",
        n_to_settle=needed.n,
        n_by_chance=needed.n_by_chance,
        n_labelled=sum(bool(labels) for labels in gold.values()),
        reason=None if needed.n is not None else _why_none(doubts),
    )
    return Deciding(plan, weights_of(doubts))


def _cost(needed: Needed, doubts: Sequence[Doubt]) -> tuple[float, float]:
    """The order of options: the labels that it takes; where none are enough, how near the limit is."""
    return (float("inf") if needed.n is None else needed.n, -max(one.distance for one in doubts))


def _why_none(doubts: Sequence[Doubt]) -> WhyNone:
    least = min(one.distance for one in doubts)
    return "on_the_limit" if least == 0 else "unscored" if least < 0 else "too_few_answers"


def _check_others(gates: Sequence[Gate]) -> None:
    for gate in gates:
        threshold = Threshold(gate.aggregate, gate.direction, round(gate.limit * 1e9))
        if gate.best is not None and not threshold.holds(gate.best):
            raise UsageError(f"no label changes the decision: {gate.aggregate} does not hold, whatever people say")


def _in_doubt(
    answers: Sequence[ScoredAnswer],
    gold: GoldScores,
    criteria: Sequence[LabelCriterion],
    means: Sequence[MeanOfScores],
    frozen: Decision,
    counted: SampleCounts,
    confidence: float,
) -> set[str]:
    """The aggregates whose gates labels have not settled. Without a label these are all that a judge has a say in."""
    names = {mean.name for mean in means}
    there = {gate.aggregate for gate in frozen.gates if gate.aggregate in names and not gate.unmeasured}
    if not there:
        raise UsageError("no label changes the decision: the judge has no say in any gate")
    if not any(gold.values()):
        return there
    corrected = corrected_aggregates(answers, gold, criteria, means, Drawing(confidence))
    decision = corrected_decision(frozen, corrected, counted, means, confidence)
    gates = [gate for gate in decision.gates if gate.aggregate in names]
    if failed := [gate.aggregate for gate in gates if not gate.can_hold]:
        raise UsageError(f"the labels that are there have settled it: {failed[0]} does not hold")
    if open_ones := {gate.aggregate for gate in gates if not gate.holds_for_sure}:
        return open_ones
    raise UsageError("the labels that are there have settled it: all gates that depend on the judge hold")


@dataclass(frozen=True, slots=True)
class _Values:
    """Values of one mean by stratum, counted from its lowest: the judge's of all answers, people's of labelled ones."""

    judge: dict[str, list[float]]
    people: dict[str, list[float]]


def _values(
    answers: Sequence[ScoredAnswer],
    gold: GoldScores,
    criteria: Sequence[LabelCriterion],
    means: Sequence[MeanOfScores],
) -> list[_Values]:
    names = [one.name for one in criteria]
    found = [_Values({}, {}) for _ in means]
    for one in answers:
        stratum, said = one.stratum or "", gold.get(one.sample, {})
        own, theirs = worth_by(one, {}, names), worth_by(one, said, names) if said else ()
        for place, mean in enumerate(means):
            found[place].judge.setdefault(stratum, []).append(own[place])
            if said and mean.of.issubset(said):
                found[place].people.setdefault(stratum, []).append(theirs[place])
    return found


def _open(gate: Gate, mean: MeanOfScores, values: _Values, bases: tuple[int, int]) -> _Open:
    """The gate as it would stand if people scored as expected: the whole run moves by the judged part of it."""
    expected = expected_scores(values.judge, values.people, mean.highest - mean.lowest)
    n = sum(one.n for one in expected.values())
    moved = _mean(expected) - sum(sum(own) for own in values.judge.values()) / n if values.people else 0.0
    base, base_filled = bases
    threshold = Threshold(gate.aggregate, gate.direction, round(gate.limit * 1e9))
    holds = gate.value is not None and threshold.holds(gate.value + moved * n / base)
    end = gate.worst if holds else gate.best
    margin = None if end is None else threshold.margin(end + moved * n / base_filled)
    distance = 0.0 if margin is None else (margin if holds else -margin) * base_filled / n
    return _Open(Doubt(gate.aggregate, distance, expected), holds)


def _mean(expected: Mapping[str, ExpectedScores]) -> float:
    return sum(one.n * one.mean for one in expected.values()) / sum(one.n for one in expected.values())
