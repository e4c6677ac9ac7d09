"""From settings to a plan: everything is checked before anything is sent or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.identity import (
    SELF_JUDGING,
    first_fact,
    floating_ids,
    project_identity,
    storable_config,
)
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import ModelId, parse_model_id
from benchbook.ask.probing import Trial
from benchbook.ask.requests import RolePlan
from benchbook.ask.roles import Roles, RoleSettings, plan_of_role
from benchbook.ask.settings import judge_names as panel_names
from benchbook.errors import ConfigError, Gathering
from benchbook.evalsets import EvalSet, open_evalset
from benchbook.evalsets.set_parts import SetPart
from benchbook.evalsets.tables import table_form
from benchbook.evaluators.candidate import (
    PromptTemplate,
    chosen_part,
    chosen_template,
    four_params,
    inputs_of_config,
    model_settings,
    named_evalset,
)
from benchbook.evaluators.derivation import DERIVATION, derivation_of
from benchbook.evaluators.kept import set_identity
from benchbook.evaluators.measured import MEASURED_WORDS, measured_differences
from benchbook.evaluators.recorded_outputs import find_columns
from benchbook.evaluators.rubric.asking import RubricQuestions, early_decision, endpoint_name
from benchbook.evaluators.rubric.checking import (
    check_benchmark,
    check_settings,
    is_recorded,
    judges_settings,
    until_decided_of,
)
from benchbook.evaluators.rubric.early_stop_pairs import PAIRED_METHOD, OtherRun, pass_mark
from benchbook.evaluators.rubric.forecast import RubricForecast, forecast_of
from benchbook.evaluators.rubric.outcomes import outcome_of
from benchbook.evaluators.rubric.plan import Panel, Plan, Requests, UntilDecided, plan_of
from benchbook.evaluators.rubric.reading import RubricFolder, items_for, rubric_asked_for, spec_of
from benchbook.evaluators.rubric.reply import check_item_criteria
from benchbook.evaluators.rubric.spec import RUBRIC_V1, RubricSpec
from benchbook.evaluators.rubric.steps import ItemOf, read_history
from benchbook.evaluators.rubric.trying import trials_of
from benchbook.evaluators.rubric.warnings import judge_names
from benchbook.evaluators.settings import RunConfig
from benchbook.record.derived_files import check_whole
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Inputs, Record, record_named, seen
from benchbook.record.joined_state import read_state
from benchbook.record.reading import MAX_SAMPLES
from benchbook.record.state import JournalState
from benchbook.text import storable


def held_against(plan: Plan, run: str, runs: str, *, grouped: bool) -> Plan:
    """The plan, with what it needs of the run that it is held against. `run` is a path, or an id in the folder `runs`.
    `grouped`: the set's items come in groups, which rise and fall together.

    The requests to the model (its parameters, the prompt template) may be what is tried out; the meaning of an item's
    score may not differ.

    Raises: ConfigError for a run that is not whole or measured something else; UsageError where there is no such
    record; RecordError.
    """
    assert isinstance(plan.until_decided, UntilDecided)  # noqa: S101 - refused before
    if grouped:
        expected = "items that stand alone: bets on one after the other take those of a group for so many proofs"
        raise ConfigError("against", "an eval set whose items have a group", expected)
    record = record_named(run, runs)
    check_whole(record)
    started = record.started()
    if started.spec != plan.spec:
        raise ConfigError("against", f"{run}, a run under {started.spec}", f"a run under {plan.spec}")
    state, other = read_state(record.journal), plan_of(started)
    for one in measured_differences(_measured(other), _measured(plan)):
        leaves = ", ".join(leaf.path for leaf in one.leaves)
        found = f"{run}, of which not the same was measured: {MEASURED_WORDS[one.name]} differs ({one.name}: {leaves})"
        raise ConfigError("against", found, "a run on the same eval set, by the same judge and scorer")
    spec = spec_of(record, other)
    with items_for(record, other, spec) as item_of:
        against = _passes(state, other, spec, run, item_of)
    rule = msgspec.structs.replace(plan.until_decided, method=PAIRED_METHOD, against=against)
    return msgspec.structs.replace(plan, until_decided=rule)


def _measured(plan: Plan) -> dict[str, Any]:
    """The eval set, the scorer and the judge of a plan, by the manifest's names for them."""
    return {
        "dataset_version_or_hash": [plan.set_sha256, plan.n_items],
        "spec": plan.spec,
        "spec_sha256": plan.spec_sha256,
        "unmeasured": list(plan.unmeasured),
        "evaluator_model_id": [judge.model_id for judge in plan.judges],
        "evaluator_generation_params_effective": {
            "judges": [
                {"params": judge.params, "json_schema": judge.json_schema, "reasoning_tags": judge.reasoning_tags}
                for judge in plan.judges
            ],
            "panel_rule": plan.panel.rule if isinstance(plan.panel, Panel) else None,
        },
    }


