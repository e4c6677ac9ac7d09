"""A document on a terminal, in a pipe, or in a log; a function for each kind of block.

It is plain text: nothing is drawn that a narrow or an old terminal could not show, a character that the output's
encoding lacks is replaced by what comes next to it, and colours appear on a terminal alone.
"""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from benchbook.evaluators.document import (
    Block,
    Curves,
    Document,
    Gates,
    Group,
    ItemBlock,
    Lines,
    Listed,
    Notices,
    Opening,
    Paragraph,
    Section,
    Table,
    Tone,
    Words,
)
from benchbook.evaluators.gates import Gate
from benchbook.text import one_line, shorten
from benchbook.views import numbers
from benchbook.views.curves import training_remarks, training_table
from benchbook.views.gates import gate_rule, gate_state, gate_value
from benchbook.views.words import aggregate_word

COLOURS: dict[Tone, str] = {"good": "32", "bad": "31", "doubt": "33", "none": "2"}
_STATES = {
    "regressed": "31", "improved": "32", "answer_lost": "31", "answer_won": "32", "expected_changed": "33",
    "text_changed": "2",
}  # fmt: skip
_NEXT_BEST = {
    "–": "-", "—": "-", "−": "-", "…": "...", "≥": ">=", "≤": "<=", "×": "x", "’": "'", "‘": "'", "“": '"', "”": '"',
    "✓": "+", "✕": "x", "€": "EUR",
}  # fmt: skip
_SCALE_WIDTH = 24
_TEXT_WIDTH = 400  # characters of a text's difference


def print_document(
    document: Document, out: TextIO, *, written: Sequence[Path] = (), width: int = 100, most: int = 110
) -> None:
    """Write it to `out`, in its colours and encoding: in `width`, or in a terminal's own that is `most` at most.

    `written` are files that hold more.
    """
    on_terminal = out.isatty()
    width = min(shutil.get_terminal_size().columns, most) if on_terminal else width
    colour = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    lines = document_lines(document, width=max(width, 40), colour=colour, written=written)
    out.writelines(encodable(line, out.encoding) + "\n" for line in lines)


def encodable(words: str, encoding: str | None) -> str:
    """`words` with what `encoding` can't hold replaced: by a character that comes near, else by its escape."""
    encoding = encoding or "utf-8"
    try:
        words.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_near(character, encoding) for character in words)
    return words


