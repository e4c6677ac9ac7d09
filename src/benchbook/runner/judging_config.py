"""The settings of `benchbook judge run`: one typed object, from a TOML file and options of the same names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from benchbook.canonical import ready
from benchbook.errors import ConfigError
from benchbook.runner.judge_config import AskedJudgeConfig, check_judges, with_paths_from
from benchbook.runner.plain_types import expected_words, value_at_place
from benchbook.runner.setting_types import Count, Positive, SittingSettings, check_money, read_toml
from benchbook.scorers.judge_protocol import EvidenceRule

__all__ = ["JUDGING_SETTINGS", "JudgingConfig", "judging_config_from_mapping", "read_judging_file"]


class JudgingConfig(SittingSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings of an experiment; `JUDGING_SETTINGS` says what each means."""

    set: str
    judges: tuple[AskedJudgeConfig, ...]
    prompts: str | None = None
    task: Literal["unknown"] | None = None
    same_model: dict[str, str] = msgspec.field(default_factory=dict)
    evidence: EvidenceRule = "must_be_found"
    repeats: Annotated[int, Meta(ge=1, le=1000)] = 1
    probes: Count = 0
    timeout_ms: Positive = 120_000  # an evaluation is longer than a score


JUDGING_SETTINGS: Mapping[str, str] = {
    "set": "the evaluation set, made by `benchbook judge init`",
    "judges": "a table for each: model, and name, base_url, api_key_env, path, params, reasoning_tags, json_schema, tools, web_access",  # noqa: E501
    "prompts": "what the targets were asked: a table with question_id, prompt and, where it differs, prompt_variant",
    "task": "unknown: nobody knows what the targets were asked, and every report says so; instead of prompts",
    "same_model": "names of one model, alias = model: they decide between cross_judge and self_judge",
    "evidence": "must_be_found: a quote that is not found makes an evaluation invalid; report: it is counted",
    "repeats": "how often each judge judges each output",
    "probes": "of how many outputs probes are made, whose right answer is known; by default none",
}

_PATHS = ("set", "prompts", "cache", "runs", "reports")


def judging_config_from_mapping(values: Mapping[str, Any], source: str) -> JudgingConfig:
    """A checked config. Raises: ConfigError naming the setting, what was found and what would be right."""
    try:
        config = msgspec.convert(dict(values), ready(JudgingConfig), strict=False, str_keys=True)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        name = place.rstrip("`").lstrip(".") or "settings"
        found = value_at_place(values, name)
        given = "something else" if found is None else repr(found)
        expected = expected_words(message, JudgingConfig, name, found)
        raise ConfigError(f"{source}: {name}", given, expected) from None
    if not config.judges:
        raise ConfigError(f"{source}: judges", "none", "at least one, such as --judge openai/gpt-4.1@2025-04-14")
    check_money({"max_cost_usd": config.max_cost_usd}, f"{source}: ")
    check_judges(config.judges, source)
    return config


def read_judging_file(path: str | Path) -> dict[str, Any]:
    """The settings of a TOML file; its paths are relative to its folder. Raises: UsageError, InputError."""
    path = Path(path)
    values = read_toml(path)
    if values.get("reports") == "none":
        values["reports"] = None
    for name in _PATHS:
        if isinstance(values.get(name), str):
            values[name] = str(path.parent / values[name])
    with_paths_from(values.get("judges"), path.parent)
    return values
