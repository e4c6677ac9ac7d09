"""One start and one resume, whatever the evaluator: what a record lacks is asked, and what follows is derived."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from benchbook.ask.identity import code_version, environment, project_version
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import PinCheck, parse_model_id
from benchbook.ask.requests import RolePlan, plan_sha256
from benchbook.ask.roles import RoleSettings, open_means
from benchbook.ask.settings import SittingSettings, only_addresses_differ
from benchbook.ask.sitting import Means, Questions, Sitting
from benchbook.ask.work import ProgressHandler
from benchbook.errors import UsageError
from benchbook.record.facts import Resumed, RunStarted
from benchbook.record.folder import Record, create_record

__all__ = [
    "Asks",
    "Opened",
    "Prepared",
    "Roles",
    "RunResult",
    "first_fact",
    "new_run_id",
    "project_identity",
    "resume",
    "start",
    "storable_config",
]

Derived_co = TypeVar("Derived_co", covariant=True)
Settings = TypeVar("Settings", bound=SittingSettings)

# How each model is reached, and how it is asked, by what its endpoint is called.
Roles = Mapping[str, tuple[RoleSettings, RolePlan]]


class Opened(Protocol):
    """Whom a sitting asks, and what. A benchmark's models are pinned (R7.2)."""

    @property
    def roles(self) -> Roles: ...
    @property
    def benchmark(self) -> bool: ...
    def questions(self, record: Record, stop: Stop) -> Questions: ...


class Prepared(Opened, Protocol):
    """A run as it would be begun: settings are checked, files were read, nothing was asked or written.

    `inputs` are copied into the record, and their hashes are known once they are.
    """

    @property
    def inputs(self) -> Mapping[str, Path | bytes]: ...
    def first_fact(self, run_id: str, inputs: dict[str, str], source: str | Path | None) -> RunStarted: ...


class Asks(Protocol[Derived_co, Settings]):
    """An evaluator, as far as asking goes. `may_change` are settings that change how requests are sent, not which."""

    @property
    def may_change(self) -> frozenset[str]: ...
    def settings(self, values: Mapping[str, Any], source: str) -> Settings: ...
    def prepare(self, config: Settings) -> Prepared: ...
    def nothing_to_resume(self, started: RunStarted) -> str | None: ...
    def reopen(self, record: Record, config: Settings) -> Opened: ...
    def derive(self, record: Record, target: Path) -> Derived_co: ...


@dataclass(frozen=True, slots=True)
class RunResult(Generic[Derived_co]):
    """A record and what was derived from it. `stop.reason` says why asking ended early; it can be resumed then."""

    record: Record
    derived: Derived_co
    stop: Stop


async def start(
    evaluator: Asks[Derived_co, Settings],
    config: Settings,
    on_progress: ProgressHandler | None = None,
    source: str | Path | None = None,
) -> RunResult[Derived_co]:
    """Begin a new record and ask all of its plan. `source` is the file that the settings came from, if one is.

    Raises: UsageError and its kin before anything is written; RecordError.
    """
    prepared = evaluator.prepare(config)
    run_id = config.run_id or new_run_id()
    async with _means(config, prepared) as means:  # a missing key is told before a record exists
        record = create_record(
            config.runs, run_id, dict(prepared.inputs), lambda inputs: prepared.first_fact(run_id, inputs, source)
        )
        return await _sit(evaluator, record, config, prepared, means, None, on_progress)


async def resume(
    evaluator: Asks[Derived_co, Settings],
    record: Record,
    changes: Mapping[str, Any] | None = None,
    on_progress: ProgressHandler | None = None,
) -> RunResult[Derived_co]:
    """Go on with a record where its journal ends. `changes` may hold limits and addresses, nothing of the plan (P3).

    Raises: UsageError for a change that would change the plan, and where nobody was asked; RecordError.
    """
    started = record.started()
    if (why := evaluator.nothing_to_resume(started)) is not None:
        raise UsageError(f"{record.path}: {why}; there is nothing to resume")
    config = _changed(evaluator, started, changes or {})
    opened = evaluator.reopen(record, config)
    # Of a run that is resumed to end with what is unanswered; a setting of its first sitting says nothing of that.
    as_it_is = bool((changes or {}).get("accept_unanswered"))
    async with _means(config, opened) as means:
        resumed = Resumed(code_version=code_version(), environment=environment(), config=storable_config(config))
        return await _sit(evaluator, record, config, opened, means, resumed, on_progress, as_it_is=as_it_is)


def _changed(evaluator: Asks[Any, Settings], started: RunStarted, changes: Mapping[str, Any]) -> Settings:
    """The settings of a record's first sitting, with what may change between sittings."""
    for name, value in changes.items():
        if name == "judges" and only_addresses_differ(started.config.get(name, ()), value):
            continue
        if name not in evaluator.may_change and started.config.get(name) != value:
            raise UsageError(f"resume: {name} is part of the plan and can't change; start a new run")
    return evaluator.settings({**started.config, **changes}, "resume")


def _means(config: SittingSettings, opened: Opened) -> AbstractAsyncContextManager[Means]:
    return open_means(opened.roles, max_connections=config.max_connections, cache=config.cache)


async def _sit(
    evaluator: Asks[Derived_co, Any],
    record: Record,
    config: SittingSettings,
    opened: Opened,
    means: Means,
    resumed: Resumed | None,
    on_progress: ProgressHandler | None,
    *,
    as_it_is: bool = False,
) -> RunResult[Derived_co]:
    """Ask what the journal lacks, and derive what follows from it."""
    stop = Stop()
    models = {name: parse_model_id(plan.model_id, role.setting) for name, (role, plan) in opened.roles.items()}
    with closing(opened.questions(record, stop)) as questions:
        sitting = Sitting(record, config, means, questions, stop, on_progress)
        await sitting.ask(resumed, PinCheck(models, benchmark=opened.benchmark), as_it_is=as_it_is)
    return RunResult(record, evaluator.derive(record, record.path), stop)


# ── a record's first fact ────────────────────────────────────────────────────────────────────────────────────


def first_fact(
    run_id: str,
    plan: Any,
    config: Mapping[str, Any],
    inputs: dict[str, str],
    identity: Mapping[str, Any],
    *,
    n_items: int,
    repeats: int,
) -> RunStarted:
    """Of a plan that names its spec, with the settings as they are recorded."""
    return RunStarted(
        run_id=run_id,
        spec=plan.spec,
        spec_sha256=plan.spec_sha256,
        plan_sha256=plan_sha256(plan),
        n_items=n_items,
        repeats=repeats,
        config=dict(config),
        inputs=inputs,
        identity={**identity, "plan": msgspec.to_builtins(plan)},
        code_version=code_version(),
        environment=environment(),
    )


def project_identity(source: str | Path | None, name: str, data: str) -> dict[str, Any]:
    """The commit of the user's own work, by the config or by what was asked: `name` is what texts call that.

    A set that Benchbook ships (`@NAME`) is nobody's work, and one in memory lies nowhere.
    """
    file = None if data.startswith(("@", "memory:")) else data
    return {"project_version": project_version(("config", source), (name, file))}


def storable_config(config: SittingSettings) -> dict[str, Any]:
    """The settings as they are recorded: exact decimals as strings, and what was not set left out."""
    values = msgspec.to_builtins(config)
    return {name: value for name, value in values.items() if value not in (None, {}, [], ())}


def new_run_id() -> str:
    """Sorts by time, and does not collide."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
