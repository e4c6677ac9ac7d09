"""The samples as CSV (RFC 4180, UTF-8 without a byte-order mark), every text whole.

A text is always in quotes and a number never, so that an empty text (`""`) and a null (nothing) are told apart. A text
that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers.
"""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import canonical_json
from benchbook.errors import InputError
from benchbook.evalsets.table_columns import choice_at, count_at, id_at, is_missing, shown
from benchbook.evalsets.tables import read_table
from benchbook.evaluators.asked import columns_with_asked, rows_with_asked
from benchbook.evaluators.registry import samples_type
from benchbook.labels.labels import LabelBook, labeller_name
from benchbook.labels.state import NOT_APPLYING, Given, said_words, scores_words
from benchbook.record.facts import Label, LabelScale
from benchbook.record.folder import Record
from benchbook.text import quoted, visible

_RUN = frozenset("=+-@")
_PASSED_OVER = frozenset("'\"`‘’“”„«»")
LINE_END = "\r\n"  # RFC 4180, whatever the platform


def csv_report(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """The lines, the header first. `judge_replies` is a column of JSON, `fail_reasons` a list with `; `."""
    yield ",".join(_quoted(name) for name in columns) + LINE_END
    yield from csv_lines(rows, columns)


def csv_lines(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """The lines without a header."""
    for row in rows:
        yield ",".join(cell(row[name]) for name in columns) + LINE_END


def samples_csv(record: Record, rows: Iterable[Any]) -> Iterator[str]:
    """The lines of a record's samples, each with what was asked. Raises: RecordError, InputError."""
    columns = columns_with_asked(samples_type(record).__struct_fields__, record.started())
    return csv_report(rows_with_asked(record, map(msgspec.structs.asdict, rows), columns), columns)


def inert(words: str) -> str:
    """`words`, with an apostrophe in front where a spreadsheet might take them for a formula.

    It looks behind white space, quotes and invisible characters, and at full-width forms too.
    """
    if words[:1] in ("\t", "\r"):
        return f"'{words}"
    for character in words:
        if character.isspace() or character in _PASSED_OVER or unicodedata.category(character) == "Cf":
            continue
        runs = character == "−" or unicodedata.normalize("NFKC", character) in _RUN
        return f"'{words}" if runs else words
    return words


def cell(value: Any) -> str:
    """A value as a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if all(isinstance(part, str) for part in value):
        return _quoted("; ".join(value))
    return _quoted(canonical_json(msgspec.to_builtins(value)).decode("utf-8"))


def _quoted(words: str) -> str:
    return '"' + visible(inert(words)).replace('"', '""') + '"'


# ── labels, out and back ─────────────────────────────────────────────────────────────────────────────────────

_SHOWN = ("item_id", "prompt", "context", "expected_answer", "answer")


def labels_csv(book: LabelBook, *, labeller: str | None = None, disputed: bool = False) -> Iterator[str]:
    """The lines of the sheet, the header first.

    With `labeller`, that person's labels so far stand in it; without, nobody's do. `disputed` keeps to the samples on
    which two people differ, with what they said in the columns `first` and `second`.
    """
    names = tuple(book.state.criteria)
    shown = (*_SHOWN, "asked") if any(row.asked for row in book.sheet.values()) else _SHOWN
    said = tuple(f"{name}_{which}" for name in names for which in ("first", "second")) if disputed else ()
    yield ",".join(map(_quoted, ("sample", *shown, *names, "note", "labeller", *said))) + LINE_END
    for sample, row in book.sheet.items():
        open_fields = [name for name in names if book.state.gold(sample, name).origin == "disputed"]
        if disputed and not open_fields:
            continue
        cells = [str(sample), *(_quoted(_text(getattr(row, name))) for name in shown)]
        cells += _labelled(book, sample, labeller, adjudicated=disputed)
        cells += [_opinion(book, sample, name, place) for name in names for place in (0, 1) if said]
        yield ",".join(cells) + LINE_END


def _labelled(book: LabelBook, sample: int, labeller: str | None, *, adjudicated: bool) -> list[str]:
    """The cells for scores, note and name: what this person gave so far."""
    mine = [
        None if labeller is None else book.state.score_by(labeller, sample, name, adjudicated=adjudicated)
        for name in book.state.criteria
    ]
    note = next((one.note for one in mine if one is not None and one.note), "")
    return [*("" if one is None else said_words(one.score) for one in mine), _quoted(note), _quoted(labeller or "")]


def _opinion(book: LabelBook, sample: int, name: str, place: int) -> str:
    opinions = book.state.opinions(sample, name)
    return said_words(opinions[place].score) if place < len(opinions) else ""


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical_json(value).decode("utf-8")


@dataclass
class Returned:
    """The content of a filled-in sheet. None of it may be recorded while there are `problems`, each with its line."""

    given: list[Given] = field(default_factory=list)
    n_there_already: int = 0
    n_empty: int = 0
    problems: list[InputError] = field(default_factory=list)


def read_labels_csv(
    path: str | Path, book: LabelBook, *, labeller: str | None = None, adjudicates: bool = False
) -> Returned:
    """Read a sheet that comes back: CSV, JSONL or Parquet, with `sample` and a score column at least.

    Who labelled is `labeller`, or the column of that name. An empty cell is no label; a label that is there already is
    counted and left alone. Raises: InputError for a file that can't be read as a table; UsageError.
    """
    return _Reader(Path(path), book, labeller, adjudicates).read()


class _Reader:
    def __init__(self, path: Path, book: LabelBook, labeller: str | None, adjudicates: bool) -> None:
        self._path = path
        self._book = book
        self._state = copy.deepcopy(book.state)  # as it will stand: lines of one file bear on each other
        self._labeller = labeller
        self._adjudicates = adjudicates
        self._lines: dict[tuple[int, str, str], int] = {}
        self._found = Returned()

    def read(self) -> Returned:
        for line, row in read_table(self._path):
            try:
                self._read_row(line, row)
            except InputError as problem:
                self._found.problems.append(problem)
        return self._found

    def _read_row(self, line: int, row: Mapping[str, Any]) -> None:
        criteria = self._state.criteria
        scores = {name: self._score(line, one, row.get(name)) for name, one in criteria.items()}
        sample = self._sample(line, row)
        if not any(said for said, _ in scores.values()):
            self._found.n_empty += 1
            return
        who = self._who(line, row)
        note = _came_back(self._words(line, row, "note"))
        for name, (said, score) in scores.items():
            if said:
                self._take(line, Given(sample, who, name, score, note, self._adjudicates))
                note = ""  # with the row's first label; one is enough

    def _take(self, line: int, given: Given) -> None:
        key = (given.sample, given.labeller, given.field)
        if key in self._lines:
            first = self._lines[key]
            found = f"a second label of sample {given.sample} by {given.labeller}"
            raise self._problem(line, given.field, found, f"one; the first is on line {first}")
        self._lines[key] = line
        standing = self._book.state.score_by(given.labeller, given.sample, given.field, adjudicated=given.adjudicates)
        if standing is not None and standing.score == given.score:
            self._found.n_there_already += 1
            return
        if (refusal := self._state.refusal(given)) is not None:
            raise self._problem(line, given.field, refusal)
        self._found.given.append(given)
        names = list(self._state.criteria)
        self._state.add(
            Label(
                seq=-1 - line * len(names) - names.index(given.field),
                run_sha256=self._book.started.run_sha256,
                sample=given.sample,
                labeller=given.labeller,
                field=given.field,
                score=given.score,
                round=self._state.round_of(given),
            )
        )

    def _sample(self, line: int, row: Mapping[str, Any]) -> int:
        sample = count_at(self._path, line, "sample", row.get("sample"))
        if sample is None or sample not in self._book.sheet:
            found = "''" if is_missing(row.get("sample")) else shown(row["sample"])
            raise self._problem(line, "sample", found, "the number of a sample that was drawn")
        item_id, given = self._book.sheet[sample].item_id, row.get("item_id")
        if not is_missing(given) and id_at(self._path, line, "item_id", given) not in (
            item_id,
            visible(inert(item_id)),
        ):
            raise self._problem(line, "item_id", shown(given), f"{quoted(item_id)}, the item of sample {sample}")
        return sample

    def _score(self, line: int, one: LabelScale, cell: Any) -> tuple[bool, int | None]:
        """`(given, score)`: True with a valid entry; None for the score where the criterion does not apply."""
        if one.may_not_apply and isinstance(cell, str) and cell.strip() == NOT_APPLYING:
            return True, None
        if isinstance(cell, str) and cell.strip() in one.grades:
            return True, one.scores[one.grades.index(cell.strip())]
        score = self._number(line, one, cell)
        return score is not None, score

    def _number(self, line: int, one: LabelScale, cell: Any) -> int | None:
        below = {str(score): score for score in one.scores if score < 0}  # `choice_at` is for counts
        if isinstance(cell, str | int) and str(cell).strip() in below:
            return below[str(cell).strip()]
        may_say = f"{scores_words(one.scores)}, or {NOT_APPLYING!r}" if one.may_not_apply else scores_words(one.scores)
        return choice_at(self._path, line, one.name, cell, one.scores, what=may_say)

    def _who(self, line: int, row: Mapping[str, Any]) -> str:
        written = " ".join(_came_back(self._words(line, row, "labeller")).split())
        if self._labeller is not None and written not in ("", self._labeller):
            raise self._problem(line, "labeller", quoted(written), f"{self._labeller!r}, or nothing")
        if self._labeller is None and not written:
            raise self._problem(line, "labeller", "nothing", "who labelled this, here or by --labeller")
        return self._labeller or labeller_name(written)

    def _words(self, line: int, row: Mapping[str, Any], name: str) -> str:
        value = row.get(name)
        return "" if is_missing(value) or value == "" else id_at(self._path, line, name, value)

    def _problem(self, line: int, name: str, found: str, expected: str | None = None) -> InputError:
        return InputError(self._path, line=line, field=name, found=found, expected=expected)


def _came_back(cell: str) -> str:
    """A text as it was before it was made safe for a spreadsheet."""
    return cell[1:] if cell.startswith("'") and inert(cell[1:]) == cell else cell
