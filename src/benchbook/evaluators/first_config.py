"""The first config: settings that run at once, chosen by what there is, each with the reason why."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.model_servers import FoundKey, ModelServer, ServedModel
from benchbook.ask.providers.local import SMALL_MODEL
from benchbook.errors import BenchbookError
from benchbook.evalsets import open_evalset
from benchbook.evalsets.opening import evalset_path
from benchbook.evalsets.tables import TABLE_ENDINGS
from benchbook.evaluators.recorded_outputs import find_columns
from benchbook.evaluators.settings import SETTINGS, RunConfig
from benchbook.text import one_line, storable

SHIPPED_SET = "@support_v1"
_MOST_BYTES = 16 << 20  # of a file that is looked at for being an eval set
_MOST_FILES = 20


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """A model that can be asked: its id, the settings by which it is reached, and in words where it is from."""

    model: str
    why: str
    base_url: str | None = None
    api_key_env: str | None = None
    params: dict[str, Any] = {}


class ChosenSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting of the file, and why it is so."""

    name: str
    value: Any
    why: str = ""


# ── what there is ────────────────────────────────────────────────────────────────────────────────────────────


def evalsets_in(folder: Path) -> list[str]:
    """The names of a folder's eval sets: tables in which every row is an item. Those called after items come first."""
    files = sorted(one for one in folder.glob("*") if one.suffix.lower() in TABLE_ENDINGS and one.is_file())
    found = [one.name for one in files[:_MOST_FILES] if one.stat().st_size <= _MOST_BYTES and _is_evalset(one)]
    return sorted(found, key=lambda name: ("item" not in name and "eval" not in name, name))


def _is_evalset(path: Path) -> bool:
    with suppress(BenchbookError, OSError):
        open_evalset(path).close()
        return True
    return False


def models_found(servers: Sequence[ModelServer], *, small_model: bool) -> list[Chosen]:
    """The models that can be asked now, without a key and without a price; the best guess first."""
    found = [_served(server, model) for server in servers for model in server.models]
    if small_model:
        found.append(Chosen(model=f"local/{SMALL_MODEL}", why=_SMALL, params={"max_tokens": 128}))
    return found


_SMALL = (
    "the packaged model of 135 million parameters, on this machine; its weights' hash is its version. It is too small "
    "to be good, or to judge"
)
_SHOP = Chosen(
    model="scripted/shop-assistant@1",
    why="a script that ships with Benchbook, and no model: it answers the questions of @support_v1 alone",
)
_SHOP_JUDGE = Chosen(
    model="scripted/shop-judge@1",
    why="a script, too, and no judge: it knows the scores of that script's answers, and gives all others a 0",
)
SCRIPTS = (_SHOP, _SHOP_JUDGE)


def _served(server: ModelServer, model: ServedModel) -> Chosen:
    version = model.digest or today()
    told = "its digest there" if model.digest else "today, since the server tells none"
    return Chosen(
        model=f"openai/{model.name}@{version}",
        why=f"found at {server.base_url}, the usual address of {server.program}; its version is {told}",
        base_url=server.base_url,
    )


def today() -> str:
    """The date that stands for a version where nobody tells one."""
    return datetime.now(UTC).date().isoformat()


# ── what is chosen ───────────────────────────────────────────────────────────────────────────────────────────


def first_model(found: Sequence[Chosen]) -> Chosen:
    """The model to start with: the first found, else a script, so that a run needs nothing."""
    return found[0] if found else _SHOP


def first_judge(model: Chosen | None, found: Sequence[Chosen]) -> Chosen:
    """The judge to start with: another model than the one that answers, where there is one."""
    if model == _SHOP:
        return _SHOP_JUDGE
    other = next((one for one in found if model is None or one.model != model.model), None)
    if other is not None:
        return other
    if model is None:
        return _SHOP_JUDGE
    why = "the model itself, since no other was found: it favours its own answers, so take another for what counts"
    return msgspec.structs.replace(model, why=why)


def of_model(evalset: ChosenSetting, model: Chosen, judges: Sequence[Chosen]) -> list[ChosenSetting]:
    """The settings of a run in which a model is asked."""
    return [evalset, *_reached("model", model), *_judged(judges)]


def of_outputs(evalset: ChosenSetting, outputs: str, folder: Path, judges: Sequence[Chosen]) -> list[ChosenSetting]:
    """The settings of a run over finished outputs; `outputs` is the file's path from `folder`.

    Raises: InputError, UsageError, ConfigError for a file that has none, or none of this set.
    """
    with open_evalset(_file_of(evalset.value, folder)) as opened:
        columns = find_columns(folder / outputs, {}, opened, 1)
    lacking = [name for name, column in _MEASURED.items() if column not in columns]
    name = "".join(one if one.isascii() and (one.isalnum() or one in "._-") else "-" for one in Path(outputs).stem)
    model = Chosen(model=f"recorded/{name}@{today()}", why="whoever gave the outputs: put its name and version here")
    settings = [evalset, *_reached("model", model), ChosenSetting(name="outputs", value=outputs, why="its answers")]
    if lacking:
        why = "the file has no such columns, so nothing is decided by them"
        settings.append(ChosenSetting(name="unmeasured", value=lacking, why=why))
    return settings + _judged(judges)


_MEASURED = {"latency": "latency_e2e_ms", "tokens": "output_tokens"}  # what may be unmeasured, by its column


