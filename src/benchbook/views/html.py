"""A document as one page that needs nothing but itself, without a script; a function for each kind of block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchbook.evaluators.document import (
    Bar,
    Block,
    Code,
    Curves,
    Document,
    Fact,
    Gates,
    Group,
    ItemBlock,
    Listed,
    Notices,
    Opening,
    Paragraph,
    Plot,
    Quote,
    Said,
    Section,
    Table,
    Title,
    Tone,
    Words,
)
from benchbook.evaluators.gates import Gate
from benchbook.text import plural, shorten
from benchbook.views import numbers
from benchbook.views.curves import curves_figure
from benchbook.views.gates import gate_rule, gate_state, gate_value
from benchbook.views.markup import Html, el, join, page_head, table_html, text
from benchbook.views.svg import gate_scale, hatching, histogram, legend, parts_bar, plot_table
from benchbook.views.words import MAX_CHARS, aggregate_word

_NAME = 120  # characters of a name; the whole of it is under Reproducibility
_MARKS: dict[Tone, str] = {"good": "✓", "bad": "✕", "doubt": "?", "none": "–"}


def html_page(
    document: Document,
    *,
    css: str = "",
    body_class: str | None = None,
    start: tuple[str, str] = ("decision", "Skip to the report"),
    body: Iterable[Html] | None = None,
) -> Iterator[str]:
    """The page, in pieces. `css` is ours; `start` is where the report begins, and a link's words that lead there.

    `body` stands for the document's blocks, where a page has parts of its own.
    """
    yield '<!doctype html>\n<html lang="en">\n'
    yield page_head(document.title, css)
    opened = "<body>" if body_class is None else f'<body class="{body_class}">'
    if not document.contents:
        yield f"\n{opened}\n<main>\n"
    else:
        yield f"\n{opened}\n" + el("a", text(start[1]), class_="skip", href=f"#{start[0]}") + "\n"
        yield join(hatching() if document.hatched else join(), _list_of_contents(document))
        yield '\n<main id="main">\n'
    yield from blocks_html(document.blocks) if body is None else body
    record = [] if document.digest is None else [el("p", text("Record "), el("code", text(document.digest)))]
    said = [el("p", text(document.foot))] if document.foot else []
    yield "\n</main>\n" + el("footer", *said, *record) + "\n</body>\n</html>\n"


def _list_of_contents(document: Document) -> Html:
    """The name of the page, and links to its parts."""
    name = el("p", el("strong", text("Benchbook")), text(f" {document.by}"), class_="name")
    links = [el("li", el("a", text(words), href=f"#{place}")) for place, words in document.contents]
    return el("header", name, el("nav", el("ul", *links), aria_label="Contents"), class_="masthead")


def blocks_html(blocks: Iterable[Block]) -> Iterator[Html]:
    """The blocks that a page shows."""
    for block in blocks:
        write = _WRITTEN.get(type(block))
        if write is not None and (block.only is None or "html" in block.only):
            yield write(block)


# ── what a page opens with ───────────────────────────────────────────────────────────────────────────────────


def _opening(block: Opening) -> Html:
    heading = el(
        "h1",
        el("span", text(_MARKS[block.tone]), class_="mark", aria_hidden="true"),
        el("span", text(block.headline)),
        *([] if block.code is None else [el("code", text(block.code))]),
        id="decision-heading",
    )
    direction = "auto" if block.quotes_others else None
    meaning = [el("p", text(one), class_="meaning", dir=direction) for one in block.meaning]
    says = el("div", heading, *meaning, *map(_listed, block.reasons), class_="says")
    facts = [el("div", el("dt", text(one.label)), el("dd", *_fact(one))) for one in block.facts]
    identity = el("dl", *facts, class_="identity", aria_label="Identity of the run")
    tone = f"tone-{block.tone}"
    return el("section", says, identity, id="decision", class_=tone, aria_labelledby="decision-heading")


def _fact(fact: Fact) -> Iterator[Html]:
    """A name that others chose is isolated, and no longer than a name should be; what is cut is a title."""
    if fact.name is not None and fact.plain:
        yield el("span", text(fact.name))
    elif fact.name is not None:
        short = shorten(numbers.short_model(fact.name), _NAME)
        yield el("bdi", text(short), dir="auto", title=fact.name if short != fact.name else None)
    digest = [] if fact.digest is None else [el("code", text(numbers.short_hash(fact.digest)), title=fact.digest)]
    if fact.remark is None:
        yield from digest
    else:
        words = f"{fact.remark}, " if digest else fact.remark
        yield el("small", text(numbers.short_model(words)), *digest, title=fact.remark if fact.is_version else None)


def _notices(block: Notices) -> Html:
    if not block.notices:
        return join()
    items = el("ul", *(el("li", text(one), dir="auto") for one in block.notices))
    if block.place == "inside":
        return el("div", items, id=block.id)
    n = len(block.notices)
    heading = el("h2", text("Read this first" if n == 1 else f"Read these {n} first"), id=f"{block.id}-heading")
    return el("section", heading, items, id=block.id, aria_labelledby=f"{block.id}-heading")


def section_html(name: str, title: str, *content: Html) -> Html:
    """A part of a page with its heading."""
    heading = el("h2", text(title), id=f"{name}-heading")
    return el("section", heading, *content, id=name, aria_labelledby=f"{name}-heading")


def _title(block: Title) -> Html:
    names = [el("bdi", text(shorten(one, 80)), dir="auto") for one in block.names]
    arrow = el("span", text("→"), aria_label="to")
    return el("h1", *[piece for one in names for piece in (arrow, one)][1:])


# ── text and tables ──────────────────────────────────────────────────────────────────────────────────────────


def _paragraph(block: Paragraph) -> Html:
    return el("p", text(block.text), class_=None if block.tone == "plain" else block.tone)


def _listed(block: Listed) -> Html:
    title = join() if block.title is None else el("p", text(block.title), class_="why")
    if block.code:
        entries = [el("li", el("code", text(one))) for one in block.entries]
    else:
        entries = [el("li", text(one), dir="auto") for one in block.entries]
    return join(title, el("ul", *entries, class_="quiet" if block.quiet else None)) if entries else join()


def _code(block: Code) -> Html:
    if block.summary is None:
        return el("pre", el("code", text(block.text)), class_="command")
    return _more(block.summary, el("pre", text(block.text), class_="said", dir="auto"))


def _more(summary: str, *content: Html) -> Html:
    return el("details", el("summary", text(summary)), *content, class_="more")


def _group(block: Group) -> Html:
    return el("div", *blocks_html(block.blocks), class_=block.layout)


# ── pictures ─────────────────────────────────────────────────────────────────────────────────────────────────


_GATE_LEGEND = (
    ("s-value", "value"),
    ("s-interval", "confidence interval"),
    ("s-range", "worst to best case, by what unscored samples could be"),
    ("s-limit", "limit"),
    ("s-zone", "where the gate holds"),
)


def _gates(block: Gates) -> Html:
    gates = el("ul", *(_gate(gate, n) for gate, n in block.gates), class_="gates")
    return join(gates, legend(_GATE_LEGEND), _more("The gates as a table", table_html(block.table)))


def _gate(gate: Gate, n: int | None) -> Html:
    word, state = aggregate_word(gate.aggregate), gate_state(gate)
    mark = el("span", text(_MARKS[state.tone]), class_="mark", aria_hidden="true")
    detail = text(f", {state.detail}" if state.detail else "")
    name = el(
        "div",
        el("h3", text(word.label)),
        el("p", text(gate_rule(gate)), class_="unseen"),
        el("p", mark, el("strong", text(state.text)), detail, class_=f"state tone-{state.tone}"),
    )
    value = el(
        "div",
        el("p", text(numbers.DASH if gate.value is None else gate_value(gate, gate.value)), class_="figure"),
        el("p", text(numbers.interval(word.kind, gate.interval, bare=True)), class_="beside"),
        el("p", text(", ".join(_about_interval(gate, n))), class_="beside"),
    )
    return el("li", name, gate_scale(gate), value, class_="gate")


def _about_interval(gate: Gate, n: int | None) -> Iterator[str]:
    found = gate.interval
    if found is not None and (found.low, found.high) != (None, None):
        yield f"{numbers.limit('rate', found.confidence)} interval"
    if n is not None:
        yield f"n = {n:,}"


def _bar(block: Bar) -> Html:
    shown = [(f"s-{one.role}", f"{one.name} {one.size:,}") for one in block.parts if one.size]
    return el("div", parts_bar(block), legend(shown), class_="figure-box")


def _plot(block: Plot) -> Html:
    description = el("p", text(block.description), class_="quiet")
    caption = el("figcaption", el("h3", text(block.title)), description)
    if not block.n:
        return el("figure", caption, el("p", text(numbers.nothing("no data"))))
    names = {"passed": "s-passed", "did not pass": "s-failed"}
    shown = [legend([(names[name], name) for name in block.series])] if len(block.series) > 1 else []
    return el("figure", caption, histogram(block), *shown, _more("The figures", table_html(plot_table(block))))


# ── samples and items in full ────────────────────────────────────────────────────────────────────────────────


def _item(item: ItemBlock) -> Html:
    """An item that unfolds. Its `#sample-12` is inside of the details, so that a link to it opens them."""
    name = el("bdi", text(item.name), dir="auto", class_="item")
    place = [] if item.place is None else [el("span", text(item.place), class_="place")]
    scores = [] if item.scores is None else [el("span", text(item.scores), class_="scores")]
    outcome = el("span", text(item.outcome), class_=f"{item.kind} {item.state}")
    summary = el("summary", *place, name, *scores, outcome)
    facts = [] if isinstance(item.facts, Table) else [el("p", *(text(f"{one} ") for one in item.facts), class_="quiet")]
    quotes = [_quote(one, item) for one in item.quotes if one.only is None or "html" in one.only]
    replies = [] if item.replies is None else [_replies(item, item.replies)]
    texts = el("div", *facts, *quotes, *replies, class_="texts")
    known = [table_html(item.facts)] if isinstance(item.facts, Table) else []
    inside = el("div", texts, *known, class_="inside")
    if item.id is None:
        return el("div", el("details", summary, inside, class_="sample"), class_="sample-line")
    heading = el("h3", text(f"{item.title}: "), el("bdi", text(item.name), dir="auto"), class_="unseen")
    body = el("div", heading, inside, id=item.id, class_="anchor")
    return el("div", el("details", summary, body, class_="sample"), _to_replies(item), class_="sample-line")


def _to_replies(item: ItemBlock) -> Html:
    """The link to the judge's raw replies. It stands beside the summary, which is a button of its own."""
    if not item.replies:
        return el("span", text("not judged"), class_="to-replies quiet")
    words = plural(len(item.replies), "raw reply", "raw replies")
    label = f"{words} about {item.title.lower()}"
    return el("a", text(words), href=f"#{item.id}-replies", aria_label=label, class_="to-replies")


