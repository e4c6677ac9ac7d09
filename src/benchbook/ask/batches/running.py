"""Runs by batch: begun, gone on with, looked at, and given up. The record is the one that `benchbook run` makes.

A process need not stay: each of these does what can be done now, and the next one goes on from the journal.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from benchbook.ask.batches.budget import BatchBudget
from benchbook.ask.batches.facts_held import HeldFactsOfBatches
from benchbook.ask.batches.recording import Recorder
from benchbook.ask.batches.sitting import BatchSitting
from benchbook.ask.batches.standing import last_config
from benchbook.ask.batches.targets import BatchTarget, target_of
from benchbook.ask.identity import code_version, environment, new_run_id, storable_config
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import PinCheck, parse_model_id
from benchbook.ask.roles import Roles, check_can_ask
from benchbook.ask.settings import BatchSettings, SittingSettings
from benchbook.ask.starting import Asks, Concludes, Opened, Prepared, end_of_sitting
from benchbook.ask.unanswered import Who, who_is_asked
from benchbook.ask.work import Progress, ProgressHandler, Questions, run_async, telling
from benchbook.errors import Gathering, RecordError, UsageError, VendorError
from benchbook.record.batches import BATCHES, HeldBatch
from benchbook.record.derived_files import deriving
from benchbook.record.facts import Interrupted, Resumed, Role, RunEnded, RunStarted
from benchbook.record.folder import Record, at_work, create_record
from benchbook.record.format import SHARDS_OR_BATCHES
from benchbook.record.inputs import HeldInputs
from benchbook.record.journal import JournalWriter

_FIRST_WAIT_S, _LONGEST_WAIT_S, _GROWS = 5.0, 300.0, 1.5

_Derived = TypeVar("_Derived")


@dataclass(frozen=True, slots=True)
class BatchRun(Generic[_Derived]):
    """A record after one look. `derived` is None while batches are out; `stop.reason` says why it ended early."""

    record: Record
    derived: _Derived | None
    stop: Stop
    batches: tuple[HeldBatch, ...]
    n_samples: int
    n_done: int
    refused: str | None = None  # what a vendor did not take; the next look tries again

    @property
    def has_files(self) -> bool:
        """True if files of requests wait in the record to be put where somebody carries them from."""
        return any((self.record.path / BATCHES).glob("*.requests"))

    @property
    def is_over(self) -> bool:
        return self.derived is not None

    @property
    def n_out(self) -> int:
        """How many requests are in batches that are not over."""
        return sum(one.n_out for one in self.batches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How long to wait for batches, and by which clock."""

    until_over: bool = False
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time
    first_s: float = _FIRST_WAIT_S
    longest_s: float = _LONGEST_WAIT_S


def prepared_for_batch(evaluator: Asks[Any, Any], config: SittingSettings) -> Prepared:
    """A run as it would be begun, and that each of its models can be asked by batch; nobody is asked.

    Raises: as `prepare`; ConfigError; SeveralFaultsError with all that is wrong.
    """
    settings = _batch_settings(config)
    wrong = Gathering()
    prepared: Prepared | None = None
    with wrong:
        prepared = evaluator.prepare(config)
    for role in evaluator.models_of(config) if not settings.by_hand else ():
        with wrong:
            check_can_ask(role)
    if prepared is not None:
        for role, plan in prepared.roles.values():
            with wrong:
                target_of(role, plan, settings)
    wrong.raise_any()
    assert prepared is not None  # noqa: S101 - else something is wrong
    return prepared


def submit(
    evaluator: Asks[_Derived, Any],
    config: SittingSettings,
    source: str | Path | None = None,
    *,
    to_files: Path | None = None,
    on_progress: ProgressHandler | None = None,
    waiting: Waiting = Waiting(),
) -> BatchRun[_Derived]:
    """Begin a record, and send what can be asked of its plan.

    Raises: UsageError and its kin before anything is written; RecordError; VendorError where a vendor refuses for good:
    the record is there, and goes on with `collect`.
    """
    prepared = prepared_for_batch(evaluator, config)
    run_id = config.run_id or new_run_id()

    def first_fact(inputs: dict[str, str]) -> RunStarted:
        fact = prepared.first_fact(run_id, inputs, source)
        fact.format = SHARDS_OR_BATCHES
        return fact

    record = create_record(config.runs, run_id, dict(prepared.inputs), first_fact)
    return _look(evaluator, record, config, prepared, to_files=to_files, on_progress=on_progress, waiting=waiting)


