"""How runs are shown that a user's function scored: what it named, and what it could not score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from benchbook.evaluators.document import Table, Value, table
from benchbook.evaluators.scorers.rows import ScorerAggregates, ScorerRow
from benchbook.text import shorten
from benchbook.views.answers.report import AnswersReport, Terms, misses_by_run_or_item, view_over

__all__ = ["VIEW"]


_WORDS: Mapping[str, str] = {
    "no_prediction": "there is no answer, or nothing but white space",
    "not_passed": "the scorer did not pass it",
}
_TEXT = 160  # characters of what the scorer said
_values = msgspec.json.Decoder(dict[str, bool | int | float | str])


def _tables(report: AnswersReport) -> Iterator[Table]:
    """The means of the numbers that the scorer named, and why answers have no score."""
    file: ScorerAggregates = report.aggregates
    if file.values:
        means = [(name, Value("score", one.mean), one.n) for name, one in file.values.items()]
        yield table("What the scorer named", {"Name": "text", "Mean": "score", "Items": "count"}, means)
    if file.unscored:
        faults = [(shorten(one.why, _TEXT), one.n_items) for one in file.unscored]
        yield table("Answers without a score", {"Why": "text", "Items": "count"}, faults)


def _why_missed(row: ScorerRow) -> list[str]:
    """Why an item did not pass, and what the scorer said of it."""
    if row.passed:
        return []
    if row.unscored is not None and row.score is None:
        return [f"unscored: {shorten(row.unscored, _TEXT)}"]
    found = misses_by_run_or_item(row, row.miss_reason)
    said = {} if row.values is None else _values.decode(row.values)
    return [*found, *(f"{name}: {shorten(text, _TEXT)}" for name, text in said.items() if isinstance(text, str))]


VIEW = view_over(
    Terms(
        passed="passed",
        score_of="Score: mean over all items that have one",
        passed_of="Items that passed",
        reasons=_WORDS,
        n_passed=lambda file: int(file.n_passed),
        interval=lambda file: file.intervals["primary_score"],
        why_missed=_why_missed,
        is_missed=lambda row: row.passed is False,
        tables=_tables,
    )
)
