"""A comparison in Markdown, with the same care for what others wrote as `markdown`."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.comparison.compared import Comparison
from benchbook.text import shorten
from benchbook.views import comparison_tables as tables
from benchbook.views.comparison_model import MAX_CHARS, MAX_SHOWN, ComparisonReport, ShownItem, shown_items
from benchbook.views.comparison_tables import differences_table, slices_table
from benchbook.views.leaderboard_tables import leaderboard_notes, leaderboard_table
from benchbook.views.markdown import bullets, fenced, inline, table_section
from benchbook.views.words import plural

__all__ = ["comparison_markdown"]


def comparison_markdown(report: ComparisonReport) -> Iterator[str]:
    """The document, in pieces."""
    found = report.found
    yield f"# {inline(' → '.join(shorten(run.name, 60) for run in found.runs))}\n\n"
    for number, (pair, p) in enumerate(zip(found.pairs, found.p_holm, strict=True)):
        several = len(found.pairs) > 1
        yield from _pair(pair, p if several else None, f"{inline(shorten(pair.b.name, 60))}: " if several else "")
        if number == 0:
            yield from table_section("The runs", tables.runs_table(found))
    for history in found.histories:
        table = tables.history_table(history)
        yield from table_section(table.caption, table, tables.way_table(history, MAX_SHOWN))
    if found.leaderboard is not None:
        table = leaderboard_table(found.leaderboard)
        yield from table_section(table.caption, table)
        yield bullets(list(leaderboard_notes(found.leaderboard)))
    if not report.has_curves:
        yield "## Training\n\nNo training metrics.\n"
        return
    yield from table_section("Training", tables.training_table(report.curves))
    if remarks := list(tables.training_remarks(report.curves)):
        yield bullets(remarks)
    yield "The curves are drawn in the HTML report, and --json has their points.\n"


def _pair(pair: Comparison, p: float | None, name: str) -> Iterator[str]:
    yield f"{name}{inline(tables.first_line(pair))}\n\n"
    if warnings := tables.notices(pair):
        yield bullets(warnings)
    yield f"{inline(tables.verdict(pair, p))}\n\n"
    if line := tables.margin_line(pair):
        yield f"{inline(line)}\n\n"
    yield from table_section("Differences", differences_table(pair), tables.classes_table(pair))
    if lines := list(tables.containment_lines(pair)):
        yield bullets(lines)
    yield from table_section("Slices", slices_table(pair))
    n = pair.n_changed
    if n:
        yield "## Items\n\n"
        cut = f"; here are the first {MAX_SHOWN:,}" if n > MAX_SHOWN else ""
        yield f"{plural(n, 'item')} with a change{cut}. `[-in A alone-]`, `{{+in B alone+}}`.\n\n"
    for item in shown_items(pair, MAX_SHOWN):
        yield from _item(item)
    yield from table_section("Metadata", tables.metadata_table(pair))


def _item(item: ShownItem) -> Iterator[str]:
    yield f"### {inline(shorten(item.item_id, 80))}: {tables.CHANGE_WORDS[item.change]}\n\n"
    yield "".join(f"{inline(fact)} " for fact in tables.item_facts(item)).rstrip() + "\n\n"
    yield from _quoted("Prompt", item.prompt)
    yield from _quoted("Expected", item.expected)
    if item.expected_b is not None:
        yield from _quoted("Expected in B", item.expected_b)
    if item.text_a is None or item.text_b is None:
        yield from _quoted("A", item.text_a)
        yield from _quoted("B", item.text_b)
        return
    marks = {"same": "{}", "deleted": "[-{}-]", "inserted": "{{+{}+}}"}
    yield from _quoted("From A to B", "".join(marks[op].format(text) for op, text in item.difference))


def _quoted(name: str, words: str | None) -> Iterator[str]:
    if words is None:
        yield f"{name}: –\n\n"
        return
    cut = f"\nCut after {MAX_CHARS:,} characters.\n" if len(words) > MAX_CHARS else ""
    yield f"{name}:\n\n{fenced(words[:MAX_CHARS])}{cut}\n"
