"""A comparison as a page, as Markdown and for a terminal; and a regression gate for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.comparison.compared import Comparison, ComparisonSet
from benchbook.comparison.regressions import GateOutcome, RegressionCheck
from benchbook.evaluators.document import (
    HTML,
    MARKDOWN,
    TERMINAL,
    WRITTEN,
    Block,
    Curves,
    Document,
    ItemBlock,
    Lines,
    Listed,
    Notices,
    Paragraph,
    Quote,
    Section,
    Title,
)
from benchbook.text import one_line, plural, shorten
from benchbook.views import comparison_tables as tables
from benchbook.views import numbers
from benchbook.views.comparison_corrected import (
    corrected_blocks,
    corrected_notes,
    corrected_overview,
    corrected_sentence,
    turned_notices,
    turned_sentences,
)
from benchbook.views.comparison_data import MAX_SHOWN, ComparisonReport, ShownItem, shown_items
from benchbook.views.comparison_overview import overview_notices, overview_table, whole_table
from benchbook.views.curves import CURVES_CSS
from benchbook.views.fragment import fragment
from benchbook.views.html import html_page
from benchbook.views.markdown import markdown_page
from benchbook.views.markup import style_sheet
from benchbook.views.record_differences import metadata_blocks, template_blocks
from benchbook.views.several_runs import leaderboard_notes, leaderboard_table
from benchbook.views.verdicts import adjustment

_NAME = 80  # characters of a run's or an item's name
_MOST_NAMED = 100  # items that lost or won the expected answer
MOST_ITEMS, FEWEST_ITEMS = 20, 5  # on a terminal, over all pairs, and of one; --html has more, --parquet all
MOST_IDS = 40
MOST_MOVED = 10  # items of a history by their ways, where runs are shown at a glance
_DETAILS = "Each pair in full, with its items: --details, or `benchbook compare {} {}`."


def comparison_html(report: ComparisonReport) -> Iterator[str]:
    """The page, in pieces."""
    start = ("main", "Skip to the comparison")
    return html_page(_document(report, MAX_SHOWN, MAX_SHOWN), css=_css(), body_class="compared", start=start)


def comparison_fragment(report: ComparisonReport) -> str:
    """The comparison in short, for a notebook."""
    return fragment(comparison_summary(report), css=_css(), body_class="compared")


def _css() -> str:
    return "\n" + style_sheet("comparison.css") + CURVES_CSS


def comparison_markdown(report: ComparisonReport) -> Iterator[str]:
    """The page's content in Markdown."""
    return markdown_page(_document(report, MAX_SHOWN, MAX_SHOWN))


