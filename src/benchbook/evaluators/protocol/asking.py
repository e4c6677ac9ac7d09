"""A judge protocol's questions: every judge about every output of an evaluation set, and its probes (SPEC P)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from benchbook.ask.asking import Call
from benchbook.ask.forecast import BYTES_PER_TOKEN, Forecast, Workload, asked_models, most_cost
from benchbook.ask.identity import first_fact, floating_ids, project_identity, storable_config
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import parse_model_id
from benchbook.ask.probing import Trial
from benchbook.ask.requests import plan_sha256
from benchbook.ask.roles import Roles, RoleSettings, judge_roles, plan_of_role
from benchbook.ask.settings import judge_names, numbered_judges
from benchbook.ask.work import OneCall, Resume, is_answered
from benchbook.errors import ConfigError, UsageError
from benchbook.evalsets.output_set_sources import identifiers
from benchbook.evalsets.output_sets import Output, OutputSet, read_output_set
from benchbook.evalsets.tables import table_form
from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.protocol.config import JudgingConfig
from benchbook.evaluators.protocol.findings import SameModel, said, with_versions
from benchbook.evaluators.protocol.folders import ProtocolFolder, protocol_asked_for
from benchbook.evaluators.protocol.judges import RejectedEvaluations
from benchbook.evaluators.protocol.plan import (
    Declared,
    JudgePlan,
    ProtocolPlan,
    ProtocolSamples,
    open_samples,
    outputs_of,
    place_probes,
    read_task_prompts,
)
from benchbook.evaluators.protocol.probes import PROBES_ID
from benchbook.evaluators.protocol.requests import ProtocolRequests
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.evaluators.protocol.tables import task_warning
from benchbook.evaluators.protocol.trying import trial_of
from benchbook.evaluators.so_far import CountedSamples
from benchbook.record.facts import Failure, Reply, RunStarted, SampleFact
from benchbook.record.folder import Inputs, Record, SeenFile, seen
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import MAX_SAMPLES
from benchbook.text import plural


def endpoint_name(judge: int) -> str:
    """The name of a judge's endpoint: its number, for a judge's own name is somebody's text."""
    return f"judge {judge}"


def judge_of(plan: ProtocolPlan, sample: int) -> int:
    """The number of the judge that a sample asks."""
    place = sample if sample < plan.n_regular else sample - plan.n_regular
    return place % len(plan.judges)


class ProtocolQuestions:
    """Each judge about each output, once a repeat, and its probes. `stop` ends it where a judge can't be read."""

    is_decided = False

    def __init__(self, record: Record, plan: ProtocolPlan, stop: Stop) -> None:
        self._plan = plan
        self._samples = open_samples(record, record.started(), plan)
        self._requests = ProtocolRequests(self._samples)
        self._rejected = RejectedEvaluations(
            [judge.name for judge in plan.judges], [judge.role for judge in plan.judges], self._samples.protocol
        )
        self._stop = stop

    @property
    def n_samples(self) -> int:
        return self._plan.n_samples

    def is_finished(self, facts: list[SampleFact]) -> bool:
        return is_answered(facts)

    def endpoint_of(self, reply: Reply) -> str:
        return endpoint_name(judge_of(self._plan, reply.sample))

    def order(self, journal: JournalWriter, resume: Resume) -> Iterable[int]:
        del journal, resume
        return range(self.n_samples)

    def begin(self, sample: int, facts: Sequence[Reply | Failure]) -> OneCall:
        what = self._samples[sample]
        judge = judge_of(self._plan, sample)
        # A repeat, or the same output again as a probe, from the cache would measure nothing (R7.3).
        cacheable = what.probe is None and what.asked.repeat == 0
        body = self._requests.body(what)
        call = Call(sample, "judge", 1, body, endpoint_name(judge), cacheable, begins=True)
        return OneCall(call, facts, lambda reply: self._look_at(reply, judge))

    def _look_at(self, reply: Reply, judge: int) -> None:
        if (reason := self._rejected.note(reply, judge)) is not None:
            self._stop.because(reason, failed=True, usage=True)

    def close(self) -> None:
        """Nothing is left open: a text is opened when it is asked about."""