def _passes(state: JournalState, plan: Plan, spec: RubricSpec, run: str, item_of: ItemOf) -> OtherRun:
    """Which of its samples passed, read from its journal by the rules of today, as the other run's will be."""
    if state.state != "complete":
        raise ConfigError("against", f"{run}, which is not complete: it is {state.state}", "a run that was ended")
    derivation = derivation_of(state.started)
    if (early := early_decision(plan, spec, state.index.by_sample(), derivation, item_of)) is not None:
        raise ConfigError("against", f"{run}, which ended early ({early.words})", "a run that asked all items")
    marks = ["?"] * plan.n_samples
    for sample, facts in state.index.by_sample():
        marks[sample] = pass_mark(outcome_of(read_history(facts, plan, spec, DERIVATION, item_of(sample))), spec)
    return OtherRun(
        run_id=storable(state.started.run_id),
        journal_sha256=state.last_sha256,
        repeats=plan.repeats,
        passes="".join(marks),
    )


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run as it would be begun. `output_columns` are those of recorded outputs: ours -> the file's."""

    config: RunConfig
    spec: RubricSpec
    plan: Plan
    template: PromptTemplate
    evalset: EvalSet
    inputs: Inputs
    output_columns: dict[str, str]

    @property
    def roles(self) -> Roles:
        return roles_of_run(self.config, self.plan)

    @property
    def benchmark(self) -> bool:
        return self.plan.benchmark

    def questions(self, record: Record, stop: Stop) -> RubricQuestions:
        evalset = self.evalset.copied_to(record.input(self.evalset.sha256))
        return RubricQuestions(record, self.plan, evalset, stop)

    def forecast(self) -> RubricForecast:
        requests = Requests(self.plan, self.spec, self.template)
        return forecast_of(self.config, self.plan, requests, self.spec, self.evalset, self.roles)

    def trials(self) -> Mapping[str, Trial]:
        return trials_of(self.plan, self.spec, self.evalset)

    def first_fact(self, run_id: str, inputs: dict[str, str], source: str | Path | None) -> RunStarted:
        self.evalset.close()
        plan, config = self.plan, self.config
        identity = {
            **set_identity(self.evalset),
            "output_form": table_form(config.outputs) if config.outputs else None,
            "output_columns": self.output_columns,
            "generation_params": {
                "model": four_params(plan.candidate),
                "judge": four_params(plan.judge),  # of a panel the first; the others' are in the plan
            },
            "floating": floating_ids(_named_models(plan)),
            "self_judging": SELF_JUDGING,
            "derivation": DERIVATION,
            **({} if plan.spec == RUBRIC_V1 else {"evaluator": "rubric"}),  # which its name alone does not tell
            **project_identity(source, "eval set", config.evalset),
        }
        return first_fact(
            run_id, plan, storable_config(config), inputs, identity, n_items=plan.n_items, repeats=plan.repeats
        )


def roles_of_run(config: RunConfig, plan: Plan) -> Roles:
    """The roles that a run asks: the candidate, then each judge."""
    judges = zip(judges_settings(config), plan.judges, strict=True)
    return {"candidate": (model_settings(config), plan.candidate)} | {
        endpoint_name(number): judge for number, judge in enumerate(judges)
    }


