"""The settings of `benchbook judge run`: one typed object, from a TOML file and options of the same names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from benchbook.ask.settings import (
    AskedJudgeConfig,
    Count,
    Positive,
    SittingSettings,
    check_judges,
    check_money,
    checked_params,
    expected_words,
    path_beside,
    read_toml,
    storable_settings,
    value_at_place,
)
from benchbook.canonical import ready
from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.evaluators.protocol.findings import said
from benchbook.evaluators.protocol.plan import Declared
from benchbook.evaluators.protocol.spec import SPEC_ID
from benchbook.evaluators.protocol.validity import EvidenceRule


class JudgingConfig(SittingSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings of an experiment (docs/reference/config.md)."""

    spec: str = SPEC_ID
    set: str
    judges: tuple[AskedJudgeConfig, ...]
    prompts: str | None = None
    task: Literal["unknown"] | None = None
    same_model: dict[str, str] = msgspec.field(default_factory=dict)
    evidence: EvidenceRule = "must_be_found"
    repeats: Annotated[int, Meta(ge=1, le=1000)] = 1
    probes: Count = 0
    experiment: str | None = None
    timeout_ms: Positive = 120_000  # an evaluation is longer than a score


def judging_config_from_mapping(values: Mapping[str, Any], source: str) -> JudgingConfig:
    """A checked config. Raises: ConfigError naming the setting, what was found and what would be right."""
    try:
        config = msgspec.convert(storable_settings(values), ready(JudgingConfig), strict=False, str_keys=True)
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


_MAX_PROMPT = 4 << 20


class JudgeDeclaration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A declaration about a judge. A null is what is not said."""

    version: str | None = None
    params: dict[str, Any] | None = None
    tools: tuple[str, ...] | None = None  # empty: it had none
    web_access: bool | None = None
    prompt: str | None = None  # a file


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    judges: dict[str, JudgeDeclaration]


@dataclass(frozen=True, slots=True)
class Declarations:
    """The declarations about each judge by name, and about all judges for which that is not said."""

    for_all: JudgeDeclaration = field(default_factory=JudgeDeclaration)
    by_name: Mapping[str, JudgeDeclaration] = field(default_factory=dict)

    def check_names(self, judges: Iterable[str]) -> None:
        """Refuse a declaration about a judge that judged nothing: it would be passed over. Raises: ConfigError."""
        known = sorted(judges)
        for name in self.by_name:
            if name not in known:
                raise ConfigError(f"judges.{said(name)}", "no judgement by it", " or ".join(map(said, known)))

    def of(self, judge: str) -> JudgeDeclaration:
        """Field by field, the declaration about this judge, else about all."""
        own = self.by_name.get(judge, JudgeDeclaration())
        names = JudgeDeclaration.__struct_fields__
        values = {
            name: getattr(own, name) if getattr(own, name) is not None else getattr(self.for_all, name)
            for name in names
        }
        return JudgeDeclaration(**values)

    def prompts(self, judges: Iterable[str]) -> dict[str, Path]:
        """The prompts' files by their hashes. Raises: UsageError, InputError for one that is no text."""
        found = (self.of(judge).prompt for judge in judges)
        return {_prompt_sha256(path): Path(path) for path in found if path is not None}

    def declared(self, judge: str) -> Declared | msgspec.UnsetType:
        """The declaration as the plan holds it; UNSET where nothing is said."""
        one = self.of(judge)
        found = Declared(
            version=one.version,
            params=one.params,
            tools=one.tools,
            web_access=one.web_access,
            prompt_sha256=None if one.prompt is None else _prompt_sha256(one.prompt),
        )
        return msgspec.UNSET if found == Declared() else found


def declarations_from(for_all: Mapping[str, Any], path: str | Path | None) -> Declarations:
    """Checked declarations. Raises: ConfigError, UsageError, InputError naming what is wrong."""
    general = _checked(JudgeDeclaration, storable_settings(for_all), "options")
    if path is None:
        by_name: Mapping[str, JudgeDeclaration] = {}
    else:
        values = read_toml(Path(path))
        _with_paths_from(values, Path(path))
        by_name = _checked(_File, values, str(path)).judges
    for place, one in (("options", general), *((f"{path}: judges.{said(name)}", one) for name, one in by_name.items())):
        if one.params is not None:
            checked_params(one.params, f"{place}: params")
    return Declarations(general, by_name)


def tools_of(words: Sequence[str]) -> tuple[str, ...]:
    """The tools, none for `none`. Raises: ConfigError where that stands beside others."""
    tools = tuple(word for word in words if word != "none")
    if tools and len(tools) < len(words):
        raise ConfigError("--tools", "none beside others", "`none`, or the tools' names")
    return tools


def _checked(kind: Any, values: dict[str, Any], source: str) -> Any:
    try:
        return msgspec.convert(values, ready(kind))
    except msgspec.ValidationError as error:
        raise UsageError(f"{source}: {error}") from None


def _with_paths_from(values: dict[str, Any], file: Path) -> None:
    judges = values.get("judges")
    for name, one in judges.items() if isinstance(judges, dict) else ():
        if isinstance(one, dict) and isinstance(one.get("prompt"), str):
            one["prompt"] = path_beside(file, f"judges.{said(name)}.prompt", one["prompt"])


def _prompt_sha256(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MAX_PROMPT + 1)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
    if len(data) > _MAX_PROMPT:
        raise InputError(path, found=f"over {_MAX_PROMPT} bytes", expected="a judge prompt")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, found=f"byte {data[error.start]:#04x} at {error.start}", expected="UTF-8") from None
    if not text.strip():
        raise InputError(path, found="nothing", expected="a judge prompt")
    return hashlib.sha256(data).hexdigest()
