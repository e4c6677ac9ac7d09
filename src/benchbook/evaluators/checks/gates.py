"""The gates of a spec of checks, and the decision by them: by what the evidence shows, or by the values alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from benchbook.evaluators.answers.scorecard import Sums
from benchbook.evaluators.checks.spec import GateSpec
from benchbook.evaluators.claims import GateData, claims_of, decided_by_points, values_alone
from benchbook.evaluators.contract import Confidence
from benchbook.evaluators.exact import NANO, as_float, in_nano, mean
from benchbook.evaluators.gate_sums import GateSums
from benchbook.evaluators.gates import (
    Cap,
    CapCode,
    DecidedBy,
    Decision,
    Direction,
    Gate,
    Reason,
    RunVerdict,
    Threshold,
    reason_words,
)
from benchbook.evaluators.intervals import Interval
from benchbook.statistics.clusters import least_to_show


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


def least_by_gate(thresholds: Sequence[Threshold], confidence: float) -> dict[str, int]:
    """The least number of items that can show that each aggregate keeps its limits. A limit at the best possible value
    is left out: no number of items shows that all others are as good."""
    least: dict[str, int] = {}
    for one in thresholds:
        share = one.limit if one.direction == "at_least" else 1 - one.limit
        if share < 1:
            needed = least_to_show(share, confidence) if share > 0 else 1
            least[one.aggregate] = max(needed, least.get(one.aggregate, 1))
    return least


@dataclass(frozen=True, slots=True)
class Gated:
    """The data that gates are decided by: the sums and intervals of each aggregate, and the items without an answer, by
    cluster. `are_counted`: those count 0 in the sums, since the run was ended without them (A3).

    A run that failed scores 0 throughout, whatever its texts were like.
    """

    sums: Mapping[str, Sums]
    intervals: Mapping[str, Interval]
    open: Counter[str | None]
    are_counted: bool
    failed: bool

    def data(self, one: Threshold) -> GateData | None:
        """The data of a gate, with every item that has no answer at its worst and at its best. None where the run
        failed: its zeros are no sample of anything."""
        sums = self.sums[one.aggregate]
        if self.failed and one.aggregate != "no_prediction_rate" and sums.n:
            return None
        low, high = (self._with_open(sums, at) for at in (0, 1))
        if one.direction == "at_least":
            return GateData(low, high, "low", one.limit, self.open.total())
        return GateData(high, low, "high", one.limit, self.open.total())

    def gate(self, one: Threshold, data: GateData | None) -> Gate:
        """The gate, by its value and by the worst and the best of its `data`."""
        interval = self.intervals[one.aggregate]
        if data is None:
            return one.gate(0.0, 0.0, 0.0, interval)
        worst, best = (as_float(mean(sums.total * (NANO // sums.unit), sums.n)) for sums in (data.worst, data.best))
        return one.gate(self.sums[one.aggregate].mean, worst, best, interval)

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


def decision_of(thresholds: Sequence[Threshold], gated: Gated, held: RunVerdict, confidence: Confidence) -> Decision:
    """The decision, its reasons and its gates: by what is shown at `confidence`, or by the values ("none"). `held` is
    the verdict on the run itself."""
    data = [gated.data(one) for one in thresholds]
    points = tuple(gated.gate(one, shown_by) for one, shown_by in zip(thresholds, data, strict=True))
    caps = _caps(held)
    holds = all(gate.holds for gate in points)
    if confidence == "none":
        gates, (decision, reasons) = points, decided_by_points(points, caps)
        by = DecidedBy(rule="points", confidence=None)
    else:
        rule = _by_rule(thresholds, data, confidence, holds=holds)
        found = claims_of(points, data, caps, rule, confidence=confidence)
        decision, gates, reasons = found.decision, found.gates, list(found.reasons)
        by = DecidedBy(rule="bounds", confidence=confidence)
    return Decision(
        decision=decision,
        release_ready=held.verdict == "pass" and holds,
        reasons=tuple(reason_words(one, gates) for one in reasons),
        gates=gates,
        decided_by=by,
        verdict=held.verdict,
        reason=held.reason,
    )


def _caps(held: RunVerdict) -> list[Cap]:
    if held.verdict == "pass":
        return []
    code: CapCode = "incomplete" if held.verdict == "incomplete" else "run_failed"
    return [Cap(code, held.reason or "the run itself did not hold")]


def _by_rule(
    thresholds: Sequence[Threshold], data: Sequence[GateData | None], confidence: float, *, holds: bool
) -> Reason:
    """The decision by the values alone, and the reason why it is not shown: too few items, or clusters of them."""
    least = max(least_by_gate(thresholds, confidence).values(), default=1)
    counts = [(one.worst.n_clusters or one.worst.n, one.worst.n_clusters is not None) for one in data if one]
    n, are_clusters = min(counts, default=(least, False))
    return values_alone("by_values", holds=holds, n=n, one="group" if are_clusters else "item", least=least)
