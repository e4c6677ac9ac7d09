"""Holds a record of people's labels against itself, its anchor and the run that it names, as `verify` does a run's."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchbook.errors import BenchbookError, LaterRecordError, RecordDamagedError, UsageError
from benchbook.evaluators.journal_files import check_journal_files, foreign, left_behind
from benchbook.evaluators.verify import Verification, check_hash, check_inputs, verify
from benchbook.evaluators.verify_progress import VerifyHandler
from benchbook.labels.drawing import BOTH
from benchbook.labels.items_of import other_items, record_of_items
from benchbook.labels.labels import SHEET, LabelBook, SheetRow, label_of, labeller_name, open_labels, undoing
from benchbook.labels.sheet import LabelledRun, derived_anew, is_as_drawn
from benchbook.labels.state import Given, LabelState, scores_words
from benchbook.record.anchor import read_anchor, read_anchored
from benchbook.record.checking import FactsCheck
from benchbook.record.derived_files import Discrepancy, inside
from benchbook.record.facts import FIRST_PREV, Allocation, ItemsOf, Label, LabelsStarted, Sealed, without_place
from benchbook.record.folder import RUN_ID, Record, is_of_labels, is_record
from benchbook.record.reading import JournalLine, is_sha256, read_journal
from benchbook.text import plural, quoted

STATE = "labels"  # in place of a run's


def verify_record(
    record: Record,
    *,
    expect: str | None = None,
    against: Record | None = None,
    runs: str | Path | None = None,
    on_progress: VerifyHandler | None = None,
) -> Verification:
    """Check a record, of a run or of people's labels, whichever its first fact says. Labels report no progress: they
    are few.

    Raises: UsageError for a run that is to be held `against` another.
    """
    if is_of_labels(record):
        return verify_labels(record, expect=expect, against=against, runs=runs)
    if against is not None:
        raise UsageError(f"{record.path}: no record of labels; only these are held against the run that they name")
    return verify(record, expect=expect, on_progress=on_progress)


def verify_labels(
    record: Record, *, expect: str | None = None, against: Record | None = None, runs: str | Path | None = None
) -> Verification:
    """Check a record of labels against itself, with `expect` against a hash that was published, and against its run.

    The run is `against`, else the one of its id in the folder `runs` or beside the record. `notes` of the result
    say what could not be checked.
    """
    findings, notes = [*check_journal_files(record, "the next label mends it")], [*left_behind(record)]
    facts = _Facts(record.journal)
    try:
        for line in read_anchored(record.journal):
            facts.look_at(line)
        findings += [*facts.findings, *_cut_import(record)]
    except LaterRecordError:
        raise
    except RecordDamagedError as error:
        findings.append(Discrepancy(inside(record, error.path), error.line, error.reason))
    except (BenchbookError, OSError) as error:
        findings.append(Discrepancy("journal", None, inside(record, str(error))))
    if not findings:
        findings += _check_folder(record)
        notes += [*_unproven(record, facts), *_set_back(facts)]
    if not findings:
        held, said = _held_against_run(open_labels(record.path), against, runs)
        findings, notes = [*findings, *held], [*notes, *said]
    if expect is not None:
        findings += check_hash(facts.sha256, expect)
    return Verification(tuple(dict.fromkeys(findings)), facts.sha256, facts.n, STATE, notes=tuple(notes))


# ── the facts ────────────────────────────────────────────────────────────────────────────────────────────────


class _Facts(FactsCheck):
    """Holds each fact against the one that Benchbook would have written as the labels stood."""

    def __init__(self, journal: Path) -> None:
        super().__init__(journal)
        self.n, self.sha256 = 0, FIRST_PREV
        self.set_back: list[int] = []  # facts with an earlier time than the one before
        self._state: LabelState | None = None

    def look_at(self, line: JournalLine) -> None:
        self.n, self.sha256 = self.n + 1, line.sha256
        self._note(line, self._faults(line))
        if self._before is not None and line.fact.at < self._before.at:
            self.set_back.append(line.fact.seq)
        self._before, self._segment = line.fact, line.segment

    def _out_of_order(self, line: JournalLine) -> Iterator[str]:
        match line.fact:
            case LabelsStarted() as started if self._before is None:
                yield from self._begin(started)
            case Label() as label if self._state is not None:
                yield from self._label(label, self._state)
            case Sealed():
                pass
            case other:
                yield f"is a fact of the kind {type(other).__name__}, and labels have none here"

    def _begin(self, started: LabelsStarted) -> Iterator[str]:
        try:
            self._state = LabelState(started)
        except ValueError as error:
            yield str(error)
        if not RUN_ID.fullmatch(started.run_id):
            yield f"run_id: found {quoted(started.run_id)}; expected a name for a folder"
        if len(set(started.samples)) != len(started.samples) or any(sample < 0 for sample in started.samples):
            yield "samples: expected numbers from 0, each once"
        if len(started.answers) not in (0, len(started.samples)):
            yield f"answers: found {len(started.answers)}; expected one for each of {len(started.samples)} samples"
        for name, stratum in started.strata.items():
            if not 0 <= stratum.n_drawn <= stratum.n_eligible:
                yield f"strata: found {stratum.n_drawn} drawn of {stratum.n_eligible} in {quoted(name)}"
        if started.allocation is not None:
            yield from _of_allocation(started, started.allocation)
        if started.items_of is not None:
            yield from _of_items(started, started.items_of)
        if [*started.inputs] != [SHEET]:
            yield f"inputs: found {', '.join(started.inputs) or 'none'}; expected {SHEET} alone"
        for sha256 in (started.run_sha256, *started.inputs.values(), *started.answers):
            if not is_sha256(sha256):
                yield f"found {quoted(sha256)}; expected a hash of 64 hexadecimal digits"

    def _label(self, label: Label, state: LabelState) -> Iterator[str]:
        before = self._before
        if isinstance(before, Label) and before.more and label.more != before.more - 1:
            yield f"more: found {label.more}; expected {before.more - 1}, by the label of the same import before it"
        try:
            if (what := _otherwise(label, state)) is not None:
                yield what
            state.add(label)
        except ValueError as error:
            yield str(error)


def _of_allocation(started: LabelsStarted, allocation: Allocation) -> Iterator[str]:
    if set(allocation.verdicts.values()) != set(started.strata):
        yield "allocation: its verdicts are in other strata than those that were drawn from"
    if sum(one.n_drawn for one in started.strata.values()) != len(started.samples):
        yield f"strata: expected {len(started.samples)} drawn in all, as many as there are samples"
    if not all(is_sha256(one.sha256) for one in allocation.earlier):
        yield "allocation: expected a hash of 64 hexadecimal digits for each earlier record"


def _of_items(started: LabelsStarted, items_of: ItemsOf) -> Iterator[str]:
    if started.allocation is not None:
        yield "items_of: stands beside an allocation; a draw is one of them"
    if len(items_of.repeats) not in (0, len(items_of.items)):
        yield f"items_of: found {len(items_of.repeats)} repeats; expected one for each of {len(items_of.items)} items"
    if not RUN_ID.fullmatch(items_of.run_id):
        yield f"items_of: found {quoted(items_of.run_id)}; expected a name for a folder"
    if BOTH not in started.strata or sum(one.n_drawn for one in started.strata.values()) != len(started.samples):
        yield f"strata: expected {quoted(BOTH)}, and {len(started.samples)} drawn in all, as many as there are samples"
    if not is_sha256(items_of.run_sha256) or not is_sha256(items_of.draw.sha256):
        yield "items_of: expected a hash of 64 hexadecimal digits of the other run, and of its labels"


def _otherwise(label: Label, state: LabelState) -> str | None:
    """The difference between a label and what its writer would have written, as labels stood; None where there is
    none."""
    if label.undoes is not None:
        last = state.last_by(label.labeller, adjudicated=label.round == "adjudicated")
        if last is None:
            return f"takes back fact {label.undoes}, and no label of {quoted(label.labeller)} stands"
        if _content(label) != _content(undoing(last)):
            return f"takes back fact {label.undoes}; the last label of {quoted(label.labeller)} is fact {last.seq}"
        return None
    given = Given(label.sample, label.labeller, label.field, label.score, label.note, label.round == "adjudicated")
    if (refusal := state.refusal(given)) is not None:
        return refusal
    wanted = label_of(state, given)
    if label.round != wanted.round:
        return f"round: found {label.round}; expected {wanted.round}, as labels stood"
    try:
        is_name = labeller_name(label.labeller) == label.labeller
    except UsageError:
        is_name = False
    return None if is_name else f"labeller: found {quoted(label.labeller)}; expected a name, as Benchbook writes one"


def _content(label: Label) -> Label:
    """A label without its place in the journal, and in an import."""
    return msgspec.structs.replace(without_place(label), more=0)


def _cut_import(record: Record) -> list[Discrepancy]:
    """The end of an import that was cut: its labels don't stand, and are not in the way of others."""
    for line in deque(read_journal(record.journal), maxlen=1):
        if isinstance(line.fact, Label) and line.fact.more:
            what = f"an import was cut here, {plural(line.fact.more, 'label')} before its end: none of it stands"
            return [Discrepancy(f"journal/{line.segment:06d}.jsonl", line.number, f"{what}; the next label mends it")]
    return []


