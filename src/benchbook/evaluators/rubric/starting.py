"""Runs a plan: starts or resumes a record, asks what is missing, derives what follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.environment import code_version, environment
from benchbook.ask.identity import floating_ids
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import ModelId, parse_model_id
from benchbook.ask.pinning import PinCheck
from benchbook.ask.progress import ProgressHandler, Resume
from benchbook.ask.requests import plan_sha256
from benchbook.ask.roles import open_means
from benchbook.ask.sitting import Means, Sitting
from benchbook.errors import UsageError
from benchbook.evalsets import EvalSet
from benchbook.evalsets.tables import table_form
from benchbook.evaluators.candidate import template_of
from benchbook.evaluators.derivation import DERIVATION, derivation_of
from benchbook.evaluators.recorded_outputs import imported_samples
from benchbook.evaluators.recorded_set import recorded_evalset, set_identity
from benchbook.evaluators.rubric.early_stop import StoppingRule, samples_in_order
from benchbook.evaluators.rubric.job import RubricJob, endpoint_name
from benchbook.evaluators.rubric.plan import Plan, plan_of
from benchbook.evaluators.rubric.preparing import Prepared, judges_settings, prepare, until_decided_of
from benchbook.evaluators.rubric.rejected import RejectedReplies
from benchbook.evaluators.rubric.requests import Requests
from benchbook.evaluators.rubric.steps import History
from benchbook.evaluators.rubric.tables import Derived, derive
from benchbook.evaluators.rubric.warnings import judge_names
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.starting import (
    changed_config,
    four_params,
    is_ended_as_it_is,
    model_settings,
    new_run_id,
    project_identity,
    storable_config,
)
from benchbook.record.facts import Resumed, RunStarted
from benchbook.record.folder import Record, create_record
from benchbook.record.journal import JournalWriter

__all__ = ["RunResult", "resume_run", "start_run"]


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run's record and what was derived from it. `stop.reason` says why it ended early; it can be resumed."""

    record: Record
    derived: Derived
    stop: Stop


async def start_run(
    config: RunConfig, on_progress: ProgressHandler | None = None, source: str | Path | None = None
) -> RunResult:
    """Begin a new record and run its plan. `source` is the file that the settings came from, if one is.

    Raises: UsageError and its kin before anything is written; RecordError.
    """
    prepared = prepare(config)
    prepared.evalset.close()
    run_id = config.run_id or new_run_id()
    async with _means(config, prepared.plan) as means:  # a missing key is told before a record exists
        record = create_record(
            config.runs, run_id, prepared.inputs, lambda inputs: _run_started(run_id, prepared, inputs, source)
        )
        evalset = prepared.evalset.copied_to(record.input(prepared.evalset.sha256))
        return await _sit(record, config, prepared.plan, means, evalset, None, on_progress)


async def resume_run(
    record: Record, changes: dict[str, Any] | None = None, on_progress: ProgressHandler | None = None
) -> RunResult:
    """Go on with a record where its journal ends. `changes` may hold limits and endpoints, nothing of the plan.

    Raises: UsageError for a change that would change the plan; RecordError.
    """
    started = record.started()
    if started.spec != "rubric@v1":
        raise UsageError(f"{record.path}: was made under {started.spec}; its own command resumes it")
    config = changed_config(started, changes)
    until_decided_of(config)  # refuses a confidence beside it, in a later sitting as in the first
    plan = plan_of(started)
    async with _means(config, plan) as means:
        resumed = Resumed(code_version=code_version(), environment=environment(), config=storable_config(config))
        evalset = recorded_evalset(record, started)
        return await _sit(
            record, config, plan, means, evalset, resumed, on_progress, as_it_is=is_ended_as_it_is(changes)
        )


