"""A number from values, by the formula that a log names; None where there are too few for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, fsum, log, sqrt
from typing import Protocol

from benchbook.exchange.audit.reducers import median


@dataclass(frozen=True, slots=True)
class Taken:
    """The values that a number is made of; where a formula needs them, the cluster of each, and its second part.

    `n_unscored` had no value.
    """

    values: Sequence[float]
    clusters: Sequence[int] | None = None
    seconds: Sequence[float] | None = None
    n_unscored: int = 0

    @property
    def parts(self) -> list[tuple[float, float]]:
        return [] if self.seconds is None else list(zip(self.values, self.seconds, strict=True))

    def by_cluster(self) -> list[list[float]]:
        found: dict[int, list[float]] = {}
        for value, code in zip(self.values, self.clusters or (), strict=self.clusters is not None):
            found.setdefault(code, []).append(value)
        return list(found.values())


class Divisors(Protocol):
    """By what sums of squares are divided."""

    @property
    def spread_over_all(self) -> bool:
        """By n, not by n - 1."""
        ...

    @property
    def clusters_corrected(self) -> bool:
        """By C - 1 of C clusters, and not by C."""
        ...


def mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def _var(values: Sequence[float], over_all: bool) -> float | None:
    n = len(values)
    if n < (1 if over_all else 2):
        return None
    middle = fsum(values) / n
    return fsum((one - middle) ** 2 for one in values) / (n if over_all else n - 1)


def _std(values: Sequence[float], over_all: bool) -> float | None:
    var = _var(values, over_all)
    return None if var is None else sqrt(var)


def _stderr(found: Taken, by: Divisors) -> float | None:
    std = _std(found.values, by.spread_over_all)
    return None if std is None else std / sqrt(len(found.values))


def _stderr_of_clusters(found: Taken, by: Divisors) -> float | None:
    """By clusters (Miller 2024), with the correction C / (C - 1) for few clusters, or as the paper has it."""
    clusters, middle = found.by_cluster(), mean(found.values)
    if len(clusters) < 2 or middle is None:
        return None
    squares = fsum(fsum(one - middle for one in cluster) ** 2 for cluster in clusters)
    factor = len(clusters) / (len(clusters) - 1) if by.clusters_corrected else 1.0
    return sqrt(squares * factor) / len(found.values)


def _pooled_stderr(found: Taken) -> float | None:
    clusters, n = found.by_cluster(), len(found.values)
    if n <= len(clusters):
        return None
    squares = fsum((len(one) * (_var(one, True) or 0.0)) for one in clusters)
    return sqrt(squares / (n - len(clusters)) / n)


def _mean_of_means(found: Taken) -> float | None:
    return mean([fsum(one) / len(one) for one in found.by_cluster()])


def _stderr_of_means(found: Taken) -> float | None:
    clusters = found.by_cluster()
    variances = [_var(one, False) for one in clusters]
    squares = [var / len(one) for var, one in zip(variances, clusters, strict=True) if var is not None]
    return sqrt(fsum(squares)) / len(clusters) if clusters and len(squares) == len(clusters) else None


def _weighted(found: Taken) -> float | None:
    """Minus the sum of the first parts, over that of the second ones."""
    weight = fsum(found.seconds or ())
    return -fsum(found.values) / weight if weight else None


def _f1(found: Taken) -> float | None:
    """Of label 1: twice the hits, over all that are it or were called it; 0 where there are none."""
    parts = found.parts
    hits = sum(right == 1 == given for right, given in parts)
    called = sum((right == 1) + (given == 1) for right, given in parts)
    return (2 * hits / called if called else 0.0) if parts else None


def _matthews(found: Taken) -> float | None:
    """Matthews' correlation of any number of labels (Gorodkin 2004); 0 where one side has one label alone."""
    parts = found.parts
    n = len(parts)
    if not n:
        return None
    right, given = Counter(a for a, _ in parts), Counter(b for _, b in parts)
    agreed = sum(a == b for a, b in parts) * n - sum(times * given[label] for label, times in right.items())
    spreads = [n * n - sum(times * times for times in one.values()) for one in (right, given)]
    return agreed / sqrt(spreads[0] * spreads[1]) if all(spreads) else 0.0


def _upper_median(values: Sequence[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None


def _exp(value: float | None) -> float | None:
    return None if value is None else exp(value)


# Of these a value has two parts.
OF_PARTS = frozenset({"weighted_perplexity", "bits_per_unit", "f1", "matthews"})
OF_CLUSTERS = frozenset({"stderr_of_clusters", "mean_of_means", "pooled_stderr", "stderr_of_means"})
# How far values lie apart: one value alone has no spread, but of a whole population 0.
SPREAD = frozenset({
    "stderr", "stderr_of_clusters", "stderr_of_means", "pooled_stderr",
    "std", "var", "population_std", "population_var",
})  # fmt: skip

FORMULAS: dict[str, Callable[[Taken, Divisors], float | None]] = {
    "mean": lambda found, _: mean(found.values),
    "stderr": _stderr,
    "stderr_of_clusters": _stderr_of_clusters,
    "std": lambda found, by: _std(found.values, by.spread_over_all),
    "var": lambda found, by: _var(found.values, by.spread_over_all),
    "population_std": lambda found, _: _std(found.values, True),
    "population_var": lambda found, _: _var(found.values, True),
    "min": lambda found, _: min(found.values, default=None),
    "max": lambda found, _: max(found.values, default=None),
    "median": lambda found, _: median(found.values) if found.values else None,
    "upper_median": lambda found, _: _upper_median(found.values),
    "sum": lambda found, _: fsum(found.values),
    "share_of_ones": lambda found, _: mean([float(one == 1) for one in found.values]),
    "share_passed": lambda found, _: mean(found.values),
    "mean_of_means": lambda found, _: _mean_of_means(found),
    "pooled_stderr": lambda found, _: _pooled_stderr(found),
    "stderr_of_means": lambda found, _: _stderr_of_means(found),
    "perplexity": lambda found, _: _exp(None if not found.values else -fsum(found.values) / len(found.values)),
    "weighted_perplexity": lambda found, _: _exp(_weighted(found)),
    "bits_per_unit": lambda found, _: None if (one := _weighted(found)) is None else one / log(2),
    "f1": lambda found, _: _f1(found),
    "matthews": lambda found, _: _matthews(found),
}
