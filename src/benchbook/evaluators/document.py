"""The contents of a view, as blocks. HTML, Markdown, a terminal and JSON write the same document, each in its way.

Blocks are data. A number stays a number, with its kind, until a form of `views/` writes it; a text may be anybody's,
and each form takes it out of what it would mean there. A form leaves out the kinds of block that are not for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from benchbook.evaluators.gates import Gate
from benchbook.evaluators.intervals import Interval
from benchbook.training.curves import Curve

# rate: a share of samples. score: 0 to 1. grade: a mean of 0, 1, 2. ratio: any quotient. p: of a test.
Kind = Literal["rate", "score", "grade", "ratio", "ms", "tokens", "count", "usd", "p"]
ColumnKind = Kind | Literal["text", "number"]
Columns: TypeAlias = Mapping[str, ColumnKind]
Tone = Literal["good", "bad", "doubt", "none"]
Form = Literal["html", "markdown", "terminal"]
Only: TypeAlias = frozenset[Form] | None

HTML: frozenset[Form] = frozenset({"html"})
MARKDOWN: frozenset[Form] = frozenset({"markdown"})
TERMINAL: frozenset[Form] = frozenset({"terminal"})
WRITTEN: frozenset[Form] = frozenset({"html", "markdown"})


# ── numbers that are not written yet ─────────────────────────────────────────────────────────────────────────


class Value(msgspec.Struct, frozen=True):
    """A number of a kind. `n` is what it was counted over, and `apart_from` a limit that it is never rounded onto.

    Where it is None, `unknown` says why. `signed`: a difference, whose direction is written.
    """

    kind: Kind
    value: str | float | None  # a str is an exact amount of money
    n: int | None = None
    unknown: str | None = None
    apart_from: float | None = None
    signed: bool = False


class Share(msgspec.Struct, frozen=True):
    """`k` of `n`; nothing where `n` is 0."""

    k: int
    n: int


class Span(msgspec.Struct, frozen=True):
    """From one value to another, as from the worst case to the best; a single one where both are the same."""

    low: Value
    high: Value


class Reach(msgspec.Struct, frozen=True):
    """An interval, with its confidence or `bare`."""

    kind: Kind
    interval: Interval | None
    bare: bool = False


# A number in a column of a kind is of that kind.
Cell: TypeAlias = str | float | Value | Share | Span | Reach | None


# ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """`only`: the forms that show it; None is all of them."""

    only: Only = None


class Column(msgspec.Struct, frozen=True):
    """`kind` is that of its numbers; `number` is for cells that name their own kind, or come as words."""

    name: str
    kind: ColumnKind = "text"

    @property
    def number(self) -> bool:
        """Set to the right, in figures of one width."""
        return self.kind != "text"


class Table(Shown, frozen=True):
    """`rows` are as wide as `columns`; the first cell of a row is its heading.

    `titled`: a heading above says what the caption does.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Sequence[Cell], ...]
    titled: bool = False

    def __bool__(self) -> bool:
        return bool(self.rows)


def table(
    caption: str,
    columns: Columns,
    rows: Iterable[Sequence[Cell]],
    *,
    titled: bool = False,
    only: Only = None,
) -> Table:
    """A table of these columns, by their names."""
    return Table(caption, tuple(Column(name, kind) for name, kind in columns.items()), tuple(rows), titled, only=only)


class Paragraph(Shown, frozen=True):
    """`tone`: `quiet` is said beside something else, `verdict` is what it all comes to."""

    text: str
    tone: Literal["plain", "quiet", "verdict"] = "plain"


class Listed(Shown, frozen=True):
    """`title` says what the entries are."""

    entries: tuple[str, ...]
    title: str | None = None
    quiet: bool = False
    code: bool = False  # names that are typed
    sign: str = "-"  # before an entry on a terminal


class Lines(Shown, frozen=True):
    """A terminal's form of what others have as tables: a sentence a line. `apart`: an empty line stands before."""

    lines: tuple[str, ...]
    apart: bool = True
    indent: str = ""
    bold: bool = False


class Notices(Shown, frozen=True):
    """Notices to be read before any number: `above` the headline, `below` it, or `inside` of a section."""

    notices: tuple[str, ...]
    place: Literal["above", "below", "inside"] = "below"
    id: str = "warnings"


