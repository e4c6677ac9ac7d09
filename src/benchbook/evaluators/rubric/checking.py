"""The settings of a run under a rubric that do not go together: all of them are looked at, before any file is read."""

from __future__ import annotations

import msgspec

from benchbook.ask.identity import check_code_is_named, code_version
from benchbook.ask.model_id import check_pinned, parse_model_id
from benchbook.ask.roles import RoleSettings, judge_roles
from benchbook.ask.settings import judge_names as panel_names
from benchbook.errors import ConfigError, Gathering
from benchbook.evaluators.candidate import model_settings, nothing_given
from benchbook.evaluators.rubric.early_stop_gates import METHOD
from benchbook.evaluators.rubric.manifest import undeclared
from benchbook.evaluators.rubric.plan import Plan, UntilDecided
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.settings import RunConfig

DEFAULT_ERROR = 0.05  # of until_decided

_MAY_LACK_ANYWHERE = {"cost", "tokens"}  # nobody knows a price, and servers without `usage` tell no tokens


def check_settings(config: RunConfig, spec: RubricSpec, wrong: Gathering) -> None:
    """Look at settings that do not go together, before any file is read, and add them to what is `wrong`."""
    made_elsewhere = is_recorded(config)
    if not config.model:
        wrong.add(nothing_given("model"))
    if not config.all_judges:
        wrong.add(nothing_given("judge"))
    if config.max_cost_usd is not None and not config.has_prices:
        wrong.add(ConfigError("max_cost_usd", "no prices", "model_input_price, judge_output_price and their kin"))
    if made_elsewhere and config.outputs is None:
        wrong.add(ConfigError("outputs", "nothing", f"a file with the outputs of {config.model}"))
    if config.outputs is not None and not made_elsewhere:
        expected = f"no file: {config.model} is asked; or model recorded/name@version"
        wrong.add(ConfigError("outputs", config.outputs, expected))
    if config.benchmark:
        with wrong:
            check_code_is_named(code_version())
    for check in (_check_panel, _check_unmeasured, _check_prices):
        with wrong:
            check(config, spec)
    with wrong:
        until_decided_of(config)
    _check_models(config, wrong)


def _check_unmeasured(config: RunConfig, spec: RubricSpec) -> None:
    spec.without(config.unmeasured)  # refuses what can't be declared
    asked_for = sorted(set(config.unmeasured) - _MAY_LACK_ANYWHERE)
    if asked_for and not is_recorded(config) and config.batch is None:
        raise ConfigError("unmeasured", ", ".join(asked_for), "only with recorded outputs: of others it is measured")


def _check_models(config: RunConfig, wrong: Gathering) -> None:
    """Look at the ids of the models: outputs have a version, and a judge can be asked."""
    if is_recorded(config):
        with wrong:
            if parse_model_id(config.model, "model").declared_version is None:
                expected = "recorded/name@version: nobody can tell the version later"
                raise ConfigError("model", config.model, expected)
    for role in judges_settings(config):
        if role.config.model.startswith("recorded/"):
            wrong.add(ConfigError(role.setting, role.config.model, "a judge that can be asked"))


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


def _check_panel(config: RunConfig, spec: RubricSpec) -> None:
    """Refuse a panel whose judges have one name, or might differ on what applies: no rule says what then counts."""
    if config.rule_of_panel is None:
        return
    if names := [one.name for one in spec.criteria if one.may_not_apply]:
        raise ConfigError("judges", f"a panel, under a rubric whose {names[0]} may not apply", "one judge")
    panel_names(config.judges)


def judges_settings(config: RunConfig) -> list[RoleSettings]:
    """How each judge is reached and asked, by its number."""
    return judge_roles(config.all_judges, config.timeout_ms)


def is_recorded(config: RunConfig) -> bool:
    """True if its answers were recorded elsewhere, so that no model is asked for them."""
    return config.model.startswith("recorded/")


def check_benchmark(config: RunConfig, plan: Plan) -> None:
    """Refuse, for a benchmark, outputs of which not all is declared, and models that float. Raises: ConfigError."""
    if not plan.benchmark:
        return
    if unknown := undeclared(plan, config.model_params):
        expected = f"{', '.join(unknown)}, as the outputs were made (null for a parameter that was not set)"
        raise ConfigError("benchmark", "recorded outputs of which not all is declared", expected)
    for role, asked in zip(
        (model_settings(config), *judges_settings(config)), (plan.candidate, *plan.judges), strict=True
    ):
        check_pinned(role.setting, parse_model_id(asked.model_id, role.setting))
