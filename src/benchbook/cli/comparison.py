"""`benchbook compare`, `baseline` and `leaderboard`: runs held against one another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbook.cli.completion import complete_run
from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.errors import UsageError
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.library.comparing import RunComparison

_file = click.Path(dir_okay=False, path_type=Path)
_labels_option = click.option(
    "--labels",
    multiple=True,
    metavar="DIR",
    help="A folder with people's labels of answers of any of the runs; repeat.",
)


@click.command()
@click.argument("names", metavar="A B [C]...", nargs=-1, required=True, shell_complete=complete_run)
@click.option("--margin", type=float, help="Say whether B is not worse than A by more than this, such as 0.02.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option(
    "--metric",
    default="score",
    show_default=True,
    help="What runs and slices are shown by: score, passing, contained, a criterion, cost_usd, or an aggregate.",
)
@_labels_option
@click.option("--details", is_flag=True, help="Of more than two runs, show each pair in full.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option("--html", type=_file, metavar="FILE", help="Write a page that needs nothing but itself.")
@click.option("--parquet", type=_file, metavar="FILE", help="Write every item, with both texts and its class.")
@runs_option
@json_option
def compare(
    names: tuple[str, ...],
    margin: float | None,
    confidence: float,
    metric: str,
    labels: tuple[str, ...],
    details: bool,
    as_markdown: bool,
    html: Path | None,
    parquet: Path | None,
    runs: str,
    as_json: bool,
) -> None:
    """Say what changed from run A to run B, item by item, and whether it may be chance.

    With more runs, each is compared with A: all of them stand in one table, and with --details each pair in full. Give
    checkpoints in their order, for each item's history. Always ends with 0: `benchbook gate --baseline` says yes or no.

    With --labels the difference is given as people would judge, too; what that turns is said first.
    """
    from benchbook.labels.labels import open_labels
    from benchbook.library.comparing import compare_records

    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown: one of them")
    if len(names) < 2:
        raise UsageError(f"{names[0]}: a comparison needs two runs")
    records = [find_record(name, runs) for name in names]
    books = [open_labels(folder) for folder in labels]
    found = compare_records(records, confidence=confidence, margin=margin, metric=metric, labels=books)
    written = _write(found, html, parquet)
    if as_json:
        from benchbook.views.comparison_data import comparison_json

        print_json(comparison_json(found.report) | {"written": [str(path) for path in written]})
    elif as_markdown:
        from benchbook.views.comparison import comparison_markdown

        for piece in comparison_markdown(found.report):
            click.echo(piece, nl=False)
    else:
        from benchbook.views.comparison import comparison_summary
        from benchbook.views.terminal import print_document

        document = comparison_summary(found.report, details=details)
        print_document(document, sys.stdout, written=written, width=120, most=140)


def _write(found: RunComparison, html: Path | None, parquet: Path | None) -> list[Path]:
    written = []
    if html is not None:
        from benchbook.views.comparison import comparison_html
        from benchbook.views.views import write_pieces

        written.append(write_pieces(html, comparison_html(found.report)))
    if parquet is not None:
        from benchbook.views.comparison_data import write_comparison_parquet

        written.append(write_comparison_parquet(found.report, parquet))
    return written


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
    from benchbook.comparison.records import set_baseline

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
    from benchbook.comparison.records import baseline_record, read_baseline

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
    from benchbook.comparison.records import clear_baseline

    found = clear_baseline(runs)
    if as_json:
        print_json(found)
    else:
        click.echo("no baseline was set" if found is None else visible(f"{found.run_id} is no longer the baseline"))


@click.command()
@click.argument("names", metavar="[RUN]...", nargs=-1, shell_complete=complete_run)
@click.option("--evalset", help="An eval set's id or hash; by default the newest record's.")
@click.option(
    "--metric",
    default="score",
    show_default=True,
    help="What is ranked: also passing, contained, or a criterion's score.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of rank intervals, and of the set that holds the best run.",
)
@_labels_option
@runs_option
@json_option
def leaderboard(
    names: tuple[str, ...],
    evalset: str | None,
    metric: str,
    confidence: float,
    labels: tuple[str, ...],
    runs: str,
    as_json: bool,
) -> None:
    """Rank runs over one eval set, and say which can't be told from the best.

    Without names, all finished records in the folder that are on the newest one's eval set. With --labels, the score as
    people would judge stands beside the run's own where its answers are labelled.
    """
    from msgspec import to_builtins

    from benchbook.labels.labels import open_labels
    from benchbook.library.ranking import ranking_of
    from benchbook.views.terminal import encodable

    if names and evalset:
        raise click.UsageError("--evalset chooses among a folder's records: leave it out, or the names")
    found = ranking_of(
        [find_record(name, runs) for name in names] or None,
        runs,
        evalset=evalset,
        metric=metric,
        confidence=confidence,
        labels=[open_labels(folder) for folder in labels],
    )
    if as_json:
        print_json(found.found if not labels else to_builtins(found.found) | {"as_people_would_judge": found.people})
    else:
        click.echo(encodable(str(found), sys.stdout.encoding))
