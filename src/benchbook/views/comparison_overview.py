"""Many runs at a glance, each held against the first; and two runs by the numbers of each as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.comparison.by_metric import RunByMetric, by_metric
from benchbook.comparison.compared import Comparison, ComparisonSet
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.measures import SCORE, metrics_of
from benchbook.comparison.whole_runs import RunNumber
from benchbook.evaluators.document import Cell, Columns, Kind, Table, Value, table
from benchbook.evaluators.measured import MEASURED_WORDS
from benchbook.text import plural
from benchbook.views import numbers
from benchbook.views.comparison_tables import metric_word, run_notices
from benchbook.views.narrow_table import cut_apart
from benchbook.views.verdicts import VERDICT_WORDS
from benchbook.views.words import AGGREGATES, aggregate_word, listed, outcome_word

_NAME = 16  # characters of a run's name: with them, the table is 120 wide


def metric_title(name: str, runs: Sequence[ComparedRun]) -> tuple[str, Kind]:
    """A metric's name for people, and how its values are written."""
    metric = next((one for one in metrics_of(runs) if one.name == name), None)
    if metric is not None:
        return metric_word(metric), metric.kind
    word = aggregate_word(name)
    return word.label, word.kind


def overview_table(found: ComparisonSet) -> Table:
    """A row a run in the order given: its number by the metric, and how it differs from the first's over the items of
    both. The score has a ranking of its own; by another metric, ranks stand here.
    """
    names = cut_apart([run.name for run in found.runs], _NAME)
    shown, (title, kind), is_score = by_metric(found), metric_title(found.by, found.runs), found.by == SCORE.name
    decided = [_decision(run) for run in found.runs]
    last: tuple[str, list[str | None]] | None = ("Decision", decided) if any(decided) else None
    if not is_score:
        last = None if shown.unranked is not None else ("Rank", [_rank(row) for row in shown.rows])
    columns: Columns = {
        "Run": "text", "Score" if is_score else "Value": "number", "Its interval": "number", "Difference": "number",
        "Interval": "number", "Lost": "count", "Won": "count", "p": "p", "Is": "text",
        **({last[0]: "text"} if last else {}),
    }  # fmt: skip
    rows = [
        (
            name,
            Value(kind, row.value, unknown="no score" if is_score else "not known"),
            numbers.bounds(kind, row.low, row.high),
            *(_against(row, kind) if place else ("the first", "", "", "", None, "")),
            *((last[1][place],) if last else ()),
        )
        for place, (row, name) in enumerate(zip(shown.rows, names, strict=True))
    ]
    n = {pair.n_compared for pair in found.pairs}
    items = plural(n.pop(), "item") if len(n) == 1 else "the items of both"
    runs = plural(len(rows), "run") if is_score else f"{plural(len(rows), 'run')} by {title}"
    return table(f"{runs}, each against the first over {items}; `is` by Holm's p", columns, rows)


def _against(row: RunByMetric, kind: Kind) -> tuple[Cell, ...]:
    if row.difference is None or row.verdict is None:
        return ("not tested", "", "", "", None, "")
    return (
        Value(kind, row.difference.difference, signed=True),
        numbers.difference_interval(row.difference, kind),
        row.difference.n_lost,
        row.difference.n_won,
        row.p_holm,
        VERDICT_WORDS[row.verdict],
    )


def _rank(row: RunByMetric) -> str | None:
    if row.rank is None:
        return None
    return f"{row.rank}" if row.rank_low is None else f"{row.rank} ({row.rank_low} to {row.rank_high})"


def _decision(run: ComparedRun) -> str | None:
    """The decision by gates; a verdict on the run itself is told where that did not end well."""
    told = run.whole.decision
    return None if told in (None, "pass") else outcome_word(str(told))


def overview_notices(found: ComparisonSet) -> Iterator[str]:
    """The notices to be read before the numbers, each once: what was not the same in which runs, then those on runs."""
    by_part: dict[str, list[str]] = {}
    for pair in found.pairs:
        for part in pair.measured:
            by_part.setdefault(MEASURED_WORDS[part.name], []).append(pair.b.name)
    for words, runs in by_part.items():
        yield f"Not the same was measured: {words} of {listed(runs)} differs from that of {found.runs[0].name}."
    yield from dict.fromkeys(notice for pair in found.pairs for notice in run_notices(pair, pair.a.name, pair.b.name))


def whole_table(pair: Comparison) -> Table:
    """The aggregates of each run over all of its own samples, those that gates ask about (`*`) first."""
    a, b = pair.a.whole, pair.b.whole
    rows = []
    for name in dict.fromkeys((*a.gated, *b.gated, *AGGREGATES, *a.aggregates, *b.aggregates)):
        left, right = (run.aggregates.get(name, RunNumber(None)) for run in (a, b))
        if left.value is None and right.value is None:
            continue
        word = aggregate_word(name)
        kind = word.kind
        difference = None if left.value is None or right.value is None else round(right.value - left.value, 9)
        rows.append(
            (
                f"{word.label}{' *' if name in (*a.gated, *b.gated) else ''}",
                Value(kind, left.value, unknown="not known"),
                Value(kind, right.value, unknown="not known"),
                Value(kind, difference, signed=True),
                numbers.bounds(kind, left.low, left.high),
                numbers.bounds(kind, right.low, right.high),
            )
        )
    columns: Columns = {
        "Over all samples of each": "text", "A": "number", "B": "number", "B − A": "number", "A's interval": "number",
        "B's interval": "number",
    }  # fmt: skip
    return table("Each run as a whole; * is what a gate asks about", columns, rows)
