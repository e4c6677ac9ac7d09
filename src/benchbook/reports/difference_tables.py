"""The differences of two runs as tables: the score and what stands beside it, and by slice."""

from __future__ import annotations

from benchbook.decisions.comparison import Comparison
from benchbook.decisions.comparison_difference import Difference, Verdict
from benchbook.decisions.comparison_metrics import MetricName
from benchbook.reports import comparison_numbers, numbers
from benchbook.reports.tables import Column, Table
from benchbook.text import shorten

__all__ = ["differences_table", "slices_table"]

_METRIC_WORDS: dict[MetricName, str] = {
    "accuracy_score": "Accuracy, 0 to 2",
    "faithfulness_score": "Faithfulness, 0 to 2",
    "latency_e2e_ms": "Latency",
    "total_tokens": "Tokens",
}
_METRIC_KINDS: dict[MetricName, numbers.Kind] = {
    "accuracy_score": "grade", "faithfulness_score": "grade", "latency_e2e_ms": "ms", "total_tokens": "tokens",
}  # fmt: skip
_VERDICT_CELLS: dict[Verdict, str] = {
    "better": "better", "worse": "worse", "same": "the same", "not_told": "can't be told", "no_data": numbers.DASH,
}  # fmt: skip
_COLUMNS = (
    Column("A", number=True), Column("B", number=True), Column("B − A", number=True),
    Column("Interval", number=True), Column("In items", number=True),
)  # fmt: skip


def differences_table(pair: Comparison) -> Table:
    """The score, and what stands beside it: passing, the diagnosis of A7, and what else both runs measured."""
    rows = [("Score", *_cells(pair.score, pair.score.p))]
    if pair.passing is not None:
        rows.append(("Items that pass", *_cells(pair.passing, pair.passing.p)))
    if pair.containment is not None:
        contained = pair.containment.difference
        rows.append(("Answer in the text (diagnosis)", *_cells(contained, contained.p)))
    rows += [
        (_METRIC_WORDS[one.name], *_cells(one.difference, one.p_holm, _METRIC_KINDS[one.name])) for one in pair.metrics
    ]
    note = f"; p of {_METRIC_WORDS[pair.metrics[0].name]} and below by Holm" if pair.metrics else ""
    return Table(
        f"The differences, B − A{note}",
        (Column("Over the items of both"), *_COLUMNS, Column("p", number=True), Column("B is")),
        tuple(rows),
    )


def slices_table(pair: Comparison) -> Table:
    """By section, category and difficulty, each with its own n and interval; p is adjusted over all the slices here."""
    rows = tuple((one.field, shorten(one.value, 60), *_cells(one.difference, one.p_holm)) for one in pair.slices)
    columns = (Column("Slice"), Column("Value"), *_COLUMNS, Column("p", number=True), Column("B is"))
    return Table(f"By slice; p by Tarone-Holm over {len(rows)}", columns, rows)


def _cells(found: Difference, p: float | None, kind: numbers.Kind = "score") -> tuple[str, ...]:
    return (
        numbers.show(kind, found.mean_a),
        numbers.show(kind, found.mean_b),
        comparison_numbers.signed(found.difference, kind),
        comparison_numbers.interval(found, kind),
        comparison_numbers.items_moved(found),
        comparison_numbers.p_value(p),
        _VERDICT_CELLS[found.verdict],
    )
