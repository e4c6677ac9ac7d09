"""Aggregates as people would have them: Rogan and Gladen for rates, prediction-powered means for the others.

A rate could be a prediction-powered mean too; near 0 and 1 that interval, by the normal distribution, is too narrow (by
simulation it holds in 91 % where it says 95 %: 100 labels, a rate of 0.95), and Lang and Reiczigel's is not.

People labelled a part of the judged samples, drawn by chance; the judge scored them all. Where samples share clusters,
the same estimators are resampled by whole clusters (bootstrap BCa).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from benchbook.decisions.calibration_results import Corrected, JudgedSample
from benchbook.records.facts import LabelField
from benchbook.scorers.exact import NANO
from benchbook.scorers.rubric import Outcome, RubricScale, score_sample
from benchbook.statistics import Estimate, bounded_mean, prediction_powered_mean, rogan_gladen, wilson

if TYPE_CHECKING:
    from benchbook.statistics._arrays import Floats

__all__ = ["GoldScores", "corrected_aggregates"]

GoldScores = Mapping[int, Mapping[LabelField, int]]
"""People's scores by sample and field; what nobody labelled, or two people left open, is not in it."""

_BOTH: tuple[LabelField, ...] = ("accuracy_score", "faithfulness_score")


@dataclass(frozen=True, slots=True)
class _Measure:
    """A number of one sample that an aggregate is the mean of, and the fields that people must have labelled for it."""

    aggregate: str
    needs: tuple[LabelField, ...]
    value: Callable[[Outcome], float]
    highest: int = 1
    binary: bool = False


@dataclass(frozen=True, slots=True)
class _Sample:
    judge: float
    people: float | None
    cluster: str | None


def corrected_aggregates(
    samples: Sequence[JudgedSample],
    gold: GoldScores,
    scale: RubricScale,
    *,
    confidence: float,
    seed: int,
    n_resamples: int,
) -> tuple[Corrected, ...]:
    """Every aggregate that depends on the judge, over the judged samples, corrected."""
    drawing = _Drawing(confidence, seed, n_resamples)
    found = []
    for measure in _measures(scale):
        values = [_sample(one, gold.get(one.sample, {}), measure) for one in samples]
        found.append(
            Corrected(
                aggregate=measure.aggregate,
                as_judged=sum(one.judge for one in values) / len(values) if values else None,
                corrected=_rate(values, drawing) if measure.binary else _mean(values, measure.highest, drawing),
                by_labels_alone=_labels_alone(values, measure, confidence),
                n_judged=len(values),
                n_labelled=sum(one.people is not None for one in values),
            )
        )
    return tuple(found)


def _measures(scale: RubricScale) -> tuple[_Measure, ...]:
    return (
        _Measure("accuracy_mean", ("accuracy_score",), lambda one: float(one.accuracy_score or 0), 2),
        _Measure(
            "accuracy_full_credit_rate", ("accuracy_score",), lambda one: float(one.accuracy_score == 2), binary=True
        ),
        _Measure("faithfulness_mean", ("faithfulness_score",), lambda one: float(one.faithfulness_score or 0), 2),
        _Measure(
            "faithfulness_failure_rate",
            ("faithfulness_score",),
            lambda one: float(one.faithfulness_score == 0),
            binary=True,
        ),
        _Measure("pass_rate", _BOTH, lambda one: float(score_sample(one, scale).passed), binary=True),
        _Measure("aggregate_score", _BOTH, lambda one: (score_sample(one, scale).sample_score_nano or 0) / NANO),
    )


def _sample(one: JudgedSample, labels: Mapping[LabelField, int], measure: _Measure) -> _Sample:
    """The measure by the judge's scores, and by people's in their place."""
    people = None
    if all(field in labels for field in measure.needs):
        people = measure.value(msgspec.structs.replace(one.outcome, **{name: labels[name] for name in measure.needs}))
    return _Sample(measure.value(one.outcome), people, one.cluster)


@dataclass(frozen=True, slots=True)
class _Drawing:
    confidence: float
    seed: int
    n_resamples: int


def _mean(samples: Sequence[_Sample], highest: int, drawing: _Drawing) -> Estimate:
    labelled = [one for one in samples if one.people is not None]
    unlabelled = [one.judge for one in samples if one.people is None]
    people = [one.people for one in labelled if one.people is not None]
    judge = [one.judge for one in labelled]
    found = prediction_powered_mean(people, judge, unlabelled, scale=(0.0, highest), confidence=drawing.confidence)
    if not _clustered(samples) or found.estimate is None:
        return found
    weight = found.judge_weight or 0.0

    def estimate(totals: Floats) -> Floats:
        import numpy as np

        n_people, people, judge, n_rest, rest = totals.T
        none = (n_people == 0) | ((n_rest == 0) & (weight > 0))
        corrected = (people - weight * judge) / np.where(n_people == 0, 1.0, n_people)
        corrected = corrected + weight * rest / np.where(n_rest == 0, 1.0, n_rest)
        return np.asarray(np.where(none, np.nan, corrected))

    rows = [
        (1.0, one.people, one.judge, 0.0, 0.0) if one.people is not None else (0.0, 0.0, 0.0, 1.0, one.judge)
        for one in samples
    ]
    return _by_clusters(samples, rows, estimate, found, "ppi++", drawing)


