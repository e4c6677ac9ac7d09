"""The results of an aggregate that we write: each scorer's mean of what was scored, with its n, error and interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Any

from benchbook.exchange.log import LogScorer
from benchbook.statistics.bounded import jeffreys, rescaled
from benchbook.statistics.ground import t_quantile

CONFIDENCE = 0.95


@dataclass(slots=True)
class _Sum:
    """Values, added up exactly."""

    n: int = 0
    total: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)

    def add(self, value: Fraction) -> None:
        self.n += 1
        self.total += value
        self.squares += value * value

    @property
    def mean(self) -> Fraction:
        return self.total / self.n

    @property
    def spread(self) -> Fraction:
        """The mean squared deviation."""
        return self.squares / self.n - self.mean**2


@dataclass(slots=True)
class ScorerTotals:
    """One scorer's values. Of items that were asked several times, each item's mean is one value of how sure it is."""

    is_repeated: bool
    unscored: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    _all: _Sum = field(default_factory=_Sum)
    _items: dict[str, _Sum] = field(default_factory=dict)

    @property
    def scored(self) -> int:
        return self._all.n

    @property
    def mean(self) -> float:
        return float(self._all.mean)

    def add(self, item: str, value: float | None) -> None:
        if value is None:
            self.unscored += 1
            return
        self.lowest = value if not self.scored else min(self.lowest, value)
        self.highest = value if not self.scored else max(self.highest, value)
        exact = Fraction(value)
        self._all.add(exact)
        if self.is_repeated:
            self._items.setdefault(item, _Sum()).add(exact)

    def uncertainty(self, scorer: LogScorer) -> dict[str, Any]:
        """How sure the mean is, as the form has it; of fewer than two values, their number alone."""
        values = self._all
        if self.is_repeated:
            values = _Sum()
            for item in self._items.values():
                values.add(item.mean)
        found: dict[str, Any] = {"num_samples": values.n}
        if values.n < 2:
            return found
        deviation = sqrt(values.spread * values.n / (values.n - 1))
        error = deviation / sqrt(values.n)
        found["standard_deviation"] = deviation
        found["standard_error"] = {"value": error, "method": "analytic"}
        bounds = self._bounds(scorer, values, error)
        if bounds is not None:
            low, high, method = bounds
            found["confidence_interval"] = {
                "lower": low, "upper": high, "confidence_level": CONFIDENCE, "method": method
            }  # fmt: skip
        return found

    def _bounds(self, scorer: LogScorer, values: _Sum, error: float) -> tuple[float, float, str] | None:
        """The interval of a mean, by the method that Benchbook has for it; None where values are all alike."""
        if values.spread == 0:
            return None
        mean, low, high = self.mean, scorer.lowest, scorer.highest
        if low is None or high is None or not low <= self.lowest <= self.highest <= high or self.is_repeated:
            reach = error * t_quantile(values.n - 1, (1 + CONFIDENCE) / 2)
            return mean - reach, mean + reach, "Student's t" + (", over items' means" if self.is_repeated else "")
        width = high - low
        found = rescaled(
            jeffreys(values.n, (mean - low) / width, float(values.spread) / width**2, CONFIDENCE), low, width
        )
        return None if found.low is None or found.high is None else (found.low, found.high, found.method)


def result_of(
    scorer: LogScorer, totals: ScorerTotals, source: dict[str, Any], task: str
) -> tuple[dict[str, Any], bool]:
    """One of `evaluation_results`, and whether values left their scale, so that it is not stated."""
    config: dict[str, Any] = {
        "evaluation_description": f"The mean of {scorer.name} over the samples that were scored",
        "metric_id": scorer.name,
        "metric_name": scorer.name,
        "metric_parameters": {"aggregation": "mean"},
        "lower_is_better": not scorer.higher_is_better,
    }
    low, high = scorer.lowest, scorer.highest
    is_outside = (low is not None and totals.lowest < low) or (high is not None and totals.highest > high)
    if not is_outside:
        config |= {name: bound for name, bound in (("min_score", low), ("max_score", high)) if bound is not None}
        if low is not None and high is not None:
            config["score_type"] = "continuous"
    details = {"judge": scorer.judge, "passes_at": None if scorer.passes_at is None else repr(scorer.passes_at)}
    if told := {name: text for name, text in details.items() if text is not None}:
        config["additional_details"] = told
    result = {
        "evaluation_result_id": scorer.name,
        "evaluation_name": task,
        "source_data": source,
        "metric_config": config,
        "score_details": {
            "score": totals.mean,
            "details": {"scored": str(totals.scored), "unscored": str(totals.unscored)},
            "uncertainty": totals.uncertainty(scorer),
        },
    }
    return result, is_outside
