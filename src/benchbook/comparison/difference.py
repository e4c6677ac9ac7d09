"""How sure a difference between two runs is: paired, always with an interval, and in items (SPEC A11; STATISTICS.md).

The word that a reader remembers, better or worse, is given in one place (`verdict`), and only where the p that is shown
and the interval both say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from benchbook.evaluators.exact import NANO, as_float, mean
from benchbook.statistics import (
    Estimate,
    bounded_difference,
    mcnemar,
    paired_rates,
    paired_score,
)
from benchbook.statistics.distributions import t_cdf

if TYPE_CHECKING:
    import polars

# Differing items whose signs are flipped; beyond, t says the same and is quick. Of slices there may be hundreds.
MOST_FLIPPED, MOST_FLIPPED_IN_SLICE = 1_000, 200

Adjustment = Literal["holm", "tarone_holm"]
Verdict = Literal["better", "worse", "same", "not_told", "no_data"]
"""The verdict on B. `same`: no item differs; `not_told`: it can't be told which is better."""


class NotWorse(msgspec.Struct, frozen=True, kw_only=True):
    """The test that B is not worse than A by more than `margin`, at the one-sided `confidence`.

    `low` is the bound of the difference that is held against -margin; `holds` is None where there is no bound.
    """

    margin: float
    low: float | None
    holds: bool | None
    confidence: float


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """B - A over the `n` items of both. Means are of the items' means over repeats; all within 0 to 1.

    In items: `n_lost` are lower in B, `n_won` higher. `p` is two-sided, by `test`: `mcnemar_mid_p` where all values
    are 0 or 1, else `sign_flip_exact`, `sign_flip_draws` or, for many differing items, `t`; by clusters where items
    have a `group`. `verdict` is by `p` (where several were looked at: as it is adjusted beside this struct) and the
    interval. Nulls have a `reason`.
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
    verdict: Verdict
    n_clusters: int | None = None
    seed: int | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    not_worse: NotWorse | None = None
    p_adjusted: float | None = None
    n_tests: int = 1
    adjusted_by: Adjustment | None = None


class SliceDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference over the items of one section, category or difficulty.

    `p_holm` is `difference.p_adjusted`, for all slices that are shown: those in which too little differs to show
    anything take nothing from the others.
    """

    field: str
    value: str
    difference: Difference
    p_holm: float | None = None
    adjusted_by: Adjustment = "tarone_holm"


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
    lost, won = (int(items.select(one.sum()).item()) for one in (pl.col("b") < pl.col("a"), pl.col("b") > pl.col("a")))
    differences = (items["b"] - items["a"]).to_numpy() / NANO
    clusters = None if n == 0 or items["cluster"].null_count() == n else items["cluster"].to_numpy()
    is_binary = clusters is None and _is_binary(items)

    def interval(confidence: float) -> Estimate:
        if is_binary:
            return paired_rates(lost, won, n, confidence)
        return bounded_difference(differences, clusters=clusters, confidence=confidence)

    def for_a_claim(confidence: float) -> Estimate:
        return paired_score(lost, won, n, confidence) if is_binary else interval(confidence)

    found = interval(confidence)
    p: float | None = None
    test, drawn_by = "none", None
    if is_binary and n:
        p, test = mcnemar(lost, won).p_mid, "mcnemar_mid_p"
    elif n:
        is_many = lost + won > most_flipped
        p, test, drawn_by = p_of_flips(differences, clusters, seed, found if is_many else None)
    low, high = _with_zero(found, p)
    difference = Difference(
        n=n,
        mean_a=as_float(mean(sum_a, n)),
        mean_b=as_float(mean(sum_b, n)),
        difference=as_float(mean(sum_b - sum_a, n)),
        low=low,
        high=high,
        confidence=confidence,
        method=found.method,
        n_lost=lost,
        n_won=won,
        p=p,
        test=test,
        verdict="no_data",
        n_clusters=found.n_clusters,
        seed=drawn_by,
        reason=found.reason,
        warnings=found.warnings,
        not_worse=None if margin is None or not n else _not_worse(margin, for_a_claim(2 * confidence - 1), confidence),
    )
    return with_p(difference, p)


