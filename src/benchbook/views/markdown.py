"""A document in Markdown (CommonMark with GFM tables); a function for each kind of block.

What others wrote appears in two places only: in table cells and lists, where every character with a meaning in
Markdown or HTML is taken out of its meaning, and in fenced blocks whose fence is longer than any in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from benchbook.evaluators.document import (
    Block,
    Code,
    Curves,
    Document,
    Fact,
    Gates,
    Group,
    ItemBlock,
    Lines,
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
)
from benchbook.text import one_line, shorten, visible
from benchbook.views import numbers
from benchbook.views.curves import training_remarks, training_table
from benchbook.views.svg import plot_table
from benchbook.views.words import MAX_CHARS

_BACKSLASHED = re.compile(r"([\\`*_{}\[\]()#+!~^$])")
# A reference, where a backslash would still be read as structure by some: in tables, HTML, and links of plain text.
_REFERENCED = re.compile(r"[&<>|@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_BACKTICKS = re.compile("`+")


def inline(words: str) -> str:
    """`words` on one line, as nothing but text."""
    return _REFERENCED.sub(lambda found: f"&#{ord(found.group())};", _BACKSLASHED.sub(r"\\\1", one_line(words)))


def fenced(words: str) -> str:
    """`words` as a code block that they can't close."""
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(words)), default=0))
    return f"{fence}text\n{visible(words)}\n{fence}\n"


def bullets(entries: Sequence[str]) -> str:
    """A list, each entry as nothing but text."""
    # A backslash before what would begin another block inside of the entry: "1.", "-", "=".
    return "".join(f"- {_unblocked(inline(entry))}\n" for entry in entries) + "\n"


def _unblocked(words: str) -> str:
    """`words` at the start of a block, without being read as a list, a rule or an underline."""
    return re.sub(r"^([-=]|\d+(?=[.)]))", lambda found: f"&#{ord(found.group()[0])};{found.group()[1:]}", words)


def markdown_page(document: Document) -> Iterator[str]:
    """The document, in pieces. What must be known first stands before whose run it is."""
    facts: tuple[Fact, ...] = ()
    for block in document.blocks:
        if facts and not isinstance(block, Notices | Lines):
            yield from _facts(facts)
            facts = ()
        yield from _written(block)
        if isinstance(block, Opening):
            facts = block.facts
    yield from _facts(facts)


def _written(block: Block) -> Iterator[str]:
    write = _WRITTEN.get(type(block))
    if write is not None and (block.only is None or "markdown" in block.only):
        yield from write(block)


def _opening(block: Opening) -> Iterator[str]:
    code = "" if block.code is None else f" (`{block.code}`)"
    yield f"# {inline(block.headline)}{code}\n\n"
    yield from (f"{_unblocked(inline(one))}\n\n" for one in block.meaning)
    for one in block.reasons:
        yield from _listed(one)


def _facts(facts: Sequence[Fact]) -> Iterator[str]:
    if facts:
        yield "## Run\n\n" + "".join(f"- **{one.label}**: {_fact(one)}\n" for one in facts) + "\n"


def _fact(fact: Fact) -> str:
    name = inline(numbers.short_model(fact.name or ""))
    digest = "" if fact.digest is None else f"`{fact.digest}`"
    remark = inline(numbers.short_model(fact.remark)) if fact.remark else ""
    beside = ", ".join(part for part in (remark, digest) if part)
    return f"{name} ({beside})" if name and beside else name or beside


def _title(block: Title) -> Iterator[str]:
    yield f"# {inline(' → '.join(shorten(one, 60) for one in block.names))}\n\n"


def _notices(block: Notices) -> Iterator[str]:
    if block.notices:
        yield "## Read this first\n\n" if block.place == "below" else ""
        yield bullets(block.notices)


def _section(block: Section) -> Iterator[str]:
    """A heading and its blocks; nothing where all blocks are empty."""
    said = "".join(piece for one in block.blocks for piece in _written(one))
    if said:
        yield f"## {inline(block.title)}\n\n{said}"


