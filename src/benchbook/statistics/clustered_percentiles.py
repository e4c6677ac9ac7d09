"""A percentile of values in clusters: the value beyond which too many, or too few, of all values may lie.

Order statistics take values as independent. The share of values beyond a value is a mean of passes, and has a bound in
clusters (`intraclass`); the percentile's bound is the value at which that share comes to what the percentile leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchbook.statistics._inputs import check_confidence
from benchbook.statistics.intraclass import worth_of_clusters
from benchbook.statistics.one_sided import Side, one_sided_bound_of_clusters

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["percentile_bound_of_clusters"]


def percentile_bound_of_clusters(
    side: Side, values: Sequence[float], clusters: Sequence[int], q: float, confidence: float
) -> float | None:
    """What the `q` quantile is at least (`low`) or at most (`high`), as one of the values; None where too few, or too
    few clusters, tell. `clusters[i]` numbers the cluster of `values[i]`; a value may be infinite.

    Raises: ValueError for a confidence or q outside 0..1.
    """
    import numpy as np

    check_confidence(confidence)
    if not 0 < q < 1:
        raise ValueError(f"q must lie between 0 and 1, not {q}")
    x = np.asarray(values, dtype=np.float64)
    numbers, codes = np.unique(np.asarray(clusters), return_inverse=True)
    if numbers.size < 2:
        return None
    sizes = np.bincount(codes)
    distinct = np.unique(x)
    if side == "low":  # the greatest value that surely as many reach as lie beyond the quantile
        distinct = distinct[::-1]

    def is_bound(candidate: float) -> bool:
        beyond = x >= candidate if side == "low" else x > candidate
        found = _bound(side, np.bincount(codes, beyond.astype(np.float64)), sizes, confidence)
        return found >= 1 - q if side == "low" else found <= 1 - q

    first, last = 0, len(distinct)
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if is_bound(distinct[middle]) else (middle + 1, last)
    return float(distinct[first]) if first < len(distinct) and np.isfinite(distinct[first]) else None


def _bound(side: Side, beyond: NDArray[Any], sizes: NDArray[Any], confidence: float) -> float:
    import numpy as np

    kinds, times = np.unique(np.stack([sizes, beyond.astype(np.int64)]), axis=1, return_counts=True)
    counts = {
        (size, many, many): float(count) for size, many, count in zip(*kinds.tolist(), times.tolist(), strict=True)
    }
    mean = float(beyond.sum() / sizes.sum())
    furthest = float(mean > 0) if side == "low" else float(mean == 1)
    return one_sided_bound_of_clusters(side, worth_of_clusters(counts), mean, furthest, confidence)
