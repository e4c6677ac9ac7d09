"""Runs `judge_protocol@v1`: every judge on every output of an evaluation set, recorded, resumable (SPEC P1 to P7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.asking import Call
from benchbook.ask.environment import code_version, environment, project_version
from benchbook.ask.identity import floating_ids
from benchbook.ask.judge_config import judge_names, numbered_judges, only_addresses_differ
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import parse_model_id
from benchbook.ask.pinning import PinCheck
from benchbook.ask.progress import ProgressHandler, Resume
from benchbook.ask.requests import plan_sha256
from benchbook.ask.roles import RoleSettings, judge_role_settings, open_means, plan_of_role
from benchbook.ask.sitting import Means, Sitting
from benchbook.ask.work import OneCall, is_answered
from benchbook.errors import ConfigError, UsageError
from benchbook.evalsets.output_sets import Output, OutputSet, read_output_set
from benchbook.evalsets.tables import table_form
from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.protocol.config import JudgingConfig, judging_config_from_mapping
from benchbook.evaluators.protocol.findings import SameModel, said, with_versions
from benchbook.evaluators.protocol.judges import RejectedEvaluations
from benchbook.evaluators.protocol.plan import Declared, JudgePlan, ProtocolPlan, protocol_plan_of
from benchbook.evaluators.protocol.probes import PROBES_ID
from benchbook.evaluators.protocol.requests import ProtocolRequests
from benchbook.evaluators.protocol.samples import (
    ProtocolSamples,
    open_samples,
    outputs_of,
    place_probes,
    read_task_prompts,
)
from benchbook.evaluators.protocol.spec import SPEC_ID
from benchbook.evaluators.protocol.tables import ProtocolDerived, derive_protocol
from benchbook.evaluators.starting import is_ended_as_it_is, new_run_id
from benchbook.record.facts import Failure, Reply, Resumed, RunStarted
from benchbook.record.folder import Record, create_record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import MAX_SAMPLES
from benchbook.specs import load_spec

__all__ = [
    "JudgingJob",
    "JudgingResult",
    "PreparedJudging",
    "check_prompts",
    "endpoint_name",
    "inputs_of_set",
    "judge_of",
    "prepare_judging",
    "resume_judging",
    "run_started",
    "start_judging",
]


def endpoint_name(judge: int) -> str:
    """What a judge's endpoint is called: its number, for a name is somebody's text."""
    return f"judge {judge}"


def judge_of(plan: ProtocolPlan, sample: int) -> int:
    """The number of the judge that a sample asks."""
    place = sample if sample < plan.n_regular else sample - plan.n_regular
    return place % len(plan.judges)


class JudgingJob:
    """`on_reply` is told of each reply that comes in this sitting, with the number of its judge."""

    def __init__(self, plan: ProtocolPlan, samples: ProtocolSamples, on_reply: Callable[[Reply, int], None]) -> None:
        self._on_reply = on_reply
        self._plan = plan
        self._samples = samples
        self._requests = ProtocolRequests(samples)

    @property
    def n_samples(self) -> int:
        return self._plan.n_samples

    def order(self) -> Iterable[int]:
        return range(self.n_samples)

    def begin(self, sample: int, facts: Sequence[Reply | Failure]) -> OneCall:
        what = self._samples[sample]
        body = self._requests.body(what)
        judge = judge_of(self._plan, sample)
        endpoint = endpoint_name(judge)
        # A repeat, or the same output again as a probe, from the cache would measure nothing (R7.3).
        cacheable = what.probe is None and what.asked.repeat == 0
        call = Call(sample, "judge", 1, body, endpoint, cacheable, begins=True)
        return OneCall(call, facts, lambda reply: self._on_reply(reply, judge))


# Settings that may differ between sittings: they change how requests are sent, not which.
_MAY_CHANGE = frozenset(
    {
        "max_connections", "requests_per_minute", "tokens_per_minute", "max_cost_usd", "max_seconds", "timeout_ms",
        "max_retries", "max_wait_ms", "cache", "reports", "accept_unanswered",
    }
)  # fmt: skip
_DEFAULTS = {"temperature": 0, "top_p": 1, "max_tokens": 2048, "seed": 42}


@dataclass(frozen=True, slots=True)
class JudgingResult:
    """An experiment's record and what was derived from it. `stop.reason` says why it ended early."""

    record: Record
    derived: ProtocolDerived
    stop: Stop


@dataclass(frozen=True, slots=True)
class PreparedJudging:
    """An experiment as it would be begun: its settings checked, its set read, nothing asked."""

    config: JudgingConfig
    plan: ProtocolPlan
    inputs: dict[str, Path]
    dataset_id: str
    output_set: OutputSet


