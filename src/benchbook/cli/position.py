"""`benchbook position`."""

from __future__ import annotations

import click

from benchbook.cli.output import confidence_option, json_option, print_json
from benchbook.text import visible

__all__ = ["position"]


_WIDTH = 160


@click.command()
@click.argument("file")
@click.option("--by", multiple=True, metavar="COLUMN", help="Tell verdicts apart by this column too; repeat.")
@confidence_option
@json_option
def position(file: str, by: tuple[str, ...], confidence: float, as_json: bool) -> None:
    """Say of each judge in FILE whether the answer wins, or the place in which it was shown.

    FILE (JSONL, CSV, Parquet) has a row for each pair of answers that a judge compared in both orders: judge, item,
    winner_ab and winner_ba (1 or 2, or A or B: the answer, whatever its place, with answer 1 or answer 2 shown first;
    tie where neither is better; empty for no verdict), and gold where people said which is better.
    """
    from benchbook.labels.position import position_trials, read_pair_verdicts
    from benchbook.views.judges import position_table
    from benchbook.views.terminal import table_lines

    found = position_trials(read_pair_verdicts(file, by), confidence=confidence)
    if as_json:
        print_json(found)
        return
    lines = list(table_lines(position_table(found, by), _WIDTH)) or ["No verdict in it."]
    click.echo("\n".join(visible(line) for line in lines).rstrip("\n"))
