"""The same items, asked several times: how much repeats differ, and whether more items or more repeats would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from benchbook.statistics._inputs import as_values, cluster_codes
from benchbook.statistics.means import mean_interval
from benchbook.statistics.results import Estimate, refuse_nan

if TYPE_CHECKING:
    from benchbook.statistics._arrays import Labels, Values

__all__ = ["Repeats", "VarianceComponents", "repeat_summary", "variance_components"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents:
    """A score's variance, split: what items differ by, and what one item's repeats differ by; in squared units.

    None, with a reason, where repeats can't tell. `between_raw` is what the formula gave, also where it is below 0.
    """

    between: float | None
    within: float | None
    between_raw: float | None
    n: int
    n_items: int
    method: str = "one_way_anova"
    reason: str | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        refuse_nan(self)

    @property
    def share_within(self) -> float | None:
        """The part of a single score's variance that is within the item, 0 to 1; None where there is no variance."""
        if self.between is None or self.within is None or self.between + self.within == 0:
            return None
        return self.within / (self.between + self.within)

    def standard_error(self, n_items: int, n_repeats: int) -> float | None:
        """What the mean's standard error would be with so many items, each asked so often."""
        if n_items < 1 or n_repeats < 1:
            raise ValueError(f"{n_items} items, {n_repeats} repeats: one of each at least")
        if self.between is None or self.within is None:
            return None
        return sqrt(self.between / n_items + self.within / (n_items * n_repeats))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """`mean` with its interval, clustered by item where there are repeats.

    `sd` is that of the repeats' means (SPEC C4); None for fewer than two.
    """

    means: tuple[float, ...]  # of each repeat
    mean: Estimate
    sd: float | None
    components: VarianceComponents
    reason: str | None = None

    def __post_init__(self) -> None:
        refuse_nan(self)


def repeat_summary(repeats: Sequence[Values], confidence: float = 0.95) -> Repeats:
    """Mean and spread over repeats; `repeats[r]` holds repeat r's scores, in the items' order.

    Raises: ValueError if repeats have different numbers of items.
    """
    import numpy as np

    rows = [as_values(one) for one in repeats]
    if len({row.size for row in rows}) > 1:
        raise ValueError("every repeat needs a score for every item")
    n_items = int(rows[0].size) if rows else 0
    scores = np.concatenate(rows) if rows else np.empty(0)
    items = np.tile(np.arange(n_items), len(rows))
    means = np.array([row.mean() for row in rows]) if n_items else np.empty(0)
    return Repeats(
        means=tuple(means.tolist()),
        mean=mean_interval(scores, clusters=items if len(rows) > 1 else None, confidence=confidence),
        sd=float(means.std(ddof=1)) if means.size > 1 else None,
        components=variance_components(scores, items),
        reason=None if means.size > 1 else "one_repeat" if means.size else "no_data",
    )


def variance_components(values: Values, items: Labels) -> VarianceComponents:
    """One-way random-effects variance components by analysis of variance (Searle, Casella and McCulloch 1992, ch. 3).

    `items[i]` is the item that `values[i]` belongs to; items may have different numbers of repeats. Null: `no_data`,
    `one_value` for a single item, `one_repeat` where no item has two.
    """
    import numpy as np

    x = as_values(values)
    codes, n_items = cluster_codes(items, int(x.size))
    n = int(x.size)
    reason = "no_data" if n == 0 else "one_value" if n_items == 1 else "one_repeat" if n_items == n else None
    if reason is not None:
        return VarianceComponents(between=None, within=None, between_raw=None, n=n, n_items=n_items, reason=reason)
    sizes = np.bincount(codes, minlength=n_items)
    means = np.bincount(codes, x, n_items) / sizes
    within = float(((x - means[codes]) ** 2).sum()) / (n - n_items)
    between_square = float((sizes * (means - x.mean()) ** 2).sum()) / (n_items - 1)
    typical_size = (n - float((sizes**2).sum()) / n) / (n_items - 1)
    raw = (between_square - within) / typical_size
    return VarianceComponents(
        between=max(0.0, raw),
        within=within,
        between_raw=raw,
        n=n,
        n_items=n_items,
        warnings=("negative_component",) if raw < 0 else (),
    )
