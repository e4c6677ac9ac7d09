"""How the runs of an evaluator are shown that brings no words of its own: by what the contract says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from benchbook.evaluators.contract import ComparedColumns, DerivedFiles, Evaluator
from benchbook.evaluators.document import (
    WRITTEN,
    Block,
    Document,
    ItemBlock,
    Lines,
    Opening,
    Quote,
    Section,
    Tone,
    Value,
    table,
)
from benchbook.evaluators.registry import evaluator_named, evaluator_of
from benchbook.record.folder import Record
from benchbook.text import one_line, plural
from benchbook.views import numbers
from benchbook.views.csv_files import samples_csv
from benchbook.views.names import set_name
from benchbook.views.views import (
    FOOT,
    Rows,
    View,
    end_sections,
    named_evalset,
    notices_around,
    when,
    write_document,
    write_pieces,
)
from benchbook.views.words import aggregate_word, outcome_word

_MOST_ITEMS = 200  # that did not pass, in full
_TONES: Mapping[str, Tone] = {"READY": "good", "NOT_READY": "bad"}


@dataclass(frozen=True, slots=True)
class _Report:
    """A run of any evaluator, ready to be shown."""

    manifest: Any
    aggregates: Any
    decision: Any
    evaluator: Evaluator
    rows: Rows
    csv: Callable[[Iterator[Any]], Iterator[str]]  # lines of rows, with what was asked


def _report(record: Record, derived: DerivedFiles, rows: Rows) -> _Report:
    known = (derived.manifest, derived.aggregates, derived.decision)
    return _Report(*known, evaluator_of(record), rows, partial(samples_csv, record))


def _document(report: _Report, *, in_full: bool) -> Document:
    """The document of a run; `in_full` adds the items that did not pass, and how to do the numbers again."""
    manifest = report.manifest
    above, below = notices_around(report, list(getattr(report.aggregates, "warnings", ())))
    opening = _opening(report)
    words = ((aggregate_word(name), value) for name, value in _numbers(report))
    shown = ((one.label, Value(one.kind, value, unknown="nothing was counted")) for one, value in words)
    values = table("Aggregates", {"Aggregate": "text", "Value": "number"}, shown, titled=True)
    blocks: list[Block] = [*above, opening, *below]
    blocks.append(Section("aggregates", "Aggregates", (values,)))
    if in_full:
        blocks += [*_missed(report), *end_sections(report)]
    else:
        asked_set = one_line(set_name(manifest.dataset_id, manifest.dataset_version_or_hash))
        blocks.append(Lines((f"{manifest.spec} over {asked_set}; run {manifest.run_id}",)))
    return Document(f"{opening.headline}: {manifest.run_id}", manifest.spec, blocks, FOOT, manifest.journal_sha256)


def _opening(report: _Report) -> Opening:
    headline, tone, code = _headline(report)
    return Opening(headline, tone, code, facts=(named_evalset(report), when(report)))


def _headline(report: _Report) -> tuple[str, Tone, str | None]:
    """The number that stands for the run, with its decision. A verdict on the run itself (A3) is said in words, for
    beside a score its name, `pass`, would be taken for the score's."""
    decided, verdict = _member(report.decision, "decision"), _member(report.decision, "verdict")
    name = report.evaluator.primary
    number = report.manifest.spec
    if name is not None:
        word = aggregate_word(name)
        number = f"{word.label} {numbers.show(word.kind, dict(_numbers(report)).get(name), unknown='not known')}"
    if decided is not None:
        return number, _TONES.get(decided, "doubt"), decided
    if verdict is None:
        return number, "none", None
    return f"{number}; the run itself: {outcome_word(verdict)}", "none" if verdict == "pass" else "doubt", None


def _member(decision: Any, name: str) -> str | None:
    found = getattr(decision, name, None)
    return None if found is None or found is msgspec.UNSET else str(found)


def _numbers(report: _Report) -> Iterator[tuple[str, float | None]]:
    """The single numbers of aggregates.json, by name."""
    content = msgspec.to_builtins(report.aggregates)
    for name, value in (content | content.get("aggregates", {})).items():
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            yield name, value


def _missed(report: _Report) -> Iterator[Section]:
    """The first items that did not pass, each with its answer and why."""
    if (columns := report.evaluator.compared) is None:
        return
    missed: list[ItemBlock] = []
    n_missed = 0
    for row in report.rows():
        if getattr(row, columns.passed) not in (True, 1.0):
            n_missed += 1
            if len(missed) < _MOST_ITEMS:
                missed.append(_item(row, columns))
    title = f"Did not pass: {plural(n_missed, 'sample')}"
    yield Section("failed", title, tuple(missed), only=WRITTEN)


def _item(row: Any, columns: ComparedColumns) -> ItemBlock:
    score = getattr(row, columns.score)
    why = [str(getattr(row, name)) for name in columns.reasons if getattr(row, name, None)]
    quotes = [Quote("Answer", getattr(row, columns.answer), "no answer")]
    if columns.expected is not None:
        quotes.insert(0, Quote("Expected", getattr(row, columns.expected), "none"))
    return ItemBlock(
        row.item_id,
        "no score" if score is None else "did not pass",
        "outcome",
        "unscored" if score is None else "failed",
        scores=None if score is None else f"score {numbers.score(score, '')}",
        facts=tuple(why),
        quotes=tuple(quotes),
    )


def _first_words(derived: DerivedFiles) -> Opening:
    evaluator = evaluator_named(derived.manifest.spec)
    report = _Report(
        derived.manifest, derived.aggregates, derived.decision, evaluator, lambda: iter(()), lambda _: iter(())
    )
    return _opening(report)


def _write(report: _Report, folder: Path) -> list[Path]:
    """report.html, report.md and samples.csv; each appears whole, or stays as it was. Raises: RecordError."""
    rows = write_pieces(folder / "samples.csv", report.csv(report.rows()))
    return [*write_document(_document(report, in_full=True), folder), rows]


VIEW = View(
    report=_report,
    summary=partial(_document, in_full=False),
    write=_write,
    opening=_first_words,
    fail_reasons=lambda row: list(getattr(row, "fail_reasons", None) or ([] if row.passed else ["did not pass"])),
)
