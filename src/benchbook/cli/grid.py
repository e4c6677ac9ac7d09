"""`benchbook grid`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.output import json_option, print_json
from benchbook.cli.progress import shown_progress
from benchbook.errors import RunStoppedError, UsageError
from benchbook.text import sentences, visible

if TYPE_CHECKING:
    from benchbook.ask.starting import RunResult
    from benchbook.evaluators.grid import Cell

__all__ = ["grid"]


@click.command()
@click.argument("config", metavar="CONFIG.toml")
@click.option("--dry-run", is_flag=True, help="Say which runs there would be, and ask nothing.")
@click.option("--quiet", is_flag=True, help="No progress, no table: only what goes wrong.")
@json_option
def grid(config: str, dry_run: bool, quiet: bool, as_json: bool) -> None:
    """Run one experiment over several models, prompts or other settings: every combination is a record.

    CONFIG.toml is that of `benchbook run` or `benchbook judge run`, with `experiment = "NAME"` and a table [grid] that
    has a list for each setting that varies: `model = ["…", "…"]`. The records are NAME-1, NAME-2, …; one that is whole
    is left as it is, one that is not is resumed, so the same command goes on after a stop. Ends with 3 where a run was
    stopped. `benchbook experiment NAME --html FILE` has them all on one page.
    """
    from benchbook.evaluators.grid import cells_of
    from benchbook.evaluators.settings import read_config_file

    cells = cells_of(read_config_file(config), config)
    if dry_run:
        _say_cells(cells, as_json=as_json)
        return
    for number, cell in enumerate(cells, 1):
        if not (quiet or as_json):
            click.echo(f"{number} of {len(cells)}: {_words(cell)}", err=True)
        _raise_stopped(_begun(cell, config, quiet=quiet or as_json), config, cell)
    if not quiet:
        _show(cells, as_json=as_json)


def _begun(cell: Cell, config: str, *, quiet: bool) -> RunResult[Any]:
    from benchbook.ask.loop import run_async
    from benchbook.evaluators.grid import begin_cell

    with shown_progress(quiet=quiet) as on_progress:
        return run_async(begin_cell(cell, on_progress, config))


def _raise_stopped(result: RunResult[Any], config: str, cell: Cell) -> None:
    """Raises: RunStoppedError, or UsageError where the run was set up wrong."""
    if result.stop.reason is None:
        return
    if result.stop.usage:
        raise UsageError(f"{cell.run_id}: stopped: {result.stop.reason}")
    raise RunStoppedError(
        f"{cell.run_id}: stopped: {sentences(result.stop.reason)} Go on with: benchbook grid {config}"
    )


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

    from benchbook.views.experiment import experiment_document
    from benchbook.views.terminal import print_document

    print_document(experiment_document(found), sys.stdout, width=160, most=200)
