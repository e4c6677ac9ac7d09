"""One evaluation of the page: the judged text with its quotes marked, and beside it what the judge made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

from benchbook.evaluators.document import Table, Value, table
from benchbook.evaluators.protocol.evaluation_rows import EvaluationRow, EvidenceRow, SpanRow
from benchbook.evaluators.protocol.spec import OVERALL, Protocol
from benchbook.text import plural, shorten
from benchbook.views import numbers
from benchbook.views.markup import Html, el, join, table_html, text
from benchbook.views.protocol.archive_model import ArchiveNames
from benchbook.views.protocol.tables import FLAGS, LOCATED

_WORST = 6  # bytes that a character takes at most for each of its own: &quot;, \u202e
_CONTEXTS = (2_000, 1_000, 500, 250, 100, 40)  # characters on either side of a mark, while they fit
_MARK_COST = 400  # bytes of markup that a marked piece takes at most


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the judged text; `quotes` are the numbers of those that stand in it, from 1."""

    start: int
    end: int
    quotes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of a text that is shown: pieces in order, with gaps between them; `left_out` characters in all."""

    pieces: tuple[Piece, ...]
    left_out: int


def marked_pieces(length: int, spans: Sequence[tuple[int, Sequence[SpanRow]]]) -> tuple[Piece, ...]:
    """A text of `length` characters cut where a quote begins or ends. `spans` has a quote's number and its spans."""
    inside = [
        (max(span.start, 0), min(span.end, length), number)
        for number, of_quote in spans
        for span in of_quote
        if span.start < min(span.end, length)
    ]
    edges = sorted({0, length, *(start for start, _, _ in inside), *(end for _, end, _ in inside)})
    starts: dict[int, list[int]] = {edge: [] for edge in edges}
    ends: dict[int, list[int]] = {edge: [] for edge in edges}
    for start, end, number in inside:
        starts[start].append(number)
        ends[end].append(number)
    pieces: list[Piece] = []
    here: list[int] = []
    for start, end in pairwise(edges):
        for number in ends[start]:
            here.remove(number)
        here += starts[start]
        pieces.append(Piece(start, end, tuple(sorted(set(here)))))
    return tuple(pieces)


def excerpt(words: str, pieces: Sequence[Piece], n_bytes: int) -> Excerpt:
    """As much of the text as fits into `n_bytes` of a page: all of it, or what stands around the marks, or its start.

    Where not even the marked pieces fit, none are shown: the quotes stand beside the text anyway.
    """
    marks = [piece for piece in pieces if piece.quotes]
    if size_of(words, n_bytes) + _MARK_COST * len(marks) <= n_bytes:
        return Excerpt(tuple(pieces), 0)
    if not marks:
        end = len(fitting(words, n_bytes))
        return Excerpt((Piece(0, end, ()),) if end else (), len(words) - end)
    for context in _CONTEXTS:
        around = _around(pieces, context)
        size = sum(size_of(words[piece.start : piece.end], n_bytes) for piece in around) + _MARK_COST * len(marks)
        if size <= n_bytes:
            return Excerpt(around, len(words) - sum(piece.end - piece.start for piece in around))
    return Excerpt((), len(words))


def _around(pieces: Sequence[Piece], context: int) -> tuple[Piece, ...]:
    """The marked pieces, with `context` characters of what is not marked on either side."""
    kept: list[Piece] = []
    for at, piece in enumerate(pieces):
        if piece.quotes:
            kept.append(piece)
            continue
        after_mark, before_mark = at > 0, at + 1 < len(pieces)
        room = context * (after_mark + before_mark)
        if piece.end - piece.start <= room:
            kept.append(piece)
            continue
        if after_mark:
            kept.append(Piece(piece.start, piece.start + context, ()))
        if before_mark:
            kept.append(Piece(piece.end - context, piece.end, ()))
    return tuple(kept)


def size_of(words: str, limit: int) -> int:
    """Bytes that `words` take as text of a page; something above `limit` where it is certain to be above."""
    if len(words) > limit:
        return len(words)
    return len(text(words).encode())


def fitting(words: str, n_bytes: int) -> str:
    """The longest beginning of `words` that takes at most `n_bytes` as text of a page."""
    words = words[: max(n_bytes, 0)]
    if _WORST * len(words) <= n_bytes or size_of(words, n_bytes) <= n_bytes:
        return words
    sizes = accumulate(_size_of_character(character) for character in words)
    return words[: sum(1 for size in sizes if size <= n_bytes)]


@lru_cache(maxsize=16_384)
def _size_of_character(character: str) -> int:
    return len(text(character).encode())


