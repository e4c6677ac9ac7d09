"""The bootstrap: whole units (items, pairs, clusters) are drawn with replacement, by a seed.

A statistic that is a function of sums needs no more of a resample than those sums. So each unit is a row of numbers
that add up, and a resample is the vector of its totals. Three ways lead there:

- few distinct rows (pass/fail, 0-1-2, the cells of a table): how often each is drawn is multinomial. Exact.
- up to 10,000 units, or 2e8 draws in all (20,000 units at 10,000 resamples): every draw is made. Exact.
- more: the 128 rows farthest from the middle stay single, the others are put into 384 bins of like rows. How often
  each single and each bin is drawn is multinomial, hence exact; what is drawn within a bin is its mean plus a normal
  part with the bins' own covariance. Mean and covariance of the totals are exactly those of the bootstrap; what is
  approximate is the shape of the part within bins, a sum of ten thousands of draws none of which stands out.

The same seed gives the same numbers with the same version of NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

import numpy as np

from benchbook.statistics.distributions import normal_cdf, normal_quantile
from benchbook.statistics.ground import (
    Basis,
    Estimate,
    Floats,
    Ints,
    Labels,
    Values,
    as_values,
    check_confidence,
    check_draws,
    cluster_codes,
)

Statistic: TypeAlias = Callable[[Floats], Floats]
"""Maps totals, an array (resamples, columns), to a value each; NaN where a resample has none."""

_FEW_ROWS = 512
_FEW_UNITS = 10_000
_MOST_DRAWS = 200_000_000
SINGLES, BINS = 128, 384
_BLOCK = 1 << 17  # draws at a time: counts stay in the cache


@dataclass(frozen=True, slots=True)
class Units:
    """The units to resample: distinct rows (rows, columns), and how many units have each."""

    rows: Floats
    counts: Ints

    @classmethod
    def of(cls, table: Floats) -> Units:
        """A row a unit."""
        rows, counts = np.unique(table, axis=0, return_counts=True)
        return cls(rows, counts)

    @property
    def size(self) -> int:
        return int(self.counts.sum())

    @property
    def totals(self) -> Floats:
        return np.asarray(self.counts @ self.rows, dtype=np.float64)


def bootstrap_mean(
    values: Values,
    *,
    clusters: Labels | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Estimate:
    """The mean with its bootstrap BCa interval (Efron 1987); with clusters, whole clusters are resampled."""
    x = as_values(values)
    n = int(x.size)
    codes, n_units = (np.arange(n), n) if clusters is None else cluster_codes(clusters, n)
    sums, sizes = np.bincount(codes, x, n_units), np.bincount(codes, minlength=n_units)
    return bootstrap_interval(
        Units.of(np.column_stack([sums, sizes]).astype(np.float64)),
        lambda totals: np.asarray(totals[:, 0] / totals[:, 1]),
        n=n,
        n_clusters=None if clusters is None else n_units,
        confidence=confidence,
        seed=seed,
        n_resamples=n_resamples,
    )


def bootstrap_interval(
    units: Units,
    statistic: Statistic,
    *,
    n: int,
    n_clusters: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> Estimate:
    """A statistic of totals with its bias-corrected, accelerated interval (Efron 1987).

    Null bounds: `one_value` or `one_cluster`, `no_variance` where all resamples agree, `sample_too_small` where most
    of them have no value. `n_clusters` is None where units are not clusters.
    """
    check_confidence(confidence)
    check_draws(n_resamples, "n_resamples")
    basis = Basis(n, confidence, "bca" if n_clusters is None else "clustered_bca", n_clusters, seed)
    estimate = value_of_units(units, statistic)
    reason = None
    if units.size < 2 or estimate is None:
        alone = "one_value" if n_clusters is None else "one_cluster"
        reason = "no_data" if estimate is None else alone
    else:
        found = statistic(resampled_totals(units, n_resamples, seed))
        resampled = np.sort(found[np.isfinite(found)])
        reason = _why_no_interval(resampled, n_resamples)
    if reason is not None:
        return basis.nothing(reason, estimate)
    low, high = _bca(resampled, estimate or 0.0, _acceleration(units, statistic), confidence)
    warnings = ("undefined_resamples",) * (resampled.size < n_resamples)
    return basis.interval(estimate or 0.0, low, high, float(resampled.std(ddof=1)), warnings)


def resampled_totals(units: Units, n_resamples: int, seed: int) -> Floats:
    """The totals of each resample, (resamples, columns)."""
    rng = np.random.default_rng(seed)
    n_rows = units.counts.size
    if n_rows <= min(_FEW_ROWS, max(16, units.size // 12)):
        return _by_rows(units.rows, units.counts, n_resamples, rng)
    if units.size <= _FEW_UNITS or units.size * n_resamples <= _MOST_DRAWS:
        return _by_draws(units, n_resamples, rng)
    return _by_bins(units, n_resamples, rng)


def _by_rows(rows: Floats, counts: Ints, n_resamples: int, rng: np.random.Generator) -> Floats:
    size = int(counts.sum())
    block = max(1, 4_000_000 // counts.size)
    parts = [
        rng.multinomial(size, counts / size, min(block, n_resamples - start)) @ rows
        for start in range(0, n_resamples, block)
    ]
    return np.concatenate(parts)


def _by_draws(units: Units, n_resamples: int, rng: np.random.Generator) -> Floats:
    size, rows = units.size, np.repeat(units.rows, units.counts, axis=0)
    block = max(1, _BLOCK // size)
    offsets = (np.arange(block) * size)[:, None]
    parts = []
    for start in range(0, n_resamples, block):
        height = min(block, n_resamples - start)
        drawn = rng.integers(0, size, (height, size)) + offsets[:height]
        counts = np.bincount(drawn.ravel(), minlength=height * size).reshape(height, size)
        parts.append(counts @ rows)
    return np.concatenate(parts)


def _by_bins(units: Units, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Totals of resamples from single rows and bins (see the module's docstring)."""
    rows = np.repeat(units.rows, units.counts, axis=0)
    singles, rest = _apart(rows)
    edges = np.linspace(0, len(rest), BINS + 1).astype(np.intp)
    sizes = np.diff(edges)
    means = np.add.reduceat(rest, edges[:-1], axis=0) / sizes[:, None]
    within = rest - np.repeat(means, sizes, axis=0)
    values, vectors = np.linalg.eigh(within.T @ within)
    spread = vectors * np.sqrt(np.maximum(values, 0.0))
    counts = np.concatenate([np.ones(len(singles), dtype=np.intp), sizes])
    totals = _by_rows(np.concatenate([singles, means]), counts, n_resamples, rng)
    return np.asarray(totals + rng.standard_normal(totals.shape) @ spread.T)