def _not_worse(margin: float, found: Estimate, confidence: float) -> NotWorse:
    """The test against the margin, by an interval that leaves out 1 - confidence at either side."""
    holds = None if found.low is None else found.low > -margin
    return NotWorse(margin=margin, low=found.low, holds=holds, confidence=confidence)


def _with_zero(found: Estimate, p: float | None) -> tuple[float | None, float | None]:
    """The bounds, moved out to 0 where the test does not rule 0 out, so that the two agree as far as can be."""
    if found.low is None or found.high is None or p is None or p <= 1 - found.confidence:
        return found.low, found.high
    return min(found.low, 0.0), max(found.high, 0.0)


def p_of_flips(
    differences: Any, clusters: Any, seed: int, by_t: Estimate | None = None
) -> tuple[float, str, int | None]:
    """`(p, test, seed)` of graded differences, one at least; the seed is None where nothing was drawn.

    By sign flips; with `by_t`, whose differences are many, by its standard error, unless that is 0.
    """
    if by_t is not None and by_t.standard_error and by_t.estimate is not None:
        degrees = (by_t.n_clusters or by_t.n) - 1
        return 2 * t_cdf(degrees, -abs(by_t.estimate) / by_t.standard_error), "t", None
    from benchbook.statistics import paired_permutation_test

    flipped = paired_permutation_test(differences, clusters=clusters, seed=seed)
    return (1.0 if flipped.p is None else flipped.p), flipped.method, flipped.seed


def _is_binary(items: polars.DataFrame) -> bool:
    import polars as pl

    return bool(items.select(pl.all_horizontal(pl.col("a", "b").is_in([0, NANO])).all()).item())


def verdict(found: Difference, p: float | None, *, higher_is_better: bool = True) -> Verdict:
    """The verdict on B. `p` is the one that is shown: adjusted, if several were looked at."""
    if not found.n or p is None:
        return "no_data"
    if not found.n_lost and not found.n_won:
        return "same"
    if p <= 1 - found.confidence and found.low is not None and found.high is not None:
        if found.low > 0:
            return "better" if higher_is_better else "worse"
        if found.high < 0:
            return "worse" if higher_is_better else "better"
    return "not_told"


def with_p(
    found: Difference,
    p: float | None,
    n_tests: int = 1,
    adjusted_by: Adjustment | None = None,
    *,
    higher_is_better: bool = True,
) -> Difference:
    """The difference with `p` as the one that is shown, and the verdict that it gives."""
    return msgspec.structs.replace(
        found,
        p_adjusted=p,
        n_tests=n_tests,
        adjusted_by=adjusted_by if n_tests > 1 else None,
        verdict=verdict(found, p, higher_is_better=higher_is_better),
    )


def with_holm(found: Sequence[tuple[Difference, bool]]) -> tuple[Difference, ...]:
    """Differences that are looked at together, as Holm adjusts them; False stands by one where lower is better."""
    from benchbook.statistics import adjust_p_values

    adjusted = adjust_p_values([one.p for one, _ in found])
    return tuple(
        with_p(one, p, adjusted.n, "holm", higher_is_better=higher)
        for (one, higher), p in zip(found, adjusted.holm, strict=True)
    )


def with_tarone_holm(
    slices: Sequence[SliceDifference], *, higher_is_better: bool = True
) -> tuple[SliceDifference, ...]:
    """The slices with their p-values adjusted for one another, and their verdicts by these."""
    from benchbook.statistics import tarone_holm

    adjusted = tarone_holm([one.difference.p for one in slices], [_least_p(one.difference) for one in slices])
    n_tests = sum(p is not None for p in adjusted)
    return tuple(
        msgspec.structs.replace(
            one,
            p_holm=p,
            difference=with_p(one.difference, p, n_tests, "tarone_holm", higher_is_better=higher_is_better),
        )
        for one, p in zip(slices, adjusted, strict=True)
    )


def _least_p(found: Difference) -> float:
    """The smallest p that its test can have, with as many items (or clusters) that differ."""
    differing = found.n_lost + found.n_won
    if found.test == "mcnemar_mid_p":
        return 0.5**differing
    if found.n_clusters is not None:
        differing = min(differing, found.n_clusters)
    least = 0.0 if found.test == "t" else 0.5 ** max(differing - 1, 0)
    return min(least, found.p if found.p is not None else 1.0)
