"""From settings to a plan: everything is checked before anything is sent or written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.identity import (
    check_code_is_named,
    code_version,
    first_fact,
    floating_ids,
    project_identity,
    storable_config,
)
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import ModelId, check_pinned, parse_model_id
from benchbook.ask.probing import Trial
from benchbook.ask.requests import RolePlan
from benchbook.ask.roles import Roles, RoleSettings, judge_roles, plan_of_role
from benchbook.ask.settings import judge_names as panel_names
from benchbook.errors import ConfigError
from benchbook.evalsets import EvalSet, open_evalset
from benchbook.evalsets.opening import evalset_path
from benchbook.evalsets.tables import table_form
from benchbook.evaluators.candidate import (
    PromptTemplate,
    chosen_part,
    chosen_template,
    four_params,
    inputs_of_config,
    model_settings,
)
from benchbook.evaluators.derivation import DERIVATION, derivation_of
from benchbook.evaluators.kept import set_identity
from benchbook.evaluators.measured import MEASURED_WORDS, measured_differences
from benchbook.evaluators.recorded_outputs import find_columns
from benchbook.evaluators.rubric.asking import RubricQuestions, early_decision, endpoint_name
from benchbook.evaluators.rubric.early_stop_gates import METHOD
from benchbook.evaluators.rubric.early_stop_pairs import PAIRED_METHOD, OtherRun, pass_mark
from benchbook.evaluators.rubric.forecast import RubricForecast, forecast_of
from benchbook.evaluators.rubric.manifest import undeclared
from benchbook.evaluators.rubric.outcomes import outcome_of
from benchbook.evaluators.rubric.plan import Panel, Plan, Requests, UntilDecided, plan_of
from benchbook.evaluators.rubric.reading import items_for, rubric_asked_for, spec_of
from benchbook.evaluators.rubric.reply import check_item_criteria
from benchbook.evaluators.rubric.spec import RUBRIC_V1, RubricSpec
from benchbook.evaluators.rubric.steps import ItemOf, read_history
from benchbook.evaluators.rubric.trying import trials_of
from benchbook.evaluators.rubric.warnings import judge_names
from benchbook.evaluators.settings import RunConfig
from benchbook.record.derived_files import check_whole
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Inputs, Record, record_named, seen
from benchbook.record.reading import MAX_SAMPLES
from benchbook.record.state import JournalState, read_state
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


DEFAULT_ERROR = 0.05  # of until_decided


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

    Raises: ConfigError, InputError, UsageError.
    """
    rubric = rubric_asked_for(config.spec)
    spec = rubric.spec
    _check_settings(config)
    _check_panel(config, spec)
    if config.benchmark:
        check_code_is_named(code_version())
    path = evalset_path(config.evalset)
    inputs: Inputs = {"evalset": seen(path), **inputs_of_config(config), **rubric.inputs}
    evalset, part = chosen_part(config, open_evalset(path))
    if spec.by_item:
        check_item_criteria(evalset, spec)
    template = chosen_template(config, evalset)
    is_recorded = parse_model_id(config.model, "model").provider == "recorded"
    is_told = not is_recorded or config.prompt_template is not None  # how outputs were made elsewhere, nobody knows
    columns: dict[str, str] = {}
    if config.outputs is not None:
        with evalset:  # faults are reported before anything is written
            columns = find_columns(Path(config.outputs), config.output_columns, evalset, config.n_repeats)
    spec.without(config.unmeasured)  # refuses what can't be declared
    _check_prices(config, spec)
    defaults = dict(spec.generation)
    judges = [plan_of_role(judge, defaults) for judge in judges_settings(config)]
    plan = Plan(
        spec=spec.id,
        spec_sha256=spec.sha256,
        evalset_sha256=evalset.sha256,
        n_items=len(evalset),
        part=part,
        repeats=config.n_repeats,
        prompt_template_id=template.id if is_told else "",
        prompt_template_sha256=template.sha256 if is_told else "",
        conversations=template.conversations or msgspec.UNSET,
        template_form="messages" if template.of_messages else msgspec.UNSET,
        candidate=plan_of_role(model_settings(config), {} if is_recorded else defaults),
        judge=judges[0],
        unmeasured=tuple(sorted(set(config.unmeasured))),
        benchmark=config.benchmark,
        no_variance=config.no_variance or msgspec.UNSET,
        until_decided=until_decided_of(config),
        panel=_panel(config, judges),
    )
    if plan.n_samples > MAX_SAMPLES:
        raise ConfigError("repeats", f"{plan.n_samples} samples", f"at most {MAX_SAMPLES} in one run")
    _check_roles(config, plan)
    if config.against is not None:
        plan = held_against(plan, config.against, config.runs, grouped=evalset.grouped)
    return PreparedRun(config, spec.without(plan.unmeasured), plan, template, evalset, inputs, columns)


