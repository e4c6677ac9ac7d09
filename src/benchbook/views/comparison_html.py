"""A comparison as one page that needs nothing but itself, without a script."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.comparison.compared import Comparison
from benchbook.comparison.text_difference import Segment
from benchbook.text import shorten
from benchbook.views import comparison_tables as tables
from benchbook.views.comparison_model import MAX_CHARS, MAX_SHOWN, ComparisonReport, ShownItem, shown_items
from benchbook.views.comparison_tables import differences_table, slices_table
from benchbook.views.curves import CURVES_CSS, curves_figure
from benchbook.views.leaderboard_tables import leaderboard_notes, leaderboard_table
from benchbook.views.markup import Html, el, join, text
from benchbook.views.page_frame import page_head, style_sheet
from benchbook.views.page_parts import render_table, section
from benchbook.views.words import plural

__all__ = ["comparison_html"]


_NAME = 80  # characters of a run's or an item's name


def comparison_html(report: ComparisonReport) -> Iterator[str]:
    """The page, in pieces."""
    found = report.found
    yield '<!doctype html>\n<html lang="en">\n'
    yield _head(report)
    yield '\n<body class="compared">\n<a class="skip" href="#main">Skip to the comparison</a>\n'
    yield _masthead(report)
    yield '\n<main id="main">\n'
    yield el("h1", *_names(report))
    for number, (pair, p) in enumerate(zip(found.pairs, found.p_holm, strict=True), 1):
        yield from _pair(pair, p if len(found.pairs) > 1 else None, number)
    yield _histories(report)
    if found.leaderboard is not None:
        notes = [el("li", text(one), dir="auto") for one in leaderboard_notes(found.leaderboard)]
        table = render_table(leaderboard_table(found.leaderboard))
        yield section("ranking", "Ranking", table, el("ul", *notes, class_="quiet"))
    yield section("runs", "The runs", render_table(tables.runs_table(found), hide_caption=True))
    yield _training(report)
    yield "\n</main>\n" + _foot(report) + "\n</body>\n</html>\n"


def _head(report: ComparisonReport) -> Html:
    names = " → ".join(shorten(run.name, 40) for run in report.found.runs)
    return page_head(names, "\n" + style_sheet("comparison.css") + CURVES_CSS)


def _masthead(report: ComparisonReport) -> Html:
    found = report.found
    places = [(f"pair-{number}", f"Against {shorten(pair.b.name, 40)}") for number, pair in enumerate(found.pairs, 1)]
    places = [("pair-1", "Differences")] if len(places) == 1 else places
    places += [("items-1", "Items")]
    places += [("histories", "Histories")] if found.histories else []
    places += [("runs", "The runs"), ("training", "Training")]
    links = [el("li", el("a", text(words), href=f"#{place}")) for place, words in places]
    name = el("p", el("strong", text("Benchbook")), text(" comparison"), class_="name")
    return el("header", name, el("nav", el("ul", *links), aria_label="Contents"), class_="masthead")


def _names(report: ComparisonReport) -> Iterator[Html]:
    for place, run in enumerate(report.found.runs):
        if place:
            yield el("span", text("→"), aria_label="to")
        yield el("bdi", text(shorten(run.name, _NAME)), dir="auto")


def _pair(pair: Comparison, p: float | None, number: int) -> Iterator[Html]:
    heading = "What changed" if p is None else f"{shorten(pair.b.name, _NAME)} against {shorten(pair.a.name, _NAME)}"
    margin = tables.margin_line(pair)
    yield section(
        f"pair-{number}",
        heading,
        el("p", text(tables.first_line(pair)), class_="quiet"),
        _notices(pair, number),
        el("p", text(tables.verdict(pair, p)), class_="verdict"),
        *(() if margin is None else (el("p", text(margin)),)),
        *(() if p is None else (el("p", text("p is Holm's, over the runs compared."), class_="quiet"),)),
        render_table(differences_table(pair)),
        *(el("p", text(line), class_="quiet") for line in tables.containment_lines(pair)),
        render_table(tables.classes_table(pair)),
        render_table(slices_table(pair)),
    )
    yield from _items(pair, number)
    metadata = tables.metadata_table(pair)
    same = el("p", text("The records say the same."), class_="quiet")
    yield section(f"metadata-{number}", "Metadata", render_table(metadata, hide_caption=True) if metadata else same)


def _notices(pair: Comparison, number: int) -> Html:
    found = [el("li", text(one), dir="auto") for one in tables.notices(pair)]
    if not found:
        return join()
    # The style sheet knows #warnings; a page of several pairs has one of each id.
    return el("div", el("ul", *found), id="warnings" if number == 1 else f"warnings-{number}")


def _items(pair: Comparison, number: int) -> Iterator[Html]:
    n = pair.n_changed
    cut = f" Here are the first {MAX_SHOWN:,}; --parquet has them all." if n > MAX_SHOWN else ""
    words = f"{plural(n, 'item')} with a change.{cut}" if n else "Nothing changed in any item."
    yield section(f"items-{number}", "Items", el("p", text(words), class_="quiet"))
    for item in shown_items(pair, MAX_SHOWN):
        yield _item(item)


def _item(item: ShownItem) -> Html:
    summary = el(
        "summary",
        el("bdi", text(shorten(item.item_id, _NAME)), dir="auto", class_="item"),
        el("span", text(tables.CHANGE_WORDS[item.change]), class_=f"change {item.change}"),
    )
    facts = el("p", *(text(f"{fact} ") for fact in tables.item_facts(item)), class_="quiet")
    body = el("div", el("div", facts, *_texts(item), class_="texts"), class_="inside")
    return el("div", el("details", summary, body, class_="sample"), class_="sample-line")


def _texts(item: ShownItem) -> Iterator[Html]:
    yield _quoted("Prompt", item.prompt)
    yield _quoted("Expected", item.expected)
    if item.expected_b is not None:
        yield _quoted("Expected in B", item.expected_b)
    if item.text_a is not None and item.text_b is not None:
        yield el("div", el("h4", text("From A to B")), el("pre", *_marked(item.difference), class_="said", dir="auto"))
    yield _quoted("A", item.text_a)
    yield _quoted("B", item.text_b)


def _marked(segments: tuple[Segment, ...]) -> Iterator[Html]:
    """What only one of them has is marked, and said to who can't see the mark; cut as texts are."""
    left = MAX_CHARS
    names = {"deleted": "del", "inserted": "ins"}
    for op, words in segments:
        shown = text(words[:left])
        yield shown if op == "same" else el(names[op], shown)
        left -= len(words)
        if left <= 0:
            yield text(f"… (cut after {MAX_CHARS:,} characters)")
            return


def _quoted(name: str, words: str | None) -> Html:
    if words is None:
        return el("div", el("h4", text(name)), el("p", text("–"), class_="quiet"))
    cut = f"… (cut after {MAX_CHARS:,} characters)" if len(words) > MAX_CHARS else ""
    return el("div", el("h4", text(name)), el("pre", text(words[:MAX_CHARS] + cut), class_="said", dir="auto"))


def _histories(report: ComparisonReport) -> Html:
    found = [
        render_table(table)
        for history in report.found.histories
        for table in (tables.history_table(history), tables.way_table(history, MAX_SHOWN))
    ]
    return section("histories", "Histories", *found) if found else join()


def _training(report: ComparisonReport) -> Html:
    if not report.has_curves:
        return section("training", "Training", el("p", text("No training metrics: no record here has any.")))
    return section("training", "Training", curves_figure(report.curves))


def _foot(report: ComparisonReport) -> Html:
    names = " ".join(f'"{run.name}"' for run in report.found.runs)
    words = f"Scores are rounded for reading. `benchbook compare {shorten(names, 400)} --parquet FILE` has every item."
    return el("footer", el("p", text(words)))
