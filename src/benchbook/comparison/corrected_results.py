"""The results of comparing runs as people would judge: beside what the judge says, never in its place."""

from __future__ import annotations

from typing import Literal

import msgspec

from benchbook.comparison.difference import Difference, Verdict

Design = Literal["paired", "separate", "same_answers"]
Turn = Literal["reversed", "other_way", "not_shown"]
"""The fate of a difference that the judge shows: people's is shown the other way; leans the other way without being
shown; or is not shown to be there."""


class CorrectedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """B - A by `metric`, from -1 to 1, over the `n` items that both runs answered and the judge scored.

    `judged` is as judged; `difference`, with its bounds, as people would judge. `n_same` items have the same answer in
    both runs, and no label is needed there; of the others `n_labelled_a` and `n_labelled_b` are labelled, `n_both` in
    both runs. `verdict` is by the interval alone: with several pairs, by one at the confidence that Bonferroni's
    correction asks for over the `n_tests`. `is_drawn` is False where labels are of answers that happen to be there, and
    no chance draw of a run's own. Null bounds have a `reason`.
    """

    metric: str
    n: int
    n_same: int
    n_labelled_a: int
    n_labelled_b: int
    n_both: int
    judged: Difference
    difference: float | None
    low: float | None
    high: float | None
    confidence: float
    design: Design
    method: str
    verdict: Verdict
    turned: Turn | None
    is_drawn: bool = True
    n_tests: int = 1
    reason: str | None = None
    warnings: tuple[str, ...] = ()


class NotWorseForPeople(msgspec.Struct, frozen=True, kw_only=True):
    """The test that B is not worse than A by more than `margin` as people would judge, at the one-sided `confidence`.

    `low` is the bound of the corrected difference that is held against -margin; `holds` is None where there is none,
    since people labelled too little of a run. `difference` is the same difference with its two-sided interval.
    """

    margin: float
    low: float | None
    holds: bool | None
    confidence: float
    difference: CorrectedDifference


class CorrectedScore(msgspec.Struct, frozen=True, kw_only=True):
    """A run's score as people would judge: moved as far as the correction moves its `n` judged items."""

    run: str
    n: int
    n_labelled: int
    value: float | None
    low: float | None
    high: float | None
    confidence: float
    is_drawn: bool
    reason: str | None = None
