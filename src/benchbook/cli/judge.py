"""`benchbook judge`: archive, import, init, run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from benchbook.cli.judge_archive import archive
from benchbook.cli.judge_run import run, same_model_option, same_model_table
from benchbook.cli.output import json_option, json_text, print_json, runs_option
from benchbook.cli.summary import write_reports
from benchbook.errors import ConfigError, UsageError
from benchbook.text import one_line, shorten

if TYPE_CHECKING:
    from benchbook.evalsets.judgement_import import ImportedSource
    from benchbook.evalsets.output_set_grid import Grid
    from benchbook.evalsets.output_set_sources import Found, OtherFile
    from benchbook.evalsets.output_sets import Output, OutputSet
    from benchbook.scorers.evidence_text import NormalisedText
    from benchbook.scorers.judge_protocol import EvidenceRule

__all__ = ["judge"]

_LISTED = 20  # of each kind, for people
_LISTED_JSON = 1_000
_KINDS = ("exact", "normalised", "fragments", "not_found", "empty")
_WIDTH = 60
_TEXTS = 256
_ODD = {"n_no_output": "no output", "n_no_text": "no text"}  # columns that are shown where they hold something

value_option = click.option("--value", "values", multiple=True, metavar="NAME=VALUE", help="Declares a value; repeat.")


@click.group()
def judge() -> None:
    """Judge outputs by judge_protocol@v1: every quote of a judge is looked up in the judged text."""


judge.add_command(archive)
judge.add_command(run)


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

    Gaps and doubles in the grid are listed. With either nothing is written, and the command ends with 1.
    """
    from benchbook.evalsets.extraction import ExtractionLimits
    from benchbook.evalsets.output_set_grid import grid_of
    from benchbook.evalsets.output_sets import write_output_set

    declared = _declared(values)
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


def _declared(values: Iterable[str]) -> dict[str, list[str]]:
    declared: dict[str, list[str]] = {}
    for given in values:
        name, sign, value = given.partition("=")
        if not sign:
            raise ConfigError("--value", shorten(given, _WIDTH), "NAME=VALUE")
        declared.setdefault(name, []).append(value)
    return declared


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
    _print_some("gap", grid.gaps(_LISTED), grid.n_gaps, _names)
    doubles = grid.doubles.items()
    _print_some("double", doubles, len(doubles), lambda double: f"{_names(double[0])}: {_names(double[1])}")
    uneven = grid.uneven()
    _print_some("fewer outputs", uneven, len(uneven), lambda cell: f"{_names(cell[0])}: {cell[1]}")
    _print_others(found.others)
    if written is None:
        click.echo("nothing is written: " + ("a sample is there twice" if grid.doubles else "gaps; see --allow-gaps"))
        return
    faults = _faults(written)
    _print_some("no text", faults, len(faults), lambda each: f"{_names(each.key)}: {_error_of(each.error)}")
    where = one_line(str(written.folder))
    click.echo(f"{where}: written, {len(faults)} outputs without a text, sha256 {written.sha256}")


def _faults(written: OutputSet | None) -> list[Output]:
    return [output for output in written.outputs if output.error] if written else []


def _error_of(error: Any) -> str:
    return f"{error.code}: {one_line(error.detail)}"


def _print_others(others: Sequence[OtherFile]) -> None:
    _print_some("not read", others, len(others), lambda other: f"{shorten(other.name, _WIDTH)}: {other.reason}")


def _print_some(what: str, found: Iterable[Any], count: int, say: Callable[[Any], str]) -> None:
    for each in islice(found, _LISTED):
        click.echo(f"{what}: {say(each)}")
    if count > _LISTED:
        click.echo(f"{what}: and {count - _LISTED} more")


def _names(values: Iterable[str]) -> str:
    return ", ".join(shorten(value, _WIDTH) for value in values)


