"""A judge on trial: its scores held against people's, its aggregates corrected, its decision made again. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import msgspec

from benchbook.errors import UsageError
from benchbook.evaluators.contract import LabelCriterion
from benchbook.evaluators.correctable import MeanOfScores, SampleCounts
from benchbook.evaluators.gates import Decision, DecisionName, Gate, Threshold
from benchbook.labels.calibration_corrected import (
    GoldScores,
    LabelledPair,
    bias_of,
    clusters_of,
    corrected_aggregates,
    same_score,
)
from benchbook.labels.calibration_results import (
    AgreementName,
    Calibration,
    Corrected,
    CorrectedDecision,
    CorrectedGate,
    Drawing,
    FieldTrial,
    ScoredAnswer,
)
from benchbook.labels.state import scores_words
from benchbook.statistics import Agreement, Estimate, Weights, cohens_kappa, gwet_ac, krippendorff_alpha
from benchbook.statistics.ground import REASONS


@dataclass(frozen=True, slots=True)
class _Moving:
    """The correction of an aggregate over the judged samples, and the number of samples that the whole run has."""

    corrected: Corrected
    mean: MeanOfScores
    base: int
    base_filled: int  # with the unscored samples (R6.3)


def corrected_decision(
    frozen: Decision,
    corrected: Sequence[Corrected],
    counted: SampleCounts,
    means: Sequence[MeanOfScores],
    confidence: float,
) -> CorrectedDecision:
    """Move each gate's value as far as the correction moves the judged samples, and decide.

    Samples that no judge scored (no answer, failed judge) stay as they are. A corrected value is an estimate, so READY
    needs its interval to hold on the bad side too; the caps of the frozen decision cap this one.
    """
    moving = {
        mean.name: _Moving(one, mean, *counted.bases[mean.name]) for one, mean in zip(corrected, means, strict=True)
    }
    gates = tuple(_gate(gate, moving.get(gate.aggregate)) for gate in frozen.gates if not gate.unmeasured)
    never = [gate for gate in gates if not gate.can_hold]
    doubts = [_doubt(gate) for gate in gates if not gate.holds_for_sure]
    decision: DecisionName
    if counted.n_samples == 0:
        decision, reasons = "NOT_READY", ["no_samples"]
    elif never and counted.is_whole:
        decision, reasons = "NOT_READY", [_never(gate) for gate in never]
    elif doubts or frozen.capped_by:
        decision, reasons = "INCONCLUSIVE", [*(frozen.capped_by or ()), *doubts]
    else:
        decision, reasons = "READY", ["all gates hold, at the bad end of their intervals too"]
    return CorrectedDecision(
        decision=decision,
        by_values_alone=_by_values(gates, frozen, counted),
        reasons=tuple(reasons),
        gates=gates,
        confidence=confidence,
    )


def _by_values(gates: Sequence[CorrectedGate], frozen: Decision, counted: SampleCounts) -> DecisionName:
    if counted.n_samples == 0 or any(gate.value is not None and not gate.holds for gate in gates):
        return "NOT_READY"
    unknown = frozen.capped_by or any(gate.value is None for gate in gates)
    return "INCONCLUSIVE" if unknown else "READY"


def _gate(gate: Gate, moving: _Moving | None) -> CorrectedGate:
    threshold = Threshold(gate.aggregate, gate.direction, round(gate.limit * 1e9))
    source: Literal["corrected", "labels_alone", "run"] = "run"
    value, worst, best, reason = gate.value, gate.worst, gate.best, None
    if moving is not None:
        one = moving.corrected
        source = "labels_alone" if one.corrected.low is None else "corrected"
        found = one.by_labels_alone if source == "labels_alone" else one.corrected
        value, worst, best, reason = _moved(gate, moving, found)
    elif not isinstance(gate.bound, msgspec.UnsetType) and not isinstance(gate.best_bound, msgspec.UnsetType):
        # No judge has a say in it, and no label: it has to be shown as in the run's own decision.
        worst, best = gate.bound, gate.best_bound
        reason = gate.bound_reason if worst is None and isinstance(gate.bound_reason, str) else None
    return CorrectedGate(
        aggregate=gate.aggregate,
        direction=gate.direction,
        limit=gate.limit,
        source=source,
        frozen=gate.value,
        value=value,
        worst=worst,
        best=best,
        holds=threshold.holds(value),
        holds_for_sure=threshold.holds(worst),
        can_hold=(best is None and reason is not None) or threshold.holds(best),
        reason=reason,
    )


def _moved(gate: Gate, moving: _Moving, found: Estimate) -> tuple[float | None, float | None, float | None, str | None]:
    """`(value, worst, best, reason)` of the whole run.

    A mean over all samples has the judged ones' part and the others': where the mean of the judged ones moves by d, the
    whole moves by d times their share.
    """
    one, within = moving.corrected, partial(_within, moving.mean.lowest, moving.mean.highest)
    if found.estimate is None or one.as_judged is None or gate.value is None or not moving.base:
        return None, None, None, found.reason or "no_data"
    value = gate.value + (found.estimate - one.as_judged) * one.n_judged / moving.base
    bad, good = (found.low, found.high) if gate.direction == "at_least" else (found.high, found.low)
    if bad is None or good is None or gate.worst is None or gate.best is None:
        return within(value), None, None, found.reason or "no_data"
    share = one.n_judged / moving.base_filled
    worst = gate.worst + (bad - one.as_judged) * share
    best = gate.best + (good - one.as_judged) * share
    return within(value), within(worst), within(best), None


def _within(low: float, high: float, value: float) -> float:
    """A value, kept on its scale: an interval by the normal distribution may leave it."""
    return round(min(float(high), max(float(low), value)), 9)


def _never(gate: CorrectedGate) -> str:
    return f"{gate.aggregate} is {gate.best:.9g} at best; the gate asks for {_asks(gate)}"


def _doubt(gate: CorrectedGate) -> str:
    if gate.worst is None:
        return f"{gate.aggregate}: nothing can be said of how sure its value is ({_why(gate)})"
    return f"{gate.aggregate} is {gate.value:.9g}, and {gate.worst:.9g} at worst; the gate asks for {_asks(gate)}"


def _why(gate: CorrectedGate) -> str:
    code = gate.reason or "no_data"
    return REASONS.get(code, code)


def _asks(gate: CorrectedGate) -> str:
    return f"{'at least' if gate.direction == 'at_least' else 'at most'} {gate.limit:g}"


UNEVEN = (
    "the labels were drawn for the decision, from some of the judge's verdicts more than from others: corrected values "
    "allow for it; agreement and bias are those of the labelled answers"
)
TELLING_LABELS = 30  # with fewer, most intervals say little


def calibrate(
    samples: Sequence[ScoredAnswer],
    gold: GoldScores,
    criteria: Sequence[LabelCriterion],
    means: Sequence[MeanOfScores],
    *,
    frozen: Decision | None,
    counted: SampleCounts,
    drawing: Drawing,
) -> Calibration:
    """Hold the judge against people's labels of a part of the samples, drawn by chance.

    Raises: UsageError for a label of a sample that the judge did not score, or with a score that does not exist.
    """
    by_number = {one.sample: one for one in samples}
    _check(gold, by_number, criteria)
    labelled = [(by_number[sample], said) for sample, said in sorted(gold.items())]
    fields = tuple(
        field_trial(
            [pair_of(one, place, said[criterion.name]) for one, said in labelled if criterion.name in said],
            criterion,
            drawing,
        )
        for place, criterion in enumerate(criteria)
    )
    corrected = corrected_aggregates(samples, gold, criteria, means, drawing)
    clusters = {one.cluster for one in samples if one.cluster is not None}
    decision = None
    if frozen is not None:
        decision = corrected_decision(frozen, corrected, counted, means, drawing.confidence)
    return Calibration(
        n_judged=len(samples),
        n_labelled=sum(bool(labels) for labels in gold.values()),
        n_clusters=len(clusters) or None,
        confidence=drawing.confidence,
        seed=drawing.seed,
        fields=fields,
        corrected=corrected,
        frozen_decision=frozen,
        corrected_decision=decision,
        warnings=(*_warnings(fields), *(UNEVEN,) * any(one.stratum is not None for one in samples)),
    )


def _check(gold: GoldScores, known: Mapping[int, ScoredAnswer], criteria: Sequence[LabelCriterion]) -> None:
    scales = {one.name: one.scores for one in criteria}
    for sample, labels in gold.items():
        if sample not in known:
            raise UsageError(f"labels: sample {sample} is labelled, and the judge of this run did not score it")
        for field, score in labels.items():
            if score not in scales[field]:
                expected = scores_words(scales[field])
                raise UsageError(f"labels: sample {sample} {field}: found {score}; expected {expected}")


def field_trial(pairs: Sequence[LabelledPair], criterion: LabelCriterion, drawing: Drawing) -> FieldTrial:
    """One criterion, by the answers that people labelled."""
    said = [(pair.people, pair.judge) for pair in pairs]
    confusion = {str(people): {str(judge): 0 for judge in criterion.scores} for people in criterion.scores}
    for people, judge in said:
        confusion[str(people)][str(judge)] += 1
    return FieldTrial(
        field=criterion.name,
        n=len(pairs),
        confusion=confusion,
        same=same_score(pairs, drawing.confidence),
        agreement=agreements(said, criterion.scores, drawing, clusters_of(pairs)),
        bias=bias_of(pairs, drawing),
    )


def pair_of(one: ScoredAnswer, place: int, people: int) -> LabelledPair:
    """An answer's score by its `place`-th criterion, beside people's. Raises: ValueError where it has none."""
    own = one.scores[place]
    if own is None:
        raise ValueError(f"sample {one.sample} was not judged")
    return LabelledPair(people, own, one.answer_chars, one.slices, one.cluster)


def agreements(
    said: Sequence[tuple[int, int]],
    scores: Sequence[int],
    drawing: Drawing,
    clusters: Sequence[str | None] | None = None,
) -> dict[AgreementName, Agreement]:
    """Every coefficient of two raters' scores on one scale."""
    a, b = [one for one, _ in said], [other for _, other in said]
    confidence, seed, n = drawing.confidence, drawing.seed, drawing.n_resamples

    def kappa(weights: Weights) -> Agreement:
        return cohens_kappa(
            a, b, scores, weights=weights, clusters=clusters, confidence=confidence, seed=seed, n_resamples=n
        )

    def ac(weights: Weights) -> Agreement:
        return gwet_ac(
            a, b, scores, weights=weights, clusters=clusters, confidence=confidence, seed=seed, n_resamples=n
        )

    alpha = krippendorff_alpha([a, b], confidence=confidence, seed=seed, n_resamples=n)
    if clusters is not None:
        alpha = replace(alpha, warnings=(*alpha.warnings, "clusters_ignored"))
    return {
        "cohens_kappa": kappa("unweighted"),
        "cohens_kappa_linear": kappa("linear"),
        "cohens_kappa_quadratic": kappa("quadratic"),
        "gwet_ac1": ac("unweighted"),
        "gwet_ac2_quadratic": ac("quadratic"),
        "krippendorff_alpha_ordinal": alpha,
    }


def _warnings(fields: Sequence[FieldTrial]) -> tuple[str, ...]:
    found = []
    for one in fields:
        if one.n < TELLING_LABELS:
            found.append(f"{one.field}: {one.n} labels are few; most intervals will say little")
        scores = {people for people, row in one.confusion.items() if sum(row.values())}
        if one.n and len(scores) == 1:
            found.append(
                f"{one.field}: people gave every sample {scores.pop()}, so agreement beyond chance can't be told"
            )
    return tuple(found)
