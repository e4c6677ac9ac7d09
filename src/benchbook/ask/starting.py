"""One start and one resume for every evaluator: ask whatever a record lacks, and derive what follows.

The asking is done in sittings, within the limits, and the journal holds how each sitting ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, closing, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import msgspec

from benchbook.ask.asking import Asker
from benchbook.ask.bytes_in_flight import check_address_space
from benchbook.ask.forecast import Forecast
from benchbook.ask.identity import code_version, environment, new_run_id, storable_config
from benchbook.ask.limits import Budget, Stop, two_step_interrupt
from benchbook.ask.model_id import PinCheck, parse_model_id
from benchbook.ask.roles import Means, Roles, RoleSettings, check_can_ask, open_means
from benchbook.ask.settings import SittingSettings, only_addresses_differ
from benchbook.ask.shared_rates import RateOf, rate_of
from benchbook.ask.work import Progress, ProgressHandler, Questions, Resume, Tell, Work, telling
from benchbook.errors import Gathering, UsageError
from benchbook.record.batches import BatchLedger
from benchbook.record.derived_files import deriving
from benchbook.record.facts import Interrupted, Resumed, RunEnded, RunStarted, Shard
from benchbook.record.folder import Inputs, Record, ShardRecord, at_work, create_record
from benchbook.record.inputs import HeldInputs
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import JournalLine
from benchbook.text import plural

_Derived_co = TypeVar("_Derived_co", covariant=True)
Settings = TypeVar("Settings", bound=SittingSettings)


@runtime_checkable
class Concludes(Protocol):
    """Questions after which more is recorded, once a sitting has asked all that it could."""

    async def conclude(self, journal: JournalWriter, stop: Stop, tell: Tell) -> bool:
        """Append it, reporting progress by `tell`; return True once all of it is there.

        After a person has interrupted the asking, it is not waited for.
        """
        ...


class Opened(Protocol):
    """The roles and questions of a sitting. A benchmark's models are pinned (R7.2)."""

    @property
    def roles(self) -> Roles: ...
    @property
    def benchmark(self) -> bool: ...
    def questions(self, record: Record, stop: Stop) -> Questions: ...


@dataclass(frozen=True, slots=True)
class Reopened:
    """A record's questions, for another sitting."""

    roles: Roles
    benchmark: bool
    questions: Callable[[Record, Stop], Questions]


class Prepared(Opened, Protocol):
    """A run that is ready to begin: settings are checked and files read, but nothing was asked or written.

    `inputs` are copied into the record; their hashes are known after that.
    """

    @property
    def inputs(self) -> Inputs: ...
    def first_fact(self, run_id: str, inputs: dict[str, str], source: str | Path | None) -> RunStarted: ...
    def forecast(self) -> Forecast: ...


class Asks(Protocol[_Derived_co, Settings]):
    """An evaluator, as far as asking goes. `may_change` names settings that affect how requests are sent, not which."""

    @property
    def may_change(self) -> frozenset[str]: ...
    def settings(self, values: Mapping[str, Any], source: str) -> Settings: ...
    def prepare(self, config: Settings) -> Prepared: ...
    def models_of(self, config: Settings) -> Sequence[RoleSettings]: ...
    def nothing_to_resume(self, started: RunStarted) -> str | None: ...
    def reopen(self, record: Record, config: Settings) -> Opened: ...
    def plan_of(self, started: RunStarted) -> msgspec.Struct: ...
    def derive(self, record: Record, target: Path) -> _Derived_co: ...


@dataclass(frozen=True, slots=True)
class RunResult(Generic[_Derived_co]):
    """A record and what was derived from it. If asking ended early, `stop.reason` says why, and it can be resumed."""

    record: Record
    derived: _Derived_co
    stop: Stop


def prepared_to_ask(evaluator: Asks[Any, Settings], config: Settings) -> Prepared:
    """A run as it would be begun, the addresses, keys and files of its models looked at too; nobody is asked.

    Raises: as `prepare`; SeveralFaultsError with all that is wrong.
    """
    wrong = Gathering()
    prepared: Prepared | None = None
    with wrong:
        prepared = evaluator.prepare(config)
    for role in evaluator.models_of(config):
        with wrong:
            check_can_ask(role)
    wrong.raise_any()
    assert prepared is not None  # noqa: S101 - else something is wrong
    return prepared


async def start(
    evaluator: Asks[_Derived_co, Settings],
    config: Settings,
    on_progress: ProgressHandler | None = None,
    source: str | Path | None = None,
    on_begun: Callable[[Record], None] = lambda _: None,
) -> RunResult[_Derived_co]:
    """Begin a new record and ask all of its plan. `source` is the file that the settings came from, if any; `on_begun`
    is called once the record is there, and held.

    Raises: UsageError and its kin before anything is written, all that is wrong at once; RecordError.
    """
    check_address_space()
    prepared = prepared_to_ask(evaluator, config)
    run_id = config.run_id or new_run_id()
    async with open_means_for(config, prepared) as means:  # a missing key is reported before a record exists
        record = create_record(
            config.runs, run_id, dict(prepared.inputs), lambda inputs: prepared.first_fact(run_id, inputs, source)
        )
        return await _sit(evaluator, record, config, prepared, means, None, on_progress, on_begun=on_begun)


