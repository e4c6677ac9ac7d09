"""`benchbook leaderboard`."""

from __future__ import annotations

import sys

import click

from benchbook.cli.output import find_record, json_option, print_json, runs_option

__all__ = ["leaderboard"]


@click.command()
@click.argument("names", metavar="[RUN]...", nargs=-1)
@click.option("--evalset", help="An eval set's id or hash; by default the newest record's.")
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of rank intervals, and of the set that holds the best run.",
)
@runs_option
@json_option
def leaderboard(names: tuple[str, ...], evalset: str | None, confidence: float, runs: str, as_json: bool) -> None:
    """Rank runs over one eval set, and say which can't be told from the best.

    Without names, all finished records in the folder that are on the newest one's eval set.
    """
    from benchbook.comparison.leaderboard import leaderboard as ranked
    from benchbook.comparison.records import compared_run
    from benchbook.library.comparing import damaged_in, records_on_one_evalset

    if names and evalset:
        raise click.UsageError("--evalset chooses among a folder's records: leave it out, or the names")
    records, n_others = (
        ([find_record(name, runs) for name in names], 0) if names else records_on_one_evalset(runs, evalset)
    )
    found = ranked([compared_run(record) for record in records], confidence=confidence)
    if as_json:
        print_json(found)
        return
    from benchbook.views.leaderboard import leaderboard_lines
    from benchbook.views.terminal import encodable

    damaged = [] if names else [f"{record.run_id}: {what}" for record, what in damaged_in(runs)]
    for line in leaderboard_lines(found, n_others, damaged):
        click.echo(encodable(line, sys.stdout.encoding))