def _check_prices(config: RunConfig, spec: RubricSpec) -> None:
    """Refuse a run without prices where cost is measured: what costs nothing has the price 0. Raises: ConfigError."""
    if not spec.measures_cost or "cost" in config.unmeasured:
        return
    for name in ("model_input_price", "model_output_price"):
        if getattr(config, name) is None:
            expected = (
                f"US dollars per million tokens, for {spec.id} measures what an answer costs (0 where it costs "
                'nothing); or unmeasured = ["cost"]'
            )
            raise ConfigError(name, "nothing", expected)


def _check_settings(config: RunConfig) -> None:
    """Refuse settings that do not go together, before any file is read. Raises: ConfigError."""
    if config.max_cost_usd is not None and not config.has_prices:
        raise ConfigError("max_cost_usd", "no prices", "model_input_price, judge_output_price and their kin")
    is_recorded = parse_model_id(config.model, "model").provider == "recorded"
    if is_recorded and config.outputs is None:
        raise ConfigError("outputs", "nothing", f"a file with the outputs of {config.model}")
    if config.outputs is not None and not is_recorded:
        raise ConfigError(
            "outputs", config.outputs, f"no file: {config.model} is asked; or model recorded/name@version"
        )


def until_decided_of(config: RunConfig) -> UntilDecided | msgspec.UnsetType:
    """How the run stops early, where it may. Raises: ConfigError for what does not go with that."""
    if not config.until_decided:
        for name in ("error", "order_seed", "against"):
            if getattr(config, name) is not None:
                raise ConfigError(name, str(getattr(config, name)), "until_decided with it")
        return msgspec.UNSET
    if config.confidence not in (None, "none"):
        expected = "nothing with until_decided: its own error takes the place of bounds"
        raise ConfigError("confidence", str(config.confidence), expected)
    if config.unmeasured and config.against is None:
        expected = "nothing with until_decided: such a run can't be READY"
        raise ConfigError("unmeasured", ", ".join(config.unmeasured), expected)
    error = DEFAULT_ERROR if config.error is None else config.error
    return UntilDecided(error=error, seed=config.order_seed or 0, method=METHOD)


def judges_settings(config: RunConfig) -> list[RoleSettings]:
    """How each judge is reached and asked, by its number."""
    return judge_roles(config.all_judges, config.timeout_ms)


def _panel(config: RunConfig, judges: Sequence[RolePlan]) -> Panel | msgspec.UnsetType:
    if config.panel_rule is None:
        return msgspec.UNSET
    return Panel(names=panel_names(config.judges), others=tuple(judges[1:]), rule=config.panel_rule)


def _check_panel(config: RunConfig, spec: RubricSpec) -> None:
    """Refuses a panel whose judges might differ on what applies: no rule says what then counts."""
    if config.panel_rule is None:
        return
    if names := [one.name for one in spec.criteria if one.may_not_apply]:
        raise ConfigError("judges", f"a panel, under a rubric whose {names[0]} may not apply", "one judge")


def _check_roles(config: RunConfig, plan: Plan) -> None:
    for role, judge in zip(judges_settings(config), plan.judges, strict=True):
        if judge.provider == "recorded":
            raise ConfigError(role.setting, judge.model_id, "a judge that can be asked")
    asked_for = [name for name in plan.unmeasured if name != "cost"]  # of which a price may be lacking anywhere
    if asked_for and plan.candidate.provider != "recorded":
        raise ConfigError("unmeasured", ", ".join(asked_for), "only with recorded outputs: of others it is measured")
    if plan.candidate.provider == "recorded" and parse_model_id(config.model, "model").declared_version is None:
        raise ConfigError("model", config.model, "recorded/name@version: nobody can tell the version later")
    if plan.benchmark:
        if unknown := undeclared(plan, config.model_params):
            expected = f"{', '.join(unknown)}, as the outputs were made (null for a parameter that was not set)"
            raise ConfigError("benchmark", "recorded outputs of which not all is declared", expected)
        for role, asked in zip(
            (model_settings(config), *judges_settings(config)), (plan.candidate, *plan.judges), strict=True
        ):
            check_pinned(role.setting, parse_model_id(asked.model_id, role.setting))
