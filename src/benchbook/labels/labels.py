"""A record of people's labels: a folder of its own, with a journal, and the sheet that people see among its inputs.

The sheet holds the answers to label and nothing that the judge said: a labeller needs this folder alone.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import RecordDamagedError, RecordError, RecordLockedError, UsageError
from benchbook.labels.state import MAX_NAME, Given, GoldOrigin, LabelState
from benchbook.record.anchor import read_anchored, write_anchor, write_missing_anchor
from benchbook.record.facts import Label, LabelsStarted, RunStarted
from benchbook.record.folder import Record, create_record, is_record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import JournalLine

SHEET = "sheet"
_PATIENCE_S, _PAUSE_S = 2.0, 0.005  # with others who label at the same time


class SheetRow(msgspec.Struct, frozen=True, kw_only=True):
    """One sample as it is shown to the labeller. `asked` is the item's own criterion; left out where all items share
    theirs."""

    sample: int
    item_id: str
    prompt: str
    context: Any = None
    expected_answer: str | None = None
    answer: str
    asked: str | msgspec.UnsetType = msgspec.UNSET


def answer_sha256(row: SheetRow) -> str:
    """The hash of an answer and of all that it was shown with: a label holds for every sample that has the same.

    The same text to another item, or beside another prompt, context or expected answer, is another answer.
    """
    shown = {name: value for name, value in msgspec.structs.asdict(row).items() if name != "sample"}
    if row.asked is msgspec.UNSET:
        del shown["asked"]
    return hashlib.sha256(canonical_json(shown)).hexdigest()


_sheet_decoder: msgspec.json.Decoder[SheetRow] = msgspec.json.Decoder(ready(SheetRow))


class LabelBook:
    """A record of labels as it stood when it was read; `sha256` is the journal's, and names the record."""

    def __init__(self, path: Path, state: LabelState, sheet: dict[int, SheetRow], sha256: str) -> None:
        self.path = path
        self.state = state
        self.sheet = sheet
        self.sha256 = sha256

    @property
    def started(self) -> LabelsStarted:
        return self.state.started

    def said_twice(self, field: str) -> list[tuple[int, int]]:
        """Two people's scores of a sample by a criterion, the first one's first."""
        given = (
            [one.score for one in self.state.opinions(sample, field) if one.score is not None]
            for sample in self.started.samples
        )
        return [(scores[0], scores[1]) for scores in given if len(scores) == 2]

    def origins(self, field: str) -> list[GoldOrigin]:
        """The origin of each sample's gold by a criterion."""
        return [self.state.gold(sample, field).origin for sample in self.started.samples]

    def reload(self) -> LabelBook:
        """The same record as it stands now: somebody else may have labelled since."""
        state, sha256 = _read(self.path)
        return LabelBook(self.path, state, self.sheet, sha256)


def create_labels(
    folder: str | Path, rows: Sequence[SheetRow], first_fact: Callable[[dict[str, str]], LabelsStarted]
) -> LabelBook:
    """A new record in `folder`, with the sheet and its first fact, made from the inputs' hashes by name.

    Raises: UsageError where something is there already; RecordError where it can't be written.
    """
    target = Path(folder).absolute()
    if target.exists():
        raise UsageError(f"{folder}: is there already; label what it holds, or draw into another folder")

    def begin(inputs: dict[str, str]) -> RunStarted:
        """The first fact; those of records are typed as a run's."""
        return cast("RunStarted", msgspec.structs.replace(first_fact(inputs), anchored=True))

    sheet = b"".join(canonical_json(row) + b"\n" for row in rows)
    create_record(target.parent, target.name, {SHEET: sheet}, begin, write_missing_anchor)
    return open_labels(folder)


def open_labels(folder: str | Path) -> LabelBook:
    """The labels in `folder`, their chain and their sheet checked.

    Raises: UsageError for another folder; RecordDamagedError naming file and line.
    """
    path = Path(folder)
    state, sha256 = _read(path)
    return LabelBook(path, state, _read_sheet(Record(path), state.started), sha256)


def give_labels(book: LabelBook, given: Sequence[Given]) -> LabelBook:
    """Record labels, all of them or none, and return the record as it then stands.

    Each is held against what the journal says at that moment, so that two people may label at the same time.
    Raises: UsageError for one that may not stand; RecordLockedError where somebody else writes for seconds.
    """
    with _Writing(book) as writing:
        facts: list[Label] = []
        for one in given:
            if (refusal := writing.state.refusal(one)) is not None:
                raise UsageError(f"{book.path}: {refusal}")
            fact = label_of(writing.state, one)
            fact.seq = writing.journal.seq + len(facts)  # as the journal will number it
            writing.state.add(fact)
            facts.append(fact)
        for place, fact in enumerate(facts, start=1):
            fact.more = len(facts) - place
        writing.append(facts)
    return book.reload()


