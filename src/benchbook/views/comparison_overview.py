"""Many runs at a glance, each held against the first; and two runs by the numbers of each as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.comparison.compared import Comparison, ComparisonSet
from benchbook.comparison.difference import Verdict
from benchbook.comparison.items import ComparedRun
from benchbook.comparison.whole_runs import RunNumber
from benchbook.evaluators.document import Cell, Columns, Table, Value, table
from benchbook.evaluators.measured import MEASURED_WORDS
from benchbook.text import plural
from benchbook.views import numbers
from benchbook.views.comparison_tables import run_notices
from benchbook.views.narrow_table import cut_apart
from benchbook.views.words import AGGREGATES, aggregate_word, listed, outcome_word

_NAME = 22  # characters of a run's name: with them, the table is 120 wide
_VERDICTS: dict[Verdict, str] = {
    "better": "better", "worse": "worse", "same": "the same", "not_told": "unclear", "no_data": numbers.DASH,
}  # fmt: skip


def overview_table(found: ComparisonSet) -> Table:
    """A row a run in the order given: its score, and how it differs from the first's over the items of both."""
    names = cut_apart([run.name for run in found.runs], _NAME)
    decided = [_decision(run) for run in found.runs]
    is_decided = any(decided)
    columns: Columns = {
        "Run": "text", "Score": "score", "Its interval": "number", "Difference": "number", "Interval": "number",
        "Lost": "count", "Won": "count", "Is": "text", **({"Decision": "text"} if is_decided else {}),
    }  # fmt: skip
    rows = []
    for place, (run, name) in enumerate(zip(found.runs, names, strict=True)):
        against = _against(found.pairs[place - 1]) if place else ("the first", "", "", "", "")
        last = (decided[place],) if is_decided else ()
        rows.append(
            (
                name,
                Value("score", run.score, unknown="no score"),
                numbers.bounds("score", run.whole.score.low, run.whole.score.high),
                *against,
                *last,
            )
        )
    n = {pair.n_compared for pair in found.pairs}
    items = plural(n.pop(), "item") if len(n) == 1 else "the items of both"
    return table(f"{plural(len(rows), 'run')}, each against the first over {items}; `is` by Holm's p", columns, rows)


def _against(pair: Comparison) -> tuple[Cell, ...]:
    score = pair.score
    return (
        Value("score", score.difference, signed=True),
        numbers.difference_interval(score),
        score.n_lost,
        score.n_won,
        _VERDICTS[score.verdict],
    )


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
