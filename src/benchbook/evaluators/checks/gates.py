"""The gates of a spec of checks, and the decision by them: what the evidence allows, or by the values alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from benchbook.evaluators.answers.scorecard import Sums
from benchbook.evaluators.checks.kind import in_nano
from benchbook.evaluators.checks.spec import GateSpec
from benchbook.evaluators.claims import GateData, claims_of
from benchbook.evaluators.contract import Confidence
from benchbook.evaluators.exact import NANO, as_float, mean
from benchbook.evaluators.gate_sums import GateSums
from benchbook.evaluators.gates import (
    Cap,
    DecidedBy,
    DecisionName,
    Direction,
    Gate,
    Reason,
    Threshold,
    is_incomplete,
    reason_words,
)
from benchbook.evaluators.intervals import Interval
from benchbook.statistics.clusters import least_to_show

__all__ = ["Gated", "decision_of", "thresholds_of"]


def thresholds_of(gates: tuple[GateSpec, ...]) -> tuple[Threshold, ...]:
    """The limits of a spec, in its order; a gate with both has two."""
    found = []
    for gate in gates:
        limits: tuple[tuple[Direction, Fraction | None], ...] = (
            ("at_least", gate.at_least),
            ("at_most", gate.at_most),
        )
        found += [Threshold(gate.aggregate, side, in_nano(limit)) for side, limit in limits if limit is not None]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Gated:
    """What gates are decided by: the sums and intervals of each aggregate, and the items that have no answer, by
    cluster. `are_counted`: those count 0 in the sums, since the run was ended without them (A3).

    A run that failed scores 0 throughout, whatever its texts were like.
    """

    sums: Mapping[str, Sums]
    intervals: Mapping[str, Interval]
    open: Counter[str | None]
    are_counted: bool
    failed: bool

    def gate(self, one: Threshold) -> Gate:
        """By its value, and with every item that has no answer at its worst and at its best."""
        value = self.sums[one.aggregate].mean
        if self._is_zero(one):
            return one.gate(0.0, 0.0, 0.0, self.intervals[one.aggregate])
        worst, best = (as_float(mean(sums.total * (NANO // sums.unit), sums.n)) for sums in self._cases(one))
        return one.gate(value, worst, best, self.intervals[one.aggregate])

    def data(self, one: Threshold) -> GateData | None:
        """None where the run failed: its zeros are no sample of anything."""
        if self._is_zero(one):
            return None
        worst, best = self._cases(one)
        return GateData(worst, best, "low" if one.direction == "at_least" else "high", one.limit, self.open.total())

    def _is_zero(self, one: Threshold) -> bool:
        return self.failed and one.aggregate != "no_prediction_rate" and self.sums[one.aggregate].n > 0

    def _cases(self, one: Threshold) -> tuple[GateSums, GateSums]:
        low, high = (self._with_open(self.sums[one.aggregate], at) for at in (0, 1))
        return (low, high) if one.direction == "at_least" else (high, low)

    def _with_open(self, sums: Sums, at: int) -> GateSums:
        """The sums with each item that has no answer taken at 0, or at 1."""
        unit = 1 if sums.is_rate else NANO
        clusters = {name: list(parts) for name, parts in sums.clusters.items()}
        n_open, added = self.open.total(), (0 if self.are_counted else 1, at * unit, (at * unit) ** 2)
        for name, times in self.open.items():
            if name is not None:
                parts = clusters.setdefault(name, [0, 0, 0])
                clusters[name] = [part + times * more for part, more in zip(parts, added, strict=True)]
        seen = [value for value in (sums.least, sums.most) if value is not None] + [at * unit] * bool(n_open)
        return GateSums(
            n=sums.n + n_open * added[0],
            total=sums.total + n_open * added[1],
            squares=sums.squares + n_open * added[2],
            least=min(seen, default=0),
            most=max(seen, default=0),
            unit=unit,
            clusters=Counter((size, total, squares) for size, total, squares in clusters.values() if size),
        )


def decision_of(
    thresholds: Sequence[Threshold], gated: Gated, verdict: str, why: str | None, confidence: Confidence
) -> dict[str, Any]:
    """The decision, its reasons and its gates: by what is shown at `confidence`, or by the values ("none").

    `verdict` and `why` say whether the run itself held.
    """
    points = tuple(map(gated.gate, thresholds))
    caps = _caps(verdict, why)
    holds = all(gate.holds for gate in points)
    if confidence == "none":
        decision, gates, reasons = _by_values(points, caps)
        by = DecidedBy(rule="points", confidence=None)
    else:
        rule = _by_rule(thresholds, gated, confidence, holds=holds)
        data = [gated.data(one) for one in thresholds]
        found = claims_of(points, data, caps, rule, confidence=confidence)
        decision, gates, reasons = found.decision, found.gates, list(found.reasons)
        by = DecidedBy(rule="bounds", confidence=confidence)
    return {
        "decision": decision,
        "release_ready": verdict == "pass" and holds,
        "reasons": tuple(reason_words(one, gates) for one in reasons),
        "gates": gates,
        "decided_by": by,
    }


def _caps(verdict: str, why: str | None) -> list[Cap]:
    if verdict == "pass":
        return []
    return [Cap("incomplete" if verdict == "incomplete" else "run_failed", why or "the run itself did not hold")]


def _by_values(gates: tuple[Gate, ...], caps: list[Cap]) -> tuple[DecisionName, tuple[Gate, ...], list[Reason]]:
    """READY where every gate holds, NOT_READY where one can't, whatever the items without an answer would give."""
    failing = [gate for gate in gates if not gate.holds_in_best_case]
    if failing and not is_incomplete(caps):
        return "NOT_READY", gates, [_does_not_hold(gate) for gate in failing]
    doubtful = [_does_not_hold(gate) for gate in gates if not gate.holds_in_worst_case]
    reasons = [*(Reason(code="capped", cap=cap) for cap in caps), *doubtful]
    return ("INCONCLUSIVE", gates, reasons) if reasons else ("READY", gates, [Reason(code="all_hold")])


def _does_not_hold(gate: Gate) -> Reason:
    value = gate.worst if gate.holds else gate.value
    return Reason(
        code="does_not_hold", aggregate=gate.aggregate, value=value, limit=gate.limit,
        case="worst" if gate.holds else "scored",
    )  # fmt: skip


def _by_rule(thresholds: Sequence[Threshold], gated: Gated, confidence: float, *, holds: bool) -> Reason:
    """What the values alone come to, and what keeps that from being shown: too few items, or clusters of them."""
    shares = (one.limit if one.direction == "at_least" else 1 - one.limit for one in thresholds)
    least = max((least_to_show(share, confidence) for share in shares if 0 < share < 1), default=1)
    cases = [gated.data(one) for one in thresholds]
    counts = [(one.worst.n_clusters or one.worst.n, one.worst.n_clusters is not None) for one in cases if one]
    n, are_clusters = min(counts, default=(least, False))
    if n >= least:
        return Reason(code="by_values", holds=holds)
    one = "group" if are_clusters else "item"
    return Reason(code="by_values", holds=holds, found=f"{n:,} {one if n == 1 else one + 's'}", least=least)