MAX_QUOTES = 20  # of an evaluation; the archive's file has all
MAX_DETAILS = 10
_QUOTE_BYTES, _REASON_BYTES, _REPLY_BYTES = 600, 300, 2_000
_NAME = 60
_FOUND = frozenset({"exact", "normalised", "fragments"})
_TONES = {"PASS": ("good", "✓"), "PARTIAL": ("doubt", "◐"), "FAIL": ("bad", "✕")}


@dataclass(frozen=True, slots=True)
class EvaluationView:
    """One evaluation as a page shows it. `number` counts from 1 and is its place on the page."""

    number: int
    row: EvaluationRow
    judged_text: str | None  # None: the text is not at hand
    names: ArchiveNames
    protocol: Protocol

    def link(self, words: str, path: str) -> Html:
        """A link to a file of the archive, which lies beside the page; names in it are safe in a URL."""
        return el("a", text(words), href=f"archive/{path}")


def outcome(row: EvaluationRow) -> tuple[str, str, str]:
    """Tone, mark and word of an evaluation: `good`, `✓`, `PASS 8`. What is invalid shows no score (P4.2)."""
    if not row.valid or row.verdict is None:
        return "none", "!", "invalid"
    tone, mark = _TONES[row.verdict]
    return tone, mark, f"{row.verdict} {row.overall_score}"


