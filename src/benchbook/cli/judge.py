"""`benchbook judge`: make a set of outputs, have them judged, write the archive of the results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_file
from benchbook.cli.engines import engine_options
from benchbook.cli.help import SectionedCommand
from benchbook.cli.judge_audit import audit, card
from benchbook.cli.judge_import import (
    LISTED,
    WIDTH,
    declared_values,
    import_,
    print_others,
    print_some,
    same_model_option,
    same_model_table,
    spec_option,
    value_option,
)
from benchbook.cli.judge_pairs import pairs
from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.cli.send import check_trackers, send_ended, send_option
from benchbook.cli.settings import given_settings, move_judge_option, options_of, resume_option
from benchbook.cli.shards import shard_options
from benchbook.cli.sitting import begun_or_resumed, print_result, say_stopped
from benchbook.errors import UsageError
from benchbook.text import one_line, shorten

if TYPE_CHECKING:
    from benchbook.evalsets.output_set_sources import Found
    from benchbook.evalsets.output_sets import Grid, Output, OutputSet


@click.command()
@run_argument
@click.option("--out", metavar="FOLDER", help="Where it goes; by default reports/RUN_ID/archive.")
@click.option("--check", metavar="FOLDER", help="Write nothing: say how the archive in FOLDER differs from RUN's.")
@runs_option
@json_option
@click.pass_context
def archive(ctx: click.Context, run: str | None, out: str | None, check: str | None, runs: str, as_json: bool) -> None:
    """Write RUN's archive: valid and invalid evaluations apart, the prompts, and an analysis made from it alone.

    With --check it ends with 1 where a file was changed, is missing, or does not belong to it.
    """
    from benchbook.cli.summary import rows_of
    from benchbook.evaluators.derivation import derivation_of
    from benchbook.evaluators.protocol.evaluator import ProtocolEvaluator
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.views.protocol.archive import write_archive
    from benchbook.views.protocol.report import archive_of, declared_prompts_of, differences

    record = find_record(run, runs)
    evaluator = evaluator_of(record)
    if not isinstance(evaluator, ProtocolEvaluator):
        spec = record.started().spec
        raise UsageError(f"{record.path}: was made under {spec}; only records under a judge protocol have an archive")
    derived = evaluator.read(record)
    derivation, prompts = derivation_of(record.started()), declared_prompts_of(record)
    made = archive_of(derived.manifest, derived.aggregates, rows_of(record)(), evaluator.protocol, derivation, prompts)
    if check is not None:
        if out is not None:
            raise click.UsageError("--out and --check: one of them")
        if not Path(check).is_dir():
            raise UsageError(f"{check}: no folder")
        found = list(differences(made, Path(check)))
        if as_json:
            print_json({"run": str(record.path), "archive": check, "differences": found})
        else:
            click.echo("\n".join(map(one_line, found)) or f"{one_line(check)}: is the archive of {record.run_id}")
        ctx.exit(int(bool(found)))
    folder = write_archive(made, out or Path("reports") / record.run_id / "archive")
    if as_json:
        print_json({"run": str(record.path), "archive": str(folder), "n_evaluations": len(made.rows)})
    else:
        click.echo(one_line(f"{folder}: {len(made.rows)} evaluations; read results_analysis.md"))


_LISTED_JSON = 1_000


@click.group()
def judge() -> None:
    """Judge outputs by judge_protocol@v1, every quote looked up; try judges; rank models by verdicts on pairs."""


judge.add_command(archive)
judge.add_command(audit)
judge.add_command(card)
judge.add_command(import_)
judge.add_command(pairs)


@judge.command()
@click.argument("source", metavar="FOLDER|TABLE")
@click.option(
    "--pattern",
    help="How files below FOLDER are named, such as '{target_model}/{question_id}__{prompt_variant}.{ext}'.",
)
@value_option
@click.option("--files", metavar="FOLDER", help="Where a table's files are; default: beside the table.")
@click.option("--out", required=True, metavar="FOLDER", help="The set; new or empty.")
@click.option("--allow-gaps", is_flag=True, help="Write the set although its grid has gaps.")
@click.option("--max-characters", type=click.IntRange(min=1), help="Of one text; beyond, it is too large.")
@json_option
@click.pass_context
def init(
    ctx: click.Context,
    source: str,
    pattern: str | None,
    values: tuple[str, ...],
    files: str | None,
    out: str,
    allow_gaps: bool,
    max_characters: int | None,
    as_json: bool,
) -> None:
    """Make an evaluation set of the outputs in FOLDER or TABLE: question x variant x target x output.

    File names are read by a pattern of {question_id}, {prompt_variant}, {target_model}, {output_id} and {ext} (txt,
    md, json, pdf); all else in it is literal, and nothing is guessed. --value question_id=Q1 says what a placeholder
    may be, or what holds for all files. A TABLE (JSONL, CSV, Parquet) has these four columns, and file or text.

    A set holds no prompts: say to `judge run` what the targets were asked.

    Gaps and doubles in the grid are listed. With either nothing is written, and the command ends with 1.
    """
    from benchbook.evalsets.extraction import ExtractionLimits
    from benchbook.evalsets.output_sets import grid_of, write_output_set

    declared = declared_values(values)
    found = _find(source, pattern, declared, files)
    grid = grid_of(found.candidates, declared)
    written = None
    if not grid.doubles and (allow_gaps or not grid.n_gaps):
        limits = ExtractionLimits(**({"characters": max_characters} if max_characters else {}))
        written = write_output_set(found.candidates, out, limits)
    if as_json:
        print_json(_init_json(found, grid, written))
    else:
        _print_init(found, grid, written)
    ctx.exit(int(written is None))


def _find(source: str, pattern: str | None, declared: dict[str, list[str]], files: str | None) -> Found:
    from benchbook.evalsets.output_set_sources import find_in_folder, find_in_table

    if Path(source).is_dir():
        if pattern is None:
            raise UsageError(f"{source}: is a folder; say how its files are named, with --pattern")
        found = find_in_folder(source, pattern, declared)
    elif pattern is not None or declared:
        raise UsageError(f"{source}: is no folder; --pattern and --value are for the names of files")
    else:
        found = find_in_table(source, files)
    if not found.candidates:
        reasons = "".join(f"\n  {other.name}: {other.reason}" for other in found.others[:3])
        raise UsageError(f"{source}: no output found{reasons}")
    return found


def _init_json(found: Found, grid: Grid, written: OutputSet | None) -> dict[str, Any]:
    faults = _faults(written)
    return {
        "set": str(written.folder) if written else None,
        "sha256": written.sha256 if written else None,
        "n_outputs": len(found.candidates),
        "axes": grid.axes,
        "n_cells": grid.n_cells,
        "n_gaps": grid.n_gaps,
        "gaps": list(grid.gaps(_LISTED_JSON)),
        "doubles": [{"sample": key, "places": places} for key, places in grid.doubles.items()],
        "uneven": [{"cell": cell, "n_outputs": count} for cell, count in grid.uneven()],
        "not_read": found.others,
        "without_text": [{"sample": each.key, "file": each.file, "error": each.error} for each in faults],
    }


def _print_init(found: Found, grid: Grid, written: OutputSet | None) -> None:
    axes = " x ".join(f"{len(values)} {name}" for name, values in grid.axes.items())
    click.echo(f"{len(found.candidates)} outputs: {axes}, {grid.n_gaps} gaps, {len(grid.doubles)} doubles")
    print_some("gap", grid.gaps(LISTED), grid.n_gaps, _names)
    doubles = grid.doubles.items()
    print_some("double", doubles, len(doubles), lambda double: f"{_names(double[0])}: {_names(double[1])}")
    uneven = grid.uneven()
    print_some("fewer outputs", uneven, len(uneven), lambda cell: f"{_names(cell[0])}: {cell[1]}")
    print_others(found.others)
    if written is None:
        click.echo("nothing is written: " + ("a sample is there twice" if grid.doubles else "gaps; see --allow-gaps"))
        return
    faults = _faults(written)
    print_some("no text", faults, len(faults), lambda each: f"{_names(each.key)}: {_error_of(each.error)}")
    where = one_line(str(written.folder))
    click.echo(f"{where}: written, {len(faults)} outputs without a text, sha256 {written.sha256}")
    click.echo("to judge it, `benchbook judge run` needs what the targets were asked: --prompts, or --task unknown")


def _faults(written: OutputSet | None) -> list[Output]:
    return [output for output in written.outputs if output.error] if written else []


def _error_of(error: Any) -> str:
    return f"{error.code}: {one_line(error.detail)}"


def _names(values: Iterable[str]) -> str:
    return ", ".join(shorten(value, WIDTH) for value in values)


# ── run ──────────────────────────────────────────────────────────────────────────────────────────────────────


# Settings of `benchbook run` that go for judging too.
_SHARED = (
    "max_connections", "requests_per_minute", "tokens_per_minute", "max_cost_usd", "max_seconds", "timeout_ms",
    "max_retries", "max_wait_ms", "accept_unanswered", "cache", "experiment", "runs", "run_id", "reports",
)  # fmt: skip
_FROZEN = ("spec", "set", "judges", "prompts", "task", "same_model", "evidence", "repeats", "probes")


_OWN = {"What is judged": ("set", "judges", "prompts", "task", "spec", "repeats", "evidence", "probes", "same_model")}
_EXAMPLES = (
    (
        "benchbook judge run --set judged --prompts prompts.csv --judge openai/gpt-4.1@2025-04-14 --dry-run",
        "say what would be asked, and ask nothing",
    ),
    ("benchbook judge run --resume runs/RUN_ID", "go on where it ended"),
)


@judge.command(cls=SectionedCommand, own=_OWN, examples=_EXAMPLES)
@click.argument("config", required=False, metavar="[CONFIG.toml]", shell_complete=complete_file)
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
@resume_option
@shard_options
@engine_options
@move_judge_option
@send_option
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
    from benchbook.evaluators.protocol.evaluator import judging_asked_for
    from benchbook.evaluators.registry import evaluator_of

    check_trackers(options["send_to"])
    settings = _given(options)
    result = begun_or_resumed(config, settings, options, "judge run", judging_asked_for)
    if result is None:
        return
    print_result(result, settings, options)
    say_stopped(result, "judge run")
    send_ended(result.record.path, options["send_to"])
    tells = evaluator_of(result.record).tells_something(result.derived)
    ctx.exit(3 if result.stop.reason else 0 if tells else 1)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The settings that were given, in the form of a config file."""
    given = given_settings({name: options[name] for name in _SHARED})
    given |= {name: options[name] for name in _FROZEN if options[name] not in (None, ())}
    if "judges" in given:
        given["judges"] = [{"model": model} for model in given["judges"]]
    if "same_model" in given:
        given["same_model"] = same_model_table(given["same_model"])
    return given