# ── the folder ───────────────────────────────────────────────────────────────────────────────────────────────


def _check_folder(record: Record) -> list[Discrepancy]:
    try:
        book = open_labels(record.path)
    except RecordDamagedError as error:
        return [Discrepancy(inside(record, error.path), error.line, error.reason)]
    except BenchbookError as error:
        return [Discrepancy("journal", None, str(error))]
    known = {record.journal.name, record.inputs.name, record.anchor.name}
    beside = f".{record.anchor.name}."  # the next one: of somebody who labels at this moment, or was killed
    strange = [path.name for path in foreign(record.path, known) if not path.name.startswith(beside)]
    return [
        *check_inputs(record, book.started.inputs),
        *(Discrepancy(name, None, "does not belong to the record") for name in strange),
    ]


def _unproven(record: Record, facts: _Facts) -> list[str]:
    """Words for a last line that nothing holds."""
    anchor = read_anchor(record)
    if anchor is None:
        return [
            "It has no anchor, as labels of before had none: its last line is not proven; the next label writes one"
        ]
    if (n := facts.n - anchor.journal_facts) > 0:
        return [f"The last {plural(n, 'fact')} came after the anchor: the last line is not proven"]
    return []


def _set_back(facts: _Facts) -> list[str]:
    """Words for times that go back: no fault where a clock was set."""
    if not facts.set_back:
        return []
    return [
        f"Fact {facts.set_back[0]} has an earlier time than the one before it: a clock was set back, or a time changed"
    ]


