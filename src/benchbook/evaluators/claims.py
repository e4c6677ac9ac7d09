"""The decision that the evidence allows, for every evaluator with gates (SPEC R6.3 and R6.4).

READY and NOT_READY are claims, and have to be shown. READY takes all gates, each shown to hold in the worst case: were
it wrong, one of them would fail, and its own bound alone would have to be wrong. NOT_READY takes one gate shown to fail
in the best case; any of them could by chance, so they share the error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

import msgspec

from benchbook.evaluators.gate_sums import GateSums
from benchbook.evaluators.gates import FEWEST, Cap, DecisionName, Gate, Reason, ToSettle, is_incomplete
from benchbook.statistics.clusters import Side
from benchbook.statistics.planning import MOST_VALUES

DEFAULT_CONFIDENCE = 0.95
"""The confidence at which a decision is shown, where nothing else was asked for (R6.4)."""

METHOD = "one_sided"


@dataclass(frozen=True, slots=True)
class GateData:
    """The data by which a gate is shown, in the worst and the best case, and the bound on their mean that it asks for:
    a low one of at least, or a high one of at most `limit`, as a share of the scale.

    A bound is shown on the scale that begins at `lowest` and is `span` long. `shown` has the two bounds where they are
    of another kind than a mean: a percentile's own.
    """

    worst: GateSums
    best: GateSums
    side: Side
    limit: float
    n_unscored: int
    lowest: int = 0
    span: int = 1
    shown: tuple[float | None, float | None] | None = None

    @property
    def other_side(self) -> Side:
        return "high" if self.side == "low" else "low"

    def in_own_unit(self, bound: float | None) -> float | None:
        return (
            bound if bound is None or (self.lowest, self.span) == (0, 1) else _rounded(self.lowest + self.span * bound)
        )


@dataclass(frozen=True, slots=True)
class Claims:
    """The decision, the gates with what is shown of each, and the reasons, most important first."""

    decision: DecisionName
    gates: tuple[Gate, ...]
    reasons: tuple[Reason, ...]


def confidence_to_fail(gates: Sequence[Gate], confidence: float) -> float:
    """The confidence to show a gate to fail at: all together are then wrong no more often than one may be."""
    return 1 - (1 - confidence) / max(1, sum(not gate.unmeasured for gate in gates))


def claims_of(
    points: Sequence[Gate],
    data: Sequence[GateData | None],
    caps: Sequence[Cap],
    rule: Reason,
    *,
    confidence: float,
    settle: bool = True,
) -> Claims:
    """Decide by what is shown at `confidence`.

    `points` are the gates by their values, `data` what there is of each; None for what is exact, and holds or fails by
    its value. `rule` says what the values alone come to. `settle` tells what would settle the gates in doubt.
    """
    to_fail = confidence_to_fail(points, confidence)
    gates = tuple(
        gate if gate.unmeasured else _by_value(gate) if one is None else _with_bounds(gate, one, confidence, to_fail)
        for gate, one in zip(points, data, strict=True)
    )
    decision = _decided(gates, caps)
    if decision == "INCONCLUSIVE" and settle:
        gates = tuple(
            msgspec.structs.replace(
                gate, n_to_settle=_needed(one, confidence, to_fail) if gate.claim == "open" and one else None
            )
            for gate, one in zip(gates, data, strict=True)
        )
    return Claims(decision, gates, tuple(_reasons(decision, gates, caps, rule, confidence, to_fail)))


def _decided(gates: Sequence[Gate], caps: Sequence[Cap]) -> DecisionName:
    if any(gate.claim == "fails" for gate in gates) and not is_incomplete(caps):
        return "NOT_READY"
    return "READY" if not caps and all(gate.claim == "holds" for gate in gates) else "INCONCLUSIVE"


# ── by points ────────────────────────────────────────────────────────────────────────────────────────────────


def decided_by_points(gates: Sequence[Gate], caps: Sequence[Cap]) -> tuple[DecisionName, list[Reason]]:
    """READY where every gate holds in the worst case too, NOT_READY where one does not in the best; and why."""
    judged = [gate for gate in gates if not gate.unmeasured]
    failing = [gate for gate in judged if not gate.holds_in_best_case]
    if failing and not is_incomplete(caps):
        return "NOT_READY", [does_not_hold(gate, "scored" if gate.value is not None else "best") for gate in failing]
    reasons = [*capped(caps), *(_doubt(gate) for gate in judged if is_doubtful(gate))]
    return ("INCONCLUSIVE", reasons) if reasons else ("READY", [Reason(code="all_hold")])


def is_doubtful(gate: Gate) -> bool:
    return not (gate.holds and gate.holds_in_worst_case) or gate.bound_holds is False


def does_not_hold(gate: Gate, case: Literal["scored", "worst", "best"], early: str | None = None) -> Reason:
    value = {"scored": gate.value, "worst": gate.worst, "best": gate.best}[case]
    return Reason(code="does_not_hold", aggregate=gate.aggregate, value=value, limit=gate.limit, case=case, early=early)


def capped(caps: Sequence[Cap]) -> list[Reason]:
    return [Reason(code="capped", cap=cap) for cap in caps]


def _doubt(gate: Gate) -> Reason:
    if not gate.holds:
        return does_not_hold(gate, "scored")
    if not gate.holds_in_worst_case:
        return does_not_hold(gate, "worst")
    return Reason(code="bound_does_not_hold", aggregate=gate.aggregate, value=gate.value, limit=gate.limit)


# ── a gate's bounds ──────────────────────────────────────────────────────────────────────────────────────────


def _with_bounds(gate: Gate, data: GateData, to_hold: float, to_fail: float) -> Gate:
    """The gate with the two bounds that claims are made by, and what they show."""
    is_low = data.side == "low"
    at_worst, at_best = (
        _rounded(data.worst.bound(data.side, to_hold)),
        _rounded(data.best.bound(data.other_side, to_fail)),
    )
    holds = at_worst is not None and (at_worst >= data.limit if is_low else at_worst <= data.limit)
    fails = at_best is not None and (at_best < data.limit if is_low else at_best > data.limit)
    bound, best_bound = data.shown or (data.in_own_unit(at_worst), data.in_own_unit(at_best))
    return msgspec.structs.replace(
        gate,
        bound=bound,
        best_bound=best_bound,
        bound_holds=holds and gate.holds_in_worst_case,
        bound_reason=_why_none(data.worst, bound),
        claim="holds" if holds and gate.holds_in_worst_case else "fails" if fails else "open",
    )


def _by_value(gate: Gate) -> Gate:
    """A gate on what is exact: it holds or fails by its value. One without a value is open."""
    return msgspec.structs.replace(
        gate,
        bound=gate.value,
        best_bound=gate.value,
        bound_holds=gate.holds,
        bound_reason=None if gate.value is not None else "no_data",
        claim="open" if gate.value is None else "holds" if gate.holds else "fails",
    )


def _rounded(bound: float | None) -> float | None:
    return None if bound is None else round(bound, 9)


def _why_none(sums: GateSums, bound: float | None) -> str | None:
    if bound is not None:
        return None
    return "no_data" if sums.n == 0 else "one_cluster" if sums.n_clusters == 1 else "sample_too_small"


# ── what would settle it ─────────────────────────────────────────────────────────────────────────────────────


def _needed(data: GateData, to_hold: float, to_fail: float) -> ToSettle:
    """The number of samples that would settle a gate, were all further ones like those that there are."""
    would: Literal["hold", "fail"] | None = None
    found, reason = None, None
    worst, best = data.worst, data.best
    if worst.n == 0:
        reason = "no_data"
    elif _keeps(worst, data):
        would = "hold"
        found, reason = _samples(worst, data, to_hold, fails=False)
    elif not _keeps(best, data) and not _is_on_limit(best, data):
        would = "fail"
        found, reason = _samples(best, data, to_fail, fails=True)
    else:
        reason = "on_the_limit" if worst.mean == best.mean else "unscored_alone"
    return ToSettle(
        would=would,
        n=worst.n,
        n_in_all=found,
        n_more=None if found is None else found - worst.n,
        n_unscored=data.n_unscored,
        method=METHOD,
        reason=reason,
    )


def _keeps(sums: GateSums, asked: GateData) -> bool:
    """True if the value is on the good side of the limit, and not on it."""
    return not _is_on_limit(sums, asked) and (
        sums.mean > asked.limit if asked.side == "low" else sums.mean < asked.limit
    )


def _is_on_limit(sums: GateSums, asked: GateData) -> bool:
    return abs(sums.mean - asked.limit) < 1e-9


def _samples(sums: GateSums, to_keep: GateData, confidence: float, *, fails: bool) -> tuple[int | None, str | None]:
    """`(samples in all, None)`, or `(None, why not)`."""
    if sums.n_clusters == 1:
        return None, "one_cluster"
    if min(sums.n, sums.n_clusters or sums.n) < FEWEST:
        return None, "too_few"
    side, limit = to_keep.other_side if fails else to_keep.side, to_keep.limit

    def settles(times: float) -> bool:
        bound = sums.bound(side, confidence, times)
        return bound is not None and (bound >= limit if side == "low" else bound <= limit)

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


# ── why ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _reasons(
    decision: DecisionName, gates: Sequence[Gate], caps: Sequence[Cap], rule: Reason, confidence: float, to_fail: float
) -> list[Reason]:
    if decision == "READY":
        return [Reason(code="all_hold", confidence=confidence)]
    if decision == "NOT_READY":
        return [
            Reason(
                code="shown_to_fail", aggregate=gate.aggregate, value=gate.value, limit=gate.limit, case="best",
                confidence=to_fail,
            )
            for gate in gates
            if gate.claim == "fails"
        ]  # fmt: skip
    is_open = (gate for gate in gates if not gate.unmeasured and gate.claim != "holds")
    return [*capped(caps), rule, *(_open(gate, confidence, to_fail) for gate in is_open)]


def _open(gate: Gate, to_hold: float, to_fail: float) -> Reason:
    """The reason of an open gate, by the bound that more samples would move: the best case's if it would then fail."""
    fails = isinstance(gate.n_to_settle, ToSettle) and gate.n_to_settle.would == "fail"
    at_best = fails and gate.best_bound is not None
    return Reason(
        code="open",
        aggregate=gate.aggregate,
        value=gate.value,
        limit=gate.limit,
        case="best" if fails else "worst",
        confidence=to_fail if at_best else to_hold,
    )


def values_alone(code: Literal["by_rule", "by_values"], *, holds: bool, n: int, one: str, least: int) -> Reason:
    """The decision by the values alone, as a reason; where `n` of `one` can't show it, with how many can."""
    if n >= least:
        return Reason(code=code, holds=holds)
    return Reason(code=code, holds=holds, found=f"{n:,} {one if n == 1 else one + 's'}", least=least)
