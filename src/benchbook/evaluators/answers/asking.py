"""Asking a model the items of an eval set, once each: a plan, and the questions that its record has left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.asking import Call
from benchbook.ask.forecast import BYTES_PER_TOKEN, Forecast, Workload, asked_models, most_cost
from benchbook.ask.identity import (
    check_code_is_named,
    code_version,
    first_fact,
    floating_ids,
    project_identity,
    storable_config,
)
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import check_pinned, parse_model_id
from benchbook.ask.requests import plan_sha256
from benchbook.ask.roles import Roles, plan_of_role
from benchbook.ask.work import OneCall, Resume, Tell, is_answered
from benchbook.errors import ConfigError, Gathering
from benchbook.evalsets import EvalSet, open_evalset
from benchbook.evalsets.set_parts import SetPart
from benchbook.evaluators.answers.metric import Metric
from benchbook.evaluators.candidate import (
    DEFAULT_GENERATION,
    CandidatePlan,
    CandidateRequests,
    PromptTemplate,
    chosen_part,
    chosen_template,
    four_params,
    inputs_of_config,
    model_settings,
    named_evalset,
    nothing_given,
    template_of,
)
from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.kept import set_identity, words_of_set
from benchbook.evaluators.settings import RunConfig
from benchbook.record.facts import Failure, Reply, RunStarted, SampleFact
from benchbook.record.folder import Inputs, Record, seen
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import MAX_SAMPLES

# Settings of a run that have no meaning where nobody judges, and outputs come from `--predictions`.
_NOT_HERE = (
    "judge",
    "outputs",
    "output_columns",
    "repeats",
    "unmeasured",
    "no_variance",
    "confidence",
    "until_decided",
    "error",
    "order_seed",
    "against",
)


class AnswerQuestions:
    """The items of a record, over its own copy of the eval set, which is closed at the end."""

    def __init__(self, record: Record, plan: CandidatePlan, evalset: EvalSet, metric: Metric) -> None:
        self._record = record
        self._metric = metric
        self._plan = plan
        self._evalset = evalset
        self._requests = CandidateRequests(plan, template_of(record, record.started()))

    is_decided = False

    @property
    def n_samples(self) -> int:
        return self._plan.n_samples

    def is_finished(self, facts: list[SampleFact]) -> bool:
        return is_answered(facts)

    def endpoint_of(self, reply: Reply) -> str:
        return reply.role

    def order(self, journal: JournalWriter, resume: Resume) -> Iterable[int]:
        del journal, resume
        return range(self.n_samples)

    def begin(self, sample: int, facts: Sequence[Reply | Failure]) -> OneCall:
        body = self._requests.candidate(self._evalset[sample % self._plan.n_items])
        call = Call(sample, "candidate", 1, body, "candidate", cacheable=sample < self._plan.n_items, begins=True)
        return OneCall(call, facts)

    async def conclude(self, journal: JournalWriter, stop: Stop, tell: Tell) -> bool:
        return await self._metric.add_facts_of_sitting(self._record, journal, stop, tell)

    def close(self) -> None:
        self._evalset.close()


@dataclass(frozen=True, slots=True)
class PreparedAnswers:
    """A record as it would be begun, of a model that is asked by candidate_prompt@v1 or the user's own template."""

    metric: Metric
    config: RunConfig
    plan: CandidatePlan
    template: PromptTemplate
    evalset: EvalSet
    inputs: Inputs

    @property
    def roles(self) -> Roles:
        return roles_of_answers(self.config, self.plan)

    @property
    def benchmark(self) -> bool:
        return self.plan.benchmark

    def questions(self, record: Record, stop: Stop) -> AnswerQuestions:
        del stop
        evalset = self.evalset.copied_to(record.input(self.evalset.sha256))
        return AnswerQuestions(record, self.plan, evalset, self.metric)

    def forecast(self) -> Forecast:
        plan, roles = self.plan, self.roles
        requests = CandidateRequests(plan, self.template)
        with self.evalset as evalset:
            bodies = sum(len(requests.candidate(item)) for item in evalset)
            example = requests.candidate(evalset[0]).decode("utf-8", "replace")
        return Forecast(
            samples=plan.n_samples,
            calls=plan.n_samples,
            models=asked_models(roles),
            plan_sha256=plan_sha256(plan),
            plan=msgspec.to_builtins(plan),
            first_request=example,
            warnings=tuple(chain(*words_of_set(plan.part, self.evalset.contents, judge_sees=()))),
            most_cost_usd=most_cost(roles, {"candidate": Workload(plan.n_samples, bodies // BYTES_PER_TOKEN)}),
        )

    def first_fact(self, run_id: str, inputs: dict[str, str], source: str | Path | None) -> RunStarted:
        self.evalset.close()
        plan = self.plan
        project = project_identity(source, "eval set", self.config.evalset)
        identity = identity_of(self.metric, plan, self.evalset, project, generation_params=four_params(plan.candidate))
        config = storable_config(self.config)
        return first_fact(run_id, plan, config, inputs, identity, n_items=plan.n_items, repeats=plan.repeats)


def identity_of(
    metric: Metric, plan: CandidatePlan, evalset: EvalSet, project: Mapping[str, Any], **told: Any
) -> dict[str, Any]:
    """The identity in a run's first fact, beside its plan; `told` overrides the values for a model that is asked."""
    return {
        **set_identity(evalset),
        "prediction_form": None,
        "prediction_columns": {},
        "dry_run": False,
        "run_status": "completed",
        "run_status_reason": None,
        "generation_params": {},
        "training_metrics": [],
        "floating": floating_ids({"model": parse_model_id(plan.candidate.model_id, "model")}),
        "derivation": DERIVATION,
        **project,
        **metric.identity,
        **told,
    }


def roles_of_answers(config: RunConfig, plan: CandidatePlan) -> Roles:
    """The models that it asks: the candidate alone."""
    return {"candidate": (model_settings(config), plan.candidate)}


def check_set(metric: Metric, evalset: EvalSet) -> None:
    """Check that a set, or the chosen part of it, can be asked and scored. Raises: InputError, ConfigError."""
    metric.check_items(evalset)
    if len(evalset) > MAX_SAMPLES:
        raise ConfigError("evalset", f"{len(evalset)} items", f"at most {MAX_SAMPLES} in one run")


def opened_for(metric: Metric, path: Path) -> EvalSet:
    """An eval set with the fields that the metric needs. Raises: InputError, UsageError."""
    needs, keeps = metric.needs_expected_answer, metric.keeps_fields
    return open_evalset(path, needs_expected_answer=needs, keeps_fields=keeps)


def opened_checked(metric: Metric, path: Path) -> EvalSet:
    """An eval set whose items have all that a score needs, to be closed by the caller.

    Raises: InputError naming the line, UsageError.
    """
    evalset = opened_for(metric, path)
    try:
        metric.check_items(evalset)
    except BaseException:
        evalset.close()
        raise
    return evalset


def _check_settings(config: RunConfig, metric: Metric, wrong: Gathering) -> None:
    """Look at settings that have no meaning here, and add them to what is `wrong`."""
    if not config.model:
        wrong.add(nothing_given("model"))
    for name in _NOT_HERE:
        if (value := getattr(config, name)) not in (None, False, {}, ()):
            wrong.add(ConfigError(name, repr(value), f"nothing: {metric.id} asks a model, and nobody else"))
    if config.benchmark:
        with wrong:
            check_code_is_named(code_version())


def prepare(config: RunConfig, metric: Metric) -> PreparedAnswers:
    """Check all settings and read the eval set once.

    Raises: ConfigError, InputError, UsageError; SeveralFaultsError.
    """
    wrong = Gathering()
    _check_settings(config, metric, wrong)
    evalset = candidate = template = None
    part: SetPart | msgspec.UnsetType = msgspec.UNSET
    inputs: Inputs = {}
    with wrong:
        path = named_evalset(config)
        inputs = {"evalset": seen(path), **inputs_of_config(config), **metric.inputs}
        evalset, part = chosen_part(config, opened_for(metric, path))
        check_set(metric, evalset)
    with wrong:
        template = chosen_template(config, evalset)
    with wrong:
        candidate = plan_of_role(model_settings(config), DEFAULT_GENERATION)
        if candidate.provider == "recorded":
            expected = "a model that can be asked, or predictions of a recorded one"
            raise ConfigError("model", candidate.model_id, expected)
        if config.benchmark:
            check_pinned("model", parse_model_id(candidate.model_id, "model"))
    wrong.raise_any()
    assert evalset and template and candidate  # noqa: S101, PT018 - else something is wrong
    plan = CandidatePlan(
        spec=metric.id,
        spec_sha256=metric.sha256,
        evalset_sha256=evalset.sha256,
        n_items=len(evalset),
        part=part,
        repeats=1,
        prompt_template_id=template.id,
        prompt_template_sha256=template.sha256,
        conversations=template.conversations or msgspec.UNSET,
        template_form="messages" if template.of_messages else msgspec.UNSET,
        candidate=candidate,
        benchmark=config.benchmark,
    )
    return PreparedAnswers(metric, config, plan, template, evalset, inputs)
