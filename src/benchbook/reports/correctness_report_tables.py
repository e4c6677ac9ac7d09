"""What a report of an `answer_correctness@v1` run says, as tables of plain text (SPEC A4, A7)."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.derivations.correctness_rows import CorrectnessAggregates, CorrectnessRow
from benchbook.reports import numbers
from benchbook.reports.correctness_model import misses_of, reason_words, why_missed
from benchbook.reports.tables import Column, Table
from benchbook.reports.words import plural
from benchbook.scorers.answer_correctness_scorecard import GROUPINGS, UNANSWERED
from benchbook.text import one_line, shorten

__all__ = ["counted_line", "missed_table", "misses_table", "scorecard_table", "slice_tables"]

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