def go_on(
    evaluator: Asks[_Derived, Any],
    record: Record,
    *,
    changes: Mapping[str, Any] | None = None,
    files: Sequence[Path] = (),
    to_files: Path | None = None,
    resumes: bool = False,
    on_progress: ProgressHandler | None = None,
    waiting: Waiting = Waiting(),
) -> BatchRun[_Derived]:
    """Fetch what is there, record it, and send what follows. `files` are results that somebody brings; `resumes` begins
    another sitting, in which samples that ended unanswered are asked again.

    Raises: UsageError for a record that was not begun by batch, and for results that are of none of its batches;
    RecordError; VendorError.
    """
    started = record.started()
    if started.format < SHARDS_OR_BATCHES or started.config.get("batch") is None:
        what = "was not begun by `benchbook batch submit`; `benchbook run --resume` goes on with it"
        raise UsageError(f"{record.path}: {what}")
    before = last_config(record, started)
    for name, value in (changes or {}).items():
        if name not in evaluator.may_change and name != "batch" and before.get(name) != value:
            raise UsageError(f"resume: {name} is part of the plan and can't change; start a new run")
    config = evaluator.settings({**before, **(changes or {})}, "resume")
    inputs = HeldInputs(record, started.inputs.values())
    opened = evaluator.reopen(record, config)
    return _look(
        evaluator, record, config, opened, inputs=inputs, files=files, to_files=to_files, resumes=resumes,
        on_progress=on_progress, waiting=waiting,
    )  # fmt: skip


def _batch_settings(config: SittingSettings) -> BatchSettings:
    return config.batch or BatchSettings()


def _look(
    evaluator: Asks[_Derived, Any],
    record: Record,
    config: SittingSettings,
    opened: Opened,
    *,
    inputs: HeldInputs | None = None,
    files: Sequence[Path] = (),
    to_files: Path | None = None,
    resumes: bool = False,
    on_progress: ProgressHandler | None,
    waiting: Waiting,
) -> BatchRun[_Derived]:
    """Hold the record, and do all that can be done now; once nothing is out, derive what follows."""
    stop = Stop()
    with at_work(record):
        with closing(opened.questions(record, stop)) as questions:
            if inputs is not None:
                inputs.check()
            work = _Work(record, config, opened, questions, stop, to_files, on_progress, waiting)
            work.run(files, resumes=resumes)
        derived = None
        if work.ended:
            with deriving(record):
                derived = evaluator.derive(record, record.path)
    held = work.held
    return BatchRun(
        record, derived, stop, tuple(held.ledger.batches.values()), held.n_samples, work.n_done, work.refused
    )


