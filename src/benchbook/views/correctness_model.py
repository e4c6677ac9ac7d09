"""What a report of an `answer_correctness@v1` run is made of, and its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, assert_never

import msgspec

from benchbook.evaluators.answers.scorecard import GROUPINGS, UNANSWERED
from benchbook.evaluators.correctness.rows import (
    CorrectnessAggregates,
    CorrectnessDecision,
    CorrectnessManifest,
    CorrectnessRow,
    ItemRow,
)
from benchbook.text import one_line, shorten
from benchbook.views import numbers
from benchbook.views.gates import Tone
from benchbook.views.tables import Column, Table
from benchbook.views.words import plural

if TYPE_CHECKING:
    from benchbook.training.curves import Curve

__all__ = [
    "MAX_MISSED",
    "CorrectnessReport",
    "Headline",
    "counted_line",
    "headline",
    "missed_rows",
    "missed_table",
    "misses_of",
    "misses_table",
    "n_missed",
    "notices",
    "reason_words",
    "scorecard_table",
    "slice_tables",
    "why_missed",
]


MAX_MISSED = 200  # missed items that are shown; samples.jsonl and samples.parquet have them all
_MAX_CHARS = 2_000  # of one text

_REASONS: Mapping[str, str] = {
    "no_prediction": "no prediction",
    "expected_inside_longer_text": "the expected answer stands inside a longer text",
    "numerically_equal": "the same number, written otherwise",
    "different": "another answer",
    UNANSWERED: "unanswered when the run was ended",
}
_ERRORS: Mapping[str, str] = {
    "provider_error": "the call failed",
    "timeout": "timed out",
    "cancelled": "cancelled",
    "crashed": "the run crashed",
    "timed_out": "the run timed out",
}
_TIME_OUTS = ("timeout",)
_FAILED: Mapping[str, str] = {"crashed": "The run crashed", "timed_out": "The run timed out"}


@dataclass(frozen=True)
class CorrectnessReport:
    """One run, ready to be shown. `rows` starts a new pass over the items; a report never holds them all.

    `loss` reads what the run's trainer logged; None where it logged none.
    """

    manifest: CorrectnessManifest
    aggregates: CorrectnessAggregates
    decision: CorrectnessDecision
    rows: Callable[[], Iterator[CorrectnessRow]]
    loss: Callable[[], Curve | None]


class Headline(NamedTuple):
    words: str
    meaning: str
    tone: Tone


def headline(report: CorrectnessReport) -> Headline:
    """The score, and apart from it how the run itself went: no word of the verdict can be taken for the score's (A3).

    Where the run did not hold, that comes first.
    """
    file, verdict, reason = report.aggregates, report.decision.verdict, report.decision.reason
    counted = f"{file.n_correct:,} of {plural(file.n_items, 'item')} correct"
    score = f"{numbers.score(file.primary_score, unknown='no item is answered')} by {report.manifest.spec}"
    match verdict:
        case "unavailable":
            return Headline("Nothing was scored", f"Unavailable: {reason}.", "none")
        case "fail":
            words = _FAILED.get(report.manifest.run_status, "The run failed")
            return Headline(words, f"{reason}. Score {score}: {counted}.", "bad")
        case "incomplete":
            return Headline("The run is not complete", f"{reason}. Score so far {score}: {counted}.", "doubt")
        case "pass":
            span = numbers.interval("score", file.interval)
            tone: Tone = "doubt" if file.floor_warning else "none"
            return Headline(f"Score {score}; the run itself completed", f"{counted}; the score is {span}.", tone)
        case _:
            assert_never(verdict)


def notices(report: CorrectnessReport) -> list[str]:
    """What a reader must know before any number (A7 first)."""
    file = report.aggregates
    found = [*([file.floor_warning] if file.floor_warning else []), *file.warnings]
    if report.decision.verdict == "incomplete":
        found.append(f"The run can be resumed: benchbook score --resume {report.manifest.run_id}")
    return found


def why_missed(row: CorrectnessRow) -> list[str]:
    """Why an item has 0.0, or no score yet, by the spec's names; nothing where it is correct.

    A run that crashed is the one reason for all of its items.
    """
    if row.correctness == 1.0:
        return []
    if row.error is not None and row.error in _FAILED:
        return [row.error]
    unanswered = row.candidate_error if isinstance(row, ItemRow) else None
    return [name for name in (row.error, row.miss_reason, unanswered) if name is not None]


def misses_of(file: CorrectnessAggregates) -> list[tuple[str, str, int]]:
    """Why items missed: in words, by the spec's name, and how many. Of a run that crashed that alone.

    The reasons of A7, and of the items that they count, those whose call failed.
    """
    if of_run := [(reason_words(name), name, n) for name, n in file.errors.items() if name in _FAILED]:
        return of_run
    # Since items can be unanswered, a call that failed for another reason than the time limit is no miss of its own.
    shown = file.errors if UNANSWERED in file.misses or not isinstance(file.n_unanswered, int) else _TIME_OUTS
    errors = [(f"of these: {reason_words(name)}", name, n) for name, n in file.errors.items() if name in shown]
    return [*((reason_words(name), name, n) for name, n in file.misses.items()), *errors]


def n_missed(file: CorrectnessAggregates) -> int:
    """How many items count 0.0. One that is not answered yet is no miss."""
    unanswered = file.n_unanswered if isinstance(file.n_unanswered, int) else 0
    return file.n_items - file.n_correct - (unanswered - file.misses.get(UNANSWERED, 0))


def reason_words(name: str) -> str:
    """A reason of A7, an error, or what left an item unanswered, in words."""
    return _REASONS.get(name) or _ERRORS.get(name) or name.replace("_", " ")


def missed_rows(report: CorrectnessReport) -> list[CorrectnessRow]:
    """The first missed items of the plan, their texts cut to what a page can hold."""
    missed = (row for row in report.rows() if row.correctness == 0.0)
    return [_cut(row) for row in islice(missed, MAX_MISSED)]


def _cut(row: CorrectnessRow) -> CorrectnessRow:
    predicted = None if row.predicted is None else row.predicted[:_MAX_CHARS]
    return msgspec.structs.replace(row, predicted=predicted, expected=row.expected[:_MAX_CHARS], own=None)


_TEXT = 300  # characters of a text in a cell


def scorecard_table(file: CorrectnessAggregates) -> Table:
    """A4's numbers over all items."""
    rows = (
        ("Score: mean correctness", numbers.score(file.primary_score, unknown="no items")),
        (
            f"Its {numbers.limit('rate', file.interval.confidence)} interval, {file.interval.method.replace('_', ' ')}",
            numbers.interval("score", file.interval, bare=True),
        ),
        ("Standard deviation", numbers.score(file.stddev, unknown="fewer than two items")),
        ("Items", numbers.count(file.n_items)),
        ("Items with a prediction", numbers.count(file.n_scored)),
        ("Items without, each counted 0.0", numbers.count(file.n_skipped)),
        *_unanswered_row(file),
        ("Correct items", numbers.count(file.n_correct)),
    )
    return Table("Scorecard", (Column("What"), Column("Value", number=True)), rows)


