"""The ground of this room: arguments, checked, and results. NumPy is loaded when the first array is made."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The arrays that this room takes and makes; in quotes, for NumPy is loaded when the first one is made.
Floats: TypeAlias = "NDArray[np.float64]"
Ints: TypeAlias = "NDArray[np.intp]"
Bools: TypeAlias = "NDArray[np.bool_]"
Numbers: TypeAlias = "float | NDArray[Any]"
"""One, or an array of them, as NumPy takes them."""
Values: TypeAlias = "Sequence[float] | NDArray[Any]"
"""Numbers as callers pass them, one a sample."""
Labels: TypeAlias = "Sequence[Hashable] | NDArray[Any]"
"""Clusters or items as callers pass them, one a sample."""

ROUNDING = 1e-13
LARGEST, SMALLEST = 1e60, 1e-60  # cubes, and sums of them, neither overflow nor vanish


def as_values(values: Values, name: str = "values") -> Floats:
    """A flat array of finite numbers; nearer to 0 than 1e-60 is 0.

    Raises: ValueError for NaN, None, infinity or a number beyond 1e60; missing values are left out by the caller.
    """
    import numpy as np

    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError(f"{name} must be a flat sequence, not one of {x.ndim} dimensions")
    if not np.all(np.abs(x) <= LARGEST):  # false for NaN, too
        raise ValueError(f"{name} must be finite numbers, at most 1e60 in size; leave missing ones out first")
    return np.where(np.abs(x) < SMALLEST, 0.0, x)


def as_pairs(a: Values, b: Values) -> tuple[Floats, Floats]:
    """Two arrays of the same length. Raises: ValueError, also as in `as_values`."""
    x, y = as_values(a, "a"), as_values(b, "b")
    if x.size != y.size:
        raise ValueError(f"a has {x.size} values and b {y.size}; pairs need as many of each")
    return x, y


def all_alike(x: Floats, size: float) -> bool:
    """True if values differ by no more than rounding in numbers of this size: 0.3 - 0.2 is not quite 0.1."""
    return bool(x.max() - x.min() <= ROUNDING * size)


def cluster_codes(clusters: Labels, n: int) -> tuple[Ints, int]:
    """`(codes, n_clusters)`: each value's cluster as a number from 0 on, in the order of first appearance.

    None is a label like any other: a value that shares nothing with others needs a label of its own.

    Raises: ValueError if there are not `n` of them.
    """
    import numpy as np

    if len(clusters) != n:
        raise ValueError(f"{n} values, but {len(clusters)} cluster labels")
    seen: dict[Hashable, int] = {}
    listed = clusters.tolist() if isinstance(clusters, np.ndarray) else clusters
    codes = np.fromiter((seen.setdefault(label, len(seen)) for label in listed), dtype=np.intp, count=n)
    return codes, len(seen)


def sums_by_cluster(values: Floats, clusters: Labels) -> Floats:
    """The sum of the values of each cluster."""
    import numpy as np

    codes, n_clusters = cluster_codes(clusters, int(values.size))
    return np.asarray(np.bincount(codes, weights=values, minlength=n_clusters), dtype=np.float64)


def check_confidence(confidence: float) -> None:
    """Raises: ValueError unless it is between 0 and 1, both excluded."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")


def check_draws(draws: int, what: str) -> None:
    """Raises: ValueError for fewer than two."""
    if draws < 2:
        raise ValueError(f"{what} must be 2 at least, not {draws}")


def check_counts(successes: int, n: int, what: str = "successes") -> None:
    """Raises: ValueError unless 0 <= successes <= n."""
    if not 0 <= successes <= n:
        raise ValueError(f"{what} must lie between 0 and {n}, not {successes}")


FEW_CLUSTERS = 10  # fewer, and an interval by clusters is rough
FEW_LABELS = 10  # fewer, of a judged class or stratum too, and an interval by labels is likely too narrow


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
    "too_few_clusters": "no more items than there are strengths and effects to tell, so their spread can't be told",
    "not_connected": "the models fall apart into sets that were never compared with one another",
    "separated": "some models won everything against the others, so by how much they are better has no bound",
    "separated_by_covariates": "a covariate alone tells who won, so its effect has no bound",
    "not_told_apart": "it goes along with which models are compared, so its effect can't be told from theirs",
    "too_many_models": "of more than 1,000 models strengths are not told: rank fewer",
    "too_many_runs": "of more than 4,000 runs no two are told apart: rank fewer",
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
class Agreement(Estimate):
    """Agreement beyond chance, at most 1. `observed_agreement` is the share of items (of pairs of ratings, where there
    are more than two raters) with the same category: shown also where chance leaves nothing to estimate."""

    observed_agreement: float | None


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


@dataclass(frozen=True, slots=True)
class Basis:
    """The basis of an estimate: so many values, in clusters or alone, and the method of its interval."""

    n: int
    confidence: float
    method: str
    n_clusters: int | None = None
    seed: int | None = None

    def nothing(self, reason: str, estimate: float | None = None) -> Estimate:
        """The result without an interval: the estimate, if there is one, and why there are no bounds."""
        return Estimate(
            estimate=estimate,
            low=None,
            high=None,
            confidence=self.confidence,
            method=self.method,
            n=self.n,
            reason=reason,
            n_clusters=self.n_clusters,
        )

    def interval(
        self,
        estimate: float,
        low: float,
        high: float,
        standard_error: float | None = None,
        warnings: tuple[str, ...] = (),
    ) -> Estimate:
        """The estimate between its bounds; of few clusters, with a warning before others."""
        few = self.n_clusters is not None and self.n_clusters < FEW_CLUSTERS
        return Estimate(
            estimate=estimate,
            low=low,
            high=high,
            confidence=self.confidence,
            method=self.method,
            n=self.n,
            warnings=("few_clusters",) * few + warnings,
            standard_error=standard_error,
            n_clusters=self.n_clusters,
            seed=self.seed,
        )
