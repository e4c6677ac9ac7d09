"""`benchbook score`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_file, complete_folder, complete_run, complete_set, complete_spec
from benchbook.cli.help import SectionedCommand
from benchbook.cli.output import find_record, json_option, print_json
from benchbook.cli.send import check_trackers, send_ended, send_option
from benchbook.cli.settings import given_settings, name_values, options_of, resume_option, several
from benchbook.cli.shards import (
    keep_asked_for,
    refuse_shard_with,
    refuse_without_shard,
    say_shard,
    shard_options,
    shard_shown,
)
from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.settings import SCORE_SPEC

if TYPE_CHECKING:
    from benchbook.ask.settings import SittingSettings
    from benchbook.evaluators.answers.evaluator import AnswersEvaluator
    from benchbook.evaluators.settings import ScoreConfig

# Settings of `benchbook run` that also hold for a model asked here. The others have options of their own below.
_ASKING = (
    "prompt_template", "benchmark", "model_base_url", "model_api_key_env", "model_path", "model_params",
    "model_reasoning_tags", "model_input_price", "model_output_price", "stream", "max_connections",
    "requests_per_minute", "tokens_per_minute", "max_cost_usd", "max_seconds", "timeout_ms", "max_retries",
    "max_wait_ms", "cache", "accept_unanswered",
)  # fmt: skip
_PART = ("limit", "where", "ids")  # of the eval set; wherever the answers are from
_OF_PREDICTIONS = (
    "predictions", "columns", "run_status", "reason", "dry_run", "table", "training_metrics", "training_columns",
)  # fmt: skip


_HELP: Mapping[str, Sequence[str]] = {
    "What is scored": ("evalset", "predictions", "columns", "answers_of", "repeat", "model", *_PART),
    "How that run went": ("run_status", "reason", "training_metrics", "training_columns"),
}
_EXAMPLES = (
    ("benchbook score --evalset items.jsonl --predictions answers.csv --columns predicted=output", "score a file"),
    ("benchbook score my_checks --from RUN_ID", "score the answers of another run by checks of your own"),
    (
        "benchbook score --evalset items.jsonl --model openai/my-model@1 --model-base-url http://localhost:8000/v1",
        "ask a model, and score what it says",
    ),
)


@click.command(cls=SectionedCommand, own=_HELP, examples=_EXAMPLES)
@click.argument("spec", default=SCORE_SPEC, shell_complete=complete_spec)
@click.option(
    "--evalset",
    help="The eval set: JSONL, CSV or Parquet, or @NAME for one that Benchbook ships.",
    shell_complete=complete_set,
)
@click.option(
    "--predictions", help="What the model said: JSONL, CSV, Parquet, or Tunix's traces.", shell_complete=complete_file
)
@click.option(
    "--columns",
    multiple=True,
    metavar="OURS=THEIRS",
    help="Their columns, where they have other names: predicted=output,item_id=key; or repeat.",
)
@click.option(
    "--from",
    "answers_of",
    metavar="RUN",
    help="Score the answers of this run again, and ask nobody.",
    shell_complete=complete_run,
)
@click.option("--repeat", type=int, help="Of a run with repeats: which of its answers, from 0.")
@click.option("--model", help="Who said it; without --predictions, who is asked: provider/name@version.")
@click.option("--run-status", type=click.Choice(["crashed", "timed_out"]), help="The run itself failed: it scores 0.0.")
@click.option("--reason", help="Why it crashed or timed out, in words; may be left out.")
@click.option("--training-metrics", multiple=True, metavar="FILE", help="A log of its training; may be given again.")
@click.option(
    "--training-columns",
    multiple=True,
    metavar="OURS=THEIRS",
    help="Its columns, where they have other names: step=it,loss=objective; or repeat.",
)
@click.option("--dry-run", is_flag=True, help="Check everything and score nothing: the record has no samples.")
@click.option("--table", help="Write a row an item into this Parquet file, and no record: for millions of items.")
@resume_option
@shard_options
@click.option(
    "--runs",
    "--out",
    "runs",
    default="runs",
    show_default=True,
    help="The folder with the records.",
    shell_complete=complete_folder,
)
@click.option("--run-id", help="The record's name; by default the time and six hexadecimal digits.")
@click.option("--reports", default="reports", show_default=True, help="Where reports go; `none` for none.")
@send_option
@click.option("--quiet", is_flag=True, help="No progress, no summary: only what goes wrong.")
@json_option
@options_of((*_PART, *_ASKING))
@click.pass_context
def score(ctx: click.Context, /, **options: Any) -> None:
    """Score answers under SPEC against the expected answers of an eval set, and record every item.

    SPEC is answer_correctness@v1 (by default), checks that are shipped (contains@v1, number@v1, choice@v1), a folder of
    checks of your own (`benchbook checks init`), or a function of your own as FILE.py:function (the file is run).

    The answers are read from --predictions, or those of another run are scored (--from), an imported one too; without
    either, --model is asked. Ends with 1 where the run itself failed,
    whatever its score, and with 3 where it is not complete and can be resumed.
    """
    from benchbook.cli.sitting import say_stopped
    from benchbook.cli.summary import print_run

    for name in ("columns", "training_columns"):
        options[name] = _columns(options[name], f"--{name.replace('_', '-')}")
    if options["answers_of"] is None and options["repeat"] is not None:
        raise UsageError("--repeat: only with --from")
    if options["resume"] is None and options["evalset"] is None and options["answers_of"] is None:
        raise ConfigError("--evalset", "nothing", "an eval set")
    check_trackers(options["send_to"])
    if options["table"] is not None:
        _score_table(options)
        return
    if options["shard"]:
        _score_shard(options)
        return
    refuse_without_shard(options)
    if options["answers_of"] is not None:
        result = _read_of_run(options)
    else:
        asks = options["resume"] or not (options["predictions"] or options["run_status"] or options["dry_run"])
        result = _ask(options) if asks else _read(options)
    print_run(
        result.record,
        result.derived,
        reports=None if options["reports"] == "none" else options["reports"],
        as_json=options["as_json"],
        quiet=options["quiet"],
    )
    say_stopped(result, "score")
    send_ended(result.record.path, options["send_to"])
    verdict = result.derived.decision.verdict
    ctx.exit(3 if result.stop.reason or verdict == "incomplete" else 1 if verdict == "fail" else 0)


def _score_shard(options: dict[str, Any]) -> None:
    """Score or ask one part, as one of many."""
    from benchbook.ask.keeping import kept_shard
    from benchbook.evaluators.registry import answers_evaluator, scorer_or_name
    from benchbook.record.shards import shard_named

    refuse_shard_with(options, "resume", "answers_of", "dry_run", "send_to")
    if not (options["predictions"] or options["run_status"]):
        shard_shown(*_to_ask(options), None, options)
        return
    evaluator = answers_evaluator(scorer_or_name(options["spec"]))
    config, asked = _predictions(options), shard_named(options["shard"])
    with kept_shard(keep_asked_for(options), config.runs, config.run_id, asked.number):
        result = evaluator.score_shard(config, asked)
    say_shard(result, options)


def _read(options: dict[str, Any]) -> Any:
    """Make a record of predictions that were made elsewhere."""
    from benchbook.evaluators.registry import answers_evaluator, scorer_or_name
    from benchbook.views.progress import shown_progress

    with shown_progress(quiet=options["quiet"] or options["as_json"]) as on_progress:
        return answers_evaluator(scorer_or_name(options["spec"])).score(_predictions(options), on_progress)


def _predictions(options: dict[str, Any]) -> ScoreConfig:
    """The settings by which predictions are read."""
    from benchbook.evaluators.settings import ScoreConfig

    asking = [name for name in _ASKING if options[name] not in (None, ())]
    if asking:
        raise UsageError(f"--{asking[0].replace('_', '-')}: nobody is asked where there are predictions")
    names = (
        "evalset", "spec", "predictions", "columns", "model", "runs", "run_id", "reason", "dry_run", "training_metrics",
        "training_columns", *_PART,
    )  # fmt: skip
    values = {name: options[name] for name in names} | {"run_status": options["run_status"] or "completed"}
    return ScoreConfig(**values)


def _read_of_run(options: dict[str, Any]) -> Any:
    """Make a record of the answers of another, with its eval set."""
    from benchbook.exchange.answers import predictions_of

    own = ("evalset", "ids", "model", "resume", *(name for name in _OF_PREDICTIONS if name != "dry_run"))
    for name in own:
        if options[name]:
            raise UsageError(f"--{name.replace('_', '-')}: --from takes the answers and their eval set from a run")
    with predictions_of(find_record(options["answers_of"], options["runs"]), repeat=options["repeat"]) as found:
        if found.note is not None:
            click.echo(f"{found.note}, and {'is' if found.n_unanswered == 1 else 'are'} left out", err=True)
        taken = {"evalset": found.evalset, "predictions": found.answers, "ids": found.ids, "model": found.model}
        return _read(options | taken)


def _ask(options: dict[str, Any]) -> Any:
    """Make or resume a record of a model that is asked here."""
    from benchbook.ask.starting import refuse_shards
    from benchbook.cli.sitting import resume_shown, start_shown
    from benchbook.evaluators.registry import evaluator_of, scorer_or_name

    quiet = options["quiet"] or options["as_json"]
    if options["resume"]:
        settings = _settings(options)
        kept = [name for name in ("evalset", "model", "run_id") if options[name] is not None]
        if kept:
            raise UsageError(f"--{kept[0].replace('_', '-')}: --resume takes it from the record")
        record = find_record(options["resume"], options["runs"])
        refuse_shards(record)
        given = scorer_or_name(options["spec"])
        evaluator = evaluator_of(record, None if isinstance(given, str) else given)
        return resume_shown(evaluator, record, settings, "score", quiet=quiet)
    return start_shown(*_to_ask(options), None, quiet=quiet)


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given of a model that is asked."""
    for name in _OF_PREDICTIONS:
        if options[name]:
            raise UsageError(f"--{name.replace('_', '-')}: only where answers are read from --predictions")
    return given_settings({name: options[name] for name in (*_PART, *_ASKING)})