class Fact(msgspec.Struct, frozen=True):
    """Something that a run is known by: a name that others chose, a remark to it, and a hash."""

    label: str
    name: str | None = None
    remark: str | None = None
    digest: str | None = None
    plain: bool = False  # the name is a text of ours, as a time is
    is_version: bool = False  # the remark is a name that others chose


class Opening(Shown, frozen=True):
    """The first thing to be read: what is decided, why, and of whom."""

    headline: str
    tone: Tone
    code: str | None = None  # the name that programs know it by
    meaning: tuple[str, ...] = ()
    reasons: tuple[Listed, ...] = ()
    facts: tuple[Fact, ...] = ()
    quotes_others: bool = False  # in its meaning


class Title(Shown, frozen=True):
    """The name of what is shown, in parts that others chose: from the first to the last."""

    names: tuple[str, ...]


class Gates(Shown, frozen=True):
    """Gates, each on its scale, and what each value is counted over; `table` says the same in words."""

    gates: tuple[tuple[Gate, int | None], ...]
    table: Table


class Part(msgspec.Struct, frozen=True):
    """A part of a whole. `role` is what it is coloured by."""

    name: str
    size: int
    role: str


class Bar(Shown, frozen=True):
    """A whole as one bar of its parts."""

    id: str
    title: str
    parts: tuple[Part, ...]


class Bin(msgspec.Struct, frozen=True):
    """`low <= value < high`; `high` is None for the bin of everything above."""

    low: float
    high: float | None
    counts: tuple[int, ...]  # one per series


class Mark(msgspec.Struct, frozen=True):
    """A line drawn in: a limit of the spec, or a value of this run."""

    at: float
    label: str
    kind: Literal["limit", "value"]


class Plot(Shown, frozen=True):
    """A histogram. `top` is the right end of its axis; what lies above is in a last bin of its own."""

    id: str
    title: str
    description: str
    kind: Kind
    series: tuple[str, ...]
    bins: tuple[Bin, ...]
    marks: tuple[Mark, ...]
    top: float
    n: int


class Curves(Shown, frozen=True):
    """The training loss of runs, by name; None for a run without one."""

    curves: Mapping[str, Curve | None]


class Code(Shown, frozen=True):
    """A command to be copied, or with `summary` a text that is opened on demand."""

    text: str
    summary: str | None = None


# A text of a model, whatever it holds, or what leads from one to another: (op, text). None is not there.
Words: TypeAlias = str | tuple[tuple[str, str], ...] | None


class Quote(msgspec.Struct, frozen=True):
    """A text of a model or of an eval set; `unknown` is why it is not there."""

    title: str
    words: Words
    unknown: str = ""
    only: Only = None


class Said(msgspec.Struct, frozen=True):
    """One reply of a judge: who gave it, where it stands, and whether it could be read."""

    judge: str | None
    attempt: int
    seq: int
    rejected: str | None
    detail: str | None
    words: Words


class ItemBlock(Shown, frozen=True):
    """One sample or item in full. `kind` and `state` are what its outcome is coloured by."""

    name: str
    outcome: str
    kind: Literal["outcome", "change"]
    state: str
    id: str | None = None
    title: str = ""
    place: str | None = None
    scores: str | None = None
    facts: Table | tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    replies: tuple[Said, ...] | None = None  # None: nobody was to judge it
    rest: str = ""  # how to see what was cut


class Group(Shown, frozen=True):
    """Blocks side by side."""

    blocks: tuple[Block, ...]
    layout: Literal["pair", "plots"]


class Section(Shown, frozen=True):
    """A part with a heading. One whose blocks say nothing is left out where headings are cheap."""

    id: str
    title: str
    blocks: tuple[Block, ...]


Block: TypeAlias = (
    Opening
    | Title
    | Notices
    | Section
    | Group
    | Paragraph
    | Listed
    | Lines
    | Table
    | Gates
    | Bar
    | Plot
    | Curves
    | Code
    | ItemBlock
)


class Document(msgspec.Struct, frozen=True):
    """`by` is the spec or the kind of what is shown; `foot` is said below."""

    title: str
    by: str
    blocks: Iterable[Block]
    foot: str = ""
    digest: str | None = None
    contents: tuple[tuple[str, str], ...] = ()  # (place, words)
    hatched: bool = False  # its pictures tell parts apart without colour