def _apart(rows: Floats) -> tuple[Floats, Floats]:
    """`(singles, rest)`: the rows farthest from the middle, and the others ordered along their main direction."""
    spread = rows.std(axis=0)
    scaled = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    by_distance = np.argsort(np.einsum("ij,ij->i", scaled, scaled), kind="stable")
    rest, singles = by_distance[:-SINGLES], by_distance[-SINGLES:]
    direction = np.linalg.eigh(scaled[rest].T @ scaled[rest])[1][:, -1]
    order = np.argsort(scaled[rest] @ direction, kind="stable")
    return rows[singles], rows[rest[order]]


def value_of_units(units: Units, statistic: Statistic) -> float | None:
    """The statistic of all units, each once; None where it has no value."""
    if not units.size:
        return None
    found = float(statistic(units.totals[None, :])[0])
    return found if isfinite(found) else None


def _why_no_interval(resampled: Floats, n_resamples: int) -> str | None:
    if resampled.size < n_resamples / 2:
        return "sample_too_small"
    if resampled[-1] - resampled[0] <= 1e-12 * max(1.0, abs(resampled[0])):
        return "no_variance"
    return None


def _acceleration(units: Units, statistic: Statistic) -> float:
    """Skewness of the leave-one-out values, over 6 (Efron 1987, equation 6.6); 0 where they do not vary."""
    left_out = statistic(units.totals - units.rows)
    defined = np.isfinite(left_out)
    values, weights = left_out[defined], units.counts[defined]
    if not values.size:
        return 0.0
    deviations = np.average(values, weights=weights) - values
    squares = float(weights @ deviations**2)
    return float(weights @ deviations**3) / (6 * squares**1.5) if squares > 0 else 0.0


def _bca(resampled: Floats, estimate: float, acceleration: float, confidence: float) -> tuple[float, float]:
    size = resampled.size
    hair = 1e-12 * max(1.0, abs(estimate))
    below = np.searchsorted(resampled, estimate - hair) + np.searchsorted(resampled, estimate + hair, "right")
    share = min(max(below / (2 * size), 0.5 / size), 1 - 0.5 / size)  # ties count half
    bias = normal_quantile(share)

    def level(tail: float) -> float:
        shifted = bias + normal_quantile(tail)
        scale = 1 - acceleration * shifted
        return normal_cdf(bias + shifted / scale) if scale > 0 else tail

    levels = [level((1 - confidence) / 2), level((1 + confidence) / 2)]
    low, high = np.quantile(resampled, levels)
    return float(low), float(high)