def evaluation_html(view: EvaluationView, n_bytes: int) -> Html:
    """The evaluation as details that open; about `n_bytes` at most, of which the judged text gets what is left."""
    beside = join(*_beside(view, n_bytes // 2))
    room = n_bytes - len(beside.encode()) - 2_000
    body = el(
        "div",
        el("div", *_judged_text(view, max(room, 0)), class_="texts"),
        el("div", beside, class_="beside-text"),
        class_="inside",
        id=f"evaluation-{view.number}",
    )
    return el("details", _summary(view.row), body, class_="evaluation")


def _summary(row: EvaluationRow) -> Html:
    tone, mark, word = outcome(row)
    repeat = f", repeat {row.repeat + 1}" if row.repeat else ""
    return el(
        "summary",
        el("span", el("span", text(mark), aria_hidden="true"), text(f" {word}"), class_=f"verdict tone-{tone}"),
        el("bdi", text(shorten(row.judge_model, _NAME)), dir="auto"),
        el("span", text(f"{row.method}{repeat}"), class_="quiet"),
        el("span", text(_quotes_in_words(row)), class_="quiet"),
    )


def _quotes_in_words(row: EvaluationRow) -> str:
    found = sum(item.located in _FOUND for item in row.evidence)
    return f"{found:,} of {plural(len(row.evidence), 'quote')} found"


def _judged_text(view: EvaluationView, n_bytes: int) -> Iterator[Html]:
    yield el("h4", text("Judged text"))
    words, sha256 = view.judged_text, view.row.text_sha256
    if words is None:
        yield el("p", text(f"Not at hand; its SHA-256 is {sha256}."), class_="quiet")
        return
    if not words:
        yield el("p", text(numbers.nothing("an empty text")), class_="quiet")
        return
    spans = [(number, item.spans) for number, item in _shown_quotes(view.row)]
    shown = excerpt(words, marked_pieces(len(words), spans), n_bytes)
    if shown.pieces:
        yield el("pre", *_pieces(words, shown.pieces, view.number), class_="said judged", dir="auto", tabindex=0)
    if shown.left_out:
        left_out = f"{shown.left_out:,} of {len(words):,} characters are left out here. "
        more = f"The record keeps the whole text under its SHA-256, {sha256}; what was found out about it is in "
        where = view.link("the archive's file", view.names.path(view.row))
        yield el("p", text(left_out + more), where, text("."), class_="quiet")


def _pieces(words: str, pieces: tuple[Piece, ...], evaluation: int) -> Iterator[Html]:
    anchored: set[int] = set()
    position = 0
    for piece in pieces:
        if piece.start > position:
            yield el("span", text(f"[… {piece.start - position:,} characters left out …]"), class_="gap")
        position = piece.end
        part = text(_with_plain_lines(words, piece))
        if not piece.quotes:
            yield part
            continue
        numbers_shown = ", ".join(map(str, piece.quotes))
        yield join(*(el("span", id=f"e{evaluation}-q{one}") for one in piece.quotes if one not in anchored))
        anchored.update(piece.quotes)
        yield el(
            "mark",
            el("span", text(f"[quote {numbers_shown}: "), class_="unseen"),
            part,
            el("sup", text(numbers_shown), aria_hidden="true"),
            el("span", text("]"), class_="unseen"),
        )
    if position < len(words):
        yield el("span", text(f"[… {len(words) - position:,} characters left out …]"), class_="gap")


def _with_plain_lines(words: str, piece: Piece) -> str:
    """A piece of the text; a line ends with a line feed, also where the text, out of a PDF, has a return before it."""
    part = words[piece.start : piece.end].replace("\r\n", "\n")
    return part[:-1] if part.endswith("\r") and words[piece.end : piece.end + 1] == "\n" else part


def _shown_quotes(row: EvaluationRow) -> list[tuple[int, EvidenceRow]]:
    return list(enumerate(row.evidence[:MAX_QUOTES], 1))


def _beside(view: EvaluationView, n_bytes: int) -> Iterator[Html]:
    row = view.row
    if row.flags:
        yield from _why_invalid(row)
    yield table_html(_scores_table(view))
    yield el("h4", text("Evidence"))
    yield from _evidence(view, n_bytes)
    yield el("p", view.link("The archive's file", view.names.path(row)), class_="quiet")
    if not row.valid:
        yield el("h4", text("Raw reply"))
        yield from _raw_reply(view)


def _why_invalid(row: EvaluationRow) -> Iterator[Html]:
    yield el("h4", text("Why it does not count"))
    flags = [el("li", el("code", text(flag)), text(f": {FLAGS.get(flag, flag)}")) for flag in row.flags]
    details = [
        el("li", el("code", text(one.code)), text(f" {one.message}"), dir="auto") for one in row.details[:MAX_DETAILS]
    ]
    more = len(row.details) - len(details)
    if more > 0:
        details.append(el("li", text(f"and {more:,} more")))
    yield el("ul", *flags, class_="flags")
    yield el("ul", *details, class_="faults")


def _scores_table(view: EvaluationView) -> Table:
    names = (*view.protocol.names, OVERALL)
    rows = ((name, Value("count", getattr(view.row, name), unknown="can't be read")) for name in names)
    return table(f"Scores of evaluation {view.number}", {"Dimension": "text", "Score": "count"}, rows, titled=True)


def _evidence(view: EvaluationView, n_bytes: int) -> Iterator[Html]:
    row = view.row
    if not row.evidence:
        yield el("p", text(numbers.nothing("the reply gives none")), class_="quiet")
        return
    items: list[Html] = []
    used = 0
    for number, item in _shown_quotes(row):
        one = _evidence_item(item, number, view)
        used += len(one.encode())
        if used > n_bytes and items:
            break
        items.append(one)
    yield el("ol", *items, class_="quotes")
    if len(items) < len(row.evidence):
        yield el("p", text(f"{len(row.evidence) - len(items):,} more are in the archive's file."), class_="quiet")


def _evidence_item(item: EvidenceRow, number: int, view: EvaluationView) -> Html:
    kind = item.located or "no_quote"
    found = kind in _FOUND
    state = el(
        "p",
        el("span", text("✓ " if found else "✕ "), aria_hidden="true"),
        el("strong", text(LOCATED.get(kind, kind))),
        class_=f"state tone-{'good' if found else 'bad'}",
    )
    place = el("a", text("in the text"), href=f"#e{view.number}-q{number}") if found and view.judged_text else join()
    quote = numbers.nothing() if not item.quote else item.quote
    return el(
        "li",
        el(
            "p",
            el("strong", text(f"{number} ")),
            el("code", text(_cut(item.dimension or numbers.nothing("no dimension"), 80))),
        ),
        el("blockquote", text(_cut(quote, _QUOTE_BYTES)), dir="auto", class_="said"),
        state,
        place,
        el("p", text(_cut(item.reason or numbers.nothing("no reason"), _REASON_BYTES)), dir="auto", class_="quiet"),
        class_="quote found" if found else "quote missing",
        value=number,
    )


def _raw_reply(view: EvaluationView) -> Iterator[Html]:
    raw = view.row.raw_reply
    if not raw:
        yield el("p", text(numbers.nothing("an empty text")), class_="quiet")
        return
    shown = fitting(raw, _REPLY_BYTES)
    yield el("pre", text(shown), class_="said", dir="auto", tabindex=0)
    if len(shown) < len(raw):
        left_out = f"{len(raw) - len(shown):,} of {len(raw):,} characters are left out here; all are in "
        yield el("p", text(left_out), view.link("the reply's file", view.names.reply_path(view.row)), class_="quiet")


def _cut(words: str, n_bytes: int) -> str:
    """`words` in about `n_bytes` of a page at most, with an ellipsis where they were cut."""
    return words if size_of(words, n_bytes) <= n_bytes else fitting(words, n_bytes) + "…"
