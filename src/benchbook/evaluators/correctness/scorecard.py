"""`answer_correctness@v1` for a run: its scorecard out of texts or columns, and whether form keeps it at the floor
(SPEC A4, A7, C2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.evaluators.answers.scorecard import GROUPINGS, UNANSWERED, Scorecard, ScorecardTally
from benchbook.evaluators.correctness.scoring import REASONS, SPEC_ID, AnswerFormat, reason
from benchbook.specs import load_spec

if TYPE_CHECKING:
    import polars

METRIC_NAME = "answer_correctness"


class ItemAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The data of one item's score. `predicted` is None where the run has no prediction (SPEC A3)."""

    expected: str
    predicted: str | None
    answer_format: AnswerFormat | None = None
    section: str | None = None
    category: str | None = None
    difficulty: str | None = None


def tally() -> ScorecardTally:
    """Counts of items, none yet."""
    return ScorecardTally(METRIC_NAME, REASONS)


def scorecard(answers: Iterable[ItemAnswer]) -> Scorecard:
    """Score and count `answers`, row by row.

    Raises: UsageError where an expected answer is blank (SPEC A3).
    """
    counted = tally()
    for answer in answers:
        why = reason(answer.expected, answer.predicted, answer.answer_format)
        values = {name: getattr(answer, name) for name in GROUPINGS}
        counted.add(values, why)
    return counted.scorecard()


def tally_columns(frame: polars.DataFrame) -> ScorecardTally:
    """The same counts from a table of scored items: `reason`, and those of GROUPINGS that it has.

    `reason` is what `score_columns` gives: null where the item is correct.
    """
    import polars as pl

    names = [name for name in GROUPINGS if name in frame.columns]
    grouped = frame.lazy().group_by([*names, "reason"])
    # The streaming engine counts a million rows at a third of the cost; in which order groups come does not matter.
    counts = grouped.agg(n_items=pl.len()).collect(engine="streaming")
    counted = tally()
    for row in counts.iter_rows(named=True):
        counted.add(row, row["reason"], n_items=row["n_items"])
    return counted


def floor_warning(card: Scorecard) -> str | None:
    """The warning that a run is at the floor because of form (SPEC A7); None where it is not.

    It stands beside the score and changes nothing in it.
    """
    floor = _settings()["floor"]
    unanswered = card.n_unanswered if isinstance(card.n_unanswered, int) else 0
    n_items = card.n_items - unanswered + card.misses.get(UNANSWERED, 0)  # those that count
    if not n_items:
        return None
    counts = {name: card.misses[name] for name in floor["form_reasons"]}
    n_correct = n_items - sum(card.misses.values())
    is_low = n_correct <= Decimal(floor["correct_at_most"]) * n_items
    is_form = sum(counts.values()) >= Decimal(floor["form_at_least"]) * n_items
    if not (is_low and is_form):
        return None
    return (
        f"{n_correct} of {n_items} items are correct, but form keeps the score at its floor: {SPEC_ID} compares "
        f"the whole answer, and in {counts['expected_inside_longer_text']} items the expected answer stands inside a "
        f"longer text, in {counts['numerically_equal']} the number is right and written otherwise. Ask for the answer "
        "alone, or give the items an answer_format."
    )


@cache
def _settings() -> Mapping[str, Any]:
    return load_spec(SPEC_ID).settings
