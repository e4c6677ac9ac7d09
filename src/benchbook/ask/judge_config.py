"""The settings of one judge among several: of a panel, or of a judging experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.model_id import parse_model_id
from benchbook.ask.setting_types import Price, check_money, checked_params
from benchbook.canonical import ready
from benchbook.errors import ConfigError

__all__ = [
    "AskedJudgeConfig",
    "JudgeConfig",
    "check_judges",
    "judge_names",
    "moved_judges",
    "numbered_judges",
    "only_addresses_differ",
    "with_paths_from",
]


_ADDRESS = ("base_url", "api_key_env", "path")  # where a judge is asked, and with which key: not what


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


class AskedJudgeConfig(JudgeConfig, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One of a judging experiment, with what its endpoint does not tell, as far as it is declared (SPEC P7)."""

    tools: tuple[str, ...] | None = None  # empty: it has none
    web_access: bool | None = None


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


def only_addresses_differ(recorded: Any, given: Any) -> bool:
    """Whether a resumed run may go on with the judges that are `given`: the same ones, elsewhere."""
    try:
        before, after = (
            msgspec.convert(one, ready(tuple[AskedJudgeConfig, ...]), strict=False) for one in (recorded, given)
        )
    except msgspec.ValidationError:
        return False
    nowhere: dict[str, Any] = dict.fromkeys(_ADDRESS)
    return [msgspec.structs.replace(one, **nowhere) for one in before] == [
        msgspec.structs.replace(one, **nowhere) for one in after
    ]


def moved_judges(recorded: Any, moves: Sequence[str]) -> list[dict[str, Any]]:
    """The judges of a record with some addresses changed; each move is `NAME.SETTING=VALUE`.

    Raises: ConfigError for a judge that is not there, or a setting that is no address.
    """
    judges = msgspec.convert(recorded or (), ready(tuple[AskedJudgeConfig, ...]), strict=False)
    names = judge_names(judges)
    moved: list[dict[str, Any]] = msgspec.to_builtins(judges)
    for move in moves:
        place, equals, value = move.partition("=")
        name, _, setting = place.rpartition(".")
        if not equals or setting not in _ADDRESS:
            raise ConfigError("--move-judge", repr(move), f"NAME.SETTING=VALUE; SETTING: {', '.join(_ADDRESS)}")
        if name not in names:
            raise ConfigError("--move-judge", f"judge {name!r}", f"one of {', '.join(names) or 'several judges'}")
        moved[names.index(name)][setting] = value or None
    return moved
