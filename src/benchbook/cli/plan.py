"""`benchbook plan`."""

from __future__ import annotations

import click

from benchbook.cli.output import json_option, print_json

__all__ = ["plan"]

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command()
@click.option("--baseline", type=float, required=True, help="The rate that you have now, such as a pass rate of 0.7.")
@click.option("--detect", type=float, required=True, help="The change that must not be missed; below 0 for a loss.")
@click.option("--power", type=_SHARE, default=0.8, show_default=True, help="The chance of seeing it if it is there.")
@click.option(
    "--alpha", type=_SHARE, default=0.05, show_default=True, help="The chance of seeing one that is not there."
)
@click.option("--paired/--unpaired", default=True, help="Whether both runs answer the same items (they should).")
@click.option("--discordance", type=float, help="The share of items that only one of the runs passes.")
@click.option("--clusters", type=float, metavar="M", help="Items come in clusters of M, such as M to a document.")
@click.option("--icc", type=float, metavar="R", help="How alike the items of a cluster are: 0 not at all, 1 wholly.")
@json_option
def plan(
    baseline: float,
    detect: float,
    power: float,
    alpha: float,
    paired: bool,
    discordance: float | None,
    clusters: float | None,
    icc: float | None,
    as_json: bool,
) -> None:
    """Say how many items a comparison needs, before it is run."""
    from benchbook.decisions.items_needed import items_needed
    from benchbook.reports.items_needed import plan_words

    found = items_needed(
        baseline,
        detect,
        power=power,
        alpha=alpha,
        paired=paired,
        discordance=discordance,
        cluster_size=clusters,
        intraclass_correlation=icc,
    )
    if as_json:
        print_json(found)
        return
    for line in plan_words(found):
        click.echo(line)