def _near(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return _NEXT_BEST.get(character) or character.encode("ascii", "backslashreplace").decode("ascii")
    return character


def wrapped(words: str, width: int, indent: str) -> list[str]:
    """`words` as lines, on one line each whatever is in them."""
    # An option that is broken at its hyphens could not be copied.
    return textwrap.wrap(
        one_line(words), width, initial_indent=indent, subsequent_indent=" " * len(indent), break_on_hyphens=False
    )


def _painted(words: str, code: str, colour: bool) -> str:
    """`words` in a colour of the terminal, where `colour` says that there are colours."""
    return f"\x1b[{code}m{words}\x1b[0m" if colour else words


def document_lines(
    document: Document, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()
) -> Iterator[str]:
    """The blocks that a terminal shows, then the hash that names the record, and `written`: files that hold more.

    An empty line stands before what is set apart.
    """
    last = ""
    for line in _Shape(width, colour).blocks(document.blocks):
        if line is not _APART:
            yield line
            last = line
        elif last:
            yield ""
            last = ""
    if document.digest is not None:
        yield from wrapped(f"record {document.digest}", max(width, 80), "")
    for path in written:
        yield from wrapped(str(path), max(width, 10_000), "  ")
    yield ""


def table_lines(table: Table, width: int, *, wrap: bool = False) -> Iterator[str]:
    """A table below its caption, in columns as wide as their widest cell, and an empty line; nothing without rows.

    Too wide a line is cut, or with `wrap` goes on below.
    """
    if not table:
        return
    cells = [[column.name for column in table.columns], *numbers.cells(table)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    yield from wrapped(table.caption, width, "")
    for row in cells:
        line = "  ".join(
            cell.rjust(wide) if column.number else cell.ljust(wide)
            for cell, wide, column in zip(row, widths, table.columns, strict=True)
        ).rstrip()
        if len(line) + 2 <= width:
            yield f"  {line}"
        elif wrap:
            yield from wrapped(line, width, "  ")
        else:
            yield f"  {line}"[: width - 1] + "…"
    yield ""


_APART = "\0"  # an empty line, where none stands already


@dataclass(frozen=True, slots=True)
class _Shape:
    """How blocks become lines: in this width, with colours or without."""

    width: int
    colour: bool

    def blocks(self, blocks: Iterable[Block]) -> Iterator[str]:
        for block in blocks:
            shown = block.only is None or "terminal" in block.only
            if shown and (write := _WRITTEN.get(type(block))) is not None:
                yield from write(self, block)

    def wrapped(self, words: str, indent: str = "", code: str | None = None) -> Iterator[str]:
        for line in wrapped(words, self.width, indent):
            yield line if code is None else _painted(line, code, self.colour)

    def inside(self, block: Section | Group) -> Iterator[str]:
        yield from self.blocks(block.blocks)

    def opening(self, block: Opening) -> Iterator[str]:
        yield ""
        code = "" if block.code is None else f" ({block.code})"
        yield from self.wrapped(f"{block.headline}{code}", "", f"1;{COLOURS[block.tone]}")
        for one in block.meaning:
            yield from self.wrapped(one)
        for listed in block.reasons:
            yield from self.listed(listed)
        yield _APART

    def notices(self, block: Notices) -> Iterator[str]:
        if block.notices and block.place == "above":
            yield ""
        for one in block.notices:
            yield from self.wrapped(one, "! " if block.place == "above" else "  ! ", COLOURS["doubt"])

    def paragraph(self, block: Paragraph) -> Iterator[str]:
        yield from self.wrapped(block.text)

    def listed(self, block: Listed) -> Iterator[str]:
        for one in block.entries:
            yield from self.wrapped(one, f"  {block.sign} ")

    def lines(self, block: Lines) -> Iterator[str]:
        if block.apart:
            yield _APART
        for one in block.lines:
            yield from [_painted(one, "1", self.colour)] if block.bold else self.wrapped(one, block.indent)

    def table(self, block: Table) -> Iterator[str]:
        if block:
            yield _APART
            yield from table_lines(block, self.width, wrap=True)

    def gates(self, block: Gates) -> Iterator[str]:
        yield _APART
        for gate, _ in block.gates:
            yield from self.gate(gate)

    def gate(self, gate: Gate) -> Iterator[str]:
        word, state = aggregate_word(gate.aggregate), gate_state(gate)
        mark = {"good": "ok", "bad": "NO", "doubt": "??", "none": "--"}[state.tone]
        value, rule = gate_value(gate, gate.value), gate_rule(gate)
        line = f"{mark}  {word.label:<25} {value:>14}  {_scale(gate)}  {rule}"
        if len(line) <= self.width:
            yield _painted(line, COLOURS[state.tone], self.colour)
        else:
            yield from self.wrapped(f"{mark}  {word.label}: {value}, {rule}", "", COLOURS[state.tone])
        yield from self.wrapped(f"{state.words}; {numbers.interval(word.kind, gate.interval)}", "    ")

    def curves(self, block: Curves) -> Iterator[str]:
        yield from self.table(training_table(block.curves))
        for one in training_remarks(block.curves):
            yield from self.wrapped(one)

    def item(self, item: ItemBlock) -> Iterator[str]:
        texts = {one.title: one.words for one in item.quotes}
        expected = texts.get("Expected")
        words = shorten(expected, 60) if isinstance(expected, str) else numbers.DASH
        head = f"{shorten(item.name, 60)}: {item.outcome}; expected {words}"
        yield from self.wrapped(head, "  ", _STATES[item.state])
        yield from self.wrapped(_difference(texts), "      ")


def _difference(texts: Mapping[str, Words]) -> str:
    """B's text against A's, with what both say for long cut in its middle."""
    if isinstance(found := texts.get("From A to B"), tuple):
        marks = {"same": "{}", "deleted": "[-{}-]", "inserted": "{{+{}+}}"}
        return shorten("".join(marks[op].format(_middle_cut(part)) for op, part in found), _TEXT_WIDTH)
    both = (texts["A"], texts["B"])
    return " → ".join(shorten(one, _TEXT_WIDTH // 2) if isinstance(one, str) else "(no text)" for one in both)


def _middle_cut(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:50]} … {text[-50:]}"


def _scale(gate: Gate) -> str:
    """`[..............|==o===]`: where the gate holds (=), its limit (|) and the value (o). ASCII on purpose."""
    top = 1.0 if gate.direction == "at_least" and gate.limit <= 1 else max(2 * gate.limit, gate.value or 0.0)
    places = [_place(gate.limit, top), None if gate.value is None else _place(gate.value, top)]
    limit, value = places
    marks = []
    for index in range(_SCALE_WIDTH):
        holds = index >= (limit or 0) if gate.direction == "at_least" else index <= (limit or 0)
        marks.append("o" if index == value else "|" if index == limit else "=" if holds else ".")
    return f"[{''.join(marks)}]"


def _place(value: float, top: float) -> int:
    return min(int(value / top * _SCALE_WIDTH), _SCALE_WIDTH - 1)


_WRITTEN: dict[type[Block], Callable[[_Shape, Any], Iterator[str]]] = {
    Section: _Shape.inside,
    Group: _Shape.inside,
    Opening: _Shape.opening,
    Notices: _Shape.notices,
    Paragraph: _Shape.paragraph,
    Listed: _Shape.listed,
    Lines: _Shape.lines,
    Table: _Shape.table,
    Gates: _Shape.gates,
    Curves: _Shape.curves,
    ItemBlock: _Shape.item,
}
