"""Runs a plan: starts or resumes a record, asks what is missing, derives what follows."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from benchbook.derivations.model_id import parse_model_id
from benchbook.derivations.plan import Plan, RolePlan, plan_sha256
from benchbook.derivations.requests import Requests
from benchbook.derivations.rubric_tables import Derived, derive, plan_of, template_of
from benchbook.errors import UsageError
from benchbook.evalsets import EvalSet, open_evalset
from benchbook.evalsets.tabular import table_form
from benchbook.providers.local import SLOTS
from benchbook.providers.opening import ProviderSettings, open_provider
from benchbook.records import Interrupted, JournalWriter, Line, Record, Resumed, RunEnded, RunStarted, create_record
from benchbook.records.facts import Role
from benchbook.runner.asking import Asker, Endpoint
from benchbook.runner.cache import ResponseCache
from benchbook.runner.config import RunConfig, config_from_mapping
from benchbook.runner.environment import code_version, environment
from benchbook.runner.interrupts import two_step_interrupt
from benchbook.runner.limits import Budget, Gate, RateLimit
from benchbook.runner.preparing import Prepared, prepare, provider_settings
from benchbook.runner.progress import Progress, ProgressHandler, Resume
from benchbook.runner.recorded import import_outputs
from benchbook.runner.stopping import Stop
from benchbook.runner.work import Work

__all__ = ["MAY_CHANGE", "RunResult", "resume_run", "start_run"]

START_CONNECTIONS = 16  # concurrency grows from here to max_connections

# Settings that may differ between sittings: they change how requests are sent, not which.
MAY_CHANGE = frozenset(
    {
        "model_base_url", "model_api_key_env", "model_path", "judge_base_url", "judge_api_key_env", "judge_path",
        "max_connections", "requests_per_minute", "tokens_per_minute", "max_cost_usd", "max_seconds", "timeout_ms",
        "max_retries", "max_wait_ms", "cache", "reports", "confidence",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run's record and what was derived from it. `stop.reason` says why it ended early; it can be resumed."""

    record: Record
    derived: Derived
    stop: Stop


async def start_run(config: RunConfig, on_progress: ProgressHandler | None = None) -> RunResult:
    """Begin a new record and run its plan.

    Raises: UsageError and its kin before anything is written; RecordError.
    """
    prepared = prepare(config)
    prepared.evalset.close()
    run_id = config.run_id or _new_run_id()
    async with _means(config, prepared.plan) as means:  # a missing key is told before a record exists
        record = create_record(
            config.runs, run_id, prepared.inputs, lambda inputs: _run_started(run_id, prepared, inputs)
        )
        sitting = _Sitting(record, config, prepared.plan, means, on_progress)
        await sitting.ask(None, prepared.evalset.copied_to(record.input(prepared.evalset.sha256)))
        return sitting.result()


async def resume_run(
    record: Record, changes: dict[str, Any] | None = None, on_progress: ProgressHandler | None = None
) -> RunResult:
    """Go on with a record where its journal ends. `changes` may hold limits and endpoints, nothing of the plan.

    Raises: UsageError for a change that would change the plan; RecordError.
    """
    started = record.started()
    for name, value in (changes or {}).items():
        if name not in MAY_CHANGE and started.config.get(name) != value:
            raise UsageError(f"resume: {name} is part of the plan and can't change; start a new run")
    config = config_from_mapping({**started.config, **(changes or {})}, "resume")
    plan = plan_of(started)
    async with _means(config, plan) as means:
        resumed = Resumed(code_version=code_version(), environment=environment(), config=_storable(config))
        sitting = _Sitting(record, config, plan, means, on_progress)
        await sitting.ask(resumed, open_evalset(record.input(started.inputs["evalset"])))
        return sitting.result()