def _unanswered_row(file: CorrectnessAggregates) -> tuple[tuple[str, str], ...]:
    if not isinstance(file.n_unanswered, int):
        return ()
    counted = "each counted 0.0" if UNANSWERED in file.misses else "left out until they are answered"
    return ((f"Items unanswered{f', {counted}' if file.n_unanswered else ''}", numbers.count(file.n_unanswered)),)


def counted_line(file: CorrectnessAggregates) -> str:
    """`34 items: 29 with a prediction, 5 without, 0 unanswered`."""
    parts = [f"{numbers.count(file.n_scored)} with a prediction", f"{numbers.count(file.n_skipped)} without"]
    if isinstance(file.n_unanswered, int):
        parts.append(f"{numbers.count(file.n_unanswered)} unanswered")
    return f"{plural(file.n_items, 'item')}: {', '.join(parts)}"


def slice_tables(file: CorrectnessAggregates) -> list[Table]:
    """A4 by section, category and difficulty; a grouping that no item has is left out."""
    tables = []
    for name in GROUPINGS:
        slices = getattr(file, name)
        if all(one.value is None for one in slices):
            continue
        rows = tuple(
            (
                numbers.nothing("none named") if one.value is None else one_line(one.value),
                numbers.score(one.mean),
                numbers.count(one.n_items),
                numbers.count(one.n_scored),
                *((numbers.count(one.n_unanswered),) if isinstance(one.n_unanswered, int) else ()),
            )
            for one in slices
        )
        columns = (
            Column(name.capitalize()),
            Column("Mean", number=True),
            Column("Items", number=True),
            Column("With a prediction", number=True),
            *((Column("Unanswered", number=True),) if isinstance(slices[0].n_unanswered, int) else ()),
        )
        tables.append(Table(f"By {name}", columns, rows))
    return tables


def misses_table(file: CorrectnessAggregates) -> Table:
    """A7: how many items missed for which reason."""
    n_items = file.n_items
    rows = tuple(
        (words, name, numbers.count(n), numbers.rate(n / n_items, n_items))
        for words, name, n in misses_of(file)
        if n and n_items
    )
    columns = (Column("Why"), Column("Name"), Column("Items", number=True), Column("Share", number=True))
    return Table("Why items missed", columns, rows)


def missed_table(rows: Sequence[CorrectnessRow]) -> Table:
    """Missed items, each with what was expected and what came."""
    cells = tuple(
        (
            shorten(row.item_id, 80),
            shorten(row.expected, _TEXT),
            numbers.nothing() if row.predicted is None else shorten(row.predicted, _TEXT),
            ", ".join(reason_words(name) for name in why_missed(row)),
            ", ".join(one_line(value) for value in (row.section, row.category, row.difficulty) if value is not None),
        )
        for row in rows
    )
    columns = tuple(Column(name) for name in ("Item", "Expected", "Predicted", "Why", "Where"))
    return Table("Missed items", columns, cells)
