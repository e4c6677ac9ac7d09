"""From a run to a sheet for people to label: answers that were scored, drawn by stratum, their scores hidden."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.contract import ComparedColumns, DerivedFiles, Evaluator, LabelCriterion, LabelRows
from benchbook.evaluators.correctable import Worth
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.registry import evaluator_of
from benchbook.labels.calibration_results import ScoredAnswer
from benchbook.labels.drawing import Drawn, Unit, draw, draw_allocated, draw_of_items
from benchbook.labels.labels import LabelBook, SheetRow, answer_sha256, create_labels
from benchbook.record.facts import (
    Allocation,
    DrawnStratum,
    EarlierDraw,
    ItemsOf,
    LabelScale,
    LabelsStarted,
    RunStarted,
)
from benchbook.record.folder import Record
from benchbook.record.tables import read_rows
from benchbook.text import quoted

# ── a run, as far as labels go ───────────────────────────────────────────────────────────────────────────────

_SLICES = ("section", "category", "difficulty")
_SAID = ("score", "rationale", "miss_reason")  # by an evaluator of an answer, in the columns of one or another

_NOT_JUDGED = ("score_origin", "error", "evaluator_error")  # columns that say so, of one evaluator or another


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A run whose answers people label, its derived files made again from its journal: an edited file changes nothing.

    `criteria` are what its evaluator gives and people can give too.
    """

    record: Record
    started: RunStarted
    evaluator: Evaluator
    criteria: tuple[LabelCriterion, ...]
    columns: ComparedColumns
    derived: DerivedFiles
    samples: Path

    def rows(self) -> Iterator[Any]:
        return read_rows(self.samples, self.evaluator.tables(self.started)["samples.parquet"])

    def scored(self) -> Iterator[Any]:
        """The rows of answers that the evaluator scored, by every criterion that applies to them.

        A rule's zero for no answer is nobody's judgement (R1.3), nor is that of a run that failed (A3).
        """
        for row in self.rows():
            by_rule = any(getattr(row, name, None) is not None for name in _NOT_JUDGED)
            if not by_rule and self.answer(row) is not None and any(one is not None for one in self.scores(row)):
                yield row

    def answer(self, row: Any) -> str | None:
        answer: str | None = getattr(row, self.columns.answer)
        return answer

    def scores(self, row: Any) -> tuple[int | None, ...]:
        """The evaluator's scores by criterion."""
        return tuple(_whole(getattr(row, one.column)) for one in self.criteria)

    def answers(self, worth: Callable[[Any], Worth] | None = None) -> list[ScoredAnswer]:
        """The answers that the evaluator scored. They are in clusters where any has a group, or items have repeats."""
        answers, clusters, clustered = [], [], self.derived.manifest.repeats > 1
        for row in self.scored():
            slices = tuple((name, value) for name in _SLICES if (value := getattr(row, name)) is not None)
            made_of = None if worth is None else worth(row)
            chars = len(self.answer(row) or "")
            answers.append(ScoredAnswer(row.sample, self.scores(row), chars, slices, worth=made_of))
            clusters.append(f"item {row.item_id}" if row.group is None else f"group {row.group}")
            clustered = clustered or row.group is not None
        if not clustered:
            return answers
        return [replace(one, cluster=cluster) for one, cluster in zip(answers, clusters, strict=True)]

    def sheet(self, answers: Mapping[int, str | None]) -> list[SheetRow]:
        """The rows that show these samples, in this order, by the items that the record keeps."""
        n_items = self.started.n_items
        with recorded_evalset(self.record, self.started) as evalset:
            items = {sample: evalset[sample % n_items] for sample in answers}
        return [
            SheetRow(
                sample=sample,
                item_id=items[sample].id,
                prompt=items[sample].prompt,
                context=items[sample].context,
                expected_answer=items[sample].expected_answer,
                answer=answer or "",
            )
            for sample, answer in answers.items()
        ]

    @property
    def by_answer(self) -> bool:
        """True where one answer may have several rows, so that a label of it holds for all of them."""
        return False

    def to_draw(self) -> Iterator[Any]:
        """The scored rows that a draw is made from."""
        return self.scored()

    def asked_of(self, drawn: Sequence[int]) -> list[int]:
        """The samples that people are asked about, for those that were drawn."""
        return list(drawn)

    @property
    def stratifiable(self) -> dict[str, str]:
        """The names that a draw can be stratified by, with their columns in samples.parquet."""
        own = {one.name: one.column for one in self.criteria}
        return own | {name: name for name in _SLICES} | {"passed": self.columns.passed}

    @property
    def hidden(self) -> list[str]:
        """The names of what is hidden from labellers."""
        columns = self.evaluator.tables(self.started)["samples.parquet"].__struct_fields__
        names = (*(one.name for one in self.criteria), *(name for name in _SAID if name in columns), "passed")
        return [*dict.fromkeys(names), "model_id", "labels of others"]


