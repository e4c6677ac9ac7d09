"""Means, shares and differences with their intervals, as the analysis of evaluations states them (SPEC C2, P6)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

from benchbook.derivations.judge_analysis_results import Measured
from benchbook.scorers.exact import NANO, as_float, divide
from benchbook.statistics import Estimate, bounded_mean, mean_interval, wilson

if TYPE_CHECKING:
    from benchbook.statistics.agreement import AgreementMethod

__all__ = ["Measuring", "Number", "exact_mean", "mean_of"]

Number = int | Fraction
_SURE_ENOUGH = 2  # from this derivation on no interval is too sure; before, t and the bootstrap


def mean_of(values: Sequence[Number]) -> Fraction:
    """The exact mean of at least one value."""
    return Fraction(sum(values)) / len(values)


def exact_mean(values: Sequence[Number]) -> float | None:
    """The mean, rounded once, half to even, to nine decimals (C2); None where there are no values."""
    if not values:
        return None
    exact = mean_of(values)
    return as_float(divide(exact.numerator * NANO, exact.denominator))


@dataclass(frozen=True, slots=True)
class Measuring:
    """How intervals are made in one analysis. A unit is what varies as a whole: an output, a question."""

    confidence: float
    seed: int
    n_resamples: int
    derivation: int

    @property
    def agreement_method(self) -> AgreementMethod:
        return "bca" if self.derivation < _SURE_ENOUGH else "weighted"

    def mean(
        self, values: Sequence[Number], units: Sequence[Hashable], at_least: int, highest: int | None = None
    ) -> Measured:
        """Of values that each belong to a unit; several of one unit are a cluster.

        `highest` is of scores from 0 on; None for differences.
        """
        numbers, clusters = [float(value) for value in values], self.clusters(units)
        if highest is None or self.derivation < _SURE_ENOUGH:
            found = mean_interval(numbers, clusters=clusters, confidence=self.confidence)
        else:
            found = bounded_mean(numbers, highest=highest, clusters=clusters, confidence=self.confidence)
        return self.estimated(found, exact_mean(values), units, at_least)

    def share(self, holds: Sequence[bool], units: Sequence[Hashable], at_least: int) -> Measured:
        """A share: Wilson's interval, or by clusters where units have several values."""
        values = [int(one) for one in holds]
        n_units = len(set(units))
        if n_units < len(values) and 0 < sum(values) < len(values):
            found = self.mean(values, units, at_least, highest=1)
            low = None if found.low is None else max(0.0, found.low)
            high = None if found.high is None else min(1.0, found.high)
            return msgspec.structs.replace(found, low=low, high=high)
        # All alike, their spread can't tell how sure that is; Wilson over the units, each counted once, can.
        found_alike = wilson(min(sum(values), n_units), n_units, self.confidence)
        measured = self.estimated(found_alike, exact_mean(values), units, at_least)
        return msgspec.structs.replace(measured, n=len(values))

    def estimated(self, found: Estimate, value: float | None, units: Sequence[Hashable], at_least: int) -> Measured:
        """`found` with its exact `value`; without an interval where there are fewer units than `at_least`."""
        n_units = len(set(units))
        enough = n_units >= at_least
        return Measured(
            value=value,
            low=_rounded(found.low) if enough else None,
            high=_rounded(found.high) if enough else None,
            n=found.n,
            n_units=n_units,
            at_least=at_least,
            method=found.method,
            reason=found.reason if enough or not n_units else "too_few",
            warnings=sorted(found.warnings) if enough else [],
        )

    @staticmethod
    def clusters(units: Sequence[Hashable]) -> list[int] | None:
        """The units as cluster labels; None where each has one value."""
        known: dict[Hashable, int] = {}
        labels = [known.setdefault(unit, len(known)) for unit in units]
        return labels if len(known) < len(labels) else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 9)
