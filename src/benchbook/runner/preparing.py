"""From settings to a plan: everything is checked before anything is sent or written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchbook.decisions.early_stop import METHOD
from benchbook.derivations.model_id import parse_model_id
from benchbook.derivations.plan import Panel, Plan, RolePlan, UntilDecided
from benchbook.derivations.requests import CANDIDATE_PROMPT, PROMPT_NAMES, PromptTemplate
from benchbook.derivations.rubric_manifest import undeclared
from benchbook.errors import ConfigError, UsageError
from benchbook.evalsets import EvalSet, open_evalset
from benchbook.evalsets.set_parts import PartAsked, SetPart, choose_part
from benchbook.evalsets.shipped_sets import shipped_names, shipped_path
from benchbook.records.reading import MAX_SAMPLES
from benchbook.runner.against import held_against
from benchbook.runner.config import RunConfig
from benchbook.runner.environment import check_code_is_named, code_version
from benchbook.runner.judge_config import judge_names
from benchbook.runner.pinning import check_pinned
from benchbook.runner.recorded import find_columns
from benchbook.runner.roles import RoleSettings, judge_role_settings, plan_of_role
from benchbook.scorers.rubric import rubric_scale
from benchbook.specs import load_spec
from benchbook.text import quoted

__all__ = [
    "DEFAULT_ERROR",
    "Prepared",
    "chosen_part",
    "evalset_path",
    "judges_settings",
    "model_settings",
    "prepare",
    "read_template",
    "until_decided_of",
]

_NAMED = re.compile(r"\{\{([\w .:-]+)\}\}")
DEFAULT_ERROR = 0.05  # of until_decided


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a run needs to begin. `inputs` are copied into the record."""

    config: RunConfig
    plan: Plan
    template: PromptTemplate
    evalset: EvalSet
    inputs: dict[str, Path]
    output_columns: dict[str, str]  # of recorded outputs: ours -> the file's


def prepare(config: RunConfig) -> Prepared:
    """Check all settings and read the eval set once.

    Raises: ConfigError, InputError, UsageError.
    """
    if config.spec != "rubric@v1":
        raise ConfigError("spec", config.spec, "rubric@v1 (answer_correctness@v1: `benchbook score`)")
    spec = load_spec(config.spec)
    _check_settings(config)
    if config.benchmark:
        check_code_is_named(code_version())
    path = evalset_path(config.evalset)
    evalset, part = chosen_part(config, open_evalset(path))
    inputs = {"evalset": path} | config.part.inputs
    template_text = None
    if config.prompt_template is not None:
        inputs["prompt_template"] = Path(config.prompt_template)
        template_text = read_template(Path(config.prompt_template))
    template_id = CANDIDATE_PROMPT if template_text is None else Path(config.prompt_template or "").name
    template = PromptTemplate(template_id, template_text)
    is_recorded = parse_model_id(config.model, "model").provider == "recorded"
    is_told = not is_recorded or config.prompt_template is not None  # how outputs were made elsewhere, nobody knows
    columns: dict[str, str] = {}
    if config.outputs is not None:
        inputs["outputs"] = Path(config.outputs)
        with evalset:  # faults are told before anything is written
            columns = find_columns(inputs["outputs"], config.output_columns, evalset, config.n_repeats)
    rubric_scale(frozenset(config.unmeasured))  # refuses what can't be declared
    defaults = spec.settings["generation"]
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
    return Prepared(config, plan, template, evalset, inputs, columns)


def chosen_part(config: RunConfig, evalset: EvalSet) -> tuple[EvalSet, SetPart | msgspec.UnsetType]:
    """The items that the settings leave, and which they are, where it is not the whole set.

    Raises: ConfigError, InputError.
    """
    if config.benchmark and config.part:
        name = next(name for name in PartAsked._fields if getattr(config, name))
        raise ConfigError(name, str(getattr(config, name)), "nothing in a benchmark, which asks the whole set")
    chosen, part = choose_part(evalset, config.part)
    return chosen, part or msgspec.UNSET


