"""A judge on trial: its scores held against people's, its aggregates corrected, its decision made again. Pure."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from benchbook.errors import UsageError
from benchbook.evaluators.gates import Decision, DecisionName, Gate, Threshold
from benchbook.evaluators.rubric.aggregate_kinds import OfSamples
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.criteria import Criterion
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.labels.calibration_corrected import GoldScores, LabelledPair, bias_of, clusters_of, corrected_aggregates
from benchbook.labels.calibration_results import (
    AgreementName,
    Calibration,
    Corrected,
    CorrectedDecision,
    CorrectedGate,
    FieldTrial,
    JudgedSample,
)
from benchbook.labels.state import scores_words
from benchbook.statistics import Agreement, Estimate, Weights, cohens_kappa, gwet_ac, krippendorff_alpha

__all__ = ["SampleCounts", "agreements", "calibrate", "corrected_decision"]


@dataclass(frozen=True, slots=True)
class SampleCounts:
    """How many samples a run's aggregates are over."""

    n_samples: int
    n_scored: int  # with a score, a rule's zeros among them
    n_unscored: int
    by_criterion: Mapping[str, int]  # by an aggregate of one criterion, how many samples have a score by it
    is_whole: bool = True  # every sample that was planned is there

    def bases(self, aggregate: str) -> tuple[int, int]:
        """What the aggregate is divided by: as it stands, and with the unscored samples filled in (R6.3)."""
        if aggregate == "pass_rate":
            return self.n_samples, self.n_samples
        n = self.by_criterion.get(aggregate, self.n_scored)
        return n, n + self.n_unscored


def corrected_decision(
    frozen: Decision, corrected: Sequence[Corrected], counted: SampleCounts, spec: RubricSpec, confidence: float
) -> CorrectedDecision:
    """Move each gate's value by what the correction moves the judged samples, and decide.

    What no judge scored (no answer, failed judge) stays as it is. A corrected value is an estimate, so READY asks that
    its interval holds on the bad side; what capped the frozen decision caps this one.
    """
    by_name = {one.aggregate: one for one in corrected}
    gates = tuple(_gate(gate, by_name, counted, spec) for gate in frozen.gates if not gate.unmeasured)
    never = [gate for gate in gates if not gate.can_hold]
    doubts = [_doubt(gate) for gate in gates if not gate.holds_for_sure]
    decision: DecisionName
    if counted.n_samples == 0:
        decision, reasons = "NOT_READY", ["no_samples"]
    elif never and counted.is_whole:
        decision, reasons = "NOT_READY", [_never(gate) for gate in never]
    elif doubts or frozen.capped_by:
        decision, reasons = "INCONCLUSIVE", [*frozen.capped_by, *doubts]
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


def _gate(gate: Gate, corrected: Mapping[str, Corrected], counted: SampleCounts, spec: RubricSpec) -> CorrectedGate:
    threshold = Threshold(gate.aggregate, gate.direction, round(gate.limit * 1e9))
    one = corrected.get(gate.aggregate)
    source: Literal["corrected", "labels_alone", "run"] = "run"
    value, worst, best, reason = gate.value, gate.worst, gate.best, None
    if one is not None:
        source = "labels_alone" if one.corrected.low is None else "corrected"
        found = one.by_labels_alone if source == "labels_alone" else one.corrected
        value, worst, best, reason = _moved(gate, one, found, counted, spec)
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


def _moved(
    gate: Gate, one: Corrected, found: Estimate, counted: SampleCounts, spec: RubricSpec
) -> tuple[float | None, float | None, float | None, str | None]:
    """`(value, worst, best, reason)` of the whole run.

    A mean over all is the judged samples' part and the others': where the judged ones' mean moves by d, the whole moves
    by d times their share.
    """
    base, base_filled = counted.bases(gate.aggregate)
    within = partial(_within, *_scale_of(gate.aggregate, spec))
    if found.estimate is None or one.as_judged is None or gate.value is None or not base:
        return None, None, None, found.reason or "no_data"
    value = gate.value + (found.estimate - one.as_judged) * one.n_judged / base
    bad, good = (found.low, found.high) if gate.direction == "at_least" else (found.high, found.low)
    if bad is None or good is None or gate.worst is None or gate.best is None:
        return within(value), None, None, found.reason or "no_data"
    share = one.n_judged / base_filled
    worst = gate.worst + (bad - one.as_judged) * share
    best = gate.best + (good - one.as_judged) * share
    return within(value), within(worst), within(best), None


def _scale_of(aggregate: str, spec: RubricSpec) -> tuple[float, float]:
    """Where it lies: rates and scores from 0 to 1, a criterion's mean on its scale."""
    one = table_of(spec)[aggregate]
    return (one.lowest, one.lowest + one.span) if isinstance(one, OfSamples) else (0, 1)


