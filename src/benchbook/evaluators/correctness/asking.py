"""`answer_correctness@v1` over a model that is asked here: a plan, a record that resumes, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.asking import Call
from benchbook.ask.environment import check_code_is_named, code_version, environment
from benchbook.ask.identity import floating_ids
from benchbook.ask.model_id import parse_model_id
from benchbook.ask.pinning import PinCheck, check_pinned
from benchbook.ask.progress import ProgressHandler, Resume
from benchbook.ask.requests import plan_sha256
from benchbook.ask.roles import open_means, plan_of_role
from benchbook.ask.sitting import Means, Sitting
from benchbook.ask.work import OneCall, is_answered
from benchbook.errors import ConfigError, UsageError
from benchbook.evalsets import EvalSet, open_evalset
from benchbook.evalsets.opening import evalset_path
from benchbook.evaluators.candidate import (
    CANDIDATE_PROMPT,
    CandidatePlan,
    CandidateRequests,
    PromptTemplate,
    candidate_plan_of,
    template_of,
)
from benchbook.evaluators.correctness.starting import SPEC, ScoreResult
from benchbook.evaluators.correctness.tables import derive_correctness
from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.recorded_set import recorded_evalset, set_identity
from benchbook.evaluators.settings import RunConfig
from benchbook.evaluators.starting import (
    changed_config,
    chosen_part,
    four_params,
    is_ended_as_it_is,
    model_settings,
    new_run_id,
    project_identity,
    read_template,
    storable_config,
)
from benchbook.record.facts import Failure, Reply, Resumed, RunStarted
from benchbook.record.folder import Record, create_record
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import MAX_SAMPLES
from benchbook.specs import load_spec

__all__ = ["ScoreJob", "resume_score", "score_model"]


class ScoreJob:
    def __init__(self, plan: CandidatePlan, evalset: EvalSet, requests: CandidateRequests) -> None:
        self._plan = plan
        self._evalset = evalset
        self._requests = requests

    @property
    def n_samples(self) -> int:
        return self._plan.n_samples

    def order(self) -> Iterable[int]:
        return range(self.n_samples)

    def begin(self, sample: int, facts: Sequence[Reply | Failure]) -> OneCall:
        body = self._requests.candidate(self._evalset[sample % self._plan.n_items])
        call = Call(sample, "candidate", 1, body, "candidate", cacheable=sample < self._plan.n_items, begins=True)
        return OneCall(call, facts)


# Settings of a run that have no meaning where nobody judges, and outputs come from `--predictions`.
_NOT_HERE = (
    "judge",
    "outputs",
    "output_columns",
    "repeats",
    "unmeasured",
    "no_variance",
    "experiment",
    "confidence",
    "until_decided",
    "error",
    "order_seed",
    "against",
)


@dataclass(frozen=True, slots=True)
class _Prepared:
    config: RunConfig
    plan: CandidatePlan
    evalset: EvalSet
    inputs: dict[str, Path]


async def score_model(
    config: RunConfig, on_progress: ProgressHandler | None = None, source: str | Path | None = None
) -> ScoreResult:
    """Begin a new record and ask its model every item, by candidate_prompt@v1 or the user's own template.

    Raises: UsageError and its kin before anything is written; RecordError.
    """
    prepared = _prepare(config)
    prepared.evalset.close()
    run_id = config.run_id or new_run_id()
    async with _means(config, prepared.plan) as means:  # a missing key is told before a record exists
        record = create_record(
            config.runs, run_id, prepared.inputs, lambda inputs: _run_started(run_id, prepared, inputs, source)
        )
        evalset = prepared.evalset.copied_to(record.input(prepared.evalset.sha256))
        return await _sit(record, config, prepared.plan, means, evalset, None, on_progress)


async def resume_score(
    record: Record, changes: dict[str, Any] | None = None, on_progress: ProgressHandler | None = None
) -> ScoreResult:
    """Go on with a record where its journal ends. `changes` may hold limits and endpoints, nothing of the plan.

    Raises: UsageError for a record that this can't resume, or a change that would change the plan; RecordError.
    """
    started = record.started()
    if started.spec != SPEC:
        raise UsageError(f"{record.path}: was made under {started.spec}; resume it with `benchbook run --resume`")
    plan = candidate_plan_of(started)
    if not plan.prompt_template_id:
        raise UsageError(f"{record.path}: its predictions were read from a file; there is nothing to resume")
    config = changed_config(started, changes)
    async with _means(config, plan) as means:
        resumed = Resumed(code_version=code_version(), environment=environment(), config=storable_config(config))
        evalset = recorded_evalset(record, started)
        return await _sit(
            record, config, plan, means, evalset, resumed, on_progress, as_it_is=is_ended_as_it_is(changes)
        )


def _prepare(config: RunConfig) -> _Prepared:
    """Check all settings and read the eval set once."""
    for name in _NOT_HERE:
        if getattr(config, name) not in (None, False, {}, ()):
            raise ConfigError(name, repr(getattr(config, name)), f"nothing: {SPEC} asks a model, and nobody else")
    if config.benchmark:
        check_code_is_named(code_version())
    path = evalset_path(config.evalset)
    evalset, part = chosen_part(config, open_evalset(path, needs_expected_answer=True))
    if len(evalset) > MAX_SAMPLES:
        raise ConfigError("evalset", f"{len(evalset)} items", f"at most {MAX_SAMPLES} in one run")
    inputs = {"evalset": path} | config.part.inputs
    template = PromptTemplate(CANDIDATE_PROMPT, None)
    if config.prompt_template is not None:
        inputs["prompt_template"] = Path(config.prompt_template)
        template = PromptTemplate(inputs["prompt_template"].name, read_template(inputs["prompt_template"]))
    candidate = plan_of_role(model_settings(config), load_spec("rubric@v1").settings["generation"])
    if candidate.provider == "recorded":
        raise ConfigError("model", candidate.model_id, "a model that can be asked, or predictions of a recorded one")
    if config.benchmark:
        check_pinned("model", parse_model_id(candidate.model_id, "model"))
    spec = load_spec(SPEC)
    plan = CandidatePlan(
        spec=spec.id,
        spec_sha256=spec.sha256,
        evalset_sha256=evalset.sha256,
        n_items=len(evalset),
        part=part,
        repeats=1,
        prompt_template_id=template.id,
        prompt_template_sha256=template.sha256,
        candidate=candidate,
        benchmark=config.benchmark,
    )
    return _Prepared(config, plan, evalset, inputs)


def _means(config: RunConfig, plan: CandidatePlan) -> AbstractAsyncContextManager[Means]:
    """What a sitting asks with. A missing key is told here."""
    roles = {"candidate": (model_settings(config), plan.candidate)}
    return open_means(roles, max_connections=config.max_connections, cache=config.cache)


async def _sit(
    record: Record,
    config: RunConfig,
    plan: CandidatePlan,
    means: Means,
    evalset: EvalSet,
    resumed: Resumed | None,
    on_progress: ProgressHandler | None,
    *,
    as_it_is: bool = False,
) -> ScoreResult:
    sitting = Sitting(record, config, means, plan.n_samples, is_answered, on_progress)
    requests = CandidateRequests(plan, template_of(record, record.started()))

    def begin(journal: JournalWriter, resume: Resume) -> ScoreJob:
        del journal, resume
        return ScoreJob(plan, evalset, requests)

    models = {"candidate": parse_model_id(plan.candidate.model_id, "model")}
    with evalset:
        await sitting.ask(resumed, begin, PinCheck(models, benchmark=plan.benchmark), as_it_is=as_it_is)
    return ScoreResult(record, derive_correctness(record, record.path), sitting.stop)


def _run_started(run_id: str, prepared: _Prepared, inputs: dict[str, str], source: str | Path | None) -> RunStarted:
    plan = prepared.plan
    identity = {
        **set_identity(prepared.evalset),
        "prediction_form": None,
        "prediction_columns": {},
        "dry_run": False,
        "run_status": "completed",
        "run_status_reason": None,
        "generation_params": four_params(plan.candidate),
        "training_metrics": [],
        "plan": msgspec.to_builtins(plan),
        "floating": floating_ids({"model": parse_model_id(plan.candidate.model_id, "model")}),
        **project_identity(source, prepared.config.evalset),
        "derivation": DERIVATION,
    }
    return RunStarted(
        run_id=run_id,
        spec=plan.spec,
        spec_sha256=plan.spec_sha256,
        plan_sha256=plan_sha256(plan),
        n_items=plan.n_items,
        repeats=plan.repeats,
        config=storable_config(prepared.config),
        inputs=inputs,
        identity=identity,
        code_version=code_version(),
        environment=environment(),
    )