@dataclass(frozen=True, slots=True)
class RunByRows(LabelledRun):
    """A run whose labels belong to other rows than its samples (`contract.LabelRows`).

    In a judged experiment, the scores of `judge` are held against people's. Without a judge, its rows are those of all:
    for a draw, which takes each answer once.
    """

    own: LabelRows
    judge: str | None

    def rows(self) -> Iterator[Any]:
        for row in self.own.rows(self.record, self.started, self.samples):
            if self.judge is None or row.judge_model == self.judge:
                yield row

    @property
    def by_answer(self) -> bool:
        return True

    def to_draw(self) -> Iterator[Any]:
        """The first row of each answer as people see it, whichever model gave or judged it."""
        seen = set[tuple[str, str, str]]()
        for row in replace(self, judge=None).rows():
            if (shown := _shown(row)) not in seen:
                seen.add(shown)
                yield row

    def asked_of(self, drawn: Sequence[int]) -> list[int]:
        """The first row of each question about each answer, answer by answer."""
        found: dict[tuple[str, str, str], dict[str, int]] = {}
        for row in replace(self, judge=None).rows():
            found.setdefault(_shown(row), {}).setdefault(row.asked, row.sample)
        of_answers = {next(iter(asked.values())): asked.values() for asked in found.values()}
        return [sample for first in drawn for sample in of_answers[first]]

    def sheet(self, answers: Mapping[int, str | None]) -> list[SheetRow]:
        rows = {row.sample: row for row in self.rows() if row.sample in answers}
        return [_sheet_row(rows[sample], answer or "") for sample, answer in answers.items()]

    @property
    def stratifiable(self) -> dict[str, str]:
        return {**self.own.strata, "passed": self.columns.passed}

    @property
    def hidden(self) -> list[str]:
        return list(self.own.hidden)


def _shown(row: Any) -> tuple[str, str, str]:
    """The parts by which people see an answer as another one."""
    return row.item_id, row.prompt, row.answer


def _sheet_row(row: Any, answer: str) -> SheetRow:
    return SheetRow(
        sample=row.sample,
        item_id=row.item_id,
        prompt=row.prompt,
        context=getattr(row, "context", None),
        expected_answer=getattr(row, "expected_answer", None),
        answer=answer,
        asked=row.asked or msgspec.UNSET,
    )


def _whole(value: float | None) -> int | None:
    """A score as people give it; None where it lies between two of theirs."""
    return None if value is None or int(value) != value else int(value)


def judge_on_trial(record: Record, judge: str | None) -> str | None:
    """The judge whose scores are meant: in a judged experiment with a single judge, that one need not be named.

    Raises: UsageError where several could be meant.
    """
    own = evaluator_of(record).label_rows(record.started())
    if judge is not None or own is None or not own.judges:
        return judge
    if len(own.judges) > 1:
        raise UsageError(f"{record.path}: has several judges; name one: {', '.join(own.judges)}")
    return own.judges[0]


_OWN_ROWS = ComparedColumns(score="passed", passed="passed", answer="answer")  # of `LabelRows.rows`


@contextmanager
def derived_anew(record: Record, judge: str | None = None) -> Iterator[LabelledRun]:
    """A run as people label it, while the block lasts. `judge` is the one of an experiment whose scores are meant.

    Raises: UsageError for a run whose answers people can't label, or for a judge that it does not have.
    """
    started, evaluator = record.started(), evaluator_of(record)
    own = evaluator.label_rows(started)
    judges = () if own is None else own.judges
    if judge is not None and not judges:
        raise UsageError(f"{record.path}: no judge of several is meant; {started.spec} is no judge protocol")
    if judge is not None and judge not in judges:
        raise UsageError(f"{record.path}: found judge {quoted(judge)}; expected {', '.join(judges)}")
    criteria, columns = evaluator.label_criteria(started), evaluator.compared if own is None else _OWN_ROWS
    if not criteria or columns is None:
        raise UsageError(f"{record.path}: people label answers to the items of an eval set; {started.spec} has none")
    if (reason := evaluator.unavailable(started)) is not None:
        raise UsageError(f"{record.path}: has no answers to label ({reason})")
    with tempfile.TemporaryDirectory(prefix="benchbook-labels-") as name:
        folder = Path(name)
        derived, samples = evaluator.derive(record, folder), folder / "samples.parquet"
        if own is None:
            yield LabelledRun(record, started, evaluator, criteria, columns, derived, samples)
        else:
            yield RunByRows(record, started, evaluator, criteria, columns, derived, samples, own, judge)


def sample_labels(record: Record, out: str | Path, *, n: int, stratify: Sequence[str], seed: int) -> LabelBook:
    """Draw `n` answers that were scored, of a run of any evaluator, into a new record of labels in the folder `out`.

    Raises: ConfigError for an unknown stratum, or an impossible `n`; UsageError where `out` exists, or the run has no
        answers that people could label.
    """
    with derived_anew(record) as run:
        sha256 = run.derived.manifest.journal_sha256
        drawn = draw(values_of(run, stratify), n, seed=seed, run_sha256=sha256)
        return new_labels(out, run, drawn, seed=seed, stratify=stratify)