async def _sit(
    record: Record,
    config: RunConfig,
    plan: Plan,
    means: Means,
    evalset: EvalSet,
    resumed: Resumed | None,
    on_progress: ProgressHandler | None,
    *,
    as_it_is: bool = False,
) -> RunResult:
    """Ask what the journal lacks, and derive what follows from it."""
    started = record.started()
    rule = StoppingRule(plan, derivation_of(started))
    sitting = Sitting(
        record, config, means, plan.n_samples, rule.is_finished, on_progress,
        endpoint_of=lambda reply: endpoint_name(reply.judge) if reply.role == "judge" else reply.role,
        is_decided=lambda: rule.is_decided,
    )  # fmt: skip
    rule.stop = sitting.stop
    rejected = RejectedReplies(judge_names(plan))

    def finished(sample: int, history: History) -> None:
        rule.add(sample, history)
        if (reason := rejected.note(history)) is not None:
            sitting.stop.because(reason, failed=True, usage=True)

    def begin(journal: JournalWriter, resume: Resume) -> RubricJob:
        order = samples_in_order(plan)
        if plan.candidate.provider == "recorded":
            outputs = record.input(started.inputs["outputs"])
            form, columns = started.identity["output_form"], started.identity["output_columns"]
            imported = imported_samples(outputs, form, columns, evalset, plan.repeats, resume, journal)
            # An order that chance draws needs all of them first.
            order = imported if plan.until_decided is msgspec.UNSET else _after(imported, order)
        requests = Requests(plan, template_of(record, started))
        return RubricJob(plan, derivation_of(started), evalset, requests, order, finished)

    with evalset:
        pins = PinCheck(_models(plan), benchmark=plan.benchmark)
        await sitting.ask(resumed, begin, pins, as_it_is=as_it_is)
    return RunResult(record, derive(record, record.path), sitting.stop)


def _after(imported: Iterable[int], order: Iterable[int]) -> Iterator[int]:
    for _ in imported:
        pass
    yield from order


def _models(plan: Plan) -> dict[str, ModelId]:
    judges = {
        endpoint_name(number): parse_model_id(judge.model_id, "judge") for number, judge in enumerate(plan.judges)
    }
    return {"candidate": parse_model_id(plan.candidate.model_id, "model")} | judges


def _means(config: RunConfig, plan: Plan) -> AbstractAsyncContextManager[Means]:
    """What a sitting asks with. A missing key is told here."""
    roles = {"candidate": (model_settings(config), plan.candidate)}
    for number, (settings, judge) in enumerate(zip(judges_settings(config), plan.judges, strict=True)):
        roles[endpoint_name(number)] = (settings, judge)
    return open_means(roles, max_connections=config.max_connections, cache=config.cache)


def _run_started(run_id: str, prepared: Prepared, inputs: dict[str, str], source: str | Path | None) -> RunStarted:
    return RunStarted(
        run_id=run_id,
        spec=prepared.plan.spec,
        spec_sha256=prepared.plan.spec_sha256,
        plan_sha256=plan_sha256(prepared.plan),
        n_items=prepared.plan.n_items,
        repeats=prepared.plan.repeats,
        config=storable_config(prepared.config),
        inputs=inputs,
        identity=_identity(prepared) | project_identity(source, prepared.config.evalset),
        code_version=code_version(),
        environment=environment(),
    )


def _identity(prepared: Prepared) -> dict[str, Any]:
    return {
        **set_identity(prepared.evalset),
        "output_form": table_form(prepared.config.outputs) if prepared.config.outputs else None,
        "output_columns": prepared.output_columns,
        "generation_params": {
            "model": four_params(prepared.plan.candidate),
            "judge": four_params(prepared.plan.judge),  # of a panel the first; the others' are in the plan
        },
        "plan": msgspec.to_builtins(prepared.plan),
        "floating": floating_ids(_named_models(prepared.plan)),
        "derivation": DERIVATION,
    }


def _named_models(plan: Plan) -> dict[str, ModelId]:
    """By what texts call them."""
    roles = zip(("model", *judge_names(plan)), (plan.candidate, *plan.judges), strict=True)
    return {name: parse_model_id(role.model_id, name) for name, role in roles}
