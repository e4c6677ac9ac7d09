"""How the runs of an evaluator are shown: summary, reports, why a sample did not pass; and tables as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import msgspec

from benchbook.evalsets import Item
from benchbook.evaluators import document
from benchbook.evaluators.contract import DerivedFiles, Evaluator
from benchbook.evaluators.document import (
    HTML,
    MARKDOWN,
    TERMINAL,
    WRITTEN,
    Code,
    Document,
    Fact,
    Notices,
    Opening,
    Paragraph,
    Section,
    Table,
    Tone,
    table,
)
from benchbook.evaluators.evidence_text import Span
from benchbook.evaluators.gates import Gate
from benchbook.record.folder import Record
from benchbook.text import one_line, plural
from benchbook.views import numbers
from benchbook.views.gates import gate_rule, gate_state, gate_value
from benchbook.views.html import html_page
from benchbook.views.markdown import markdown_page
from benchbook.views.words import aggregate_word, asked_items
from benchbook.writing import written_whole


class AnyReport(Protocol):
    """A report of a run of any spec: parts that are alike take it."""

    @property
    def manifest(self) -> Any: ...

    @property
    def aggregates(self) -> Any: ...


# Starts a new pass over the samples, in the plan's order, each time it is called.
Rows = Callable[[], Iterator[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """`report` puts together what the other functions take."""

    report: Callable[[Record, DerivedFiles, Rows], Any]
    # Its summary, without a look at its samples.
    summary: Callable[[Any], Document]
    # Writes the report's files into a folder. Raises RecordError.
    write: Callable[[Any, Path], list[Path]]
    # Its opening, without a look at its samples; None where nothing is decided.
    opening: Callable[[DerivedFiles], Opening] | None = None
    # Why a row's sample did not pass, as the spec's words; nothing where it did.
    fail_reasons: Callable[[Any], Sequence[str]]
    # The judge's verdict on a row's sample, whose item is the last; None where nobody judges by criteria.
    judged: Callable[[Record, Any, Item], JudgedWords] | None = None


def view_of(evaluator: Evaluator) -> View:
    """How an evaluator's runs are shown."""
    module, _, name = evaluator.view.partition(":")
    view: View = getattr(import_module(module), name)
    return view


def opening_of(document: Document) -> Opening:
    """The opening of a document."""
    return next(block for block in document.blocks if isinstance(block, Opening))


def write_pieces(path: Path, pieces: Iterator[str]) -> Path:
    """A report's file, whole or as it was: UTF-8, and the same bytes whatever the locale and the platform."""
    with written_whole(path, synced=False) as file:
        file.writelines(piece.encode("utf-8") for piece in pieces)
    return path


def write_document(found: Document, folder: Path, css: str = "") -> list[Path]:
    """A document as report.html and report.md. Raises: RecordError where a file can't be written."""
    return [
        write_pieces(folder / "report.html", html_page(found, css=css)),
        write_pieces(folder / "report.md", markdown_page(found)),
    ]


FOOT = "Rates, means and percentiles are rounded here for reading; aggregates.json has them to nine decimals."


def reproducibility(report: AnyReport) -> Table:
    """All metadata of R7.1, and what else is needed to do the run again."""
    manifest = report.manifest
    known = msgspec.to_builtins(manifest)
    rows = [row for name in known if name not in ("missing_metadata", "config") for row in _flat(name, known[name])]
    rows += [("missing_metadata", name) for name in getattr(manifest, "missing_metadata", ())]
    return table("What is needed to do this run again", {"Name": "text", "Value": "text"}, rows, titled=True)


def _flat(name: str, value: Any) -> Iterator[tuple[str, str | None]]:
    """One row per leaf; lists on one line. Names are dotted."""
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from _flat(f"{name}.{one_line(str(key))}", value[key])
    elif isinstance(value, list):
        yield name, ", ".join(one_line(str(part)) for part in value) or numbers.nothing("none")
    elif value is None or value == {}:
        yield name, None
    else:
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def named_model(label: str, model_id: str, version: str | None) -> Fact:
    """A model, and the snapshot that its provider named, where that says more."""
    if version is None:
        return Fact(label, model_id, "version not known")
    return Fact(label, model_id, None if model_id.endswith(version) else version, is_version=True)


def named_evalset(report: AnyReport) -> Fact:
    """The eval set, how many items it has, how often it was asked, and its hash."""
    manifest = report.manifest
    repeats = f" × {plural(manifest.repeats, 'repeat')}" if getattr(manifest, "repeats", 1) > 1 else ""
    remark = f"{asked_items(manifest)}{repeats}"
    return Fact("Eval set", manifest.dataset_id, remark, manifest.dataset_version_or_hash)


def when(report: AnyReport) -> Fact:
    """When the run began, and whether it ended."""
    ended = "" if report.manifest.ended_utc else ", not ended"
    return Fact("When", report.manifest.timestamp_utc.replace("T", " ") + ended, plain=True)