@judge.command(name="import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--set", "set_folder", required=True, metavar="FOLDER", help="The evaluation set; see judge init.")
@click.option("--mapping", metavar="FILE.toml", help="SOURCEs are bundles of another shape, read by this mapping.")
@click.option("--pattern", help="SOURCEs are folders of raw replies, one a file, named like this.")
@value_option
@click.option("--out", metavar="FILE.jsonl", help="Write the judgements; `-` prints them instead of the table.")
@click.option("--record", "run_id", metavar="RUN_ID", help="Make a record of the judgements, with this name.")
@click.option(
    "--evidence",
    type=click.Choice(["must_be_found", "report"]),
    default="must_be_found",
    show_default=True,
    help="With --record: whether a quote that is not found invalidates.",
)
@same_model_option
@click.option(
    "--reports", default="reports", show_default=True, help="With --record: where its page and archive go, or `none`."
)
@runs_option
@json_option
@click.pass_context
def import_(
    ctx: click.Context,
    sources: tuple[str, ...],
    set_folder: str,
    mapping: str | None,
    pattern: str | None,
    values: tuple[str, ...],
    out: str | None,
    run_id: str | None,
    evidence: EvidenceRule,
    same_model: tuple[str, ...],
    reports: str,
    runs: str,
    as_json: bool,
) -> None:
    """Read judgements that were made elsewhere, and say how many of their quotes stand in the judged texts.

    SOURCE is a table of replies (JSONL, CSV, Parquet: reply, judge_model, method and what names the output), or with
    --pattern a folder, or with --mapping a bundle. A pattern's placeholders are {judge_model}, {method},
    {question_id}, {prompt_variant}, {target_model}, {output_id}; --value judge_model=NAME declares one for all.

    A record holds one judgement of an output by a judge: judgements by another prompt or try go into a record of their
    own. Nothing is repaired: what a judgement lacks stays missing. Ends with 1 where one names no output of the set.
    """
    from benchbook.evalsets.judgement_import import How, import_source, write_judgements
    from benchbook.evalsets.judgement_lookup import OutputIndex
    from benchbook.evalsets.judgement_mapping import load_mapping
    from benchbook.evalsets.output_sets import read_output_set

    _check_together(ctx)
    outputs = read_output_set(set_folder)
    how = How(load_mapping(mapping) if mapping else None, pattern, _one_each(_declared(values)))
    index = OutputIndex(outputs.outputs)
    imported = [import_source(source, index, how) for source in sources]
    text_of = _texts(outputs)
    rows = [_row(source, outputs, text_of) for source in imported]
    judgements = (judgement for source in imported for judgement in source.judgements)
    if out == "-":
        for judgement in judgements:
            click.echo(json_text(judgement))
    elif out is not None:
        write_judgements(out, judgements)
    made = None
    if run_id is not None:
        from benchbook.runner.judgement_record import ImportConfig, record_judgements

        config = ImportConfig(runs=runs, run_id=run_id, evidence=evidence, same_model=same_model_table(same_model))
        made = record_judgements(outputs, [one for source in imported for one in source.judgements], config)
    written = [] if made is None or reports == "none" else write_reports(made.record, made.derived, reports)
    if as_json:
        print_json(
            {
                "set_sha256": outputs.sha256,
                "mapping_sha256": how.mapping and how.mapping.sha256,
                "sources": rows,
                "run": made and str(made.record.path),
                "reports": [str(path) for path in written],
            }
        )
    elif out != "-":
        _print_import(imported, rows)
        if made is not None:
            click.echo(f"{one_line(str(made.record.path))}: recorded")
        for path in written:
            click.echo(f"  {one_line(str(path))}")
    ctx.exit(int(any(row["n_no_output"] for row in rows)))


def _check_together(ctx: click.Context) -> None:
    """Refuses options of `judge import` that do not go together."""
    given = ctx.params
    if given["mapping"] and given["pattern"]:
        raise click.UsageError("--mapping and --pattern: one of them")
    if given["as_json"] and given["out"] == "-":
        raise click.UsageError("--json and --out -: one of them")
    if given["run_id"] is None:
        for name in ("evidence", "same_model", "reports", "runs"):
            if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name.replace('_', '-')}: of a record; with --record alone")


def _one_each(declared: dict[str, list[str]]) -> dict[str, str]:
    for name, values in declared.items():
        if len(values) > 1:
            raise ConfigError(f"--value {name}", f"{len(values)} values", "one for all judgements")
    return {name: value for name, (value,) in declared.items()}


def _texts(outputs: OutputSet) -> Callable[[Output], NormalisedText]:
    """The judged texts, each normalised once for the judgements that come close together."""
    from benchbook.scorers.evidence_text import NormalisedText

    return lru_cache(_TEXTS)(lambda output: NormalisedText(outputs.text(output)))


def _row(source: ImportedSource, outputs: OutputSet, text_of: Callable[[Output], NormalisedText]) -> dict[str, Any]:
    """How many judgements and quotes a source has, by where the quotes were found (SPEC P4.1)."""
    from benchbook.scorers.judge_protocol import validate

    counts: Counter[str | None] = Counter()
    n_no_text = 0
    for judgement in source.judgements:
        if judgement.key is None:
            continue
        output = outputs.by_key[judgement.key]
        if output.error is not None:
            n_no_text += 1
            continue
        counts.update(validate(judgement.reply, output_text=text_of(output), asked=judgement.asked).located)
    return {
        "source": source.name,
        "n_judgements": len(source.judgements),
        "n_no_output": sum(judgement.key is None for judgement in source.judgements),
        "n_no_text": n_no_text,
        "n_quotes": counts.total() - counts[None],
        **{kind: counts[kind] for kind in _KINDS},
        "n_not_read": len(source.others),
    }


def _print_import(imported: Sequence[ImportedSource], rows: Sequence[dict[str, Any]]) -> None:
    odd = [name for name in _ODD if any(row[name] for row in rows)]
    columns = ("n_judgements", *odd, "n_quotes", *_KINDS)
    head = ("source", *(_ODD.get(name, name.removeprefix("n_")).replace("_", " ") for name in columns))
    cells = [(one_line(row["source"]), *(str(row[name]) for name in columns)) for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for first, *rest in (head, *cells):
        numbers = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        click.echo("  ".join((first.ljust(widths[0]), *numbers)))
    for source in imported:
        about = [judgement for judgement in source.judgements if judgement.remarks]
        places = [(one_line(f"{each.source} {each.place}"), remark) for each in about for remark in each.remarks]
        _print_some("note", places, len(places), lambda each: f"{each[0]}: {each[1]}")
        _print_others(source.others)