def _check_settings(config: RunConfig) -> None:
    """What does not go together, told before any file is read. Raises: ConfigError."""
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
        expected = "nothing with until_decided: such a run can't be READY (R1.4)"
        raise ConfigError("unmeasured", ", ".join(config.unmeasured), expected)
    error = DEFAULT_ERROR if config.error is None else config.error
    return UntilDecided(error=error, seed=config.order_seed or 0, method=METHOD)


def evalset_path(name: str) -> Path:
    """A file, or with `@` a set that Benchbook ships: `@support_v1`.

    Raises: UsageError.
    """
    if not name.startswith("@"):
        return Path(name)
    if name[1:].replace("-", "_") not in shipped_names():
        raise UsageError(f"evalset {name}: Benchbook ships no such set (`benchbook evalset list`)")
    return shipped_path(name[1:])


def read_template(path: Path) -> str:
    """The user's own prompt template. Raises: ConfigError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError("prompt_template", f"{path} ({error.strerror})", "a text file with {{prompt}}") from None
    except UnicodeDecodeError as error:
        raise ConfigError("prompt_template", f"{path}: no UTF-8 at byte {error.start}", "UTF-8") from None
    if "{{prompt}}" not in text:
        raise ConfigError(
            "prompt_template", f"{path}, which has no {{{{prompt}}}}", "the item's prompt somewhere in it"
        )
    names = " or ".join([", ".join(f"{{{{{name}}}}}" for name in PROMPT_NAMES[:-1]), f"{{{{{PROMPT_NAMES[-1]}}}}}"])
    for found in _NAMED.finditer(text):
        if found[1] not in PROMPT_NAMES:  # also one with spaces in it, or in capitals, which would be sent as it is
            line = text.count("\n", 0, found.start()) + 1
            raise ConfigError("prompt_template", f"{quoted(found[0])} on line {line} of {path}", names)
    return text


def model_settings(config: RunConfig) -> RoleSettings:
    """How the model is reached and asked."""
    return RoleSettings(
        setting="model",
        model=config.model,
        prefix="model_",
        base_url=config.model_base_url,
        api_key_env=config.model_api_key_env,
        path=config.model_path,
        params=config.model_params,
        reasoning_tags=config.model_reasoning_tags,
        json_schema=False,
        stream=config.stream,
        timeout_ms=config.timeout_ms,
        input_price=config.model_input_price,
        output_price=config.model_output_price,
    )


def judges_settings(config: RunConfig) -> list[RoleSettings]:
    """How each judge is reached and asked, by its number."""
    return [
        judge_role_settings(judge, config.timeout_ms, setting=setting, prefix=prefix)
        for setting, prefix, judge in config.all_judges
    ]


def _panel(config: RunConfig, judges: Sequence[RolePlan]) -> Panel | msgspec.UnsetType:
    if config.panel_rule is None:
        return msgspec.UNSET
    return Panel(names=judge_names(config.judges), others=tuple(judges[1:]), rule=config.panel_rule)


def _check_roles(config: RunConfig, plan: Plan) -> None:
    for role, judge in zip(judges_settings(config), plan.judges, strict=True):
        if judge.provider == "recorded":
            raise ConfigError(role.setting, judge.model_id, "a judge that can be asked")
    if plan.unmeasured and plan.candidate.provider != "recorded":
        raise ConfigError("unmeasured", ", ".join(plan.unmeasured), "only with recorded outputs (R1.4)")
    if plan.candidate.provider == "recorded" and parse_model_id(config.model, "model").declared_version is None:
        raise ConfigError("model", config.model, "recorded/name@version: nobody can tell the version later (R7.2)")
    if plan.benchmark:
        if unknown := undeclared(plan, config.model_params):
            expected = f"{', '.join(unknown)}, as the outputs were made (null for a parameter that was not set)"
            raise ConfigError("benchmark", "recorded outputs of which not all is declared", expected)
        for role, asked in zip(
            (model_settings(config), *judges_settings(config)), (plan.candidate, *plan.judges), strict=True
        ):
            check_pinned(role.setting, parse_model_id(asked.model_id, role.setting))
