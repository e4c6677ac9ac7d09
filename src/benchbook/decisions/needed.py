"""How many samples would settle a gate that its bounds leave open, and how few can be READY at all (SPEC R6.4)."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Literal

from benchbook.decisions.gate_sums import GateSums, asks_for, gate_sums, is_latency
from benchbook.decisions.gates import Gate, Threshold, ToSettle, thresholds
from benchbook.decisions.settling import FEWEST
from benchbook.scorers.rubric_aggregates import RubricTally
from benchbook.statistics.one_sided import Side, least_to_show
from benchbook.statistics.settling import MOST_VALUES

__all__ = ["METHOD", "least_by_gate", "least_for_ready", "needed"]

METHOD = "one_sided"


def needed(gate: Gate, threshold: Threshold, tally: RubricTally, *, to_hold: float, to_fail: float) -> ToSettle:
    """What would settle `gate`, with as many more samples like those that there are.

    `to_hold` and `to_fail` are the confidences that the two claims ask for.
    """
    n_unscored = tally.worst.n_unanswered if is_latency(gate.aggregate) else tally.n_samples - tally.n_scored
    would: Literal["hold", "fail"] | None = None
    found, reason = None, None
    worst, best = gate_sums(tally, threshold, "worst"), gate_sums(tally, threshold, "best")
    if worst.n == 0:
        reason = "no_data"
    elif _keeps(worst, threshold):
        would = "hold"
        found, reason = _samples(worst, threshold, to_hold, fails=False)
    elif not _keeps(best, threshold) and not _is_on_limit(best, threshold):
        would = "fail"
        found, reason = _samples(best, threshold, to_fail, fails=True)
    else:
        reason = "on_the_limit" if worst.mean == best.mean else "unscored_alone"
    return ToSettle(
        would=would,
        n=worst.n,
        n_in_all=found,
        n_more=None if found is None else found - worst.n,
        n_unscored=n_unscored,
        method=METHOD,
        reason=reason,
    )


def _keeps(sums: GateSums, threshold: Threshold) -> bool:
    """Whether the value is on the good side of the limit, and not on it."""
    side, limit = asks_for(threshold)
    return not _is_on_limit(sums, threshold) and (sums.mean > limit if side == "low" else sums.mean < limit)


def _is_on_limit(sums: GateSums, threshold: Threshold) -> bool:
    return abs(sums.mean - asks_for(threshold)[1]) < 1e-9


def _samples(sums: GateSums, threshold: Threshold, confidence: float, *, fails: bool) -> tuple[int | None, str | None]:
    """`(samples in all, None)`, or `(None, why not)`."""
    side, limit = asks_for(threshold)
    if sums.n_clusters == 1:
        return None, "one_cluster"
    if min(sums.n, sums.n_clusters or sums.n) < FEWEST:
        return None, "too_few"
    asked: Side = ("high" if side == "low" else "low") if fails else side

    def settles(times: float) -> bool:
        bound = sums.bound(asked, confidence, times)
        return bound is not None and (bound >= limit if asked == "low" else bound <= limit)

    found = _first(settles, sums.n_clusters or sums.n)
    if found is None:
        return None, "too_many"
    return max(sums.n + 1, ceil(found * sums.n / (sums.n_clusters or sums.n))), None


def _first(settles: Callable[[float], bool], now: int) -> int | None:
    """The least number, above `now`, of which `settles(number / now)`; None beyond MOST_VALUES."""
    low, high = now, 2 * now
    while not settles(high / now):
        if high > MOST_VALUES:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle / now) else (middle, high)
    return high


def least_for_ready(confidence: float, *, unmeasured: frozenset[str] = frozenset()) -> int:
    """The least number of samples, or of clusters of them, with which every gate can be shown to hold: all of them as
    good as can be. `unmeasured` gates are left out."""
    return max(n for aggregate, n in least_by_gate(confidence).items() if aggregate not in unmeasured)


def least_by_gate(confidence: float) -> dict[str, int]:
    """The same, gate by gate."""
    asked = ((threshold.aggregate, asks_for(threshold)) for threshold in thresholds())
    return {
        aggregate: least_to_show(limit if side == "low" else 1 - limit, confidence)
        for aggregate, (side, limit) in asked
    }
