"""`benchbook catalog`: rebuild, refresh, show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchbook.cli.output import json_option, print_json, runs_option
from benchbook.errors import UsageError
from benchbook.text import shorten

if TYPE_CHECKING:
    from benchbook.catalog.indexing import Indexed
    from benchbook.catalog.queries import RunRow

__all__ = ["catalog"]


_Command = TypeVar("_Command", bound=Callable[..., Any])
_SORTS = ("started", "score", "model", "eval_set", "run")


def _options(command: _Command) -> _Command:
    url = click.option(
        "--url",
        envvar="BENCHBOOK_CATALOG",
        metavar="URL",
        help="postgresql://HOST/DATABASE, sqlite:///PATH or a path; by default catalog.sqlite in the folder of "
        "records. A URL with a password belongs into BENCHBOOK_CATALOG, where no other user sees it.",
    )
    return url(runs_option(json_option(command)))


@click.group()
def catalog() -> None:
    """Index records in a database, for lists and leaderboards that stay quick.

    Whatever is in the catalog is in a record too: it can be deleted and made again.
    """


@catalog.command()
@_options
def rebuild(runs: str, url: str | None, as_json: bool) -> None:
    """Read every record anew, and leave nothing else in the catalog."""
    from benchbook.catalog.indexing import rebuild as rebuilt

    _fill(rebuilt, runs, url, as_json=as_json)


@catalog.command()
@_options
def refresh(runs: str, url: str | None, as_json: bool) -> None:
    """Read the records that changed since the last time, and remove those that are gone."""
    from benchbook.catalog.indexing import refresh as refreshed

    _fill(refreshed, runs, url, as_json=as_json)


def _fill(fill: Callable[..., Indexed], runs: str, url: str | None, *, as_json: bool) -> None:
    from benchbook.catalog.database import default_path, open_catalog

    if not Path(runs).is_dir():
        raise UsageError(f"{runs}: there is no such folder of records")
    with open_catalog(url or default_path(runs)) as opened:
        found = fill(opened, runs)
        where = opened.where
    if as_json:
        print_json(found)
        return
    counts = {name: len(getattr(found, name)) for name in ("read", "unchanged", "removed", "damaged")}
    click.echo(f"{where}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    for run_id in found.damaged:
        click.echo(f"damaged: {shorten(run_id, 100)}", err=True)


@catalog.command()
@_options
@click.option("--spec", help="Only runs under this spec.")
@click.option("--model", help="Only runs of this model id.")
@click.option("--evalset", help="Only runs on this eval set: its id, or the hash of its bytes.")
@click.option("--decision", help="Only runs with this decision or verdict.")
@click.option("--state", help="Only runs in this state: running, complete, interrupted, stopped, damaged.")
@click.option(
    "--text", help="Only runs that have each of these words in their id, spec, model, judge, eval set or tags."
)
@click.option("--sort", type=click.Choice(_SORTS), default="started", show_default=True, help="The order.")
@click.option("--ascending", is_flag=True, help="The smallest or oldest first.")
@click.option("--limit", type=int, default=50, show_default=True, help="How many runs; at most 1000.")
@click.option("--after", metavar="CURSOR", help="Go on after an earlier page.")
def show(runs: str, url: str | None, as_json: bool, ascending: bool, **words: Any) -> None:
    """List runs as the catalog has them. `benchbook catalog refresh` brings it up to date."""
    from benchbook.catalog.database import default_path, open_catalog
    from benchbook.catalog.queries import RunFilter, list_runs

    if url is None and not default_path(runs).exists():
        raise UsageError(f"{default_path(runs)}: there is no catalog yet; make it with `benchbook catalog rebuild`")
    paging = {name: words.pop(name) for name in ("sort", "limit", "after")}
    wanted = RunFilter(eval_set=words.pop("evalset"), **words)
    with open_catalog(url or default_path(runs)) as opened:
        page = list_runs(opened, wanted, descending=not ascending, **paging)
    if as_json:
        print_json(page)
        return
    _print_table([_shown(row) for row in page.runs])
    if page.next_cursor is not None:
        click.echo(f"more: --after {page.next_cursor}", err=True)


def _shown(row: RunRow) -> dict[str, str]:
    from benchbook.views.words import outcome_word

    score = "-" if row.primary_nano is None else f"{row.primary_nano / 1e9:.4f}"
    scored = "-" if row.n_scored is None else f"{row.n_scored}/{row.n_planned}"
    return {
        "run": shorten(row.run_id, 40),
        "state": row.state,
        "decision": shorten(outcome_word(row.decision or "-"), 20),
        "score": score,
        "scored": scored,
        "model": shorten(row.model_id or "-", 40),
        "eval set": shorten(row.dataset_id or "-", 30),
        "hash": (row.journal_sha256 or "-")[:12],
        "error": shorten(row.error or "", 60),
    }


def _print_table(rows: list[dict[str, str]]) -> None:
    if not rows:
        click.echo("no runs", err=True)
        return
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]}
    for row in ({name: name for name in widths}, *rows):
        click.echo("  ".join(row[name].ljust(width) for name, width in widths.items()).rstrip())