@dataclass(slots=True)
class _Work:
    """One process's work at a record."""

    record: Record
    config: SittingSettings
    opened: Opened
    questions: Questions
    stop: Stop
    to_files: Path | None
    on_progress: ProgressHandler | None
    waiting: Waiting
    held: HeldFactsOfBatches = field(init=False)
    ended: bool = False  # nothing is out: it is complete, or was interrupted
    refused: str | None = None

    def __post_init__(self) -> None:
        questions = self.questions
        self.held = HeldFactsOfBatches(
            self.record.journal, questions.n_samples, questions.is_finished, questions.endpoint_of
        )

    @property
    def n_done(self) -> int:
        """How many samples are finished; those of a run that has ended are not looked at one by one."""
        is_whole = self.held.ended is not None and not self.held.ended.accepts_unanswered
        return self.held.n_samples if is_whole else self.held.n_done

    def run(self, files: Sequence[Path], *, resumes: bool) -> None:
        held = self.held
        with JournalWriter(self.record.journal, on_line=held.take) as journal:
            if held.faults:
                raise RecordError(f"{self.record.path}: {held.faults[0]}; see `benchbook verify`")
            if held.ended is not None:
                self.ended = True
                return
            if resumes:
                if held.ledger.open and held.interrupted is None:
                    raise UsageError(f"{self.record.path}: batches are out; `benchbook batch collect` goes on with it")
                self._append(journal, self._resumed())
            elif held.interrupted is not None:
                self.stop.because(held.interrupted.reason)
                self.ended = True
                return
            sitting = self._sitting(journal)
            sitting.sweep()
            if files:
                sitting.take_files(list(files))
            self._until_over(sitting)
            self.refused = None if sitting.refused is None else str(sitting.refused)
            if sitting.is_over:
                self._end(journal)

    def _resumed(self) -> Resumed:
        return Resumed(code_version=code_version(), environment=environment(), config=storable_config(self.config))

    def _sitting(self, journal: JournalWriter) -> BatchSitting:
        settings = _batch_settings(self.config)
        roles, clock = self.opened.roles, self.waiting.clock
        models = {name: parse_model_id(plan.model_id, role.setting) for name, (role, plan) in roles.items()}
        recorder = Recorder(
            journal,
            self.held,
            self.questions,
            self.stop,
            PinCheck(models, benchmark=self.opened.benchmark),
            self.config.max_retries,
            lambda endpoint: _who(endpoint, roles),
            self._tell,
        )
        targets: dict[str, BatchTarget | None] = {
            name: target_of(role, plan, settings) for name, (role, plan) in roles.items()
        }
        budget = BatchBudget(self.config.max_cost_usd, self.held, targets)
        return BatchSitting(
            self.record, journal, self.held, self.questions, targets, settings, recorder, budget, self.to_files, clock
        )

    def _until_over(self, sitting: BatchSitting) -> None:
        """Look once, or again and again with longer and longer waits until nothing is out."""
        wait_s, jitter = self.waiting.first_s, random.Random()  # noqa: S311 - so that clients spread out
        while True:
            before = self.held.n_done, len(self.held.ledger.batches)
            try:
                sitting.look()
            except VendorError as error:
                error.args = (f"{error}. Mend it, then: benchbook batch collect {self.record.path}",)
                raise
            self._tell()
            if sitting.is_over or not self.waiting.until_over:
                return
            if before != (self.held.n_done, len(self.held.ledger.batches)):
                wait_s = self.waiting.first_s
            asked_s = 0.0 if sitting.refused is None else sitting.refused.wait_s or 0.0
            self.waiting.sleep(max(asked_s, wait_s * jitter.uniform(0.8, 1.0)))
            wait_s = min(wait_s * _GROWS, self.waiting.longest_s)

    def _tell(self) -> None:
        if self.on_progress is not None:
            self.on_progress(Progress(planned=self.held.n_samples, done=self.held.n_done, stopping=self.stop.reason))

    def _end(self, journal: JournalWriter) -> None:
        """Record how the sitting ended, as `benchbook run` does."""
        held, stop = self.held, self.stop
        accepts = self.config.accept_unanswered
        stop.n_answered = held.n_done
        is_decided = self.questions.is_decided
        if not is_decided:
            stop.over_unanswered(held.n_samples - held.n_done, accept=accepts)
        is_concluded = self._conclude(journal)
        n_left = held.n_samples - held.n_done
        end = end_of_sitting(stop, is_concluded=is_concluded, is_decided=is_decided, n_left=n_left, accepts=accepts)
        self._append(journal, end)
        self.ended = True

    def _conclude(self, journal: JournalWriter) -> bool:
        if not isinstance(self.questions, Concludes):
            return True
        tell = telling(self.on_progress, Progress(planned=self.held.n_samples, done=self.held.n_done))
        return run_async(self.questions.conclude(journal, self.stop, tell))

    def _append(self, journal: JournalWriter, fact: Interrupted | Resumed | RunEnded) -> None:
        journal.append(fact)
        self.held.note_fact(fact)


def _who(endpoint: str, roles: Roles) -> Who:
    """Whoever is asked at an endpoint, as texts name it."""
    role, plan = roles[endpoint]
    is_one = role.prefix.endswith("_")
    name: Role = "candidate" if endpoint == "candidate" else "judge"
    judge = None if is_one else plan.name
    return who_is_asked(plan, name, {"base_url": role.config.base_url}, role.prefix, judge)