def _to_ask(options: dict[str, Any]) -> tuple[AnswersEvaluator, SittingSettings]:
    """The evaluator, and the settings, checked, of a model that is asked here."""
    from benchbook.evaluators.registry import answers_evaluator, checked_settings, scorer_or_name

    settings = _settings(options)
    if options["model"] is None:
        raise ConfigError("--predictions", "nothing", "a file of predictions, or --model to ask one")
    settings |= {name: options[name] for name in ("evalset", "model", "runs", "run_id") if options[name]}
    given = scorer_or_name(options["spec"])
    evaluator = answers_evaluator(given)
    spec = given if isinstance(given, str) else given.id
    return evaluator, checked_settings(evaluator, settings | {"spec": spec}, "options")


def _score_table(options: dict[str, Any]) -> None:
    from benchbook.evaluators.registry import answers_evaluator

    not_here = (
        "answers_of", "send_to", "model", "run_status", "reason", "dry_run", "training_metrics", "training_columns",
        "run_id",
    )  # fmt: skip
    for name in (*not_here, *_PART, *_ASKING):
        if options[name] not in (None, (), False, {}):
            option = name.removesuffix("_to").replace("_", "-")
            raise UsageError(f"--{option}: nothing is recorded where --table is given")
    predictions, table = options["predictions"], options["table"]
    if predictions is None:
        raise ConfigError("--predictions", "nothing", "a file of predictions, where --table is given")
    evaluator = answers_evaluator(options["spec"])
    card = evaluator.score_table(options["evalset"], predictions, Path(table), columns=options["columns"])
    if options["as_json"]:
        print_json({"table": table, "scorecard": card})
    else:
        correct = card.n_items - sum(card.misses.values())
        missing = f"{card.n_skipped:,} without a prediction"
        click.echo(f"{card.primary_score}: {correct:,} of {card.n_items:,} items correct; {missing}")
        click.echo(table)


def _columns(words: Sequence[str], option: str) -> dict[str, str]:
    """`predicted=output,item_id=key`, or one after the other, as a mapping."""
    columns: dict[str, str] = {}
    for name, value in name_values(several(words), option, "OURS=THEIRS, such as predicted=output"):
        if name in columns:
            raise UsageError(f"{option}: {name} is there twice")
        columns[name] = value
    return columns
