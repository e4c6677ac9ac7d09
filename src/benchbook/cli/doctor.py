"""`benchbook doctor`: the installation, and whether the models of a config answer as a run needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_file
from benchbook.cli.help import SectionedCommand
from benchbook.cli.output import json_option, print_json
from benchbook.cli.settings import given_settings, setting_options
from benchbook.text import one_line, plural, visible

if TYPE_CHECKING:
    from benchbook.ask.installed import Extra
    from benchbook.ask.probing import ModelProbe, Trial
    from benchbook.ask.providers.calls import Provider
    from benchbook.ask.requests import RolePlan
    from benchbook.ask.roles import RoleSettings

_UNASKED = ("recorded", "scripted")  # kinds behind which there is nobody
_WIDTH = 20


@click.command(
    cls=SectionedCommand,
    examples=(
        ("benchbook doctor", "say what is installed"),
        ("benchbook doctor benchbook.toml", "check a config, and ask its model and its judge once each"),
    ),
)
@click.argument("config", required=False, metavar="[CONFIG.toml]", shell_complete=complete_file)
@setting_options
@json_option
@click.pass_context
def doctor(ctx: click.Context, /, config: str | None, as_json: bool, **options: Any) -> None:
    """Show what is installed; with a config, check it and try each model by a few small calls.

    A model is asked a word, a judge for its JSON about the first item. What a server refuses is left out and asked
    again, so that all of it is told at once. Ends with 1 where a run would not go well: with the cause and the remedy.
    """
    from benchbook.ask.identity import code_version, environment
    from benchbook.ask.installed import extras, providers

    found: dict[str, Any] = {
        "code_version": code_version(),
        "environment": environment(),
        "providers": providers(),
        "extras": extras(),
    }
    given = given_settings(options)
    if config is not None or given:
        import asyncio

        found |= asyncio.run(_check(config, given))
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(map(visible, _lines(found))))
    ctx.exit(0 if all(answer.ok for answer in found.get("answers", {}).values()) else 1)


async def _check(config: str | None, given: dict[str, Any]) -> dict[str, Any]:
    from benchbook.ask.probing import Tries
    from benchbook.evaluators.registry import settings_asked_for
    from benchbook.evaluators.settings import values_of

    evaluator, checked = settings_asked_for(values_of(config, given), config or "options")
    prepared = evaluator.prepare(checked)
    trials = prepared.trials() if isinstance(prepared, Tries) else {}
    answers, not_asked = {}, {}
    opened: dict[tuple[object, ...], Provider] = {}
    try:
        for name, (settings, role) in prepared.roles.items():
            called = settings.setting.removesuffix(".model")
            if role.provider in _UNASKED:
                not_asked[called] = role.model_id
            else:
                answers[called] = await _tried(settings, role, trials.get(name), opened, benchmark=prepared.benchmark)
    finally:
        for provider in opened.values():
            await provider.close()
    found = prepared.forecast()
    names = ("samples", "calls", "most_cost_usd", "plan_sha256")
    return {"answers": answers, "not_asked": not_asked} | {name: getattr(found, name) for name in names}


async def _tried(
    settings: RoleSettings,
    role: RolePlan,
    trial: Trial | None,
    opened: dict[tuple[object, ...], Provider],
    *,
    benchmark: bool,
) -> ModelProbe:
    """The findings about one model; one that is asked in two roles is opened once."""
    from benchbook.ask.probing import not_opened, probe
    from benchbook.ask.roles import open_provider
    from benchbook.ask.unanswered import who_is_asked
    from benchbook.errors import UsageError

    try:
        provider = opened.get(settings.place) or open_provider(settings)
    except UsageError as error:  # a key that is not set, an extra that is not installed: beside all that is wrong
        return not_opened(role, str(error))
    opened[settings.place] = provider
    is_model = settings.prefix == "model_"
    judge = None if settings.prefix.endswith("_") else role.name
    address = {"base_url": settings.config.base_url}
    who = who_is_asked(role, "candidate" if is_model else "judge", address, settings.prefix, judge)
    return await probe(provider, settings, role, who, trial, benchmark=benchmark)


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    """All that the JSON has, in words."""
    from benchbook.ask.probing import calls_words
    from benchbook.views.numbers import short_model

    code, environment = found["code_version"], found["environment"]
    commit = f" ({code['git_sha'][:12]}{', changed' if code.get('dirty') else ''})" if code.get("git_sha") else ""
    cpus, region = environment["cpus"], environment["region"]
    yield (
        f"benchbook {code['benchbook']}{commit}, {environment['implementation']} {environment['python']}, "
        f"{environment['platform']}, {plural(cpus, 'processor')}{f', region {region}' if region else ''}"
    )
    yield "packages   " + ", ".join(f"{name} {version}" for name, version in environment["packages"].items())
    yield "\nProviders"
    for name, state in found["providers"].items():
        yield f"  {name:{_WIDTH}} {state}"
    yield "\nExtras"
    for extra in found["extras"]:
        yield f"  {extra.name:{_WIDTH}} {_extra_words(extra)}"
    if "samples" not in found:
        yield "\nTo try the models of a config: benchbook doctor CONFIG.toml"
        return
    yield "\nModels"
    for setting, model in found["not_asked"].items():
        yield f"  {setting:{_WIDTH}} {short_model(model)}: nobody to ask"
    for setting, answer in found["answers"].items():
        yield from _probe_lines(setting, answer)
    if found["answers"]:
        yield f"  {calls_words(found['answers'])}"
    cost = f"at most ${found['most_cost_usd']}" if found["most_cost_usd"] else "no prices set"
    yield f"\nThe run: {plural(found['samples'], 'sample')}, {plural(found['calls'], 'call')}, {cost}"
    yield f"plan {found['plan_sha256']}"


def _extra_words(extra: Extra) -> str:
    have = ", ".join(f"{name} {version}" for name, version in extra.packages.items() if version is not None)
    state = f"{have} is here" if extra.install is None else f"not installed: {extra.install}"
    return f"{state}; {extra.purpose}" if extra.purpose else state


def _probe_lines(setting: str, found: ModelProbe) -> Iterator[str]:
    from benchbook.views.numbers import short_model

    name = short_model(found.model)
    if found.latency_ms is None:
        yield f"  {setting:{_WIDTH}} {name}: does not answer"
    else:
        as_what = f" as {one_line(found.reported)}" if found.reported else ""
        yield f"  {setting:{_WIDTH}} {name}: answers in {found.latency_ms:,} ms{as_what}"
        told = {True: "told", False: "not told"}
        yield _beside(f"tokens {told[bool(found.tells_tokens)]}, its own time {told[bool(found.tells_model_time)]}")
    if found.takes_json_schema is not None:
        yield _beside("takes a JSON schema" if found.takes_json_schema else "takes no JSON schema")
    if found.reply is not None and found.reply.fault is None:
        yield _beside("its reply about the first item is read as a run would read it")
    for fault in found.faults:
        yield _beside(f"! {one_line(fault)}")
    for note in found.notes:
        yield _beside(f"- {one_line(note)}")


def _beside(words: str) -> str:
    return f"  {'':{_WIDTH}} {words}"