def new_labels(
    out: str | Path,
    run: LabelledRun,
    drawn: Drawn,
    *,
    seed: int,
    stratify: Sequence[str],
    allocation: Allocation | None = None,
    items_of: ItemsOf | None = None,
) -> LabelBook:
    """A new record of labels in the folder `out`, of what was drawn. Raises: UsageError where it exists."""
    samples = run.asked_of(drawn.samples)
    asked = frozenset(samples)
    answers = {row.sample: run.answer(row) for row in run.rows() if row.sample in asked}
    rows = run.sheet({sample: answers[sample] for sample in samples})
    return create_labels(
        out,
        rows,
        lambda inputs: LabelsStarted(
            run_id=run.started.run_id,
            run_sha256=run.derived.manifest.journal_sha256,
            spec=run.started.spec,
            seed=seed,
            stratify=list(stratify),
            strata=drawn.strata,
            samples=samples,
            hidden=run.hidden,
            inputs=inputs,
            drawn_by=f"benchbook {version('benchbook')}",
            criteria=[_scale(one) for one in run.criteria],
            answers=[answer_sha256(row) for row in rows],
            allocation=allocation,
            items_of=items_of,
        ),
    )


def _scale(one: LabelCriterion) -> LabelScale:
    """A criterion as a record of labels keeps it."""
    return LabelScale(
        name=one.name, scores=one.scores, meaning=one.meaning, grades=one.grades, may_not_apply=one.may_not_apply
    )


def is_as_drawn(run: LabelledRun, started: LabelsStarted) -> bool:
    """True if the labelled samples are those that chance drew: they are drawn again, from the run."""
    try:
        again = drawn_again(run, started)
    except ConfigError:
        return False
    if (started.allocation or started.items_of) is not None and again.strata != started.strata:
        return False
    return run.asked_of(again.samples) == started.samples


def drawn_again(run: LabelledRun, started: LabelsStarted) -> Drawn:
    """The draw of a record of labels, after those that it goes on from. Raises: ConfigError where it can't be."""
    if started.items_of is not None:
        return drawn_by_items(run, started.items_of, seed=started.seed, run_sha256=started.run_sha256)
    allocation, before = started.allocation, frozenset[int]()
    for one in () if allocation is None else allocation.earlier:
        draw_of = _Draw(one.seed, one.stratify, one.strata, one.verdicts)
        before = frozenset(draw_of.again(run, started.run_sha256, before).samples)
    verdicts = {} if allocation is None else allocation.verdicts
    return _Draw(started.seed, started.stratify, started.strata, verdicts).again(run, started.run_sha256, before)


def drawn_by_items(run: LabelledRun, items_of: ItemsOf, *, seed: int, run_sha256: str) -> Drawn:
    """The draw of a run's answers by another run's items. Raises: ConfigError where it has none of them."""
    repeats = items_of.repeats or [0] * len(items_of.items)
    wanted = zip(items_of.items, repeats, strict=True)
    alone = frozenset(items_of.scored_here_alone)
    return draw_of_items(units_of(run), wanted, alone=alone, seed=seed, run_sha256=run_sha256)


def units_of(run: LabelledRun) -> dict[int, Unit]:
    """The item and the repeat of each sample that a draw is made from."""
    n_items = run.started.n_items
    return {row.sample: (row.item_id, row.sample // n_items) for row in run.to_draw()}


def drawn_by(run: LabelledRun, draw_of: EarlierDraw) -> Drawn:
    """The draw of a run's answers that a record of labels began with. Raises: ConfigError where it can't be."""
    made = _Draw(draw_of.seed, draw_of.stratify, draw_of.strata, draw_of.verdicts)
    return made.again(run, run.derived.manifest.journal_sha256, frozenset())


@dataclass(frozen=True, slots=True)
class _Draw:
    """All that a record says of how it was drawn, its run aside."""

    seed: int
    stratify: Sequence[str]
    strata: Mapping[str, DrawnStratum]
    verdicts: Mapping[str, str]

    def again(self, run: LabelledRun, run_sha256: str, before: frozenset[int]) -> Drawn:
        values = values_of(run, self.stratify)
        if not self.verdicts:
            n = sum(one.n_drawn for one in self.strata.values())
            return draw(values, n, seed=self.seed, run_sha256=run_sha256)
        if strange := sorted(set(values.values()) - self.verdicts.keys()):
            raise ConfigError("verdicts", quoted(strange[0]), ", ".join(self.verdicts))
        return draw_allocated(
            {sample: self.verdicts[value] for sample, value in values.items()},
            {name: one.n_drawn for name, one in self.strata.items()},
            seed=self.seed,
            run_sha256=run_sha256,
            earlier=before,
        )


def values_of(run: LabelledRun, stratify: Sequence[str]) -> dict[int, str]:
    """By sample, its values of these names, joined: the stratum that it is in. Raises: ConfigError for a name."""
    known = run.stratifiable
    for name in stratify:
        if name not in known:
            raise ConfigError("stratify", repr(name), ", ".join(known))
    columns = {name: known[name] for name in stratify}
    return {row.sample: " / ".join(_value(row, *one) for one in columns.items()) for row in run.to_draw()}


def _value(row: Any, name: str, column: str) -> str:
    value = getattr(row, column)
    if value is None:
        return "none"
    return str(bool(value) if name == "passed" else value)