class EvaluationsSoFar(CountedSamples):
    """Evaluations of a run that goes on. What they are worth is known of all of them together alone."""

    def __init__(self, plan: ProtocolPlan) -> None:
        self._plan = plan

    def judge_of(self, reply: Reply) -> int:
        return judge_of(self._plan, reply.sample)


class JudgingForecast(Forecast, frozen=True, kw_only=True):
    """`grid` has how many different ones there are of each thing that names an output."""

    grid: dict[str, int]
    outputs: int
    outputs_without_text: int
    judges: int
    repeats: int
    calls_about_probes: int
    task: Literal["known", "unknown"]

    @property
    def asked_words(self) -> tuple[str, ...]:
        axes = " x ".join(f"{count} {name}" for name, count in self.grid.items())
        judged = f"{self.outputs - self.outputs_without_text} x {plural(self.judges, 'judge')}"
        each = f"{plural(self.repeats, 'repeat')}, and {self.calls_about_probes} about probes"
        return (
            f"{plural(self.outputs, 'output')}: {axes}, {self.outputs_without_text} without a text",
            f"{plural(self.calls, 'call')}: {judged} x {each}",
        )


@dataclass(frozen=True, slots=True)
class PreparedJudging:
    """An experiment as it would be begun: its settings checked, its set read, nothing asked."""

    config: JudgingConfig
    spec: ProtocolFolder
    plan: ProtocolPlan
    inputs: Inputs
    dataset_id: str
    output_set: OutputSet

    @property
    def roles(self) -> Roles:
        return roles_of_judges(self.config, self.plan)

    @property
    def benchmark(self) -> bool:
        return False

    def questions(self, record: Record, stop: Stop) -> ProtocolQuestions:
        return ProtocolQuestions(record, self._planned(record.started().inputs), stop)

    def first_fact(self, run_id: str, inputs: dict[str, str], source: str | Path | None = None) -> RunStarted:
        plan, config = self._planned(inputs), self.config
        named = {f"judge {judge.name}": parse_model_id(judge.role.model_id, "judge") for judge in plan.judges}
        identity = {
            "dataset_id": self.dataset_id,
            "prompts_form": table_form(config.prompts) if config.prompts else None,
            "floating": floating_ids(named),
            "derivation": DERIVATION,
            **self.spec.identity,
            **project_identity(source, "evaluation set", config.set),
        }
        return first_fact(run_id, plan, storable_config(config), inputs, identity, n_items=plan.n_samples, repeats=1)

    def forecast(self) -> JudgingForecast:
        """The forecast, by each of its requests; a repeat asks the same again."""
        plan, outputs, roles = self.plan, self.output_set.outputs, self.roles
        samples = self._samples()
        requests = ProtocolRequests(samples)
        calls, read = Counter[str](), Counter[str]()
        once = plan.n_outputs * len(plan.judges)
        for sample in (*range(once), *range(plan.n_regular, plan.n_samples)):
            times = plan.repeats if sample < once else 1
            endpoint = endpoint_name(judge_of(plan, sample))
            calls[endpoint] += times
            read[endpoint] += times * len(requests.body(samples[sample]))
        asked = {name: Workload(calls[name], read[name] // BYTES_PER_TOKEN) for name in roles}
        return JudgingForecast(
            samples=plan.n_samples,
            calls=plan.n_samples,
            models=asked_models(roles, (judge.name for judge in plan.judges)),
            plan_sha256=plan_sha256(plan),
            plan=msgspec.to_builtins(plan),
            first_request=requests.body(samples[0]).decode("utf-8", "replace"),
            warnings=(task_warning(self.spec.protocol, judged_elsewhere=False),) if plan.task == "unknown" else (),
            most_cost_usd=most_cost(roles, asked),
            grid={name: len({getattr(output, name) for output in outputs}) for name in identifiers()[:3]},
            outputs=len(outputs),
            outputs_without_text=len(outputs) - plan.n_outputs,
            judges=len(plan.judges),
            repeats=plan.repeats,
            calls_about_probes=plan.n_probes * len(plan.judges),
            task="unknown" if plan.task == "unknown" else "known",
        )

    def trials(self) -> Mapping[str, Trial]:
        return {
            endpoint_name(judge): trial_of(self._samples(), judge, self.spec.protocol)
            for judge in range(len(self.plan.judges))
        }

    def _samples(self) -> ProtocolSamples:
        prompts = read_task_prompts(self.config.prompts) if self.config.prompts else None
        return ProtocolSamples(self.plan, self.spec.protocol, self.output_set, prompts)

    def _planned(self, inputs: Mapping[str, str]) -> ProtocolPlan:
        """The plan with the hash of the targets' prompts, once they are copied."""
        return msgspec.structs.replace(self.plan, prompts_sha256=inputs.get("prompts"))


def roles_of_judges(config: JudgingConfig, plan: ProtocolPlan) -> Roles:
    """The roles that an experiment asks: its judges."""
    judges = zip(role_settings(config), plan.judges, strict=True)
    return {endpoint_name(number): (settings, judge.role) for number, (settings, judge) in enumerate(judges)}


def prepare_judging(config: JudgingConfig) -> PreparedJudging:
    """Check all settings and read the evaluation set once. Raises: UsageError and its kin."""
    output_set = read_output_set(config.set)
    outputs = outputs_of(output_set)
    if not outputs:
        raise UsageError(f"{config.set}: no output has a text; there is nothing to judge")
    spec = protocol_asked_for(config.spec)
    protocol = spec.protocol
    inputs: dict[str, Path | SeenFile | bytes] = {**inputs_of_set(output_set), **spec.inputs}
    judges = _judges(config, protocol)
    _check_task(config)
    if config.prompts is not None:
        inputs["prompts"] = seen(config.prompts)
        check_prompts(config.prompts, output_set)
    plan = ProtocolPlan(
        spec=protocol.id,
        spec_sha256=protocol.sha256,
        set_sha256=output_set.sha256,
        n_outputs=len(outputs),
        judges=judges,
        repeats=config.repeats,
        evidence=config.evidence,
        same_model=_same_model(config.same_model, judges, outputs),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        probed_outputs=min(config.probes, len(outputs)),
        n_probes=len(place_probes(outputs, output_set, config.probes, protocol)),
        probes_id=PROBES_ID if config.probes else None,
        task=config.task or msgspec.UNSET,
    )
    if plan.n_samples > MAX_SAMPLES:
        raise ConfigError("repeats", f"{plan.n_samples} samples", f"at most {MAX_SAMPLES} in one record")
    return PreparedJudging(config, spec, plan, inputs, output_set.folder.resolve().name, output_set)


def inputs_of_set(output_set: OutputSet) -> dict[str, SeenFile]:
    """The files that a record keeps of an evaluation set: its manifest, and each text under its hash."""
    texts = {output.text_sha256 for output in output_set.outputs if output.text_sha256 is not None}
    return {"evaluation_set": SeenFile(output_set.manifest, sha256=output_set.sha256)} | {
        f"text/{sha256}": SeenFile(output_set.text_path(sha256), sha256=sha256) for sha256 in sorted(texts)
    }


def _check_task(config: JudgingConfig) -> None:
    """P4.3: without what the targets were asked nobody can say whether its instructions were kept."""
    if config.prompts is None and config.task is None:
        expected = 'a table of what the targets were asked (question_id, prompt, prompt_variant), or task = "unknown"'
        raise ConfigError("prompts", "none", f"{expected}, which every report then says")
    if config.prompts is not None and config.task is not None:
        raise ConfigError("task", f"{config.task} beside prompts", "one of them")


def check_prompts(path: str, output_set: OutputSet) -> None:
    """Refuse a table that lacks the prompt of an output. Raises: ConfigError."""
    prompts = read_task_prompts(path)
    asked = dict.fromkeys((output.question_id, output.prompt_variant) for output in outputs_of(output_set))
    missing = [one for one in asked if prompts.of(*one) is None]
    if missing:
        question, variant = missing[0]
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        found = f"none for question {said(question)} under variant {said(variant)}{more}"
        raise ConfigError("prompts", found, "the prompt of every output's question and variant")


def _judges(config: JudgingConfig, protocol: Protocol) -> tuple[JudgePlan, ...]:
    judges = []
    for name, settings, judge in zip(judge_names(config.judges), role_settings(config), config.judges, strict=True):
        role = plan_of_role(settings, dict(protocol.generation))
        if role.provider == "recorded":
            raise ConfigError(settings.setting, judge.model, "a judge that can be asked (see `judge import`)")
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


def role_settings(config: JudgingConfig) -> list[RoleSettings]:
    return judge_roles(numbered_judges(config.judges), config.timeout_ms)