async def start_judging(
    config: JudgingConfig, on_progress: ProgressHandler | None = None, source: str | Path | None = None
) -> JudgingResult:
    """Begin a new record and ask every judge about every output that has a text. `source`: as of `start_run`.

    Raises: UsageError and its kin before anything is written; RecordError.
    """
    prepared = prepare_judging(config)
    run_id = config.run_id or new_run_id()
    async with _means(config, prepared.plan) as means:  # a missing key is told before a record exists
        record = create_record(
            config.runs, run_id, prepared.inputs, lambda inputs: run_started(run_id, prepared, inputs, source)
        )
        return await _sit(record, config, prepared.plan, means, None, on_progress)


async def resume_judging(
    record: Record, changes: dict[str, Any] | None = None, on_progress: ProgressHandler | None = None
) -> JudgingResult:
    """Go on with a record where its journal ends. `changes` may hold limits and addresses, nothing of the plan (P3).

    Raises: UsageError for a record of another kind, or a change that would make it another experiment; RecordError.
    """
    started = record.started()
    if started.spec != SPEC_ID:
        raise UsageError(f"{record.path}: was made under {started.spec}; its own command resumes it")
    plan = protocol_plan_of(started)
    if plan.judgements_sha256 is not None:
        raise UsageError(f"{record.path}: its judgements were made elsewhere; there is nothing to resume")
    for name, value in (changes or {}).items():
        if name == "judges" and only_addresses_differ(started.config.get(name, ()), value):
            continue
        if name not in _MAY_CHANGE and started.config.get(name) != value:
            raise UsageError(f"resume: {name} is frozen with the first call (P3); start a new experiment")
    config = judging_config_from_mapping({**started.config, **(changes or {})}, "resume")
    async with _means(config, plan) as means:
        resumed = Resumed(code_version=code_version(), environment=environment(), config=_storable(config))
        return await _sit(record, config, plan, means, resumed, on_progress, as_it_is=is_ended_as_it_is(changes))


async def _sit(
    record: Record,
    config: JudgingConfig,
    plan: ProtocolPlan,
    means: Means,
    resumed: Resumed | None,
    on_progress: ProgressHandler | None,
    *,
    as_it_is: bool = False,
) -> JudgingResult:
    sitting = Sitting(
        record, config, means, plan.n_samples, is_answered, on_progress,
        lambda reply: endpoint_name(judge_of(plan, reply.sample)),
    )  # fmt: skip
    samples = open_samples(record, record.started(), plan)
    rejected = RejectedEvaluations([judge.name for judge in plan.judges], [judge.role for judge in plan.judges])

    def look_at(reply: Reply, judge: int) -> None:
        if (reason := rejected.note(reply, judge)) is not None:
            sitting.stop.because(reason, failed=True, usage=True)

    def begin(journal: JournalWriter, resume: Resume) -> JudgingJob:
        del journal, resume
        return JudgingJob(plan, samples, look_at)

    models = {
        endpoint_name(number): parse_model_id(judge.role.model_id, f"judges[{number}].model")
        for number, judge in enumerate(plan.judges)
    }
    await sitting.ask(resumed, begin, PinCheck(models, benchmark=False), as_it_is=as_it_is)
    return JudgingResult(record, derive_protocol(record, record.path), sitting.stop)


def prepare_judging(config: JudgingConfig) -> PreparedJudging:
    """Check all settings and read the evaluation set once. Raises: UsageError and its kin."""
    output_set = read_output_set(config.set)
    outputs = outputs_of(output_set)
    if not outputs:
        raise UsageError(f"{config.set}: no output has a text; there is nothing to judge")
    inputs = inputs_of_set(output_set)
    judges = _judges(config)
    _check_task(config)
    if config.prompts is not None:
        check_prompts(config.prompts, output_set)
        inputs["prompts"] = Path(config.prompts)
    spec = load_spec(SPEC_ID)
    plan = ProtocolPlan(
        spec=spec.id,
        spec_sha256=spec.sha256,
        set_sha256=output_set.sha256,
        n_outputs=len(outputs),
        judges=judges,
        repeats=config.repeats,
        evidence=config.evidence,
        same_model=_same_model(config.same_model, judges, outputs),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        probed_outputs=min(config.probes, len(outputs)),
        n_probes=len(place_probes(outputs, output_set, config.probes)),
        probes_id=PROBES_ID if config.probes else None,
        task=config.task or msgspec.UNSET,
    )
    if plan.n_samples > MAX_SAMPLES:
        raise ConfigError("repeats", f"{plan.n_samples} samples", f"at most {MAX_SAMPLES} in one record")
    return PreparedJudging(config, plan, inputs, output_set.folder.resolve().name, output_set)


