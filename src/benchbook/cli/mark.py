"""`benchbook mark`: a name, a note, tags and the archive, beside records, which stay as they are."""

from __future__ import annotations

from typing import Any

import click
import msgspec
from msgspec import structs

from benchbook.canonical import ready
from benchbook.cli.completion import complete_run
from benchbook.cli.output import find_record, json_option, print_json, runs_option
from benchbook.errors import UsageError
from benchbook.record.marks import MarkFile, MarksChange, marks_words
from benchbook.text import one_line, visible


@click.command()
@click.argument("run", nargs=-1, required=True, shell_complete=complete_run)
@click.option("--name", metavar="TEXT", help="Show it under this name, beside its id; '' for none.")
@click.option("--note", metavar="TEXT", help="Keep this short text with it; '' for none.")
@click.option("--tag", "add_tags", metavar="TAG", multiple=True, help="Add this tag; may be given again.")
@click.option("--untag", "remove_tags", metavar="TAG", multiple=True, help="Take this tag away; may be given again.")
@click.option(
    "--archive/--restore", "archived", default=None, help="Leave it out of lists of runs, or take it back in."
)
@runs_option
@json_option
def mark(run: tuple[str, ...], runs: str, as_json: bool, **given: Any) -> None:
    """Write a name, a note or tags on RUN, or archive it; without an option, show what is written there.

    RUN is a record's folder or its id. Several are all changed, or none. The page, the API and `benchbook runs` show
    what is written, and filter by it.
    """
    records = [find_record(one, runs) for one in run]
    folders = {record.path.resolve().parent for record in records}
    if len(folders) > 1:
        raise UsageError(f"found records of {len(folders)} folders; expected those of one at a time")
    if len(records) > 1 and (given["name"], given["note"]) != (None, None):
        raise UsageError(f"--name and --note are of one run; found {len(records)}")
    change = _change(given)
    made = MarkFile(folders.pop()).change([one.run_id for one in records], lambda _, before: change.of(before))
    if as_json:
        print_json([{"run": run_id, **structs.asdict(marks)} for run_id, marks in made.items()])
        return
    for run_id, marks in made.items():
        click.echo(visible(f"{one_line(run_id)}: {marks_words(marks)}"))


_OPTIONS = {"add_tags": "--tag", "remove_tags": "--untag"}


def _change(given: dict[str, Any]) -> MarksChange:
    """The change, held against the same limits as one over HTTP. Raises: UsageError."""
    try:
        return msgspec.convert({name: value for name, value in given.items() if value is not None}, ready(MarksChange))
    except msgspec.ValidationError as error:
        wrong, _, place = str(error).partition(" - at `$.")
        name = place.rstrip("`").partition("[")[0]
        raise UsageError(f"{_OPTIONS.get(name, f'--{name}')}: {wrong}") from None
