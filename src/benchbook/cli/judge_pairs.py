"""`benchbook judge pairs`: models ranked by judges' verdicts on pairs of their answers, read or asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from benchbook.cli.completion import complete_file
from benchbook.cli.help import SectionedCommand
from benchbook.cli.output import confidence_option, find_record, json_option, print_json, runs_option
from benchbook.cli.settings import options_of
from benchbook.cli.sitting import JUDGE_SETTINGS, MOVED_SETTINGS, asking_parts, settings_given, stopped_early
from benchbook.errors import UsageError
from benchbook.evaluators.settings import LIMITS
from benchbook.text import did_you_mean, one_line, visible

if TYPE_CHECKING:
    from benchbook.exchange.asking_pairs import PairsForecast, PreparedPairs
    from benchbook.labels.pairs.folder import PairsFolder

_FORMS = ("table", "alpaca_eval", "arena_hard")  # those of `exchange.pairs`, which is imported when it is called
_STRONG = 3
_MOST_STRONG = 100
_RANKED = ("by", "anchor", "swap", "form", "no_length", "strong", "confidence")
_OWN = {
    "How they are ranked": _RANKED,
    "What a judge is asked": ("baseline", "n", "seed"),
    "Where it goes": ("pairs", "pairs_id", "runs"),
}
_EXAMPLES = (
    ("benchbook judge pairs verdicts.csv", "rank models by verdicts that were made elsewhere"),
    ("benchbook judge pairs RUN RUN --judge openai/j@2 --dry-run", "say what it would ask, and cost"),
    ("benchbook judge pairs RUN RUN RUN --judge openai/j@2", "ask a judge about every pair of runs, in both orders"),
    ("benchbook judge pairs pairs/PAIRS_ID --swap half", "rank by its verdicts in another way"),
)


@click.command(cls=SectionedCommand, own=_OWN, examples=_EXAMPLES)
@click.argument("what", nargs=-1, metavar="FILE... | RUN RUN...", shell_complete=complete_file)
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
@confidence_option
@click.option(
    "--baseline",
    metavar="RUN",
    help="Hold the other runs against this one alone; of Arena-Hard's files the model, if they don't say.",
)
@click.option("--n", type=click.IntRange(min=1), help="Items to draw; by default all that two runs share.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the items.")
@click.option("--pairs", default="pairs", show_default=True, help="The folder for what is asked.")
@click.option("--pairs-id", metavar="ID", help="Its name there; by default the time and six hexadecimal digits.")
@runs_option
@options_of((*JUDGE_SETTINGS, *LIMITS))
@click.option("--dry-run", is_flag=True, help="Say what would be asked and cost, and ask nothing.")
@click.option("--resume", metavar="PAIRS", help="Go on where it ended; limits and addresses may change.")
@click.option("--quiet", is_flag=True, help="No progress: only the rankings.")
@json_option
@click.pass_context
def pairs(ctx: click.Context, /, what: tuple[str, ...], **options: Any) -> None:
    """Rank models whose answers judges compared in pairs: win rates, strengths and ranks, and what the judges lean to.

    FILE (JSONL, CSV, Parquet; several are taken together) has a row for each pair of answers: item, model_a, model_b,
    and who won, whatever its place: winner_ab (a shown first) and winner_ba, or winner, with first (a or b) where it is
    known. A or B, 1 or 2, tie, or nothing; both bad is a tie that is counted apart. judge, and chars_a and chars_b (or
    answer_a and answer_b), may be there too. AlpacaEval's annotations.json and Arena-Hard's model_judgment files are
    read as they are.

    With --judge, RUN are records, and the judge is asked which answer to an item is better, in both orders: each order
    of two runs is a record of its own below pairs/PAIRS_ID, which is ranked like a file.

    Where strengths can't be told it says why, and win rates are shown all the same.
    """
    if options["resume"]:
        if what or options["dry_run"]:
            raise UsageError("--resume goes on with the runs that are there: give no FILE and no RUN")
        _ask(ctx, _named(options["resume"], options["pairs"]), settings_given(options, LIMITS, MOVED_SETTINGS), options)
        return
    if not what:
        raise click.UsageError("Missing argument: FILE of verdicts, or RUN RUN and a --judge.")
    if not settings_given(options, JUDGE_SETTINGS):
        _rank([_path(one, options) for one in what], options)
        return
    prepared = _prepared(what, options)
    if options["dry_run"]:
        _say_forecast(prepared.forecast, as_json=options["as_json"])
    else:
        _ask(ctx, prepared.begin(), {}, options)


def _path(name: str, options: dict[str, Any]) -> str:
    """The file or folder of verdicts that a name means. Raises: UsageError for a record, of which nobody was asked."""
    from benchbook.labels.pairs.folder import is_pairs, pairs_named
    from benchbook.record.folder import is_record

    for path in (Path(name), Path(options["runs"]) / name):
        if is_record(path):
            raise UsageError(f"{name}: is a record; say with --judge who compares its answers with another run's")
    if not is_pairs(name) and is_pairs(Path(options["pairs"]) / name):
        return str(pairs_named(name, options["pairs"]).path)
    return name


def _named(name: str, folder: str) -> PairsFolder:
    from benchbook.labels.pairs.folder import pairs_named

    return pairs_named(name, folder)


def _prepared(what: tuple[str, ...], options: dict[str, Any]) -> PreparedPairs:
    from benchbook.exchange.asking_pairs import PairsAsked, prepared_pairs

    baseline, names = options["baseline"], list(what)
    if baseline is not None and baseline not in names:
        raise UsageError(f"--baseline {baseline}: none of the runs that are compared{did_you_mean(baseline, names)}")
    asked = PairsAsked(
        n=options["n"],
        seed=options["seed"],
        baseline=None if baseline is None else names.index(baseline),
        pairs=options["pairs"],
        pairs_id=options["pairs_id"],
    )
    records = [find_record(one, options["runs"]) for one in what]
    return prepared_pairs(records, settings_given(options, JUDGE_SETTINGS, LIMITS), asked)


def _ask(ctx: click.Context, found: PairsFolder, changes: dict[str, Any], options: dict[str, Any]) -> None:
    """Ask for what is lacking, and rank; what stops early says how it is gone on with."""
    from benchbook.exchange.asking_pairs import go_on

    quiet = options["quiet"] or options["as_json"]
    stop = asking_parts(found.path, lambda *how: go_on(found, changes, *how), quiet=quiet)
    if stop.reason is not None:
        stopped_early(ctx, stop, f"benchbook judge pairs --resume {found.path}")
    if not options["quiet"]:
        click.echo(one_line(f"{found.path}: complete; `benchbook judge pairs {found.path}` ranks it again"), err=True)
    _rank([str(found.path)], options | {"baseline": None})


def _rank(paths: list[str], options: dict[str, Any]) -> None:
    from benchbook.library.pairs import rank_pairs
    from benchbook.views.pairs import pairs_lines

    by: Literal["judge"] | None = options["by"]
    found = rank_pairs(
        *paths,
        by=by,
        length=not options["no_length"],
        **{name: options[name] for name in ("anchor", "swap", "form", "strong", "baseline", "confidence")},
    ).found
    if options["as_json"]:
        print_json(found)
    else:
        lines = list(pairs_lines(found)) or ["No verdict in it."]
        click.echo("\n".join(visible(line) for line in lines).rstrip("\n"))


def _say_forecast(found: PairsForecast, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    cost = "no prices are set" if found.most_cost_usd is None else f"at most about ${found.most_cost_usd}"
    lines = [
        *(f"judge   {one}, under {found.spec}" for one in found.judges),
        *(f"run     {one}" for one in found.models),
        f"pairs   {found.n_pairs_of_runs:,} of runs, {found.n_items:,} of answers, each in both orders",
        f"calls   {found.calls:,}, parse retries aside",
        f"cost    {cost}",
        "Nothing was asked.",
    ]
    click.echo("\n".join(map(visible, lines)))
