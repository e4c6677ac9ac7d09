"""`benchbook judge pairs`: models ranked by judges' verdicts on pairs of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from benchbook.cli.completion import complete_file
from benchbook.cli.output import confidence_option, json_option, print_json
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.exchange.pairs.reading import PairsForm
    from benchbook.labels.pairs.verdicts import Swap

_FORMS = ("table", "alpaca_eval", "arena_hard")  # those of `exchange.pairs`, which is imported when it is called
_STRONG = 3
_MOST_STRONG = 100


@click.command()
@click.argument("file", nargs=-1, required=True, shell_complete=complete_file)
@click.option("--by", type=click.Choice(["judge"]), help="A ranking of each judge, not of all together.")
@click.option("--anchor", metavar="MODEL", help="Tell strengths against MODEL; by default against all others.")
@click.option(
    "--swap",
    type=click.Choice(["tie", "half"]),
    default="tie",
    show_default=True,
    help="Of a verdict in both orders: a win that does not survive is a tie; or each order counts half.",
)
@click.option("--format", "form", type=click.Choice(_FORMS), help="Of the files; by default what is in them says it.")
@click.option("--no-length", is_flag=True, help="Do not hold the lengths of answers equal, where they are known.")
@click.option(
    "--strong",
    type=click.IntRange(1, _MOST_STRONG),
    default=_STRONG,
    show_default=True,
    help="Of Arena-Hard: so many verdicts a >> counts for.",
)
@click.option("--baseline", metavar="MODEL", help="Of Arena-Hard: what answers were held against, if files don't say.")
@confidence_option
@json_option
def pairs(
    file: tuple[str, ...],
    by: Literal["judge"] | None,
    anchor: str | None,
    swap: Swap,
    form: PairsForm | None,
    no_length: bool,
    strong: int,
    baseline: str | None,
    confidence: float,
    as_json: bool,
) -> None:
    """Rank models whose answers judges compared in pairs: win rates, strengths and ranks, and what the judges lean to.

    FILE (JSONL, CSV, Parquet; several are taken together) has a row for each pair of answers: item, model_a, model_b,
    and who won, whatever its place: winner_ab (a shown first) and winner_ba, or winner, with first (a or b) where it is
    known. A or B, 1 or 2, tie, or nothing; both bad is a tie that is counted apart. judge, and chars_a and chars_b (or
    answer_a and answer_b), may be there too. AlpacaEval's annotations.json and Arena-Hard's model_judgment files are
    read as they are.

    Where strengths can't be told it says why, and win rates are shown all the same.
    """
    from benchbook.library.pairs import rank_pairs
    from benchbook.views.pairs import pairs_lines

    found = rank_pairs(
        *file,
        by=by,
        anchor=anchor,
        swap=swap,
        length=not no_length,
        form=form,
        strong=strong,
        baseline=baseline,
        confidence=confidence,
    ).found
    if as_json:
        print_json(found)
    else:
        lines = list(pairs_lines(found)) or ["No verdict in it."]
        click.echo("\n".join(visible(line) for line in lines).rstrip("\n"))