# ── the run ──────────────────────────────────────────────────────────────────────────────────────────────────


def _held_against_run(
    book: LabelBook, against: Record | None, runs: str | Path | None
) -> tuple[list[Discrepancy], list[str]]:
    """`(findings, notes)`: the run whose hash the labels name, and the answers that they belong to."""
    started = book.started
    if against is None:
        folders = [*([] if runs is None else [Path(runs)]), book.path.absolute().parent]
        places = [Record(folder / started.run_id) for folder in folders]
        run = next((one for one in places if is_record(one.path)), None)
        if run is None:
            return [], [f"The run {started.run_id} is not there: its answers were not checked (--against RUN)"]
    else:
        run = against
    try:
        known, ends = _has_fact(run, started.run_sha256)
        if not known:
            what = f"labels the run {started.run_id} with hash {started.run_sha256}; {run.path} has {ends}"
            if against is None:
                return [], [f"It {what}: its answers were not checked (--against RUN)"]
            return [Discrepancy("journal/000001.jsonl", 1, what)], []
        with derived_anew(run) as labelled:
            goes_on = ends != started.run_sha256
            notes = [f"{run.path} has gone on since: who drew the samples was not checked"] if goes_on else []
            found = [*_other_answers(book, labelled), *([] if goes_on else _other_draw(book, labelled))]
            if not goes_on and not found:
                folders = [
                    *([] if runs is None else [Path(runs)]),
                    run.path.absolute().parent,
                    book.path.absolute().parent,
                ]
                held, said = _held_against_items(started, labelled, folders)
                found, notes = [*found, *held], [*notes, *said]
            return found, notes
    except (BenchbookError, OSError) as error:
        return [], [f"The run was not checked: {error}"]


def _held_against_items(
    started: LabelsStarted, run: LabelledRun, folders: Sequence[Path]
) -> tuple[list[Discrepancy], list[str]]:
    """`(findings, notes)`: the other run from whose items the samples were drawn."""
    if started.items_of is None:
        return [], []
    other, unchecked = record_of_items(started.items_of, folders), "who drew its items was not checked"
    if other is None:
        return [], [f"The run {started.items_of.run_id} is not there: {unchecked}"]
    _, ends = _has_fact(other, started.items_of.run_sha256)
    if ends != started.items_of.run_sha256:
        return [], [f"Its items are of {other.path} with hash {started.items_of.run_sha256}, not {ends}: {unchecked}"]
    with derived_anew(other) as there:
        return [Discrepancy("journal/000001.jsonl", 1, what) for what in other_items(started, there, run)], []


def _has_fact(run: Record, sha256: str) -> tuple[bool, str]:
    """`(True where a fact of the run has this hash, the last one's hash)`."""
    known, last = False, ""
    for line in read_journal(run.journal):
        last = line.sha256
        known = known or last == sha256
    return known, last


def _other_answers(book: LabelBook, run: LabelledRun) -> Iterator[Discrepancy]:
    """The rows of the sheet that differ from the run's own."""
    sheet = f"inputs/{book.started.inputs[SHEET]}"
    wanted = frozenset(book.sheet)
    answers = {row.sample: run.answer(row) for row in run.rows() if row.sample in wanted}
    own = {row.sample: row for row in run.sheet(answers)}
    for number, (sample, row) in enumerate(book.sheet.items(), start=1):
        if sample not in own:
            yield Discrepancy(sheet, number, f"sample {sample}: the run has no such sample")
        elif row != own[sample]:
            names = [name for name in SheetRow.__struct_fields__ if getattr(row, name) != getattr(own[sample], name)]
            yield Discrepancy(sheet, number, f"sample {sample}: {', '.join(names)} differ from the run's")


def _other_draw(book: LabelBook, run: LabelledRun) -> Iterator[Discrepancy]:
    started, where = book.started, "journal/000001.jsonl"
    if started.spec != run.started.spec:
        yield Discrepancy(where, 1, f"spec: found {quoted(started.spec)}; the run was scored under {run.started.spec}")
    own = {one.name: one.scores for one in run.criteria}
    for name, one in book.state.criteria.items():
        if own.get(name) != one.scores:
            yield Discrepancy(
                where, 1, f"criteria: found {quoted(name)} ({scores_words(one.scores)}), not as the run has it"
            )
    if not is_as_drawn(run, started):
        yield Discrepancy(where, 1, f"samples: not those that the seed {started.seed} draws from the run")
