"""`benchbook compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbook.cli.output import find_record, json_option, print_json, runs_option
from benchbook.errors import UsageError

if TYPE_CHECKING:
    from benchbook.library.comparing import RunComparison

__all__ = ["compare"]


_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("names", metavar="A B [C]...", nargs=-1, required=True)
@click.option("--margin", type=float, help="Say whether B is not worse than A by more than this, such as 0.02.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option("--html", type=_file, metavar="FILE", help="Write a page that needs nothing but itself.")
@click.option("--parquet", type=_file, metavar="FILE", help="Write every item, with both texts and its class.")
@runs_option
@json_option
def compare(
    names: tuple[str, ...],
    margin: float | None,
    confidence: float,
    as_markdown: bool,
    html: Path | None,
    parquet: Path | None,
    runs: str,
    as_json: bool,
) -> None:
    """Say what changed from run A to run B, item by item, and whether it may be chance.

    With more runs, each is compared with A, and each item's history over all of them is told: give checkpoints in
    their order. Always ends with 0: `benchbook gate --baseline` says yes or no.
    """
    from benchbook.library.comparing import compare_records

    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown: one of them")
    if len(names) < 2:
        raise UsageError(f"{names[0]}: a comparison needs two runs")
    found = compare_records([find_record(name, runs) for name in names], confidence=confidence, margin=margin)
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

        print_document(comparison_summary(found.report), sys.stdout, written=written, width=120, most=140)


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
