"""`benchbook experiment`."""

from __future__ import annotations

import click

from benchbook.cli.output import json_option, print_json, runs_option

__all__ = ["experiment"]


@click.command()
@click.argument("name")
@runs_option
@json_option
def experiment(name: str, runs: str, as_json: bool) -> None:
    """Take the runs together whose setting `experiment` is NAME: mean and standard deviation over runs of one plan.

    A run counts once, whatever its own repeats, and only if it is whole.
    """
    from benchbook.comparison.experiment import named_experiment
    from benchbook.record.folder import records_in
    from benchbook.text import visible

    found = named_experiment(name, records_in(runs))
    if as_json:
        print_json(found)
        return
    from benchbook.views.leaderboard import experiment_lines

    for line in experiment_lines(found):
        click.echo(visible(line))
