"""`benchbook experiment`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchbook.cli.output import json_option, print_json, runs_option

__all__ = ["experiment"]


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
        from benchbook.views.experiment import experiment_html
        from benchbook.views.views import write_pieces

        written.append(write_pieces(html, experiment_html(found)))
    if as_json:
        print_json(found)
    elif as_markdown:
        from benchbook.views.experiment import experiment_markdown

        for piece in experiment_markdown(found):
            click.echo(piece, nl=False)
    else:
        from benchbook.views.experiment import experiment_document
        from benchbook.views.terminal import print_document

        print_document(experiment_document(found), sys.stdout, written=written, width=160, most=200)
