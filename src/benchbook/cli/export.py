"""`benchbook export`: a record in the form of another tool, or as a table."""

from __future__ import annotations

import click

from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.exchange.exporting import SAMPLES, export_forms, export_record
from benchbook.text import visible


@click.command()
@run_argument
@click.option("--to", "form", type=click.Choice(export_forms()), required=True, help="A tool's form, or a table's.")
@click.option("--out", required=True, metavar="PATH", help="The file that is written, or a form's folder; new.")
@click.option(
    "--table", default=SAMPLES, show_default=True, help="Of csv, ndjson, parquet: the table, as training_metrics."
)
@runs_option
@json_option
def export(run: str | None, form: str, out: str, table: str, runs: str, as_json: bool) -> None:
    """Write RUN in the form of another tool, or its rows as a table.

    What the form can't hold is said on standard error. Nothing is written over.
    """
    found = export_record(find_record(run, runs), form, out, table=table)
    if as_json:
        print_json(found)
        return
    click.echo(visible(f"{found.path}: {found.run_id} as {found.form}"))
    click.echo(f"record hash: {found.record_sha256}")
    for one in found.lost:
        click.echo(visible(f"not held: {one.what}" + ("" if one.n is None else f" ({one.n:,})")), err=True)