def _named_models(plan: Plan) -> dict[str, ModelId]:
    """The models by their names in texts."""
    roles = zip(("model", *judge_names(plan)), (plan.candidate, *plan.judges), strict=True)
    return {name: parse_model_id(role.model_id, name) for name, role in roles}


def prepare(config: RunConfig) -> PreparedRun:
    """Check all settings and read the eval set once.

    Raises: ConfigError, InputError, UsageError; SeveralFaultsError.
    """
    rubric = rubric_asked_for(config.spec)
    spec = rubric.spec
    wrong = Gathering()
    check_settings(config, spec, wrong)
    read = _read(config, rubric, wrong)
    roles = [model_settings(config), *judges_settings(config)]
    planned = [_plan_of(role, config, spec, wrong) for role in roles]
    wrong.raise_any()
    assert read is not None  # noqa: S101 - else something is wrong
    candidate, *judges = filter(None, planned)
    is_told = not is_recorded(config) or config.prompt_template is not None  # made elsewhere, nobody knows how
    plan = Plan(
        spec=spec.id,
        spec_sha256=spec.sha256,
        evalset_sha256=read.evalset.sha256,
        n_items=len(read.evalset),
        part=read.part,
        repeats=config.n_repeats,
        prompt_template_id=read.template.id if is_told else "",
        prompt_template_sha256=read.template.sha256 if is_told else "",
        conversations=read.template.conversations or msgspec.UNSET,
        template_form="messages" if read.template.of_messages else msgspec.UNSET,
        candidate=candidate,
        judge=judges[0],
        unmeasured=tuple(sorted(set(config.unmeasured))),
        benchmark=config.benchmark,
        no_variance=config.no_variance or msgspec.UNSET,
        until_decided=until_decided_of(config),
        panel=_panel(config, judges),
    )
    if plan.n_samples > MAX_SAMPLES:
        raise ConfigError("repeats", f"{plan.n_samples} samples", f"at most {MAX_SAMPLES} in one run")
    check_benchmark(config, plan)
    if config.against is not None:
        plan = held_against(plan, config.against, config.runs, grouped=read.evalset.grouped)
    spec = spec.without(plan.unmeasured)
    return PreparedRun(config, spec, plan, read.template, read.evalset, read.inputs, read.columns)


@dataclass(frozen=True, slots=True)
class _FilesRead:
    """The files that a config names, read and checked."""

    evalset: EvalSet
    part: SetPart | msgspec.UnsetType
    template: PromptTemplate
    inputs: Inputs
    columns: dict[str, str]


def _read(config: RunConfig, rubric: RubricFolder, wrong: Gathering) -> _FilesRead | None:
    """The files of a config; None where one of them is `wrong`."""
    evalset = template = None
    part: SetPart | msgspec.UnsetType = msgspec.UNSET
    inputs: Inputs = {}
    columns: dict[str, str] = {}
    with wrong:
        path = named_evalset(config)
        inputs = {"evalset": seen(path), **inputs_of_config(config), **rubric.inputs}
        evalset, part = chosen_part(config, open_evalset(path))
    with wrong:
        template = chosen_template(config, evalset)
    if evalset is None:
        return None
    if rubric.spec.by_item:
        with wrong:
            check_item_criteria(evalset, rubric.spec)
    if config.outputs is not None and is_recorded(config):
        with wrong, evalset:  # faults are reported before anything is written
            columns = find_columns(Path(config.outputs), config.output_columns, evalset, config.n_repeats)
    if template is None:
        evalset.close()
        return None
    return _FilesRead(evalset, part, template, inputs, columns)


def _plan_of(role: RoleSettings, config: RunConfig, spec: RubricSpec, wrong: Gathering) -> RolePlan | None:
    """The plan for asking a model; None where its settings are `wrong`."""
    made_elsewhere = role.prefix == "model_" and is_recorded(config)
    with wrong:
        return plan_of_role(role, {} if made_elsewhere else dict(spec.generation))
    return None


def _panel(config: RunConfig, judges: Sequence[RolePlan]) -> Panel | msgspec.UnsetType:
    if (rule := config.rule_of_panel) is None:
        return msgspec.UNSET
    return Panel(names=panel_names(config.judges), others=tuple(judges[1:]), rule=rule)