def comparison_summary(report: ComparisonReport, *, details: bool = False) -> Document:
    """The comparison for a terminal. Of two runs, or with `details`, per pair the number of items, the notices, then
    the rest; of more runs all of them at a glance.
    """
    if len(report.found.pairs) == 1 or details:
        return _document(report, max(MOST_ITEMS // len(report.found.pairs), FEWEST_ITEMS), MOST_IDS)
    return _document(report, None, MOST_MOVED)


def _document(report: ComparisonReport, most_items: int | None, most_moved: int) -> Document:
    """`most_items` of a pair are shown in full, and `most_moved` of a history by their ways; None: no pair is shown."""
    found = report.found
    names = [run.name for run in found.runs]
    blocks: list[Block] = [Title(tuple(names)), *_turned(found), *_overview(found)]
    if most_items is None:
        blocks.append(Lines((_DETAILS.format(found.runs[0].name, found.runs[1].name),)))
    for number, pair in enumerate(found.pairs, 1):
        if most_items is not None:
            blocks += _pair(pair, number, several=len(found.pairs) > 1)
            blocks += _items(pair, most_items, number)
            blocks += _metadata(pair, number)
    ways = [make for one in found.histories for make in (tables.history_table(one), tables.way_table(one, most_moved))]
    if ways:
        blocks.append(Section("histories", "Histories", tuple(ways)))
    if found.leaderboard is not None:
        notes = tuple(leaderboard_notes(found.leaderboard))
        shown = (
            leaderboard_table(found.leaderboard),
            Listed(notes, quiet=True, only=WRITTEN),
            Lines(notes, apart=False),
        )
        blocks.append(Section("ranking", "Ranking", shown))
    blocks.append(Section("runs", "The runs", (tables.runs_table(found),), only=WRITTEN))
    blocks.append(Section("training", "Training", tuple(_training(report))))
    quoted = " ".join(f'"{name}"' for name in names)
    foot = f"Scores are rounded for reading. `benchbook compare {shorten(quoted, 400)} --parquet FILE` has every item."
    title = " → ".join(shorten(name, 40) for name in names)
    return Document(title, "comparison", blocks, foot, contents=tuple(_contents(report)))


def _turned(found: ComparisonSet) -> Iterator[Block]:
    """The differences that people's labels turn, before any number."""
    if any(pair.corrected for pair in found.pairs):
        yield turned_notices(found)


def _overview(found: ComparisonSet) -> Iterator[Block]:
    """All runs in a table, where there are more than two."""
    if len(found.pairs) > 1:
        first = Notices(tuple(overview_notices(found)), "inside", "warnings-of-all")
        people = (corrected_overview(found),) if any(pair.corrected for pair in found.pairs) else ()
        yield Section("overview", "Overview", (first, overview_table(found), *people))


def _contents(report: ComparisonReport) -> Iterator[tuple[str, str]]:
    found = report.found
    several = len(found.pairs) > 1
    if several:
        yield "overview", "Overview"
    for number, pair in enumerate(found.pairs, 1):
        yield f"pair-{number}", f"Against {shorten(pair.b.name, 40)}" if several else "Differences"
    yield "items-1", "Items"
    if found.histories:
        yield "histories", "Histories"
    yield "runs", "The runs"
    yield "training", "Training"


def _pair(pair: Comparison, number: int, *, several: bool) -> Iterator[Block]:
    yield Lines((f"A {one_line(pair.a.name)}  B {one_line(pair.b.name)}",), bold=True)
    heading = f"{shorten(pair.b.name, _NAME)} against {shorten(pair.a.name, _NAME)}" if several else "What changed"
    yield Section(f"pair-{number}", heading, tuple(_differences(pair, number)))


def _differences(pair: Comparison, number: int) -> Iterator[Block]:
    verdict, margin = tables.verdict(pair), tables.margin_line(pair)
    by = adjustment(pair.score)
    adjusted = f"p is {by}: so many runs were held against A."
    yield Paragraph(tables.first_line(pair), "quiet")
    # The style sheet knows #warnings; a page of several pairs has one of each id.
    yield Notices(tuple(tables.notices(pair)), "inside", "warnings" if number == 1 else f"warnings-{number}")
    yield Paragraph(verdict, "verdict", only=WRITTEN if by else None)
    if by:
        yield Paragraph(f"{verdict} {adjusted}", only=TERMINAL)
    if margin is not None:
        yield Paragraph(margin)
    if by:
        yield Paragraph(adjusted, "quiet", only=WRITTEN)
    yield from corrected_blocks(pair)
    yield tables.differences_table(pair)
    yield whole_table(pair)
    yield from (Paragraph(one, "quiet", only=WRITTEN) for one in tables.containment_lines(pair, _MOST_NAMED))
    yield tables.classes_table(pair)
    yield tables.slices_table(pair)
    yield from (Lines((one,)) for one in tables.containment_lines(pair, MOST_IDS))


def _items(pair: Comparison, most: int, number: int) -> Iterator[Block]:
    n = pair.n_changed
    cut = f" Here are the first {most:,}; --parquet has them all." if n > most else ""
    words = f"{plural(n, 'item')} with a change.{cut}" if n else "Nothing changed in any item."
    marks = [Paragraph("[-in A alone-], {+in B alone+}", only=MARKDOWN)] if n else []
    yield Section(f"items-{number}", "Items", (Paragraph(words, "quiet"), *marks), only=WRITTEN)
    if n:
        shown = f"; the first {most}" if n > most else ""
        yield Lines((f"{plural(n, 'item')} with a change{shown}: [-in A alone-] {{+in B alone+}}",))
    yield from (_item(one) for one in shown_items(pair, most))


def _item(item: ShownItem) -> ItemBlock:
    return ItemBlock(
        shorten(item.item_id, _NAME),
        tables.CHANGE_WORDS[item.change],
        "change",
        item.change,
        facts=tuple(tables.item_facts(item)),
        quotes=tuple(_quotes(item)),
    )


def _quotes(item: ShownItem) -> Iterator[Quote]:
    """Both texts, and where both are there what leads from one to the other; where markup is plain that says it all."""
    yield Quote("Prompt", item.prompt)
    yield Quote("Expected", item.expected)
    if item.expected_b is not None:
        yield Quote("Expected in B", item.expected_b)
    both = item.text_a is not None and item.text_b is not None
    if both:
        yield Quote("From A to B", item.difference)
    yield Quote("A", item.text_a, only=HTML if both else None)
    yield Quote("B", item.text_b, only=HTML if both else None)


def _metadata(pair: Comparison, number: int) -> Iterator[Block]:
    """Each value that differs, and what changed in the text of a template."""
    same = Paragraph("The records say the same.", "quiet", only=HTML)
    written, on_terminal = metadata_blocks(pair)
    yield Section(f"metadata-{number}", "Metadata", (written or same,), only=WRITTEN)
    yield from on_terminal
    yield from template_blocks(pair)


def _training(report: ComparisonReport) -> Iterator[Block]:
    if report.has_curves:
        yield Curves(report.curves)
        yield Paragraph("The curves are drawn in the HTML report, and --json has their points.", only=MARKDOWN)
    else:
        yield Paragraph("No training metrics: no record here has any.", only=WRITTEN)
        yield Lines(("No training metrics.",))


# ── a regression gate ────────────────────────────────────────────────────────────────────────────────────────

GATE_WORDS: dict[GateOutcome, str] = {
    "holds": "The gate holds",
    "does_not_hold": "The gate does not hold",
    "undecided": "The gate can't tell",
    "not_complete": "The run is not complete, so the gate can't hold",
}


def gate_lines(run: str, score: float | None, check: RegressionCheck, comparison: Comparison | None) -> Iterator[str]:
    """The gate's outcome, the reasons against it, and the items that regressed, line by line."""
    against = "" if comparison is None else f" against {one_line(comparison.a.name)}"
    yield f"{GATE_WORDS[check.outcome]}: {one_line(run)}{against}, score {numbers.score(score, 'none')}"
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


def turned_gate(
    comparison: Comparison, check: RegressionCheck, people: RegressionCheck, a: str = "A", b: str = "B"
) -> Iterator[str]:
    """A sentence on whatever people's labels turn, to be said first: the gate itself, then differences."""
    if check.outcome != people.outcome:
        yield f"As judged: {_lower(GATE_WORDS[check.outcome])}. {gate_for_people(people)}"
    yield from turned_sentences(comparison, a, b)


def gate_for_people(people: RegressionCheck) -> str:
    """The gate's outcome as people would judge, in a sentence."""
    return f"As people would judge: {_lower(GATE_WORDS[people.outcome])}."


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]


def gate_for_people_lines(comparison: Comparison, people: RegressionCheck) -> Iterator[str]:
    """The gate's outcome as people would judge, the reasons against it, and the corrected difference, line by line."""
    yield f"{GATE_WORDS[people.outcome]} as people would judge"
    if people.holds and people.shown is not None:
        yield f"  {people.shown}"
    for reason in people.reasons:
        yield f"  - {one_line(reason)}"
    if comparison.corrected:
        yield corrected_sentence(comparison.corrected[0])
        yield from corrected_notes(comparison.corrected)
