"""`benchbook init`: a config that runs at once, by what is found on this machine and in this folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.output import json_option, print_json
from benchbook.cli.settings import options_of
from benchbook.errors import UsageError
from benchbook.text import visible
from benchbook.writing import write_file

if TYPE_CHECKING:
    from benchbook.ask.model_servers import FoundKey, ModelServer
    from benchbook.evaluators.first_config import Chosen, ChosenSetting

_ASKED_FOR = ("evalset", "model", "model_base_url", "model_api_key_env", "outputs", "judge_base_url",
              "judge_api_key_env", "judge")  # fmt: skip
_ITS_ADDRESS = ("base_url", "api_key_env")


@click.command()
@click.argument("file", default="benchbook.toml")
@options_of(_ASKED_FOR)
@click.option("--predictions", metavar="TABLE", help="What a model said, where the eval set has the right answers.")
@click.option("--no-questions", is_flag=True, help="Ask nothing on a terminal: take what is found.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@json_option
def init(file: str, force: bool, as_json: bool, no_questions: bool, predictions: str | None, **given: Any) -> None:
    """Write a config to FILE (benchbook.toml) that runs at once: `benchbook run FILE`.

    It looks for eval sets beside FILE, for servers of models on this machine (Ollama, vLLM, llama.cpp, LM Studio,
    SGLang), for the packaged model, and for variables with vendors' keys, of which it never takes the value. On a
    terminal it asks what to evaluate; options answer beforehand. Without any model it takes a script, so that there
    is something to run.
    """
    path = Path(file)
    if path.exists() and not force:
        raise UsageError(f"{file}: is there already; --force replaces it")
    if predictions is not None:
        _show_score(predictions, given, as_json=as_json)
        return
    found = _Found.here(path.parent)
    asks = not (no_questions or as_json) and _on_a_terminal()
    settings = _settings(_answered(found, given) if asks else given, found)
    _write(path, settings, found.keys)
    if as_json:
        print_json({
            "path": str(path), "settings": settings, "evalsets": found.evalsets, "servers": found.servers,
            "models": found.models, "keys": found.keys, "next": f"benchbook run {file}",
        })  # fmt: skip
    else:
        _show(file, settings, found.keys)


def _write(path: Path, settings: Sequence[ChosenSetting], keys: Sequence[FoundKey]) -> None:
    """Write the file. Raises: UsageError; ConfigError for settings that no run can have, before anything is written."""
    from benchbook.evaluators.first_config import config_text
    from benchbook.evaluators.settings import config_from_mapping

    config_from_mapping({one.name: one.value for one in settings}, "options")
    write_file(path, config_text(settings, keys).encode("utf-8"), refuse=UsageError)


@dataclass(frozen=True, slots=True)
class _Found:
    """All that is here to start from; `evalsets` are names in `folder`, which is to have the file."""

    folder: Path
    evalsets: list[str]
    servers: list[ModelServer]
    keys: list[FoundKey]
    models: list[Chosen]

    @classmethod
    def here(cls, folder: Path) -> _Found:
        from benchbook.ask.installed import small_model_is_here
        from benchbook.ask.model_servers import find_keys, find_servers
        from benchbook.evaluators.first_config import evalsets_in, models_found

        servers = find_servers()
        models = models_found(servers, small_model=small_model_is_here())
        return cls(folder, evalsets_in(folder), servers, find_keys(os.environ), models)


def _settings(given: dict[str, Any], found: _Found) -> list[ChosenSetting]:
    """The settings by the answers, and where there is none by what was found."""
    from benchbook.evaluators.first_config import (
        SHIPPED_SET,
        ChosenSetting,
        first_judge,
        first_model,
        of_model,
        of_outputs,
        path_from,
    )

    folder = found.folder
    if given["evalset"] is not None:
        evalset = ChosenSetting(name="evalset", value=path_from(folder, given["evalset"]), why="the eval set")
    elif found.evalsets:
        others = f"; also here: {', '.join(found.evalsets[1:])}" if found.evalsets[1:] else ""
        evalset = ChosenSetting(name="evalset", value=found.evalsets[0], why=f"found beside this file{others}")
    else:
        why = "16 questions of a shop's customers, which Benchbook ships: put your own file here"
        evalset = ChosenSetting(name="evalset", value=SHIPPED_SET, why=why)
    of_role = {role: {name: given[f"{role}_{name}"] for name in _ITS_ADDRESS} for role in ("model", "judge")}
    judges = [_chosen(one, found, of_role["judge"]) for one in given["judge"]]
    if given["outputs"] is not None:
        outputs = path_from(folder, given["outputs"])
        return of_outputs(evalset, outputs, folder, judges or [first_judge(None, found.models)])
    named = given["model"]
    model = first_model(found.models) if named is None else _chosen(named, found, of_role["model"])
    return of_model(evalset, model, judges or [first_judge(model, found.models)])


def _chosen(model: str, found: _Found, address: dict[str, Any]) -> Chosen:
    """The model that was named: at the address that was given, else where a model of that name was found."""
    from benchbook.ask.model_id import parse_model_id
    from benchbook.evaluators.first_config import SCRIPTS, Chosen, today

    known = next((one for one in (*found.models, *SCRIPTS) if model in (one.model, one.model.rpartition("@")[0])), None)
    if known is not None and not any(address.values()):
        return known
    made, why = parse_model_id(model, "model"), "as it was asked for"
    if made.declared_version is None and made.provider in ("openai", "any-llm", "recorded", "scripted"):
        model, why = f"{model}@{today()}", "as it was asked for; its version is today, since none was given"
    if address["api_key_env"] is None:  # the address of a vendor whose key is there
        of_vendor = (key.variable for key in found.keys if key.base_url and key.base_url == address["base_url"])
        address = {**address, "api_key_env": next(of_vendor, None)}
    return Chosen(model=model, why=why, **address)


def _show_score(predictions: str, given: dict[str, Any], *, as_json: bool) -> None:
    """Predictions with right answers need no config: one command scores them."""
    evalset = given["evalset"] or "EVALSET"
    command = f"benchbook score --evalset {evalset} --predictions {predictions}"
    if as_json:
        print_json({"path": None, "next": command})
    else:
        click.echo(visible(f"Nothing is written: predictions need no judge, and no config.\nNext: {command}"))


def _show(file: str, settings: Sequence[ChosenSetting], keys: Sequence[FoundKey]) -> None:
    from benchbook.evaluators.first_config import keys_words, toml_text

    lines = [f"{file}: written, with"]
    for one in settings:
        tables = one.name == "judges"
        value = ", ".join(judge["model"] for judge in one.value) if tables else toml_text(one.value)
        lines.append(f"  {one.name:18} {value}" + (f"\n{'':21}{one.why}" if one.why else ""))
    lines += [f"  {words}" for words in keys_words(keys)]
    lines += ["", f"Next: benchbook run {file}", f"      benchbook doctor {file}   (tries each model first)"]
    click.echo("\n".join(map(visible, lines)))


# ── on a terminal ────────────────────────────────────────────────────────────────────────────────────────────

_KINDS = (
    "a model that answers an eval set, with a judge",
    "the same, with a panel of judges",
    "answers that are finished, in a file, with a judge",
)


def _on_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _answered(found: _Found, given: dict[str, Any]) -> dict[str, Any]:
    """The options, with those that were not given asked for: at most four questions, Enter takes the first answer."""
    from benchbook.evaluators.first_config import SHIPPED_SET, first_judge, first_model

    asked = dict(given)
    kind = _picked("What is evaluated?", _KINDS, own=False) if not (given["model"] or given["outputs"]) else _KINDS[0]
    if given["evalset"] is None:
        choices = [*found.evalsets, SHIPPED_SET]
        name = _picked("Which eval set?", choices)
        beside = str(found.folder / name) if name in found.evalsets else name
        asked["evalset"] = None if name == choices[0] else beside
    names = [one.model for one in found.models] or [first_model([]).model]
    if kind == _KINDS[2]:
        asked["outputs"] = click.prompt("Which file has the answers?")
    elif given["model"] is None and given["outputs"] is None:
        asked["model"] = _picked("Which model answers?", names)
    if not given["judge"]:
        model = None if asked["outputs"] else next((one for one in found.models if one.model == asked["model"]), None)
        first = first_judge(model or (None if found.models else first_model([])), found.models).model
        choices = [first, *(name for name in names if name != first)]
        if kind == _KINDS[1]:
            typed = click.prompt("Which judges? (ids, with commas)", default=", ".join(choices[:2]))
            asked["judge"] = tuple(one.strip() for one in typed.split(",") if one.strip())
        else:
            asked["judge"] = (_picked("Which judge?", choices),)
    return asked


def _picked(question: str, choices: Sequence[str], *, own: bool = True) -> str:
    """The choice of that number; with `own`, anything else that is typed."""
    click.echo(question)
    for number, choice in enumerate(choices[:9], 1):
        click.echo(visible(f"  {number}  {choice}"))
    while True:
        typed = str(click.prompt("A number, or your own" if own else "A number", default="1")).strip()
        if typed.isdigit() and 1 <= int(typed) <= len(choices[:9]):
            return choices[int(typed) - 1]
        if own and typed and not typed.isdigit():
            return typed
