"""How sure a difference between two runs is: paired, exact where it can be, and in items (SPEC A11; STATISTICS.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.scorers.exact import NANO, as_float, mean
from benchbook.statistics import (
    Estimate,
    adjust_p_values,
    mcnemar,
    non_inferiority,
    paired_difference,
    paired_permutation_test,
)
from benchbook.statistics._distributions import t_cdf

if TYPE_CHECKING:
    import polars

__all__ = ["MOST_FLIPPED_IN_SLICE", "Difference", "NotWorse", "SliceDifference", "item_difference", "with_holm"]

# Differing items whose signs are flipped; beyond, t says the same and is quick. Of slices there may be hundreds.
MOST_FLIPPED, MOST_FLIPPED_IN_SLICE = 1_000, 200


class NotWorse(msgspec.Struct, frozen=True, kw_only=True):
    """Whether B is not worse than A by more than `margin`, at the one-sided `confidence`.

    `low` is the bound of the difference that is held against -margin; `holds` is None where there is no bound.
    """

    margin: float
    low: float | None
    holds: bool | None
    confidence: float


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """B - A over the `n` items of both. Means are of the items' means over repeats; all within 0 to 1.

    In items: `n_lost` are lower in B, `n_won` higher. `p` is two-sided, by `test`: `mcnemar_exact` where all values
    are 0 or 1, else `sign_flip_exact`, `sign_flip_draws` or, for many differing items, `t`; by clusters where items
    have a `group`. Nulls have a `reason`.
    """

    n: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    low: float | None
    high: float | None
    confidence: float
    method: str
    n_lost: int
    n_won: int
    p: float | None
    test: str
    n_clusters: int | None = None
    seed: int | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    not_worse: NotWorse | None = None


class SliceDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference over the items of one section, category or difficulty.

    `p_holm` is `difference.p` adjusted for all the slices that are shown.
    """

    field: str
    value: str
    difference: Difference
    p_holm: float | None = None


def item_difference(
    items: polars.DataFrame,
    *,
    confidence: float = 0.95,
    margin: float | None = None,
    seed: int = 0,
    most_flipped: int = MOST_FLIPPED,
) -> Difference:
    """The difference between two columns of nano-units, `a` and `b`; `cluster` (a number an item) is null throughout
    where items stand alone.
    """
    import polars as pl

    n = len(items)
    sum_a, sum_b = int(items["a"].sum()), int(items["b"].sum())
    signs = items.select(lost=(pl.col("b") < pl.col("a")).sum(), won=(pl.col("b") > pl.col("a")).sum()).row(0)
    a, b = (items[name].to_numpy() / NANO for name in ("a", "b"))
    clusters = None if n == 0 or items["cluster"].null_count() == n else items["cluster"].to_numpy()
    found = paired_difference(a, b, clusters=clusters, confidence=confidence)
    p, test, drawn_by = _p_value(items, found, (a, b, clusters), signs, seed, most_flipped)
    not_worse = None
    if margin is not None and n:
        bound = non_inferiority(a, b, margin, clusters=clusters, confidence=confidence)
        not_worse = NotWorse(margin=margin, low=bound.difference.low, holds=bound.holds, confidence=confidence)
    return Difference(
        n=n,
        mean_a=as_float(mean(sum_a, n)),
        mean_b=as_float(mean(sum_b, n)),
        difference=as_float(mean(sum_b - sum_a, n)),
        low=found.low,
        high=found.high,
        confidence=confidence,
        method=found.method,
        n_lost=signs[0],
        n_won=signs[1],
        p=p,
        test=test,
        n_clusters=found.n_clusters,
        seed=drawn_by,
        reason=found.reason,
        warnings=found.warnings,
        not_worse=not_worse,
    )


def _p_value(
    items: polars.DataFrame,
    found: Estimate,
    arrays: tuple[Any, Any, Any],
    signs: tuple[int, int],
    seed: int,
    most_flipped: int,
) -> tuple[float | None, str, int | None]:
    """`(p, test, seed)`; the seed is None where nothing was drawn."""
    a, b, clusters = arrays
    if not len(items):
        return None, "none", None
    lost, won = signs
    if clusters is None and _is_binary(items):
        return mcnemar(lost, won).p_exact, "mcnemar_exact", None
    if lost + won > most_flipped and found.standard_error and found.estimate is not None:
        degrees = (found.n_clusters or found.n) - 1
        return 2 * t_cdf(degrees, -abs(found.estimate) / found.standard_error), "t", None
    flipped = paired_permutation_test(b - a, clusters=clusters, seed=seed)
    return flipped.p, flipped.method, flipped.seed


def _is_binary(items: polars.DataFrame) -> bool:
    import polars as pl

    return bool(items.select(pl.all_horizontal(pl.col("a", "b").is_in([0, NANO])).all()).item())


def with_holm(slices: Sequence[SliceDifference]) -> tuple[SliceDifference, ...]:
    """The slices with their p-values adjusted for one another (Holm 1979)."""
    adjusted = adjust_p_values([one.difference.p for one in slices]).holm
    return tuple(msgspec.structs.replace(one, p_holm=p) for one, p in zip(slices, adjusted, strict=True))