class _Sitting:
    """One stretch of work on a record, from the opening of its journal to the derived files."""

    def __init__(
        self,
        record: Record,
        config: RunConfig,
        plan: Plan,
        means: _Means,
        on_progress: ProgressHandler | None,
    ) -> None:
        self._means = means
        self._record = record
        self._config = config
        self._plan = plan
        self._on_progress = on_progress
        self._progress = Progress(planned=plan.n_samples)
        self._stop = Stop()
        self._resume = Resume(plan)
        self._ended = False

    async def ask(self, resumed: Resumed | None, evalset: EvalSet) -> None:
        """Open the journal, ask what it lacks, and say in it how the sitting ended. `resumed` is None at the first."""
        with evalset, JournalWriter(self._record.journal, on_line=self._note) as journal:
            if not self._ended:
                if resumed is not None:
                    journal.append(resumed)
                await self._ask_all(journal, self._record.started(), evalset)
                if self._resume.n_done == self._plan.n_samples:
                    journal.append(RunEnded())
                else:
                    journal.append(Interrupted(reason=self._stop.reason or "stopped at once"))

    def result(self) -> RunResult:
        """What follows from the journal as it now is."""
        return RunResult(self._record, derive(self._record, self._record.path), self._stop)

    def _note(self, line: Line) -> None:
        self._resume.note(line)
        self._ended = self._ended or isinstance(line.fact, RunEnded)

    async def _ask_all(self, journal: JournalWriter, started: RunStarted, evalset: EvalSet) -> None:
        config, plan = self._config, self._plan
        if plan.candidate.provider == "recorded":
            outputs = self._record.input(started.inputs["outputs"])
            form, columns = started.identity["output_form"], started.identity["output_columns"]
            import_outputs(outputs, form, columns, evalset, plan.repeats, self._resume, journal)
        asker = self._asker(journal)
        work = Work(
            plan,
            evalset,
            Requests(plan, template_of(self._record, started)),
            asker,
            self._resume,
            workers=config.max_connections,
            max_seconds=config.max_seconds,
            on_sample=lambda: self._report(asker),
        )
        with two_step_interrupt(self._stop):
            await work.run()

    def _asker(self, journal: JournalWriter) -> Asker:
        config, endpoints, tokens = self._config, self._means.endpoints, self._resume.tokens
        spent = sum((endpoint.cost_usd(*tokens[role]) for role, endpoint in endpoints.items()), start=Decimal(0))
        return Asker(
            journal=journal,
            endpoints=endpoints,
            stop=self._stop,
            budget=Budget(config.max_cost_usd, spent),
            max_retries=config.max_retries,
            max_wait_ms=config.max_wait_ms,
            requests=RateLimit(config.requests_per_minute) if config.requests_per_minute else None,
            tokens=RateLimit(config.tokens_per_minute) if config.tokens_per_minute else None,
            cache=self._means.cache,
        )

    def _report(self, asker: Asker) -> None:
        if self._on_progress is not None:
            self._progress.done = self._resume.n_done
            self._progress.cost_usd = asker.budget.spent_usd
            self._progress.stopping = self._stop.reason
            self._on_progress(self._progress)


@dataclass(frozen=True, slots=True)
class _Means:
    """What a sitting asks with."""

    endpoints: dict[Role, Endpoint]
    cache: ResponseCache | None


@asynccontextmanager
async def _means(config: RunConfig, plan: Plan) -> AsyncIterator[_Means]:
    """Both roles' endpoints and the cache, closed at the end.

    One provider and one gate serve both roles where they are the same model in one place.
    """
    candidate = provider_settings(config, "model", parse_model_id(plan.candidate.model_id, "model"))
    judge = provider_settings(config, "judge", parse_model_id(plan.judge.model_id, "judge"))
    first = Endpoint(
        provider=open_provider(candidate),
        gate=_gate(config, candidate),
        input_price=config.model_input_price,
        output_price=config.model_output_price,
        cache_scope=f"{candidate.base_url}\n{plan.candidate.model_id}",
    )
    shared = replace(judge, setting="model") == candidate
    second = Endpoint(
        provider=first.provider if shared else open_provider(judge),
        gate=first.gate if shared else _gate(config, judge),
        input_price=config.judge_input_price,
        output_price=config.judge_output_price,
        cache_scope=f"{judge.base_url}\n{plan.judge.model_id}",
    )
    cache = ResponseCache(config.cache) if config.cache else None
    try:
        yield _Means({"candidate": first, "judge": second}, cache)
    finally:
        if cache is not None:
            cache.close()
        await first.provider.close()
        if not shared:
            await second.provider.close()


def _gate(config: RunConfig, settings: ProviderSettings) -> Gate:
    ceiling = min(config.max_connections, SLOTS) if settings.kind == "local" else config.max_connections
    return Gate(ceiling, START_CONNECTIONS)


def _run_started(run_id: str, prepared: Prepared, inputs: dict[str, str]) -> RunStarted:
    return RunStarted(
        run_id=run_id,
        spec=prepared.plan.spec,
        spec_sha256=prepared.plan.spec_sha256,
        plan_sha256=plan_sha256(prepared.plan),
        n_items=prepared.plan.n_items,
        repeats=prepared.plan.repeats,
        config=_storable(prepared.config),
        inputs=inputs,
        identity=_identity(prepared),
        code_version=code_version(),
        environment=environment(),
    )


def _identity(prepared: Prepared) -> dict[str, Any]:
    return {
        "dataset_id": prepared.evalset.name,
        "grouped": prepared.evalset.grouped,
        "output_form": table_form(prepared.config.outputs) if prepared.config.outputs else None,
        "output_columns": prepared.output_columns,
        "generation_params": {
            "model": _four(prepared.plan.candidate),
            "judge": _four(prepared.plan.judge),
        },
        "plan": msgspec.to_builtins(prepared.plan),
    }


def _four(role: RolePlan) -> dict[str, Any]:
    """The parameters that R7.1 asks for by name; null where one was left out on purpose."""
    return {name: role.params.get(name) for name in ("temperature", "top_p", "max_tokens", "seed")}


def _storable(config: RunConfig) -> dict[str, Any]:
    """The settings as they are recorded: exact decimals as strings, and what was not set left out."""
    values = msgspec.to_builtins(config)
    return {name: value for name, value in values.items() if value not in (None, {}, [], ())}


def _new_run_id() -> str:
    """Sorts by time, and does not collide."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