def _file_of(evalset: str, folder: Path) -> Path:
    return evalset_path(evalset) if evalset.startswith("@") else folder / evalset


def _reached(prefix: str, model: Chosen) -> list[ChosenSetting]:
    stem = f"{prefix}_"
    found = [ChosenSetting(name=prefix, value=model.model, why=model.why)]
    if model.base_url:
        found.append(ChosenSetting(name=f"{stem}base_url", value=model.base_url))
    if model.api_key_env:
        found.append(ChosenSetting(name=f"{stem}api_key_env", value=model.api_key_env))
    if model.params:
        found.append(ChosenSetting(name=f"{stem}params", value=model.params, why="else so small a model rambles"))
    return found


def _judged(judges: Sequence[Chosen]) -> list[ChosenSetting]:
    if len(judges) == 1:
        return _reached("judge", judges[0])
    tables = [
        {name: value for name, value in msgspec.structs.asdict(judge).items() if value and name != "why"}
        for judge in judges
    ]
    rule = ChosenSetting(name="panel_rule", value="majority", why="how the judges' scores make one")
    return [ChosenSetting(name="judges", value=tables, why="a panel: each of them scores every answer"), rule]


def keys_words(keys: Sequence[FoundKey]) -> Iterator[str]:
    """How a vendor's model is asked whose key is there. Nobody is asked for money without being told to."""
    for key in keys:
        if key.base_url is None:
            yield f"{key.variable} is set: model_base_url is the address of your deployment"
        elif key.base_url:
            yield (
                f'{key.variable} is set: model = "openai/NAME@VERSION", model_base_url = "{key.base_url}", '
                f'model_api_key_env = "{key.variable}"'
            )
        else:
            yield f'{key.variable} is set: model = "openai/NAME@VERSION" asks {key.vendor}'


# ── the file ─────────────────────────────────────────────────────────────────────────────────────────────────


def config_text(settings: Sequence[ChosenSetting], keys: Sequence[FoundKey] = ()) -> str:
    """The file: the settings that are used, each with its reason, and below as comments all others."""
    lines = ["# A run of Benchbook: benchbook run THIS_FILE. Options of the same names win over it.", ""]
    for setting in settings:
        lines += [f"# {one_line(setting.why)}"] if setting.why else []
        lines.append(f"{setting.name} = {toml_text(setting.value)}")
    lines += [f"# {one_line(words)}" for words in keys_words(keys)]
    used = {setting.name for setting in settings}
    defaults = dict(zip(RunConfig.__struct_fields__[::-1], RunConfig.__struct_defaults__[::-1], strict=False))
    lines += ["", "# ── Everything else that can be set ──"]
    for section in SETTINGS.values():
        for name, meaning in section.items():
            if name not in used:
                lines.append(f"# {name} = {_example(name, defaults.get(name))}  # {meaning}")
    return "\n".join(lines) + "\n"


def toml_text(value: Any) -> str:
    """A value in TOML: text, a whole number, a table, a list of text, a list of tables, one a line."""
    if isinstance(value, str):
        return json.dumps(storable(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {toml_text(one)}" for name, one in value.items()) + "}"
    if value and isinstance(value[0], Mapping):
        return "[\n" + "".join(f"  {toml_text(one)},\n" for one in value) + "]"
    return "[" + ", ".join(map(toml_text, value)) + "]"


_EXAMPLES = {
    "limit": "50", "where": '["section=core"]', "ids": '"ids.txt"', "model": '"openai/my-model@2026-11-01"',
    "judge": '"openai/my-judge@2026-10-01"',
    "prompt_template": '"prompt.txt"', "outputs": '"outputs.jsonl"', "output_columns": '{output = "completion"}',
    "repeats": "3", "unmeasured": '["latency", "tokens"]', "model_base_url": '"http://localhost:8000/v1"',
    "model_api_key_env": '"MY_API_KEY"', "model_path": '"model.gguf"', "model_params": "{max_tokens = 512}",
    "model_reasoning_tags": '["think"]', "model_input_price": '"0.40"', "model_output_price": '"1.60"',
    "judge_base_url": '"https://host/v1"', "judge_api_key_env": '"MY_JUDGE_KEY"', "judge_path": '"judge.gguf"',
    "judge_params": "{max_tokens = 512}", "judge_reasoning_tags": '["think"]', "judge_json_schema": "true",
    "judge_input_price": '"0.40"', "judge_output_price": '"1.60"', "requests_per_minute": "500",
    "tokens_per_minute": "200000", "max_cost_usd": '"5.00"', "max_seconds": "3600", "cache": '"cache.sqlite"',
    "experiment": '"release-1"', "against": '"before"',
    "run_id": '"my-run"', "confidence": "0.95", "error": "0.05", "order_seed": "1", "panel_rule": '"majority"',
    "batch": '{price_factor = "0.5"}',
    "judges": '[{model = "openai/a@1"}, {model = "openai/b@2", base_url = "http://localhost:8000/v1"}]',
}  # fmt: skip


def _example(name: str, default: object) -> str:
    if name in _EXAMPLES:
        return _EXAMPLES[name]
    if isinstance(default, bool):
        return str(default).lower()
    return f'"{default}"' if isinstance(default, str) else str(default)


def path_from(folder: Path, path: str) -> str:
    """A path that was given from here, as a file in `folder` names it; `@NAME` unchanged."""
    return path if path.startswith("@") or Path(path).is_absolute() else os.path.relpath(path, folder)
