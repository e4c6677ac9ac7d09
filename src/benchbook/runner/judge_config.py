"""The settings of one judge among several: of a panel, or of a judging experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchbook.derivations.model_id import parse_model_id
from benchbook.errors import ConfigError
from benchbook.runner.setting_types import Price, check_money, checked_params

__all__ = ["JudgeConfig", "check_judges", "judge_names", "numbered_judges", "with_paths_from"]


class JudgeConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One judge. `name` is what it is called in replies and tables; by default its model's name."""

    model: str
    name: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    path: str | None = None
    params: dict[str, Any] = {}
    reasoning_tags: tuple[str, ...] = ()
    json_schema: bool | None = None
    input_price: Price | None = None
    output_price: Price | None = None


def numbered_judges(judges: Sequence[JudgeConfig]) -> tuple[tuple[str, str, JudgeConfig], ...]:
    """Each judge, with the setting that names its model and what stands before its others in messages."""
    return tuple((f"judges[{number}].model", f"judges[{number}].", judge) for number, judge in enumerate(judges))


def check_judges(judges: Sequence[JudgeConfig], source: str) -> None:
    """Raises: ConfigError for what no judge can have."""
    for _, prefix, judge in numbered_judges(judges):
        prices = {name: getattr(judge, name) for name in ("input_price", "output_price")}
        check_money(prices, f"{source}: {prefix}")
        checked_params(judge.params, f"{source}: {prefix}params")


def judge_names(judges: Sequence[JudgeConfig]) -> tuple[str, ...]:
    """What each judge is called. Raises: ConfigError where two are called alike."""
    names: list[str] = []
    for setting, prefix, judge in numbered_judges(judges):
        name = judge.name if judge.name is not None else parse_model_id(judge.model, setting).name
        if name in names:
            raise ConfigError(f"{prefix}name", f"{name!r} again", "a name of its own")
        names.append(name)
    return tuple(names)


def with_paths_from(judges: Any, folder: Path) -> None:
    """Make the paths of a file's `judges` relative to its folder. What is no table is refused later."""
    for judge in judges if isinstance(judges, list) else ():
        if isinstance(judge, dict) and isinstance(judge.get("path"), str):
            judge["path"] = str(folder / judge["path"])
