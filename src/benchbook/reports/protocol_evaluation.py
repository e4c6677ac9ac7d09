"""One evaluation of the page: the judged text with its quotes marked, and beside it what the judge made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchbook.derivations.evaluation_rows import EvaluationRow, EvidenceRow
from benchbook.reports import numbers
from benchbook.reports.archive_names import ArchiveNames
from benchbook.reports.markup import Html, el, join, text
from benchbook.reports.page_parts import render_table
from benchbook.reports.protocol_marks import Piece, excerpt, fitting, marked_pieces, size_of
from benchbook.reports.protocol_words import FLAGS, LOCATED
from benchbook.reports.tables import Column, Table
from benchbook.reports.words import plural
from benchbook.scorers.judge_protocol_spec import protocol
from benchbook.text import shorten

__all__ = ["EvaluationView", "evaluation_html", "outcome"]

MAX_QUOTES = 20  # of an evaluation; the archive's file has all
MAX_DETAILS = 10
_QUOTE_BYTES, _REASON_BYTES, _REPLY_BYTES = 600, 300, 2_000
_NAME = 60
_FOUND = frozenset({"exact", "normalised", "fragments"})
_TONES = {"PASS": ("good", "✓"), "PARTIAL": ("doubt", "◐"), "FAIL": ("bad", "✕")}


@dataclass(frozen=True, slots=True)
class EvaluationView:
    """What a page knows of one evaluation. `number` counts from 1 and is its place on the page."""

    number: int
    row: EvaluationRow
    judged_text: str | None  # None: the text is not at hand
    names: ArchiveNames
    archive_href: str | None  # of the archive's folder, as seen from the page

    def link(self, words: str, path: str) -> Html:
        """To a file of the archive, where there is one; names in it are safe in a URL."""
        if self.archive_href is None:
            return text(words)
        return el("a", text(words), href=f"{self.archive_href}/{path}")


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
    yield render_table(_scores_table(view), hide_caption=True)
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
    names = (*protocol().dimensions, "overall_score")
    unknown = "can't be read"
    rows = [(name, numbers.show("count", getattr(view.row, name), unknown=unknown)) for name in names]
    return Table(
        f"Scores of evaluation {view.number}", (Column("Dimension"), Column("Score", number=True)), tuple(rows)
    )


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
    """At most about `n_bytes` as text of a page, with an ellipsis where it was cut."""
    return words if size_of(words, n_bytes) <= n_bytes else fitting(words, n_bytes) + "…"
