"""Runs a plan: starts or resumes a record, asks what is missing, derives what follows."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.environment import project_version
from benchbook.ask.judge_config import only_addresses_differ
from benchbook.ask.requests import RolePlan
from benchbook.ask.roles import RoleSettings
from benchbook.errors import ConfigError, UsageError
from benchbook.evalsets import EvalSet
from benchbook.evalsets.set_parts import PartAsked, SetPart, choose_part
from benchbook.evaluators.candidate import PROMPT_NAMES
from benchbook.evaluators.settings import RunConfig, config_from_mapping
from benchbook.record.facts import RunStarted
from benchbook.text import quoted

__all__ = [
    "FOUR_PARAMS",
    "MAY_CHANGE",
    "changed_config",
    "chosen_part",
    "four_params",
    "is_ended_as_it_is",
    "model_settings",
    "new_run_id",
    "project_identity",
    "read_template",
    "storable_config",
]


FOUR_PARAMS = ("temperature", "top_p", "max_tokens", "seed")  # that R7.1 asks for by name

_NAMED = re.compile(r"\{\{([\w .:-]+)\}\}")


def chosen_part(config: RunConfig, evalset: EvalSet) -> tuple[EvalSet, SetPart | msgspec.UnsetType]:
    """The items that the settings leave, and which they are, where it is not the whole set.

    Raises: ConfigError, InputError.
    """
    if config.benchmark and config.part:
        name = next(name for name in PartAsked._fields if getattr(config, name))
        raise ConfigError(name, str(getattr(config, name)), "nothing in a benchmark, which asks the whole set")
    chosen, part = choose_part(evalset, config.part)
    return chosen, part or msgspec.UNSET


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


# Settings that may differ between sittings: they change how requests are sent, not which.
MAY_CHANGE = frozenset(
    {
        "model_base_url", "model_api_key_env", "model_path", "judge_base_url", "judge_api_key_env", "judge_path",
        "max_connections", "requests_per_minute", "tokens_per_minute", "max_cost_usd", "max_seconds", "timeout_ms",
        "max_retries", "max_wait_ms", "cache", "reports", "confidence", "accept_unanswered",
    }
)  # fmt: skip


def is_ended_as_it_is(changes: dict[str, Any] | None) -> bool:
    """Whether a run is resumed to end with what is unanswered; a setting of its first sitting says nothing of that."""
    return bool((changes or {}).get("accept_unanswered"))


def changed_config(started: RunStarted, changes: dict[str, Any] | None) -> RunConfig:
    """The settings of a record's first sitting, with what may change between sittings.

    Raises: UsageError for a change that would change the plan.
    """
    for name, value in (changes or {}).items():
        if name == "judges" and only_addresses_differ(started.config.get(name, ()), value):
            continue
        if name not in MAY_CHANGE and started.config.get(name) != value:
            raise UsageError(f"resume: {name} is part of the plan and can't change; start a new run")
    return config_from_mapping({**started.config, **(changes or {})}, "resume")


def project_identity(source: str | Path | None, evalset: str) -> dict[str, Any]:
    """The commit of the user's own work, for a record's first fact."""
    file = None if evalset.startswith("@") else evalset
    return {"project_version": project_version(("config", source), ("eval set", file))}


def four_params(role: RolePlan) -> dict[str, Any]:
    """The parameters that R7.1 asks for by name; null where one was left out on purpose."""
    return {name: role.params.get(name) for name in FOUR_PARAMS}


def storable_config(config: RunConfig) -> dict[str, Any]:
    """The settings as they are recorded: exact decimals as strings, and what was not set left out."""
    values = msgspec.to_builtins(config)
    return {name: value for name, value in values.items() if value not in (None, {}, [], ())}


def new_run_id() -> str:
    """Sorts by time, and does not collide."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
