"""What statistical functions return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

__all__ = ["REASONS", "WARNINGS", "Estimate", "RankInterval", "refuse_nan", "without_interval"]


REASONS: Mapping[str, str] = {
    "no_data": "there are no values to compute it from",
    "one_value": "one value alone says nothing about spread",
    "one_cluster": "one cluster alone says nothing about spread between clusters",
    "no_variance": "all values are alike, so their spread says nothing about how sure this is",
    "no_discordant_pairs": "no pair differs",
    "sample_too_small": "the sample is too small for this at the confidence asked for",
    "one_category": "only one category occurs, so chance alone explains the agreement",
    "judge_no_better_than_chance": "sensitivity and specificity add up to 1 or less: the judge tells nothing apart",
    "perfect_correlation": "the ranks agree (or oppose) perfectly, so this method gives no interval",
    "one_repeat": "one repeat alone says nothing about how much repeats differ",
    "too_many_values": "too many distinct values for an interval by resampling",
    "no_difference": "no number of items can show a difference of nothing",
}
"""Every `reason` that a result of this room can have, with its sentence."""

WARNINGS: Mapping[str, str] = {
    "few_clusters": "fewer than 10 clusters: the interval is rough, and may be too narrow",
    "one_pair": "one pair alone says nothing about spread, so any difference is left open",
    "one_cluster": "all pairs belong together, so any difference is left open",
    "few_labels": "fewer than 10 labels: the interval is likely too narrow",
    "few_differing_pairs": "fewer than 10 differing pairs: the normal approximation is rough",
    "clipped": "the value fell outside 0 to 1 and was set to the nearer end",
    "undefined_resamples": "some resamples gave no value and were left out",
    "judge_near_chance": "the labels leave open whether the judge is better than chance, so any rate is allowed for",
    "no_unlabelled": "nothing but labelled samples: the judge adds nothing",
    "clusters_ignored": "this test takes pairs as independent; the clustered interval does not",
    "bounds_crossed": "the bounds would cross: the mean drifts, or chance had its rare day; they stay where they were",
    "negative_component": "the variance between items came out below 0 and was set to 0",
}
"""Every warning that a result of this room can carry, with its sentence."""


def refuse_nan(result: Any) -> None:
    """Raises ArithmeticError if a field of this dataclass is NaN or infinite: no such number leaves this room."""
    for field in fields(result):
        value = getattr(result, field.name)
        if isinstance(value, float) and not isfinite(value):
            raise ArithmeticError(f"{type(result).__name__}.{field.name} is {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimate with its interval, both in the unit of the values. A bound or estimate is None where nothing can be
    said, and `reason` (one of REASONS) says why. `n` counts values; pairs where two runs are compared.

    `standard_error` is None where the method has none; `seed` is set where random numbers were drawn.
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence: float
    method: str
    n: int
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    standard_error: float | None = None
    n_clusters: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        refuse_nan(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankInterval:
    """An interval between two order statistics. Ranks count from 1; None where the sample is too small."""

    low_rank: int | None
    high_rank: int | None
    coverage: float | None  # exact, of the closed interval between the two; None where one is missing
    confidence: float
    n: int
    reason: str | None = None
    method: str = "order_statistics"
    warnings: tuple[str, ...] = ()


def without_interval(
    estimate: float | None, *, n: int, confidence: float, method: str, reason: str, n_clusters: int | None = None
) -> Estimate:
    """What can be said when there is no interval: the estimate, if there is one, and why there are no bounds."""
    return Estimate(
        estimate=estimate,
        low=None,
        high=None,
        confidence=confidence,
        method=method,
        n=n,
        reason=reason,
        n_clusters=n_clusters,
    )
