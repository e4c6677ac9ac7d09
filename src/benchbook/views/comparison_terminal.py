"""A comparison on a terminal, in a pipe, or in a log: plain text, as `terminal`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from benchbook.comparison.compared import Comparison
from benchbook.comparison.leaderboard import Leaderboard
from benchbook.comparison.regressions import GateOutcome, RegressionCheck
from benchbook.text import one_line, shorten
from benchbook.views import comparison_tables as tables
from benchbook.views import numbers
from benchbook.views.comparison_model import ComparisonReport, ShownItem, shown_items
from benchbook.views.comparison_tables import differences_table, slices_table
from benchbook.views.leaderboard_tables import leaderboard_notes, leaderboard_table
from benchbook.views.terminal import encodable, painted, table_lines, wrapped
from benchbook.views.words import plural

__all__ = ["comparison_lines", "gate_lines", "leaderboard_lines", "print_comparison"]


MOST_ITEMS, FEWEST_ITEMS = 20, 5  # over all pairs, and of one; --html has more, --parquet all
MOST_IDS = 40
_TONES = {
    "regressed": "31", "improved": "32", "answer_lost": "31", "answer_won": "32", "expected_changed": "33",
    "text_changed": "2",
}  # fmt: skip
_OUTCOMES: dict[GateOutcome, str] = {
    "holds": "The gate holds",
    "does_not_hold": "The gate does not hold",
    "undecided": "The gate can't tell",
    "not_complete": "The run is not complete, so the gate can't hold",
}
_TEXT_WIDTH = 400  # characters of a text's difference


def print_comparison(report: ComparisonReport, out: TextIO, *, written: Sequence[Path] = ()) -> None:
    """Write the comparison to `out`, in its width, colours and encoding. `written` are the files that hold more."""
    on_terminal = out.isatty()
    width = min(shutil.get_terminal_size().columns, 140) if on_terminal else 120
    colour = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    lines = comparison_lines(report, width=max(width, 40), colour=colour, written=written)
    out.writelines(encodable(line, out.encoding) + "\n" for line in lines)


def comparison_lines(
    report: ComparisonReport, *, width: int = 120, colour: bool = False, written: Sequence[Path] = ()
) -> Iterator[str]:
    """The comparison; per pair first how many items are compared, then what to be warned of, then the rest."""
    found = report.found
    for pair, p in zip(found.pairs, found.p_holm, strict=True):
        several = len(found.pairs) > 1
        yield from _pair(pair, p if several else None, width, colour)
        yield from _items(pair, max(MOST_ITEMS // len(found.pairs), FEWEST_ITEMS), width, colour)
        yield from _metadata(pair, width)
    for history in found.histories:
        yield from table_lines(tables.history_table(history), width)
        yield from table_lines(tables.way_table(history, MOST_IDS), width)
    if found.leaderboard is not None:
        yield from table_lines(leaderboard_table(found.leaderboard), width)
        for note in leaderboard_notes(found.leaderboard):
            yield from wrapped(note, width, "")
        yield ""
    yield from _training(report, width)
    for path in written:
        yield from wrapped(str(path), 10_000, "")


def _metadata(pair: Comparison, width: int) -> Iterator[str]:
    """Every leaf that differs, A's value and B's below one another, neither of them cut by the width."""
    table = tables.metadata_table(pair)
    if not table:
        return
    yield table.caption
    for path, a, b in table.rows:
        yield from wrapped(path, width, "  ")
        yield from wrapped(f"A  {a}", width, "    ")
        yield from wrapped(f"B  {b}", width, "    ")
    yield ""


def _training(report: ComparisonReport, width: int) -> Iterator[str]:
    if not report.has_curves:
        yield "No training metrics."
        return
    yield from table_lines(tables.training_table(report.curves), width)
    for remark in tables.training_remarks(report.curves):
        yield from wrapped(remark, width, "")


def _pair(pair: Comparison, p: float | None, width: int, colour: bool) -> Iterator[str]:
    yield painted(f"A {one_line(pair.a.name)}  B {one_line(pair.b.name)}", "1", colour)
    yield from wrapped(tables.first_line(pair), width, "")
    for notice in tables.notices(pair):
        yield from (painted(line, "33", colour) for line in wrapped(notice, width, "  ! "))
    adjusted = " p is Holm's, over the runs compared." if p is not None else ""
    yield from wrapped(tables.verdict(pair, p) + adjusted, width, "")
    if line := tables.margin_line(pair):
        yield from wrapped(line, width, "")
    yield ""
    for table in (differences_table(pair), tables.classes_table(pair), slices_table(pair)):
        yield from table_lines(table, width, wrap=True)
    for line in tables.containment_lines(pair, MOST_IDS):
        yield from wrapped(line, width, "")
        yield ""


def _items(pair: Comparison, most: int, width: int, colour: bool) -> Iterator[str]:
    n = pair.n_changed
    if not n:
        return
    shown = f"; the first {most}" if n > most else ""
    yield f"{plural(n, 'item')} with a change{shown}: [-in A alone-] {{+in B alone+}}"
    for item in shown_items(pair, most):
        expected = numbers.DASH if item.expected is None else shorten(item.expected, 60)
        head = f"{shorten(item.item_id, 60)}: {tables.CHANGE_WORDS[item.change]}; expected {expected}"
        yield from (painted(line, _TONES[item.change], colour) for line in wrapped(head, width, "  "))
        yield from wrapped(_difference(item), width, "      ")
    yield ""


def _difference(item: ShownItem) -> str:
    """B's text against A's, with what both say for long cut in its middle."""
    if item.text_a is None or item.text_b is None:
        return " → ".join(
            "(no text)" if text is None else shorten(text, _TEXT_WIDTH // 2) for text in (item.text_a, item.text_b)
        )
    marks = {"same": "{}", "deleted": "[-{}-]", "inserted": "{{+{}+}}"}
    return shorten("".join(marks[op].format(_middle_cut(text)) for op, text in item.difference), _TEXT_WIDTH)


def _middle_cut(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:50]} … {text[-50:]}"


def leaderboard_lines(found: Leaderboard, n_others: int = 0, damaged: Sequence[str] = ()) -> Iterator[str]:
    """The ranking, and in words who may be the best. `n_others` records of the folder are not in it.

    `damaged` are those among them that can't be read, each with what is wrong with it.
    """
    yield from table_lines(leaderboard_table(found), 160)
    yield from leaderboard_notes(found)
    if n_others:
        why = "damaged, not finished, a dry run, or on another eval set or scorer"
        yield f"{plural(n_others, 'other record')} not ranked: {why}."
    for one in damaged:
        yield f"Damaged: {one_line(one)}"


def gate_lines(run: str, score: float | None, check: RegressionCheck, comparison: Comparison | None) -> Iterator[str]:
    """Whether the gate holds, why not, and which items regressed."""
    against = "" if comparison is None else f" against {one_line(comparison.a.name)}"
    yield f"{_OUTCOMES[check.outcome]}: {one_line(run)}{against}, score {numbers.score(score, 'none')}"
    if check.holds and check.shown is not None:
        yield f"  {check.shown}"
    for reason in check.reasons:
        yield f"  - {one_line(reason)}"
    if comparison is not None:
        yield tables.first_line(comparison)
        yield tables.verdict(comparison)
    unanswered = frozenset(check.unanswered)
    unscored = tuple(one for one in check.missing if one not in unanswered)
    for words, ids in (
        ("regressed", check.regressed), ("without a score", unscored), ("not answered", check.unanswered)
    ):  # fmt: skip
        for one in ids[:MOST_IDS]:
            yield f"  {words}: {shorten(one, 80)}"
        if len(ids) > MOST_IDS:
            yield f"  … and {len(ids) - MOST_IDS:,} more"
