"""A gate: one aggregate held against its limit, with all that is known of how firmly it holds (SPEC R6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Literal

import msgspec

from benchbook.evaluators.exact import as_float
from benchbook.evaluators.intervals import Interval

__all__ = [
    "Cap",
    "CapCode",
    "Claim",
    "DecisionName",
    "Direction",
    "Gate",
    "Threshold",
    "ToSettle",
    "is_incomplete",
    "is_of_a_part",
    "threshold_of",
]


DecisionName = Literal["READY", "NOT_READY", "INCONCLUSIVE"]
Direction = Literal["at_least", "at_most"]
Claim = Literal["holds", "fails", "open"]

_NANO = Decimal(10) ** 9


class Threshold(msgspec.Struct, frozen=True):
    """A gate's rule: the aggregate must be `at_least` or `at_most` `limit_nano` billionths."""

    aggregate: str
    direction: Direction
    limit_nano: int

    @property
    def limit(self) -> float:
        return self.limit_nano / 1e9

    def holds(self, value: float | None) -> bool:
        """A null value does not hold (R6.1)."""
        margin = self.margin(value)
        return margin is not None and margin >= 0

    def margin(self, value: float | None) -> float | None:
        """How far `value` is on the good side of the limit; negative where it does not hold."""
        if value is None:
            return None
        distance = round(value * 1e9) - self.limit_nano
        return as_float(distance if self.direction == "at_least" else -distance)


class ToSettle(msgspec.Struct, frozen=True, kw_only=True):
    """What would settle a gate, if its value stayed what it is. Numbers are of samples that count for it; None, with a
    reason, where none can be told (`rubric.needed.WHY_NOT`).

    `would`: its bound would then `hold`, or the value would `fail` though its interval be allowed for. `n_unscored`
    samples have no score: whatever `n_in_all` says, they may still move the gate (R6.3).
    """

    would: Literal["hold", "fail"] | None
    n: int
    n_in_all: int | None
    n_more: int | None
    n_unscored: int
    method: str
    reason: str | None = None


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """One gate: its value, its value in the worst and best case (R6.3), and the margin to its limit."""

    aggregate: str
    direction: Direction
    limit: float
    value: float | None
    worst: float | None
    best: float | None
    holds: bool
    holds_in_worst_case: bool
    holds_in_best_case: bool
    margin: float | None
    unmeasured: bool = False  # declared so (R1.4): it neither holds nor fails, and READY is out of reach
    interval: Interval | None = None
    bound_holds: bool | None = None  # whether the interval's bound holds; None where that was not asked for
    n_to_settle: ToSettle | msgspec.UnsetType | None = msgspec.UNSET  # left out where bounds were not asked for
    # From derivation 3 on, where bounds decide: the one-sided bound in the worst case that READY asks to hold, and the
    # one in the best case that NOT_READY asks to fail; and what they show (R6.4).
    bound: float | msgspec.UnsetType | None = msgspec.UNSET
    best_bound: float | msgspec.UnsetType | None = msgspec.UNSET
    bound_reason: str | msgspec.UnsetType | None = msgspec.UNSET  # why there is no `bound`
    claim: Claim | msgspec.UnsetType = msgspec.UNSET


def threshold_of(gate: Mapping[str, str]) -> Threshold:
    """A gate as a spec writes it: an aggregate, and `at_least` or `at_most` with a decimal."""
    direction: Direction = "at_least" if "at_least" in gate else "at_most"
    return Threshold(gate["aggregate"], direction, int(Decimal(gate[direction]) * _NANO))


CapCode = Literal["incomplete", "snapshot_changed", "unmeasured", "another_model", "few_repeats", "part_of_items"]

_REST_UNKNOWN = frozenset({"incomplete", "part_of_items"})


class Cap(msgspec.Struct, frozen=True):
    """One cap. `incomplete` and `part_of_items` (ended by a comparison) keep a run from NOT_READY, too: the rest of it
    is not known."""

    code: CapCode
    text: str


def is_incomplete(caps: Iterable[Cap]) -> bool:
    return is_of_a_part(cap.code for cap in caps)


def is_of_a_part(codes: Iterable[CapCode]) -> bool:
    """Whether items are missing of which nobody knows whether they would change the decision."""
    return not _REST_UNKNOWN.isdisjoint(codes)