async def resume(
    evaluator: Asks[_Derived_co, Settings],
    record: Record,
    changes: Mapping[str, Any] | None = None,
    on_progress: ProgressHandler | None = None,
    on_begun: Callable[[Record], None] = lambda _: None,
) -> RunResult[_Derived_co]:
    """Continue a record where its journal ends. `changes` may hold limits and addresses, nothing of the plan (P3);
    `on_begun` is called once all that was asked for is found right.

    Raises: UsageError for a change to the plan, and for a record in which nobody is asked; RecordError, also where an
    input is not what the record was begun with.
    """
    check_address_space()
    refuse_shards(record)
    started = record.started()
    if (why := evaluator.nothing_to_resume(started)) is not None:
        raise UsageError(f"{record.path}: {why}; there is nothing to resume")
    config = _changed(evaluator, started, changes or {})
    inputs = HeldInputs(record, started.inputs.values())
    opened = evaluator.reopen(record, config)
    # Only `changes` may end a run with samples unanswered; the setting of its first sitting does not count here.
    as_it_is = bool((changes or {}).get("accept_unanswered"))
    async with open_means_for(config, opened) as means:
        resumed = Resumed(code_version=code_version(), environment=environment(), config=storable_config(config))
        return await _sit(
            evaluator, record, config, opened, means, resumed, on_progress, inputs, as_it_is=as_it_is, on_begun=on_begun
        )


def refuse_shards(record: Record) -> None:
    """Raises: UsageError for a record that many writers ask, each by a command of its own."""
    if record.is_sharded or isinstance(record, ShardRecord):
        raise UsageError(f"{record.path}: is asked in shards; the command that began a shard goes on with it")


def _changed(evaluator: Asks[Any, Settings], started: RunStarted, changes: Mapping[str, Any]) -> Settings:
    """The settings of a record's first sitting, with those changes that may be made between sittings."""
    for name, value in changes.items():
        if name == "judges" and only_addresses_differ(started.config.get(name, ()), value):
            continue
        if name not in evaluator.may_change and started.config.get(name) != value:
            raise UsageError(f"resume: {name} is part of the plan and can't change; start a new run")
    return evaluator.settings({**started.config, **changes}, "resume")


def open_means_for(config: SittingSettings, opened: Opened) -> AbstractAsyncContextManager[Means]:
    """The connections of a sitting, and its cache. Raises: ConfigError for a missing key."""
    return open_means(opened.roles, max_connections=config.max_connections, cache=config.cache)


async def _sit(
    evaluator: Asks[_Derived_co, Any],
    record: Record,
    config: SittingSettings,
    opened: Opened,
    means: Means,
    resumed: Resumed | None,
    on_progress: ProgressHandler | None,
    inputs: HeldInputs | None = None,
    *,
    as_it_is: bool = False,
    on_begun: Callable[[Record], None],
) -> RunResult[_Derived_co]:
    """Ask whatever the journal lacks, and derive what follows from it. `on_begun` is called once others see that a
    process works at the record."""
    with at_work(record):
        sitting = await ask_what_lacks(
            record, config, opened, means, resumed, on_progress, inputs, as_it_is=as_it_is, on_begun=on_begun
        )
        with deriving(record):
            return RunResult(record, evaluator.derive(record, record.path), sitting.stop)


Beside = Callable[[Stop], AbstractAsyncContextManager[Any]]


async def ask_what_lacks(
    record: Record,
    config: SittingSettings,
    opened: Opened,
    means: Means,
    resumed: Resumed | None,
    on_progress: ProgressHandler | None,
    inputs: HeldInputs | None = None,
    *,
    shard: Shard | None = None,
    rates: RateOf = rate_of,
    as_it_is: bool = False,
    on_begun: Callable[[Record], None] = lambda _: None,
    beside: Beside = nullcontext,
) -> Sitting:
    """Ask whatever a journal lacks: of the whole plan, or of one `shard`, whose `rates` are those of a part. The record
    is held by the caller. What goes on `beside` begins before the journal is opened, and ends once it is closed; it may
    say why to stop."""
    stop = Stop()
    models = {name: parse_model_id(plan.model_id, role.setting) for name, (role, plan) in opened.roles.items()}
    with closing(opened.questions(record, stop)) as questions:
        if inputs is not None:
            inputs.check()  # as they were read
        on_begun(record)
        sitting = Sitting(record, config, means, questions, stop, on_progress, shard, rates)
        async with beside(stop):
            await sitting.ask(resumed, PinCheck(models, benchmark=opened.benchmark), as_it_is=as_it_is)
    return sitting


# ── a sitting ────────────────────────────────────────────────────────────────────────────────────────────────


