"""Scores samples of which every criterion has a score: what `score_sample` gives, with all that they share looked up.

Most samples are so. What follows from the scores alone, and from one measured value alone, is worked out once.
"""

from __future__ import annotations

from typing import NamedTuple

from benchbook.evaluators.exact import NANO, as_float, divide
from benchbook.evaluators.rubric.spec import RubricSpec

_MOST_VALUES = 1 << 16  # of one measure that are kept


class PlainScore(NamedTuple):
    """As a `RubricScore`: `norms` has those of criteria, `measured` those of measures, as rows have them."""

    score_nano: int
    norms: tuple[float | None, ...]
    measured: tuple[float | None, ...]
    fail_reasons: tuple[str, ...]


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
    """Scores under a rubric. `scores` are never null, `values` are those of its measures, latency and tokens."""

    def __init__(self, spec: RubricSpec) -> None:
        self._spec = spec
        self._of_scores: dict[tuple[int, ...], _OfScores] = {}
        self._measures: list[tuple[int, int, dict[int | None, _OfValue]]] = [
            (place, one.weight * one.target, {}) for place, one in enumerate(spec.measures)
        ]

    def score(self, scores: tuple[int, ...], values: tuple[int | None, ...]) -> PlainScore:
        """The worth of one sample."""
        spec = self._spec
        of_scores = self._of_scores.get(scores)
        if of_scores is None:
            of_scores = self._of_scores[scores] = self._by_scores(scores)
        worth, norms, reasons = of_scores
        whole, measured = spec.steps, []
        for place, weighed, known in self._measures:
            value = values[place]
            of_value = known.get(value)
            if of_value is None:
                of_value = self._by_value(place, value, known)
            base, norm, reason = of_value
            measured.append(norm)
            if base is not None:
                worth, whole = worth * base + weighed * whole, whole * base
            if reason is not None:
                reasons = (*reasons, reason)
        score_nano = divide(worth * NANO, spec.whole_weight * whole)
        if spec.pass_rule is not None:
            reasons = spec.pass_rule.reasons(reasons, spec.criteria, scores, score_nano, no_answer=False)
        return PlainScore(score_nano, norms, tuple(measured), reasons)

    def _by_scores(self, scores: tuple[int, ...]) -> _OfScores:
        spec = self._spec
        worth, reasons = 0, []
        for one, score, weight in zip(spec.criteria, scores, spec.step_weights, strict=True):
            worth += weight * (score - one.lowest)
            if one.at_least is not None and score < one.at_least:
                reasons.append(one.below_minimum)
        norms = tuple([as_float(of[score]) for of, score in zip(spec.norms_nano, scores, strict=True)])
        return _OfScores(worth, norms, tuple(reasons))

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
