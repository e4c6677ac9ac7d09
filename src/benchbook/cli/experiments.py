"""`benchbook plan`, `grid` and `experiment`: the number of items, the settings, and the results."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_file
from benchbook.cli.output import json_option, print_json, runs_option
from benchbook.errors import RunStoppedError, UsageError
from benchbook.text import sentences, visible
from benchbook.views.progress import shown_progress

if TYPE_CHECKING:
    from benchbook.ask.starting import RunResult
    from benchbook.evaluators.grid import Cell

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
_CONFIDENCE = click.FloatRange(0.5, 1, min_open=True, max_open=True)


@click.command()
@click.option("--baseline", type=float, help="The rate that you have now, such as a pass rate of 0.7.")
@click.option("--detect", type=float, help="The change that must not be missed; below 0 for a loss.")
@click.option("--power", type=_SHARE, help="The chance of seeing it if it is there; by default 0.8, of a judge's 0.9.")
@click.option(
    "--alpha", type=_SHARE, default=0.05, show_default=True, help="The chance of seeing one that is not there."
)
@click.option("--paired/--unpaired", default=True, help="Whether both runs answer the same items (they should).")
@click.option("--discordance", type=float, help="The share of items that only one of the runs passes.")
@click.option("--clusters", type=float, metavar="M", help="Items come in clusters of M, such as M to a document.")
@click.option("--icc", type=float, metavar="R", help="How alike the items of a cluster are: 0 not at all, 1 wholly.")
@click.option("--repeats", type=int, default=1, show_default=True, help="How often each run asks every item.")
@click.option("--within", type=float, metavar="S", help="The part of the variance that is within an item, 0 to 1.")
@click.option("--judge-effect", type=_SHARE, help="Of an audit: a change of the judge's score; no comparison.")
@click.option("--sd", type=_SHARE, help="Of an audit: the differences' standard deviation; by default 0.25.")
@click.option("--ready", is_flag=True, help="Say how many items it takes to be READY at all; no comparison.")
@click.option("--spec", help="With --ready: the evaluator with the gates; by default that of `benchbook run`.")
@click.option("--confidence", type=_CONFIDENCE, help="With --ready: what is to be shown at; by default 0.95.")
@json_option
def plan(
    baseline: float | None,
    detect: float | None,
    power: float | None,
    alpha: float,
    paired: bool,
    discordance: float | None,
    clusters: float | None,
    icc: float | None,
    repeats: int,
    within: float | None,
    judge_effect: float | None,
    sd: float | None,
    ready: bool,
    spec: str | None,
    confidence: float | None,
    as_json: bool,
) -> None:
    """Say how many items a comparison needs, or with --ready a release decision, before it is run.

    With --judge-effect: how many answers an audit of a judge needs to find a mean change of its score, from 0 to 1.
    """
    from benchbook.comparison.items_needed import items_needed
    from benchbook.views.several_runs import plan_words

    if ready:
        _plan_ready(spec, confidence, as_json)
        return
    if judge_effect is not None:
        _plan_audit(judge_effect, sd, power, as_json)
        return
    if sd is not None:
        raise click.UsageError("--sd goes with --judge-effect")
    if spec is not None:
        raise click.UsageError("--spec goes with --ready: what a comparison needs is the same under every evaluator")
    if confidence is not None:
        raise click.UsageError("--confidence goes with --ready; of a comparison, --alpha is its counterpart")
    if baseline is None or detect is None:
        missing = "--baseline" if baseline is None else "--detect"
        raise click.UsageError(f"{missing} is missing: a comparison takes both; or ask for --ready")
    found = items_needed(
        baseline,
        detect,
        power=0.8 if power is None else power,
        alpha=alpha,
        paired=paired,
        discordance=discordance,
        cluster_size=clusters,
        intraclass_correlation=icc,
        repeats=repeats,
        within_item=within,
    )
    if as_json:
        print_json(found)
        return
    for line in plan_words(found):
        click.echo(line)


def _plan_audit(effect: float, sd: float | None, power: float | None, as_json: bool) -> None:
    from benchbook.judge_audit.planning import POWER, SD, answers_needed
    from benchbook.views.audit_card import needed_words

    found = answers_needed(effect, sd=SD if sd is None else sd, power=POWER if power is None else power)
    if as_json:
        print_json(found)
    else:
        click.echo(needed_words(found))


def _plan_ready(spec: str | None, confidence: float | None, as_json: bool) -> None:
    from benchbook.evaluators.claims import DEFAULT_CONFIDENCE
    from benchbook.evaluators.registry import evaluator_asked_for
    from benchbook.evaluators.settings import RUN_SPEC
    from benchbook.views.several_runs import ready_words

    level = DEFAULT_CONFIDENCE if confidence is None else confidence
    evaluator = evaluator_asked_for(spec or RUN_SPEC)
    if not (by_gate := evaluator.least_for_ready(level)):
        raise UsageError(f"{evaluator.id}: has no gate that a number of items can show to hold")
    if as_json:
        print_json({"n_items": max(by_gate.values()), "confidence": level, "by_gate": by_gate})
        return
    for line in ready_words(by_gate, level):
        click.echo(line)


@click.command()
@click.argument("config", metavar="CONFIG.toml", shell_complete=complete_file)
@click.option("--spec", help="Another evaluator than the config's; FILE.py:function for one of your own (it is run).")
@click.option("--dry-run", is_flag=True, help="Say which runs there would be, and ask nothing.")
@click.option("--quiet", is_flag=True, help="No progress, no table: only what goes wrong.")
@json_option
def grid(config: str, spec: str | None, dry_run: bool, quiet: bool, as_json: bool) -> None:
    """Run one experiment over several models, prompts or other settings: every combination is a record.

    CONFIG.toml is that of `benchbook run` or `benchbook judge run`, with `experiment = "NAME"` and a table [grid] that
    has a list for each setting that varies: `model = ["…", "…"]`. With `spec`, there or as --spec, answers are scored
    without a judge, as by `benchbook score`. The records are NAME-1, NAME-2, …; one that is whole is left as it is, one
    that is not is resumed, so the same command goes on after a stop. Ends with 3 where a run was stopped.
    `benchbook experiment NAME --html FILE` has them all on one page.
    """
    from benchbook.evaluators.grid import cells_of
    from benchbook.evaluators.registry import scorer_or_name
    from benchbook.evaluators.settings import read_config_file

    values = read_config_file(config)
    if spec is not None:
        values["spec"] = scorer_or_name(spec)
    cells = cells_of(values, config)
    again = f"benchbook grid {config}" + (f" --spec {spec}" if spec else "")
    if dry_run:
        _say_cells(cells, as_json=as_json)
        return
    for number, cell in enumerate(cells, 1):
        if not (quiet or as_json):
            click.echo(f"{number} of {len(cells)}: {_words(cell)}", err=True)
        _raise_stopped(_begun(cell, config, quiet=quiet or as_json), again, cell)
    if not quiet:
        _show(cells, as_json=as_json)


def _begun(cell: Cell, config: str, *, quiet: bool) -> RunResult[Any]:
    from benchbook.ask.work import run_async
    from benchbook.evaluators.grid import begin_cell

    with shown_progress(quiet=quiet) as on_progress:
        return run_async(begin_cell(cell, on_progress, config))


def _raise_stopped(result: RunResult[Any], again: str, cell: Cell) -> None:
    """Raises: RunStoppedError, or UsageError where the run was set up wrong."""
    if result.stop.reason is None:
        return
    if result.stop.usage:
        raise UsageError(f"{cell.run_id}: stopped: {result.stop.reason}")
    raise RunStoppedError(f"{cell.run_id}: stopped: {sentences(result.stop.reason)} Go on with: {again}")


def _words(cell: Cell) -> str:
    varied = ", ".join(f"{name} = {value}" for name, value in cell.varied.items())
    return visible(f"{cell.run_id}  {varied}")


def _say_cells(cells: list[Cell], *, as_json: bool) -> None:
    if as_json:
        print_json([{"run_id": cell.run_id, "settings": cell.varied} for cell in cells])
        return
    for cell in cells:
        click.echo(_words(cell))
    click.echo("Nothing was asked.")


def _show(cells: list[Cell], *, as_json: bool) -> None:
    from benchbook.comparison.experiment import named_experiment
    from benchbook.record.folder import Record

    name = str(getattr(cells[0].config, "experiment", ""))
    found = named_experiment(name, [Record(f"{cell.config.runs}/{cell.run_id}") for cell in cells])
    if as_json:
        print_json(found)
        return
    import sys

    from benchbook.views.several_runs import experiment_document
    from benchbook.views.terminal import print_document

    print_document(experiment_document(found), sys.stdout, width=160, most=200)


@click.command()
@click.argument("name")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a page that needs nothing but itself.",
)
@runs_option
@json_option
def experiment(name: str, as_markdown: bool, html: Path | None, runs: str, as_json: bool) -> None:
    """Take the runs together whose setting `experiment` is NAME: mean and standard deviation over runs of one plan.

    Plans stand side by side, each with the settings in which it differs: the cells of `benchbook grid`, or runs that
    were begun one by one. A run counts once, whatever its own repeats, and only if it is whole.
    """
    from benchbook.comparison.experiment import named_experiment
    from benchbook.record.folder import records_in

    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown: one of them")
    found = named_experiment(name, records_in(runs))
    written = []
    if html is not None:
        from benchbook.views.several_runs import experiment_html
        from benchbook.views.views import write_pieces

        written.append(write_pieces(html, experiment_html(found)))
    if as_json:
        print_json(found)
    elif as_markdown:
        from benchbook.views.several_runs import experiment_markdown

        for piece in experiment_markdown(found):
            click.echo(piece, nl=False)
    else:
        from benchbook.views.several_runs import experiment_document
        from benchbook.views.terminal import print_document

        print_document(experiment_document(found), sys.stdout, written=written, width=160, most=200)