def _group(block: Group) -> Iterator[str]:
    for one in block.blocks:
        yield from _written(one)


def _paragraph(block: Paragraph) -> Iterator[str]:
    yield f"{_unblocked(inline(block.text))}\n\n"


def _listed(block: Listed) -> Iterator[str]:
    if block.entries:
        yield "" if block.title is None else f"{inline(block.title.removesuffix(':'))}:\n\n"
        yield bullets(block.entries)


def _code(block: Code) -> Iterator[str]:
    yield fenced(block.text)


def _table(block: Table) -> Iterator[str]:
    if block:
        yield "" if block.titled else f"{inline(block.caption)}:\n\n"
        yield table_markdown(block)


def table_markdown(table: Table) -> str:
    """A table below its caption."""
    head = _line([column.name for column in table.columns])
    rule = "| " + " | ".join("---:" if column.number else "---" for column in table.columns) + " |\n"
    return head + rule + "".join(map(_line, numbers.cells(table))) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(inline(cell) for cell in cells) + " |\n"


def _gates(block: Gates) -> Iterator[str]:
    yield table_markdown(block.table)


def _plot(block: Plot) -> Iterator[str]:
    marks = "; ".join(one.label for one in block.marks)
    yield f"{inline(f'{block.title}: {block.description}. {marks}.')}\n\n"
    figures = plot_table(block)
    yield table_markdown(figures) if figures else f"{numbers.nothing('no data')}\n\n"


def _curves(block: Curves) -> Iterator[str]:
    yield table_markdown(training_table(block.curves))
    if remarks := list(training_remarks(block.curves)):
        yield bullets(remarks)


def _item(item: ItemBlock) -> Iterator[str]:
    if item.id is None:
        yield f"### {inline(item.name)}: {inline(item.outcome)}\n\n"
    else:
        yield f"### {item.title}: {inline(item.name)}\n\n"
        yield "" if item.state == "passed" else f"{inline(item.outcome[:1].upper() + item.outcome[1:])}.\n\n"
    if isinstance(item.facts, Table):
        yield table_markdown(item.facts)
    else:
        yield " ".join(map(inline, item.facts)) + "\n\n"
    for quote in item.quotes:
        if quote.only is None or "markdown" in quote.only:
            yield from _quote(quote)
    for reply in item.replies or ():
        yield from _quote(Quote(_reply(reply), reply.words, "nothing came back"))


def _reply(reply: Said) -> str:
    whose = "Judge's raw reply" if reply.judge is None else f"Raw reply of judge {reply.judge}"
    detail = f" ({shorten(reply.detail, 200)})" if reply.detail else ""
    outcome = f"rejected: {reply.rejected}{detail}" if reply.rejected else "read"
    return f"{whose}, attempt {reply.attempt}, journal fact {reply.seq}, {outcome}"


_MARKED = {"deleted": "[-{}-]", "inserted": "{{+{}+}}"}


def _quote(quote: Quote) -> Iterator[str]:
    words = quote.words
    if isinstance(words, tuple):
        words = "".join(_MARKED.get(op, "{}").format(part) for op, part in words)
    if not words:
        unknown = quote.unknown if words is None else "an empty text"
        yield f"{inline(quote.title)}: {inline(numbers.nothing(unknown))}\n\n"
        return
    cut = f"\nCut after {MAX_CHARS:,} characters.\n" if len(words) > MAX_CHARS else ""
    yield f"{inline(quote.title)}:\n\n{fenced(words[:MAX_CHARS])}{cut}\n"


_WRITTEN: dict[type[Block], Callable[[Any], Iterable[str]]] = {
    Opening: _opening,
    Title: _title,
    Notices: _notices,
    Section: _section,
    Group: _group,
    Paragraph: _paragraph,
    Listed: _listed,
    Code: _code,
    Table: _table,
    Gates: _gates,
    Plot: _plot,
    Curves: _curves,
    ItemBlock: _item,
}
