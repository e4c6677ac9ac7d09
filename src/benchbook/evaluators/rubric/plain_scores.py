"""Scores samples of which every criterion has a score, many at once: what `score_sample` gives of each.

Most samples are so. What follows from the scores alone, and from one measured value alone, is worked out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchbook.evaluators.exact import NANO, as_float, divide
from benchbook.evaluators.rubric.spec import RubricSpec

_MOST_VALUES = 1 << 16  # of one measure that are kept


class PlainScores(NamedTuple):
    """As many `RubricScore`s by column: `norms` has those of criteria, by sample; `measured` has a column
    for each measure."""

    score_nanos: list[int]
    norms: list[tuple[float | None, ...]]
    measured: list[list[float | None]]
    fail_reasons: list[tuple[str, ...]]


class _OfScores(NamedTuple):
    worth: int
    norms: tuple[float | None, ...]
    reasons: tuple[str, ...]


class _OfValue(NamedTuple):
    """`base` divides what the target is worth; None where nothing was measured."""

    base: int | None
    norm: float | None
    reason: str | None


class PlainScorer:
    """Scores under a rubric. Scores are never null; measures are latency and tokens."""

    def __init__(self, spec: RubricSpec) -> None:
        self._spec = spec
        self._of_scores: dict[tuple[int, ...], _OfScores] = {}
        self._measures: list[tuple[int, int, dict[int | None, _OfValue]]] = [
            (place, one.weight * one.target, {}) for place, one in enumerate(spec.measures)
        ]

    def score(self, scores: Sequence[tuple[int, ...]], values: Sequence[Sequence[int | None]]) -> PlainScores:
        """The worth of some samples. `values` has a column for each measure."""
        spec = self._spec
        of_scores = [self._of_scores.get(one) or self._by_scores(one) for one in scores]
        worths, wholes = [one.worth for one in of_scores], [spec.steps] * len(scores)
        reasons = [one.reasons for one in of_scores]
        measured = []
        for (place, weighed, known), column in zip(self._measures, values, strict=True):
            of_values = [known.get(value) or self._by_value(place, value, known) for value in column]
            measured.append([one.norm for one in of_values])
            bases = [one.base for one in of_values]
            worths = [
                worth if base is None else worth * base + weighed * whole
                for worth, whole, base in zip(worths, wholes, bases, strict=True)
            ]
            wholes = [whole if base is None else whole * base for whole, base in zip(wholes, bases, strict=True)]
            reasons = [
                before if one.reason is None else (*before, one.reason)
                for before, one in zip(reasons, of_values, strict=True)
            ]
        weight = spec.whole_weight
        nanos = [divide(worth * NANO, weight * whole) for worth, whole in zip(worths, wholes, strict=True)]
        if (rule := spec.pass_rule) is not None:
            reasons = [
                rule.reasons(before, spec.criteria, given, nano, no_answer=False)
                for before, given, nano in zip(reasons, scores, nanos, strict=True)
            ]
        return PlainScores(nanos, [one.norms for one in of_scores], measured, reasons)

    def _by_scores(self, scores: tuple[int, ...]) -> _OfScores:
        spec = self._spec
        worth, reasons = 0, []
        for one, score, weight in zip(spec.criteria, scores, spec.step_weights, strict=True):
            worth += weight * (score - one.lowest)
            if one.at_least is not None and score < one.at_least:
                reasons.append(one.below_minimum)
        norms = tuple([as_float(of[score]) for of, score in zip(spec.norms_nano, scores, strict=True)])
        found = self._of_scores[scores] = _OfScores(worth, norms, tuple(reasons))
        return found

    def _by_value(self, place: int, value: int | None, known: dict[int | None, _OfValue]) -> _OfValue:
        measure = self._spec.measures[place]
        if value is None:
            found = _OfValue(None, None, None if measure.at_most is None else f"{measure.name}_unmeasured")
        else:
            base = max(measure.target, value)
            is_above = measure.at_most is not None and value > measure.at_most
            norm = as_float(divide(measure.target * NANO, base))
            found = _OfValue(base, norm, f"{measure.name}_above_maximum" if is_above else None)
        if len(known) < _MOST_VALUES:
            known[value] = found
        return found
