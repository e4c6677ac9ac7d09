"""Command-line options for a run's settings: the same names as in the config file, made from the same table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_type_hints

import click
import msgspec

from benchbook.cli.completion import complete_file, complete_folder, complete_run, complete_set, complete_spec
from benchbook.errors import ConfigError
from benchbook.evaluators.panel_rules import PANEL_RULES
from benchbook.evaluators.settings import SETTINGS, RunConfig
from benchbook.text import shorten, storable

_Command = TypeVar("_Command", bound=Callable[..., Any])


resume_option = click.option(
    "--resume",
    metavar="RUN",
    help="Go on with a record where it ended; limits and addresses may change.",
    shell_complete=complete_run,
)
move_judge_option = click.option(
    "--move-judge",
    multiple=True,
    metavar="NAME.SETTING=VALUE",
    help="With --resume: one of several judges is now elsewhere (base_url, api_key_env, path); repeat.",
)


def setting_options(command: _Command) -> _Command:
    """Add an option for every setting. None of them has a default here: one that is not given is not there."""
    return options_of(RunConfig.__struct_fields__)(command)


def options_of(names: Collection[str]) -> Callable[[_Command], _Command]:
    """A decorator that adds an option for each of these settings, in the order of the config file."""
    hints = get_type_hints(RunConfig)

    def add(command: _Command) -> _Command:
        for section in reversed(list(SETTINGS.values())):
            for name, meaning in reversed(list(section.items())):
                if name in names and name not in ("judges", "batch"):  # given by repeating --judge; by `batch submit`
                    option = f"--{name.replace('_', '-')}"
                    kind = _kind(name, str(hints[name])) | {"shell_complete": _COMPLETED.get(name)}
                    command = click.option(option, name, help=meaning, **kind)(command)
        return command

    return add


def _complete_panel_rule(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    del ctx, param
    return [rule for rule in PANEL_RULES if rule.startswith(incomplete)]


_COMPLETED: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("ids", "prompt_template", "outputs", "model_path", "judge_path", "cache"), complete_file),
    **dict.fromkeys(("runs", "reports"), complete_folder),
    "against": complete_run,
    "evalset": complete_set,
    "panel_rule": _complete_panel_rule,
    "spec": complete_spec,
}


def _kind(name: str, hint: str) -> dict[str, Any]:
    if name == "judge":
        return {"multiple": True, "metavar": "MODEL"}
    if "bool" in hint:
        return {"is_flag": True, "default": None}
    if hint.startswith("dict"):
        return {"multiple": True, "metavar": "NAME=VALUE"}
    if name == "where":
        return {"multiple": True, "metavar": "COLUMN=VALUE"}
    if hint.startswith("tuple"):
        return {"multiple": True, "metavar": "NAME"}
    if "int" in hint:
        return {"type": int}
    if "float" in hint or "Decimal" in hint:
        return {"metavar": "NUMBER"}
    return {"metavar": "TEXT"}


def given_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings among `options` that were given, in the form that a config file has.

    Raises: ConfigError for a malformed NAME=VALUE.
    """
    hints = get_type_hints(RunConfig)
    given: dict[str, Any] = {}
    for name in RunConfig.__struct_fields__:
        value = options.get(name)
        if value in (None, ()):
            continue
        given[name] = pairs(name, value) if str(hints[name]).startswith("dict") else value
        if name == "output_columns":
            given[name] = dict(name_values(several(value), "--output-columns", "OURS=THEIRS, such as output=text"))
    given |= _judges(given.pop("judge", ()))
    if given.get("reports") == "none":
        given["reports"] = None
    return given


def _judges(models: Sequence[str]) -> dict[str, Any]:
    """One `--judge` is the judge, several are a panel; either takes the place of a config file's."""
    if len(models) > 1:
        return {"judge": None, "judges": [{"model": model} for model in models]}
    return {"judge": models[0], "judges": []} if models else {}


def pairs(setting: str, words: Iterable[str]) -> dict[str, Any]:
    """Repeated NAME=VALUE as a mapping; a value is read as JSON where it is valid, else as text."""
    found: dict[str, Any] = {}
    for name, value in name_values(words, f"--{setting.replace('_', '-')}"):
        try:
            found[name] = msgspec.json.decode(storable(value))
        except msgspec.DecodeError:
            found[name] = value
    return found


def several(words: Iterable[str]) -> Iterator[str]:
    """Words that were given one after the other, or with commas between them."""
    for word in words:
        yield from word.split(",")


def name_values(words: Iterable[str], option: str, form: str = "NAME=VALUE") -> Iterator[tuple[str, str]]:
    """Both sides of each word. Raises: ConfigError for one that lacks a side."""
    for word in words:
        name, _, value = word.partition("=")
        if not (name.strip() and value):
            raise ConfigError(option, repr(shorten(word, 60)), form)
        yield name.strip(), value