def take_back(book: LabelBook, labeller: str, *, adjudicated: bool = False) -> Label | None:
    """Undo this person's last label that stands, and return it; None where there is none."""
    with _Writing(book) as writing:
        last = writing.state.last_by(labeller, adjudicated=adjudicated)
        if last is not None:
            writing.append([undoing(last)])
    return last


def undoing(label: Label) -> Label:
    """The fact that takes a label back."""
    return Label(
        run_sha256=label.run_sha256,
        sample=label.sample,
        labeller=label.labeller,
        field=label.field,
        round=label.round,
        undoes=label.seq,
    )


def labeller_name(name: str) -> str:
    """A name that tells people apart, without white space at its ends.

    Raises: UsageError for an empty or an endless one.
    """
    stripped = " ".join(name.split())
    if not 1 <= len(stripped) <= MAX_NAME:
        raise UsageError(f"labeller: found {len(stripped)} characters; expected a name, at most {MAX_NAME}")
    return stripped


class _Writing:
    """The journal, open and locked, with its current state."""

    def __init__(self, book: LabelBook) -> None:
        self._book, self._record = book, Record(book.path)
        self.journal = self._opened()

    def _opened(self) -> JournalWriter:
        """Wait for another's label to be written: it takes a moment."""
        last = time.monotonic() + _PATIENCE_S
        while True:
            self.state = LabelState(self._book.started)
            try:
                return JournalWriter(self._record.journal, on_line=self._count, read=read_anchored)
            except RecordLockedError:
                if time.monotonic() >= last:
                    raise
                time.sleep(_PAUSE_S)

    def _count(self, line: JournalLine) -> None:
        if isinstance(line.fact, Label):
            _add(self.state, line.fact, line, self._record.journal)

    def append(self, facts: Sequence[Label]) -> None:
        """Write facts at once. When this returns they are on the disk, and the anchor names the last."""
        if facts:
            sha256 = self.journal.append(*facts)
            self.journal.sync()
            write_anchor(self._record, self.journal.seq, sha256)

    def __enter__(self) -> _Writing:
        return self

    def __exit__(self, *_: object) -> None:
        self.journal.close()


def label_of(state: LabelState, given: Given) -> Label:
    """The fact that a label becomes, with its round as labels stand."""
    return Label(
        run_sha256=state.started.run_sha256,
        sample=given.sample,
        labeller=given.labeller,
        field=given.field,
        score=given.score,
        round=state.round_of(given),
        note=given.note,
    )


def _read(path: Path) -> tuple[LabelState, str]:
    record = Record(path)
    if not is_record(path):
        raise UsageError(f"{path}: not a record of labels (it has no journal/); draw one with `benchbook label sample`")
    try:
        return _state_of(record)
    except OSError as error:
        raise RecordError(f"{error.filename or path}: can't be read ({error.strerror})") from None


def _state_of(record: Record) -> tuple[LabelState, str]:
    state, sha256 = None, ""
    for line in read_anchored(record.journal):
        sha256 = line.sha256
        if isinstance(line.fact, LabelsStarted) and state is None:
            state = _begun(line.fact, line, record.journal)
        elif isinstance(line.fact, Label) and state is not None:
            _add(state, line.fact, line, record.journal)
        elif state is None:
            break
    if state is None:
        raise UsageError(f"{record.path}: not a record of labels (its journal does not begin with labels_started)")
    return state, sha256


def _begun(started: LabelsStarted, line: JournalLine, journal: Path) -> LabelState:
    try:
        return LabelState(started)
    except ValueError as error:
        raise RecordDamagedError(journal / f"{line.segment:06d}.jsonl", line.number, str(error)) from None


def _add(state: LabelState, label: Label, line: JournalLine, journal: Path) -> None:
    try:
        state.add(label)
    except ValueError as error:
        raise RecordDamagedError(journal / f"{line.segment:06d}.jsonl", line.number, str(error)) from None


def _read_sheet(record: Record, started: LabelsStarted) -> dict[int, SheetRow]:
    digest = started.inputs.get(SHEET, "")
    path = record.input(digest)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: can't be read ({error.strerror})") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise RecordDamagedError(path, None, "was changed: its bytes have another hash")
    try:
        rows = [decode_json(line, _sheet_decoder) for line in data.splitlines()]
    except msgspec.DecodeError as error:
        raise RecordDamagedError(path, None, f"holds no rows of a sheet ({error})") from None
    if sorted(row.sample for row in rows) != sorted(started.samples):
        raise RecordDamagedError(path, None, "holds other samples than the first fact names")
    if started.answers and started.answers != [answer_sha256(row) for row in rows]:
        raise RecordDamagedError(path, None, "holds other answers than the first fact names")
    return {row.sample: row for row in rows}