def inputs_of_set(output_set: OutputSet) -> dict[str, Path]:
    """What a record keeps of an evaluation set: its manifest, and each text under its hash."""
    texts = {output.text_sha256 for output in output_set.outputs if output.text_sha256 is not None}
    return {"evaluation_set": output_set.manifest} | {
        f"text/{sha256}": output_set.text_path(sha256) for sha256 in sorted(texts)
    }


def _check_task(config: JudgingConfig) -> None:
    """P4.3: without what the targets were asked nobody can say whether its instructions were kept."""
    if config.prompts is None and config.task is None:
        expected = 'a table of what the targets were asked (question_id, prompt, prompt_variant), or task = "unknown"'
        raise ConfigError("prompts", "none", f"{expected}, which every report then says")
    if config.prompts is not None and config.task is not None:
        raise ConfigError("task", f"{config.task} beside prompts", "one of them")


def check_prompts(path: str, output_set: OutputSet) -> None:
    """Raises: ConfigError for a table that lacks the prompt of an output."""
    prompts = read_task_prompts(path)
    asked = dict.fromkeys((output.question_id, output.prompt_variant) for output in outputs_of(output_set))
    missing = [one for one in asked if prompts.of(*one) is None]
    if missing:
        question, variant = missing[0]
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        found = f"none for question {said(question)} under variant {said(variant)}{more}"
        raise ConfigError("prompts", found, "the prompt of every output's question and variant")


def _judges(config: JudgingConfig) -> tuple[JudgePlan, ...]:
    judges = []
    for name, settings, judge in zip(judge_names(config.judges), _role_settings(config), config.judges, strict=True):
        role = plan_of_role(settings, _DEFAULTS)
        if role.provider == "recorded":
            raise ConfigError(settings.setting, settings.model, "a judge that can be asked (see `judge import`)")
        known = Declared(tools=judge.tools, web_access=judge.web_access)
        declared = msgspec.UNSET if known == Declared() else known
        judges.append(JudgePlan(name=name, role=role, declared=declared))
    return tuple(judges)


def _same_model(declared: Mapping[str, str], judges: Iterable[JudgePlan], outputs: Iterable[Output]) -> dict[str, str]:
    """The declared table, and that each judge's name and its model's id are names of one model (P1).

    A set may name its targets by ids, with or without a version: without this a judge would judge its own outputs as
    another model's.
    Raises: ConfigError for a circle.
    """
    table = dict(declared)
    for judge in judges:
        name, model_id = judge.name, judge.role.model_id
        if not SameModel(table).are_same(name, model_id):
            if name not in table:
                table[name] = model_id
            elif model_id not in table:
                table[model_id] = name
    return with_versions(table, {output.target_model for output in outputs})


def _role_settings(config: JudgingConfig) -> list[RoleSettings]:
    return [
        judge_role_settings(judge, config.timeout_ms, setting=setting, prefix=prefix)
        for setting, prefix, judge in numbered_judges(config.judges)
    ]


def _means(config: JudgingConfig, plan: ProtocolPlan) -> AbstractAsyncContextManager[Means]:
    roles = {
        endpoint_name(number): (settings, judge.role)
        for number, (settings, judge) in enumerate(zip(_role_settings(config), plan.judges, strict=True))
    }
    return open_means(roles, max_connections=config.max_connections, cache=config.cache)


def run_started(
    run_id: str, prepared: PreparedJudging, inputs: dict[str, str], source: str | Path | None = None
) -> RunStarted:
    plan = msgspec.structs.replace(prepared.plan, prompts_sha256=inputs.get("prompts"))
    return RunStarted(
        run_id=run_id,
        spec=plan.spec,
        spec_sha256=plan.spec_sha256,
        plan_sha256=plan_sha256(plan),
        n_items=plan.n_samples,
        repeats=1,
        config=_storable(prepared.config),
        inputs=inputs,
        identity={
            "dataset_id": prepared.dataset_id,
            "prompts_form": table_form(prepared.config.prompts) if prepared.config.prompts else None,
            "plan": msgspec.to_builtins(plan),
            "floating": floating_ids(
                {f"judge {judge.name}": parse_model_id(judge.role.model_id, "judge") for judge in plan.judges}
            ),
            "project_version": project_version(("config", source), ("evaluation set", prepared.config.set)),
            "derivation": DERIVATION,
        },
        code_version=code_version(),
        environment=environment(),
    )


def _storable(config: JudgingConfig) -> dict[str, Any]:
    """The settings as they are recorded: exact decimals as strings, and what was not set left out."""
    values = msgspec.to_builtins(config)
    return {name: value for name, value in values.items() if value not in (None, {}, [], ())}
