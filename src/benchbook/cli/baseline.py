"""`benchbook baseline`: set, show, clear."""

from __future__ import annotations

import click

from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.text import visible

__all__ = ["baseline"]


@click.group()
def baseline() -> None:
    """Set, show or clear the run that others are held against: `benchbook gate --max-regressions 0`.

    It is kept in baseline.json in the folder of records, with the record's hash.
    """


@baseline.command(name="set")
@run_argument
@runs_option
@json_option
def set_(run: str | None, runs: str, as_json: bool) -> None:
    """Make RUN (by default the newest) the baseline."""
    from benchbook.comparison.baselines import set_baseline

    found = set_baseline(runs, find_record(run, runs))
    if as_json:
        print_json(found)
    else:
        click.echo(visible(f"{found.run_id} is the baseline, record {found.journal_sha256}"))


@baseline.command()
@runs_option
@json_option
@click.pass_context
def show(ctx: click.Context, runs: str, as_json: bool) -> None:
    """Say which run is the baseline, its record held against the hash; end with 1 where none is set."""
    from benchbook.comparison.baselines import baseline_record, read_baseline

    found = read_baseline(runs)
    if found is not None:
        baseline_record(runs)
    if as_json:
        print_json(found)
    elif found is None:
        click.echo(f"{runs}: no baseline is set", err=True)
    else:
        click.echo(visible(f"{found.run_id}, record {found.journal_sha256}"))
    ctx.exit(int(found is None))


@baseline.command()
@runs_option
@json_option
def clear(runs: str, as_json: bool) -> None:
    """Forget the baseline; its record stays."""
    from benchbook.comparison.baselines import clear_baseline

    found = clear_baseline(runs)
    if as_json:
        print_json(found)
    else:
        click.echo("no baseline was set" if found is None else visible(f"{found.run_id} is no longer the baseline"))
