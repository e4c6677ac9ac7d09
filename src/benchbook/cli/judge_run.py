"""`benchbook judge run`: ask judges about every output of an evaluation set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.output import find_record, json_option
from benchbook.cli.progress import resume_shown, say_stopped, start_shown
from benchbook.cli.settings import given_settings, move_judge_option, options_of
from benchbook.cli.summary import print_dry_run, print_run
from benchbook.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from benchbook.evaluators.protocol.config import JudgingConfig

__all__ = ["run", "same_model_option", "same_model_table", "spec_option"]


# Settings of `benchbook run` that go for judging too.
_SHARED = (
    "max_connections", "requests_per_minute", "tokens_per_minute", "max_cost_usd", "max_seconds", "timeout_ms",
    "max_retries", "max_wait_ms", "accept_unanswered", "cache", "experiment", "runs", "run_id", "reports",
)  # fmt: skip
_FROZEN = ("spec", "set", "judges", "prompts", "task", "same_model", "evidence", "repeats", "probes")


same_model_option = click.option(
    "--same-model", multiple=True, metavar="ALIAS=MODEL", help="Two names of one model; repeat."
)


spec_option = click.option(
    "--spec", metavar="FOLDER", help="A judge protocol of your own; by default the one that is shipped."
)


@click.command()
@click.argument("config", required=False, metavar="[CONFIG.toml]")
@click.option("--set", "set", metavar="FOLDER", help="The evaluation set, made by `benchbook judge init`.")
@spec_option
@click.option("--judge", "judges", multiple=True, metavar="MODEL", help="A judge: provider/name@version; repeat.")
@click.option("--prompts", metavar="TABLE", help="What the targets were asked: question_id, prompt, prompt_variant.")
@click.option("--task", type=click.Choice(["unknown"]), help="Nobody knows what they were asked; every report says so.")
@same_model_option
@click.option(
    "--evidence", type=click.Choice(["must_be_found", "report"]), help="Whether a quote that is not found invalidates."
)
@click.option("--repeats", type=int, help="How often each judge judges each output.")
@click.option("--probes", type=int, help="Of how many outputs probes are made, whose right answer is known.")
@click.option("--dry-run", is_flag=True, help="Say what would be asked, and ask nothing.")
@click.option("--resume", metavar="RUN", help="Go on with a record where it ended; limits and addresses may change.")
@move_judge_option
@click.option("--quiet", is_flag=True, help="No progress, no summary: only what goes wrong.")
@json_option
@options_of(_SHARED)
@click.pass_context
def run(ctx: click.Context, /, config: str | None, **options: Any) -> None:
    """Ask every judge about every output of an evaluation set, and look each of its quotes up.

    Settings come from CONFIG.toml and from options of the same names, which win; a judge with an address or a key of
    its own needs the file: a table [[judges]] with model, and name, base_url, api_key_env, path, params. Set, prompts,
    judges, thresholds and the evidence rule are frozen with the first call. Without what the targets were asked
    (--prompts) a set is refused, but for --task unknown. Ends with 1 where no evaluation is valid.
    """
    if options["move_judge"] and not options["resume"]:
        raise UsageError("--move-judge: only with --resume; a new record takes addresses from its settings")
    if options["dry_run"]:
        _say_what_would_be_asked(config, options)
        return
    result = _resumed(config, options) if options["resume"] else _started(config, options)
    reports = result.record.started().config.get("reports") if options["reports"] is None else options["reports"]
    print_run(
        result.record,
        result.derived,
        reports=None if reports == "none" else reports,
        as_json=options["as_json"],
        quiet=options["quiet"],
    )
    say_stopped(result, "judge run")
    ctx.exit(3 if result.stop.reason else 0 if result.derived.aggregates.n_valid else 1)


def _say_what_would_be_asked(config: str | None, options: dict[str, Any]) -> None:
    from benchbook.evaluators.protocol.asking import prepare_judging

    if options["resume"]:
        raise click.UsageError("--dry-run and --resume: one of them")
    print_dry_run(prepare_judging(_checked(config, options)), as_json=options["as_json"])


def _checked(config: str | None, options: dict[str, Any]) -> JudgingConfig:
    from benchbook.evaluators.protocol.config import judging_config_from_mapping
    from benchbook.evaluators.protocol.folders import protocol_asked_for
    from benchbook.evaluators.settings import read_config_file

    values = read_config_file(config) if config is not None else {}
    checked = judging_config_from_mapping(values | _given(options), config or "options")
    protocol_asked_for(checked.spec)  # its faults are told by who reads protocols, whatever its spec.toml lacks
    return checked


def _started(config: str | None, options: dict[str, Any]) -> Any:
    return start_shown(_checked(config, options), config, quiet=options["quiet"] or options["as_json"])


def _resumed(config: str | None, options: dict[str, Any]) -> Any:
    from benchbook.ask.settings import moved_judges

    if config is not None:
        raise UsageError("--resume takes its settings from the record; give no CONFIG.toml")
    record = find_record(options["resume"], options["runs"] or "runs")
    changes = {name: value for name, value in _given(options).items() if name != "runs"}
    if options["move_judge"]:
        changes["judges"] = moved_judges(record.started().config.get("judges"), options["move_judge"])
    return resume_shown(record, changes, "judge run", quiet=options["quiet"] or options["as_json"])


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given, in the form of a config file."""
    given = given_settings({name: options[name] for name in _SHARED})
    given |= {name: options[name] for name in _FROZEN if options[name] not in (None, ())}
    if "judges" in given:
        given["judges"] = [{"model": model} for model in given["judges"]]
    if "same_model" in given:
        given["same_model"] = same_model_table(given["same_model"])
    return given


def same_model_table(words: Iterable[str]) -> dict[str, str]:
    """What `--same-model` declares. Raises: ConfigError for a word that is no ALIAS=MODEL."""
    table: dict[str, str] = {}
    for word in words:
        alias, _, model = word.partition("=")
        if not (alias and model):
            raise ConfigError("--same-model", repr(word), "ALIAS=MODEL")
        table[alias] = model
    return table