def end_of_sitting(
    stop: Stop, *, is_concluded: bool, is_decided: bool, n_left: int, accepts: bool
) -> RunEnded | Interrupted:
    """The fact with which a sitting ends, by connections or by batches.

    `is_concluded`: all that follows the asking is recorded. A run that is decided has nothing left to resume, so that
    nothing stopped it. `accepts`: it may end with `n_left` samples unanswered (R1.3a).
    """
    if is_concluded:
        if is_decided:
            stop.settle()
            return RunEnded()
        if n_left == 0:
            return RunEnded()
        if accepts and stop.reason is None:
            return RunEnded(accepts_unanswered=True)
    return Interrupted(reason=stop.reason or "stopped at once")


class Sitting:
    """One sitting, from opening a record's journal to closing it. If it ends early, `stop.reason` says why."""

    def __init__(
        self,
        record: Record,
        config: SittingSettings,
        means: Means,
        questions: Questions,
        stop: Stop,
        on_progress: ProgressHandler | None,
        shard: Shard | None = None,
        rates: RateOf = rate_of,
    ) -> None:
        self.stop = stop
        self._rates = rates
        self._record = record
        self._config = config
        self._means = means
        self._questions = questions
        self._on_progress = on_progress
        only = range(questions.n_samples) if shard is None else range(shard.first, shard.end)
        self._progress = Progress(planned=len(only))
        self._resume = Resume(questions.n_samples, questions.is_finished, questions.endpoint_of, only)
        self._ended = False
        self._batches = BatchLedger()

    async def ask(self, resumed: Resumed | None, pins: PinCheck, *, as_it_is: bool = False) -> None:
        """Open the journal, ask whatever it lacks, and record how the sitting ended. `resumed` is None in the first.

        `as_it_is`: nobody is asked, and the run ends with its samples unanswered (R1.3a).
        """
        with JournalWriter(self._record.journal, on_line=self._note) as journal:
            if self._ended:
                return
            if n_out := sum(one.n_out for one in self._batches.open):
                out = f"{plural(n_out, 'request')} of it are in batches"
                raise UsageError(f"{self._record.path}: {out}; `benchbook batch collect {self._record.path}` goes on")
            if resumed is not None:
                journal.append(resumed)
            accepts = as_it_is or self._config.accept_unanswered
            if not self._questions.is_decided and not as_it_is:
                await self._ask_all(journal, pins)
                self.stop.over_unanswered(len(self._resume.begun), accept=accepts)
            is_concluded = await self._conclude(journal)
            journal.append(
                end_of_sitting(
                    self.stop,
                    is_concluded=is_concluded,
                    is_decided=self._questions.is_decided,
                    n_left=self._resume.n_left,
                    accepts=accepts,
                )
            )

    async def _conclude(self, journal: JournalWriter) -> bool:
        """Do the work that follows the asking, if any; return True once it is done."""
        if not isinstance(self._questions, Concludes):
            return True
        is_whole = False
        tell = telling(self._on_progress, self._progress)

        def say_stop() -> None:
            self._progress.stopping = self.stop.reason
            tell(self._progress.step, self._progress.done)

        with two_step_interrupt(self.stop, on_first=say_stop):
            is_whole = await self._questions.conclude(journal, self.stop, tell)
        return is_whole  # noqa: RET504 - a second interrupt leaves the block with it False

    @property
    def n_done(self) -> int:
        """The samples that have their outcome."""
        return self._resume.n_done

    @property
    def has_ended(self) -> bool:
        """True if all had theirs before this sitting."""
        return self._ended

    def _note(self, line: JournalLine) -> None:
        self._resume.note(line)
        self._batches.note(line.fact)
        self._ended = self._ended or isinstance(line.fact, RunEnded)

    async def _ask_all(self, journal: JournalWriter, pins: PinCheck) -> None:
        asker = self._asker(journal)
        asker.on_wait = lambda: self._report(asker)
        work = Work(
            self._questions,
            self._resume.among(self._questions.order(journal, self._resume)),
            asker,
            self._resume,
            pins,
            workers=self._config.max_connections,
            max_seconds=self._config.max_seconds,
            on_sample=lambda: self._report(asker),
        )
        with two_step_interrupt(self.stop, on_first=lambda: self._report(asker)):
            await work.run()

    def _asker(self, journal: JournalWriter) -> Asker:
        config, endpoints, tokens = self._config, self._means.endpoints, self._resume.tokens
        paid = (endpoint.cost_usd(*tokens[name]) for name, endpoint in endpoints.items() if name in tokens)
        spent = sum(paid, start=Decimal(0))
        return Asker(
            journal=journal,
            endpoints=endpoints,
            stop=self.stop,
            budget=Budget(config.max_cost_usd, spent),
            max_retries=config.max_retries,
            max_wait_ms=config.max_wait_ms,
            requests=self._rates("requests", config.requests_per_minute),
            tokens=self._rates("tokens", config.tokens_per_minute),
            cache=self._means.cache,
        )

    def _report(self, asker: Asker) -> None:
        if self._on_progress is not None:
            self._progress.done = self._resume.n_done
            self._progress.cost_usd = asker.budget.spent_usd
            self._progress.stopping = self.stop.reason
            self._progress.waiting = asker.waiting
            self._on_progress(self._progress)