def _replies(item: ItemBlock, replies: tuple[Said, ...]) -> Html:
    shown = [_reply(one, item) for one in replies] or [el("p", text("The judge was not asked."), class_="quiet")]
    return el("div", el("h4", text("Judge's raw replies")), *shown, id=f"{item.id}-replies", class_="anchor")


def _reply(reply: Said, item: ItemBlock) -> Html:
    outcome = f"rejected: {reply.rejected}" if reply.rejected else "read"
    who = () if reply.judge is None else (text("Judge "), el("bdi", text(reply.judge)), text(": "))
    heading = el(
        "p",
        *who,
        text(f"Attempt {reply.attempt}, journal fact {reply.seq}: "),
        el("span", text(outcome), class_="outcome failed" if reply.rejected else "outcome passed"),
        text(f" ({reply.detail})" if reply.detail else ""),
        class_="attempt",
    )
    return join(heading, *_said(reply.words, "nothing came back", item.rest))


def _quote(quote: Quote, item: ItemBlock) -> Html:
    return el("div", el("h4", text(quote.title)), *_said(quote.words, quote.unknown, item.rest))


_MARKED = {"deleted": "del", "inserted": "ins"}


def _said(words: Words, unknown: str, rest: str) -> list[Html]:
    """A text of a model: text, whatever it holds. What only one of two has is marked, also for screen readers."""
    if not words:
        return [el("p", text(numbers.nothing(unknown if words is None else "an empty text")), class_="quiet")]
    shown, left = [], MAX_CHARS
    for op, part in (("same", words),) if isinstance(words, str) else words:
        if left > 0:
            piece = text(part[:left])
            shown.append(el(_MARKED[op], piece) if op in _MARKED else piece)
        left -= len(part)
    pieces = [el("pre", *shown, class_="said", dir="auto")]
    if left < 0:
        cut = f"Cut after {MAX_CHARS:,} characters{f'; {rest}' if rest else ''}."
        pieces.append(el("p", text(cut), class_="quiet"))
    return pieces


_WRITTEN: dict[type[Block], Callable[[Any], Html]] = {
    Title: _title,
    Opening: _opening,
    Notices: _notices,
    Section: lambda block: section_html(block.id, block.title, *blocks_html(block.blocks)),
    Group: _group,
    Paragraph: _paragraph,
    Listed: _listed,
    Code: _code,
    Table: table_html,
    Gates: _gates,
    Bar: _bar,
    Plot: _plot,
    Curves: lambda block: curves_figure(block.curves),
    ItemBlock: _item,
}