def _rate(samples: Sequence[_Sample], drawing: _Drawing) -> Estimate:
    """The judged samples are counted labelled ones included: the interval is narrower for it, and by simulation
    holds at least as often as it says."""
    labelled = [one for one in samples if one.people is not None]
    positives = [one for one in labelled if one.people]
    negatives = [one for one in labelled if not one.people]
    found = rogan_gladen(
        sum(one.judge > 0 for one in samples),
        len(samples),
        true_positives=sum(one.judge > 0 for one in positives),
        positives=len(positives),
        true_negatives=sum(one.judge == 0 for one in negatives),
        negatives=len(negatives),
        confidence=drawing.confidence,
        seed=drawing.seed,
        n_resamples=drawing.n_resamples,
    )
    if not _clustered(samples) or found.estimate is None:
        return found

    def estimate(totals: Floats) -> Floats:
        import numpy as np

        n, flagged, n_positive, right_positive, n_negative, right_negative = totals.T
        none = (n_positive == 0) | (n_negative == 0)
        sensitivity = right_positive / np.where(none, 1.0, n_positive)
        specificity = right_negative / np.where(none, 1.0, n_negative)
        youden = sensitivity + specificity - 1
        useful = ~none & (youden > 1e-12)
        share = (flagged / n + specificity - 1) / np.where(useful, youden, 1.0)
        return np.asarray(np.where(useful, np.clip(share, 0.0, 1.0), np.nan))

    rows = []
    for one in samples:
        flagged, positive, negative = one.judge > 0, bool(one.people), one.people == 0
        cells = (True, flagged, positive, positive and flagged, negative, negative and not flagged)
        rows.append(tuple(map(float, cells)))
    return _by_clusters(samples, rows, estimate, found, "rogan_gladen", drawing)


def _labels_alone(samples: Sequence[_Sample], measure: _Measure, confidence: float) -> Estimate:
    """The mean of people's labels, which were drawn by chance: Wilson for shares, Jeffreys for others, by clusters."""
    labelled = [(one.people, one.cluster) for one in samples if one.people is not None]
    values = [value for value, _ in labelled]
    if not _clustered(samples):
        if measure.binary:
            return wilson(round(sum(values)), len(values), confidence)
        return bounded_mean(values, highest=measure.highest, confidence=confidence)
    clusters = [cluster for _, cluster in labelled]
    found = bounded_mean(values, highest=measure.highest, clusters=clusters, confidence=confidence)
    if measure.binary and found.reason == "no_variance" and len(set(values)) == 1:
        n_clusters = len(set(clusters))
        alike = wilson(n_clusters if values[0] else 0, n_clusters, confidence)
        return replace(alike, method="wilson_over_clusters", n=len(values), n_clusters=n_clusters)
    return found


def _clustered(samples: Sequence[_Sample]) -> bool:
    return any(one.cluster is not None for one in samples)


def _by_clusters(
    samples: Sequence[_Sample],
    rows: Sequence[tuple[float, ...]],
    estimate: Callable[[Floats], Floats],
    found: Estimate,
    name: str,
    drawing: _Drawing,
) -> Estimate:
    """The same estimate with an interval from resampled clusters; rows add up to what `estimate` is made from."""
    import numpy as np

    from benchbook.statistics.bootstrap import Units, bootstrap_interval

    places: dict[str | None, int] = {}
    codes = np.array([places.setdefault(one.cluster, len(places)) for one in samples])
    table = np.zeros((len(places), len(rows[0])))
    np.add.at(table, codes, np.array(rows, dtype=np.float64))
    by_cluster = bootstrap_interval(
        Units.of(table),
        estimate,
        n=found.n,
        n_clusters=len(places),
        confidence=drawing.confidence,
        seed=drawing.seed,
        n_resamples=drawing.n_resamples,
    )
    return Estimate(
        estimate=found.estimate,
        low=by_cluster.low,
        high=by_cluster.high,
        confidence=found.confidence,
        method=f"{name}_{by_cluster.method}",
        n=found.n,
        reason=by_cluster.reason,
        warnings=tuple(dict.fromkeys((*found.warnings, *by_cluster.warnings))),
        standard_error=by_cluster.standard_error,
        n_clusters=len(places),
        seed=by_cluster.seed,
    )