def _within(low: float, high: float, value: float) -> float:
    """An interval by the normal distribution may leave the scale."""
    return round(min(float(high), max(float(low), value)), 9)


def _never(gate: CorrectedGate) -> str:
    return f"{gate.aggregate} is {gate.best:.9g} at best; the gate asks for {_asks(gate)}"


def _doubt(gate: CorrectedGate) -> str:
    if gate.worst is None:
        return f"{gate.aggregate}: nothing can be said of how sure its corrected value is ({gate.reason or 'no_data'})"
    return f"{gate.aggregate} is {gate.value:.9g}, and {gate.worst:.9g} at worst; the gate asks for {_asks(gate)}"


def _asks(gate: CorrectedGate) -> str:
    return f"{'at least' if gate.direction == 'at_least' else 'at most'} {gate.limit:g}"


TELLING_LABELS = 30  # with fewer, most intervals say little


def calibrate(
    samples: Sequence[JudgedSample],
    gold: GoldScores,
    spec: RubricSpec,
    *,
    frozen: Decision | None,
    counted: SampleCounts,
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Calibration:
    """Hold the judge against people's labels of a part of the samples, drawn by chance.

    Raises: UsageError for a label of a sample that the judge did not score, or of a score that there is not.
    """
    by_number = {one.sample: one for one in samples}
    _check(gold, by_number.keys(), spec)
    fields = tuple(
        _field_trial(number, one, by_number, gold, confidence, seed, n_resamples)
        for number, one in enumerate(spec.criteria)
    )
    corrected = corrected_aggregates(samples, gold, spec, confidence=confidence, seed=seed, n_resamples=n_resamples)
    clusters = {one.cluster for one in samples if one.cluster is not None}
    return Calibration(
        n_judged=len(samples),
        n_labelled=sum(bool(labels) for labels in gold.values()),
        n_clusters=len(clusters) or None,
        confidence=confidence,
        seed=seed,
        fields=fields,
        corrected=corrected,
        frozen_decision=frozen,
        corrected_decision=None if frozen is None else corrected_decision(frozen, corrected, counted, spec, confidence),
        warnings=_warnings(fields),
    )


def _check(gold: GoldScores, known: Container[int], spec: RubricSpec) -> None:
    scales = {one.score_key: tuple(one.scores) for one in spec.criteria}
    for sample, labels in gold.items():
        if sample not in known:
            raise UsageError(f"labels: sample {sample} is labelled, and the judge of this run did not score it")
        for field, score in labels.items():
            if score not in scales[field]:
                expected = scores_words(scales[field])
                raise UsageError(f"labels: sample {sample} {field}: found {score}; expected {expected}")


def _field_trial(
    number: int,
    criterion: Criterion,
    samples: dict[int, JudgedSample],
    gold: GoldScores,
    confidence: float,
    seed: int,
    n_resamples: int,
) -> FieldTrial:
    """The `number`-th criterion."""
    field, scores = criterion.score_key, tuple(criterion.scores)
    pairs = [
        LabelledPair(
            people=labels[field],
            judge=samples[sample].score(number),
            answer_chars=samples[sample].answer_chars,
            slices=tuple(samples[sample].slices.items()),
            cluster=samples[sample].cluster,
        )
        for sample, labels in sorted(gold.items())
        if field in labels
    ]
    confusion = {str(people): {str(judge): 0 for judge in scores} for people in scores}
    for pair in pairs:
        confusion[str(pair.people)][str(pair.judge)] += 1
    return FieldTrial(
        field=field,
        n=len(pairs),
        confusion=confusion,
        agreement=agreements(
            [pair.people for pair in pairs],
            [pair.judge for pair in pairs],
            scores=scores,
            clusters=clusters_of(pairs),
            confidence=confidence,
            seed=seed,
            n_resamples=n_resamples,
        ),
        bias=bias_of(pairs, confidence, seed),
    )


def agreements(
    a: Sequence[int],
    b: Sequence[int],
    *,
    scores: Sequence[int],
    clusters: Sequence[str | None] | None,
    confidence: float,
    seed: int,
    n_resamples: int,
) -> dict[AgreementName, Agreement]:
    """Every coefficient of two raters' scores on one scale."""

    def kappa(weights: Weights) -> Agreement:
        return cohens_kappa(
            a, b, scores, weights=weights, clusters=clusters, confidence=confidence, seed=seed, n_resamples=n_resamples
        )

    def ac(weights: Weights) -> Agreement:
        return gwet_ac(
            a, b, scores, weights=weights, clusters=clusters, confidence=confidence, seed=seed, n_resamples=n_resamples
        )

    alpha = krippendorff_alpha([a, b], confidence=confidence, seed=seed, n_resamples=n_resamples)
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
