"""The output of commands: JSON for programs, and nothing that an encoding can't take."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click
import msgspec

from benchbook.cli.completion import complete_folder, complete_run
from benchbook.errors import UsageError
from benchbook.record.derived_files import misnamed_words
from benchbook.record.folder import Record, record_named, records_in
from benchbook.stores.address import is_address, store_address
from benchbook.text import visible

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
runs_option = click.option(
    "--runs", default="runs", show_default=True, help="The folder with the records.", shell_complete=complete_folder
)
run_argument = click.argument("run", required=False, shell_complete=complete_run)
by_rule_option = click.option(
    "--by-rule", is_flag=True, help="Go by the rubric's rule, the values alone, instead of what is shown."
)
confidence_option = click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of every interval.",
)


def asked_confidence(ctx: click.Context, param: click.Parameter, value: str | None) -> float | str | None:
    """A confidence between 0.5 and 1, or `none` for a decision by the values alone (SPEC R6.4); a callback of click's.

    Raises: click.BadParameter.
    """
    if value in (None, "none"):
        return value
    try:
        found = float(value or "")
    except ValueError:
        found = 0.0
    if not 0.5 < found < 1:  # false for NaN, too
        raise click.BadParameter(f"{value!r}: expected a number between 0.5 and 1, such as 0.95, or none", ctx, param)
    return found


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON that any encoding of standard output can take: beyond UTF-8, characters are written as escapes.

    Lone surrogates, and all that a terminal would act upon, are always escapes: they come back as they were.
    """
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=ascii_only, indent=indent)
    return visible(text)


def print_table(head: Sequence[str], rows: Iterable[Iterable[str]], *, numbers: bool = False) -> None:
    """Print columns as wide as their contents; with `numbers`, all but the first are aligned to the right."""
    for line in table_rows(head, rows, numbers=numbers):
        click.echo(line)


def table_rows(head: Sequence[str], rows: Iterable[Iterable[str]], *, numbers: bool = False) -> Iterator[str]:
    """The lines of `print_table`, the head first."""
    cells = [tuple(head), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for first, *rest in cells:
        aligned = (
            cell.rjust(width) if numbers else cell.ljust(width) for cell, width in zip(rest, widths[1:], strict=True)
        )
        yield "  ".join((first.ljust(widths[0]), *aligned)).rstrip()


def terminal_width(most: int) -> int:
    """The width of the terminal that is written to, `most` at most; `most` where it is none."""
    return min(shutil.get_terminal_size((most, 24)).columns, most) if sys.stdout.isatty() else most


def print_json(value: Any) -> None:
    click.echo(json_text(value, indent=2))


def find_record(run: str | None, runs: str, *, says_name: bool = True) -> Record:
    """The record that the user means: a path, an id in the folder of records, or the newest one there.

    With `says_name` it is said on standard error where it stands under another name than its own.

    Raises: UsageError.
    """
    if run is not None and is_address(run):
        raise UsageError(f"{store_address(run)}: lies in a store: get it by `benchbook pull {store_address(run)}`")
    if run is None:
        records = records_in(runs)
        if not records:
            raise UsageError(f"{runs}: there is no record yet; name one, or start with `benchbook run`")
        record = records[0]
    else:
        record = record_named(run, runs)
    if says_name and (wrong := misnamed_words(record)) is not None:
        click.echo(f"warning: {visible(str(record.path))}: {wrong}", err=True)
    return record