def run_facts(report: AnyReport, kind: str | None = None) -> tuple[Fact, ...]:
    """The run's name, when it began and whether it ended, and the hash that names its record."""
    run, record = Fact("Run", report.manifest.run_id, kind), Fact("Record", digest=report.manifest.journal_sha256)
    return named_evalset(report), run, when(report), record


def notices_around(report: AnyReport, found: list[str]) -> tuple[list[Notices], list[Notices]]:
    """The notices that come before any number: those above the headline, and those below it.

    What servers, this machine and the data did to the numbers stands before them (R1.3a, R1.4), since derivation 3; a
    page keeps all of it together there.
    """
    n = report.aggregates.n_warnings_first
    first = [] if n is msgspec.UNSET else list(report.aggregates.warnings[:n])
    rest = tuple(one for one in found if one not in first)
    if not first:
        return [], [Notices(tuple(found))]
    others = MARKDOWN | TERMINAL
    above = [Notices(tuple(found), only=HTML), Notices(tuple(first), "above", only=others)]
    return above, [Notices(rest, only=others)]


def end_sections(report: AnyReport) -> list[Section]:
    """All metadata, and how to do the run's numbers again."""
    manifest = report.manifest
    config = json.dumps(manifest.config, ensure_ascii=False, indent=2, sort_keys=True)
    command = f"benchbook verify {manifest.run_id} --expect {manifest.journal_sha256}"
    how = (
        "Every number on this page is computed from the record's journal. This does it again, offline, and "
        "holds the record against the hash that this report was made from:"
    )
    configured = Code(config, "The run's configuration", only=HTML)
    return [
        Section("reproducibility", "Reproducibility", (reproducibility(report), configured), only=WRITTEN),
        Section("verify", "Check it yourself", (Paragraph(how), Code(command)), only=WRITTEN),
    ]


@dataclass(frozen=True, slots=True)
class ColumnWords:
    name: str
    number: bool = False  # set to the right, in figures of one width


@dataclass(frozen=True, slots=True)
class TableWords:
    """`rows` are as wide as `columns`; the first cell of a row is its heading. Cells are text, not markup."""

    caption: str
    columns: tuple[ColumnWords, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class GateWords:
    """A gate's rule, its value (never rounded onto the limit), whether it holds (`text`), and how firmly."""

    label: str
    rule: str
    value: str
    n: int | None
    interval: str
    tone: Tone
    text: str
    detail: str | None


def table_json(found: document.Table) -> TableWords:
    """A table with its cells as text."""
    columns = tuple(ColumnWords(column.name, column.number) for column in found.columns)
    return TableWords(found.caption, columns, tuple(map(tuple, numbers.cells(found))))


def gate_words(gate: Gate, n: int | None = None) -> GateWords:
    """A gate in words; `n` is what its value is counted over."""
    word = aggregate_word(gate.aggregate)
    value, reach = gate_value(gate, gate.value), numbers.interval(word.kind, gate.interval)
    return GateWords(word.label, gate_rule(gate), value, n, reach, *gate_state(gate))


# ── what a judge said of one sample ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """A part of a text, half-open, in UTF-16 code units: what a browser counts in."""

    start: int
    end: int


def text_spans(text: str, spans: Iterable[Span]) -> tuple[MarkedSpan, ...]:
    """Spans in code points as those in UTF-16, where a code point beyond U+FFFF counts twice."""
    if text.isascii():
        return tuple(MarkedSpan(start, end) for start, end in spans)
    return tuple(MarkedSpan(_units(text[:start]), _units(text[:end])) for start, end in spans)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True, slots=True)
class QuoteWords:
    """The judge's quote for a criterion; `words` say how and where it stands, or that it does not.

    `spans` are in the answer, or in the turn of this number.
    """

    quote: str
    found: bool
    words: str
    turn: int | None
    spans: tuple[MarkedSpan, ...]


@dataclass(frozen=True, slots=True)
class CriterionWords:
    """One criterion as judged. `given` is a score, a grade's name, or why there is none; `scale` says what may be
    given, what passes and what it weighs; `tone` whether it passes, none where any score does."""

    title: str
    question: str
    scale: str
    given: str
    tone: Tone
    quote: QuoteWords | None


@dataclass(frozen=True, slots=True)
class MetWords:
    """One of an item's own criteria, by its number from 1: whether it is met, and what it adds to the item's score."""

    number: int
    text: str
    met: bool
    tone: Tone
    weight: str
    adds: str
    rationale: str | None  # null: the rubric asks for none


@dataclass(frozen=True, slots=True)
class JudgedWords:
    """The judge's verdict on one answer, and the other facts about it, as reports word them."""

    criteria: tuple[CriterionWords, ...]
    item_criteria: tuple[MetWords, ...]
    facts: TableWords
