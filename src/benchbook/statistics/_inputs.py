"""Checks what callers hand in, and makes arrays of it. NumPy is loaded when the first array is made."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbook.statistics._arrays import Floats, Ints, Labels, Values

__all__ = [
    "all_alike",
    "as_pairs",
    "as_values",
    "check_confidence",
    "check_counts",
    "check_draws",
    "cluster_codes",
    "sums_by_cluster",
]


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
    """Whether values differ by no more than rounding leaves of numbers of this size: 0.3 - 0.2 is not quite 0.1."""
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


FEW_CLUSTERS = 10
