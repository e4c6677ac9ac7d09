"""`benchbook run`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_file, complete_run
from benchbook.cli.engines import engine_options
from benchbook.cli.help import SectionedCommand
from benchbook.cli.output import by_rule_option, find_record, json_option
from benchbook.cli.send import check_trackers, send_ended, send_option
from benchbook.cli.settings import given_settings, move_judge_option, resume_option, setting_options
from benchbook.cli.shards import shard_options
from benchbook.errors import UsageError
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.ask.settings import SittingSettings
    from benchbook.ask.starting import RunResult
    from benchbook.evaluators.contract import Evaluator

_EXAMPLES = (
    ("benchbook run benchbook.toml --dry-run", "check a config, and say what would be asked and cost"),
    (
        "benchbook run --evalset @support_v1 --model local/smollm2-135m --judge local/smollm2-135m",
        "a small model on this machine answers, and judges itself: no key, no network",
    ),
    (
        "benchbook run --evalset x.csv --model openai/m@1 --model-base-url http://localhost:8000/v1 --judge openai/j@1",
        "a server of your own answers; OpenAI judges, with the key in OPENAI_API_KEY",
    ),
    ("benchbook run benchbook.toml --judge openai/a@1 --judge openai/b@1", "a panel of two judges"),
    ("benchbook run --resume runs/RUN_ID", "go on where a run ended"),
)


@click.command(cls=SectionedCommand, examples=_EXAMPLES)
@click.argument("config", required=False, metavar="[CONFIG.toml]", shell_complete=complete_file)
@setting_options
@click.option(
    "--from",
    "answers_of",
    metavar="RUN",
    help="Have the answers of this run judged, and ask no model.",
    shell_complete=complete_run,
)
@resume_option
@shard_options
@engine_options
@move_judge_option
@click.option("--dry-run", is_flag=True, help="Check everything, say what would be asked and cost, and ask nothing.")
@click.option("--gate", is_flag=True, help="Exit 0 only if the run is READY, as `benchbook gate` does.")
@by_rule_option
@send_option
@click.option("--quiet", is_flag=True, help="No progress, no summary: only what goes wrong.")
@json_option
@click.pass_context
def run(ctx: click.Context, /, config: str | None, **options: Any) -> None:
    """Ask a model the items of an eval set, have its answers judged under rubric@v1, and decide.

    Settings come from CONFIG.toml (start one with `benchbook init`) and from options of the same names, which win.
    The record goes to runs/RUN_ID. Ctrl-C finishes what is under way; a second one ends at once; both resume.
    Exits 0 for a whole run in which an answer was scored, whatever the decision.
    """
    from benchbook.cli.sitting import begun_or_resumed, print_result, say_stopped
    from benchbook.cli.summary import say_gated_by, say_why_not

    settings = given_settings(options)
    if options["by_rule"] and not options["gate"]:
        raise UsageError("--by-rule says what --gate goes by: give both")
    if options["answers_of"] is not None and options["resume"]:
        raise UsageError("--from begins a run, and --resume goes on with one: give one of them")
    if options["gate"] and options["dry_run"]:
        raise UsageError("--gate asks how a run ended, and --dry-run begins none: give one of them")
    check_trackers(options["send_to"])
    with _answers(options["answers_of"], settings) as whole:
        result = begun_or_resumed(config, whole, options, "run", partial(_asked_for, gate=options["gate"]))
    if result is None:
        return
    print_result(result, settings, options)
    if not (options["as_json"] or options["quiet"]):
        _say_judge_card(result)
    if options["by_rule"] and not (options["as_json"] or options["quiet"]):
        say_gated_by(result.derived.decision, "rule")
    say_stopped(result, "run")
    send_ended(result.record.path, options["send_to"])
    code = _exit_code(result, gate=options["gate"], by_rule=options["by_rule"])
    if code and options["gate"] and options["quiet"] and not options["as_json"]:
        say_why_not(result.record, result.derived.decision)
    ctx.exit(code)


@contextmanager
def _answers(run: str | None, settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings, with the answers of another run where one is named: its files are there while the block runs."""
    if run is None:
        yield settings
        return
    from benchbook.exchange.answers import outputs_of, settings_over

    with outputs_of(find_record(run, settings.get("runs") or "runs")) as found:
        if found.note is not None:
            click.echo(found.note, err=True)
        yield settings_over(found, settings)


def _say_judge_card(result: RunResult[Any]) -> None:
    """Say whether the judge was audited, and what its card leaves; nothing of a run without a judge."""
    from benchbook.judge_audit.folder import AUDITS
    from benchbook.judge_audit.holding import card_found, has_judge
    from benchbook.views.audit_card import found_words

    record = result.record
    if has_judge(record):
        found = card_found(record, record.path.parent.parent / AUDITS)
        click.echo(visible(found_words(found, str(record.path))))


def _asked_for(values: dict[str, Any], source: str, *, gate: bool) -> tuple[Evaluator, SittingSettings]:
    from benchbook.evaluators.registry import settings_asked_for

    evaluator, checked = settings_asked_for(values, source, command="run")
    if gate and getattr(checked, "against", None) is not None:
        raise UsageError("--gate asks whether the run is READY, which one that ends by its comparison does not ask")
    return evaluator, checked


def _exit_code(result: RunResult[Any], *, gate: bool, by_rule: bool) -> int:
    from benchbook.cli.summary import passes_gate
    from benchbook.evaluators.registry import evaluator_of

    if result.stop.reason is not None:
        return 3
    if gate:
        return 0 if passes_gate(result.derived.decision, by_rule=by_rule) else 1
    return 0 if evaluator_of(result.record).tells_something(result.derived) else 1
