"""A mean of people's labels, made sharper by a judge that saw more samples than people did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from benchbook.statistics.bounded import Design, bounds_of_mean
from benchbook.statistics.distributions import normal_quantile, t_quantile
from benchbook.statistics.ground import (
    FEW_LABELS,
    Estimate,
    Floats,
    Values,
    as_pairs,
    as_values,
    check_confidence,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionPoweredMean(Estimate):
    """The mean label. `judge_weight` is PPI++'s lambda: 0 takes no notice of the judge, 1 trusts it as plain PPI does.

    `n` counts labelled samples.
    """

    judge_weight: float | None
    n_unlabelled: int


def prediction_powered_mean(
    labels: Values,
    judge_on_labelled: Values,
    judge_on_unlabelled: Values,
    *,
    judge_weight: float | None = None,
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> PredictionPoweredMean:
    """Prediction-powered mean (Angelopoulos et al. 2023, PPI and PPI++), right however bad the judge is.

    w * mean(judge, unlabelled) + mean(label - w * judge, labelled), with a normal interval from population variances.
    `judge_weight` None chooses w so that the interval is narrowest, within 0 to 1. Null: `no_data`; null bounds:
    `one_value`, `no_variance`. Without unlabelled samples it is the labels' mean, with a warning.

    `scale` is the least and the greatest label that there could be: with it, the interval is not too sure of few labels
    that are nearly all alike (`ppi++_bounded`, see `_bounded`).
    """
    y, judged = as_pairs(labels, judge_on_labelled)
    unseen = as_values(judge_on_unlabelled, "judge_on_unlabelled")
    check_confidence(confidence)
    if judge_weight is not None and not abs(judge_weight) <= 1e6:  # nor NaN
        raise ValueError(f"judge_weight must be a number, from 0 to 1 as a rule, not {judge_weight}")
    if not y.size:
        return _result(None, None, "no_data", confidence, y, unseen, None)
    weight = _tuned_weight(y, judged, unseen) if judge_weight is None else float(judge_weight)
    if not unseen.size:
        weight, unseen_mean, unseen_variance = 0.0, 0.0, 0.0
    else:
        unseen_mean, unseen_variance = float(unseen.mean()), float(unseen.var()) / unseen.size
    rectifier = y - weight * judged
    estimate = weight * unseen_mean + float(rectifier.mean())
    if y.size == 1:
        return _result(estimate, None, "one_value", confidence, y, unseen, weight)
    error = sqrt(weight**2 * unseen_variance + float(rectifier.var()) / y.size)
    if error <= 1e-13 * max(1.0, abs(estimate)):
        return _result(estimate, None, "no_variance", confidence, y, unseen, weight)
    found = _result(estimate, error, None, confidence, y, unseen, weight)
    if scale is None:
        return found
    own_variance = weight**2 * unseen_variance + float(rectifier.var()) / max(y.size - 2, 1)  # w is estimated, too
    low, high = _bounded(y, estimate, own_variance, scale, confidence)
    return replace(found, low=low, high=high, method="ppi++_bounded")


def _bounded(
    y: Floats, estimate: float, variance: float, scale: tuple[float, float], confidence: float
) -> tuple[float, float]:
    """The wider, at either side, of two intervals: Student's t, and that of a bounded mean of as many labels as the
    judge makes of them. Each is too sure where the other is not: t of labels nearly all alike, the other where the
    judge's errors spread more than the labels do."""
    lowest, width = scale[0], scale[1] - scale[0]
    if not (width > 0 and lowest <= y.min() and y.max() <= scale[1]):
        raise ValueError(f"labels must lie between {scale[0]} and {scale[1]}; found {y.min()} to {y.max()}")
    half = t_quantile(y.size - 1, (1 + confidence) / 2) * sqrt(variance)
    mean = min(1.0, max(0.0, (estimate - lowest) / width))
    spread = min(float(y.var()) / width**2, mean * (1 - mean))
    alone = float(y.var(ddof=1)) / y.size
    design = Design(effect=min(1.0, variance / alone) if alone else 1.0, degrees=y.size - 1)
    low, high = bounds_of_mean(y.size, mean, spread, confidence, design)
    return (
        min(estimate, max(scale[0], min(lowest + width * low, estimate - half))),
        max(estimate, min(scale[1], max(lowest + width * high, estimate + half))),
    )


def _tuned_weight(y: Floats, judged: Floats, unseen: Floats) -> float:
    """PPI++, example 6.1: covariance of label and judge over (1 + n/N) times the judge's variance, within 0 to 1."""
    everything = np.concatenate([judged, unseen])
    if not unseen.size or everything.size < 2 or np.ptp(everything) == 0:
        return 0.0
    covariance = float(((y - y.mean()) * (judged - judged.mean())).mean())
    weight = covariance / ((1 + y.size / unseen.size) * float(everything.var(ddof=1)))
    return min(1.0, max(0.0, weight))


def _result(
    estimate: float | None,
    error: float | None,
    reason: str | None,
    confidence: float,
    y: Floats,
    unseen: Floats,
    weight: float | None,
) -> PredictionPoweredMean:
    low = high = None
    if estimate is not None and error is not None:
        half = normal_quantile((1 + confidence) / 2) * error
        low, high = estimate - half, estimate + half
    few = estimate is not None and y.size < FEW_LABELS
    return PredictionPoweredMean(
        estimate=estimate,
        low=low,
        high=high,
        confidence=confidence,
        method="ppi++",
        n=int(y.size),
        reason=reason,
        warnings=("few_labels",) * few + ("no_unlabelled",) * (estimate is not None and not unseen.size),
        standard_error=error,
        judge_weight=weight,
        n_unlabelled=int(unseen.size),
    )
