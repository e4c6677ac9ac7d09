"""`benchbook serve`, `token` and `catalog`: the server, the access to it, and the runs that it lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchbook.cli.output import json_option, print_json, print_table, runs_option
from benchbook.errors import UsageError
from benchbook.text import shorten, visible

if TYPE_CHECKING:
    from benchbook.catalog.indexing import Indexed
    from benchbook.catalog.queries import IndexedRun
    from benchbook.server.access import Token, TokenFile


@contextmanager
def needs_server_extra() -> Iterator[None]:
    """Import within the block what the extra brings. Raises: UsageError that names it where it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        from benchbook.ask.installed import SERVER_PACKAGES

        if (error.name or "").split(".")[0] not in SERVER_PACKAGES:
            raise
        raise UsageError(f"this needs an extra: pip install 'benchbook[server]' ({error.name} is missing)") from None


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on. Another needs a token.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8400, show_default=True, help="0: any free one.")
@runs_option
@click.option(
    "--catalog",
    envvar="BENCHBOOK_CATALOG",
    metavar="URL",
    help="The catalog: postgresql://HOST/DATABASE or a path; by default catalog.sqlite in the folder of records. A URL "
    "with a password belongs into BENCHBOOK_CATALOG.",
)
@click.option("--token-file", type=click.Path(path_type=Path), help="Ask for tokens, which this file has.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A name under which the server is asked.")
@click.option(
    "--root-path",
    default="",
    metavar="PATH",
    help="What stands before all addresses where a server in front leaves it there, such as /bench. One that cuts it "
    "off needs nothing.",
)
@click.option("--inputs", type=click.Path(path_type=Path), help="The folder whose files a run over HTTP may name.")
@click.option(
    "--endpoint",
    multiple=True,
    metavar="ADDRESS[=VARIABLE]",
    help="Whom a run over HTTP may ask: an address, any-llm/VENDOR, local or scripted; and the environment variable "
    "with its key. By default nobody.",
)
@click.option("--quiet", is_flag=True, help="Log nothing but what goes wrong.")
@json_option
def serve(host: str, port: int, runs: str, catalog: str | None, quiet: bool, as_json: bool, **more: Any) -> None:
    """Serve the HTTP API and the page over a folder of records, until Ctrl-C.

    On this machine alone no set-up is needed. On any other address a token is (`benchbook token create`). The log goes
    to standard error, a JSON object a line.
    """
    with needs_server_extra():
        from benchbook.catalog.database import default_path
        from benchbook.server.access import check_setup
        from benchbook.server.events import log_to_stderr, no_log
        from benchbook.server.pages import checked_root_path
        from benchbook.server.running import address_of, listening_socket
        from benchbook.server.running import serve as serve_forever
        from benchbook.server.settings import Settings
        from benchbook.server.spending import Spending

    settings = Settings(
        runs=Path(runs),
        catalog=catalog or str(default_path(runs)),
        host=host,
        port=port,
        token_file=more["token_file"],
        hosts=more["allow_host"],
        root_path=checked_root_path(more["root_path"]),
        inputs=more["inputs"],
        endpoints=more["endpoint"],
    )
    check_setup(settings)
    spending = Spending(settings.endpoints)
    listening = listening_socket(settings)
    address = address_of(listening, settings)
    if as_json:
        print_json({"address": address, "runs": runs, "endpoints": [str(one) for one in spending.endpoints]})
    else:
        click.echo(f"{address}  (Ctrl-C ends)")
        click.echo(visible(str(spending)))
    serve_forever(settings, listening, no_log if quiet else log_to_stderr)


_Command = TypeVar("_Command", bound=Callable[..., Any])


def _token_options(command: _Command) -> _Command:
    file = click.option(
        "--token-file",
        type=click.Path(path_type=Path),
        help="The file with the tokens; by default .server/tokens.json in the folder of records.",
    )
    return file(runs_option(json_option(command)))


@click.group()
def token() -> None:
    """Tokens for a server that others can reach. Only a hash of each is kept."""


@token.command()
@click.option("--name", required=True, help="Whose it is: the audit log and labels have this name.")
@click.option("--scope", multiple=True, default=("read",), show_default=True, help="read, label or write; repeatable.")
@_token_options
def create(name: str, scope: tuple[str, ...], runs: str, token_file: Path | None, as_json: bool) -> None:
    """Make a token and print it, this once."""
    text, made = _token_file(runs, token_file).create(name, scope)
    if as_json:
        print_json({"token": text, **_token_fields(made)})
        return
    click.echo(text)
    click.echo(f"{made.token_id}: {', '.join(made.scopes)}, for {visible(made.name)}. It is not shown again.", err=True)


@token.command(name="list")
@_token_options
def list_tokens(runs: str, token_file: Path | None, as_json: bool) -> None:
    """List the tokens, also those that were revoked."""
    tokens = _token_file(runs, token_file).tokens()
    if as_json:
        print_json([_token_fields(one) for one in tokens])
        return
    if not tokens:
        click.echo("no tokens", err=True)
    for one in tokens:
        state = f"revoked {one.revoked_utc}" if one.revoked_utc else "valid"
        click.echo(f"{one.token_id}  {','.join(one.scopes):16}  {one.created_utc}  {state}  {visible(one.name)}")


@token.command()
@click.argument("token_id")
@_token_options
def revoke(token_id: str, runs: str, token_file: Path | None, as_json: bool) -> None:
    """Refuse a token from now on, by its id. A server that is running sees it at the next request."""
    revoked = _token_file(runs, token_file).revoke(token_id)
    if as_json:
        print_json(_token_fields(revoked))
    else:
        click.echo(f"{revoked.token_id}: revoked")


def _token_file(runs: str, token_file: Path | None) -> TokenFile:
    with needs_server_extra():
        from benchbook.server.access import TokenFile, default_token_file

    return TokenFile(token_file or default_token_file(runs))


def _token_fields(one: Token) -> dict[str, Any]:
    names = ("token_id", "name", "scopes", "created_utc", "revoked_utc")
    return {name: getattr(one, name) for name in names}


_SORTS = ("started", "score", "model", "eval_set", "run")


def _catalog_options(command: _Command) -> _Command:
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

    Whatever is in the catalog is in a record, or in the marks beside it: it can be deleted and made again.
    """


@catalog.command()
@_catalog_options
def rebuild(runs: str, url: str | None, as_json: bool) -> None:
    """Read every record anew, and leave nothing else in the catalog."""
    with needs_server_extra():
        from benchbook.catalog.indexing import rebuild as rebuilt

    _fill(rebuilt, runs, url, as_json=as_json)


@catalog.command()
@_catalog_options
def refresh(runs: str, url: str | None, as_json: bool) -> None:
    """Read the records that changed since the last time, and remove those that are gone."""
    with needs_server_extra():
        from benchbook.catalog.indexing import refresh as refreshed

    _fill(refreshed, runs, url, as_json=as_json)


def _fill(fill: Callable[..., Indexed], runs: str, url: str | None, *, as_json: bool) -> None:
    from benchbook.catalog.database import default_path, open_catalog
    from benchbook.catalog.marks import IndexedMarks

    if not Path(runs).is_dir():
        raise UsageError(f"{runs}: there is no such folder of records")
    with open_catalog(url or default_path(runs)) as opened:
        found = fill(opened, runs)
        IndexedMarks(Path(runs), opened)
        where = opened.where
    if as_json:
        print_json(found)
        return
    counts = {name: len(getattr(found, name)) for name in ("read", "unchanged", "removed", "damaged")}
    click.echo(f"{where}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    for run_id in found.damaged:
        click.echo(f"damaged: {shorten(run_id, 100)}", err=True)


@catalog.command()
@_catalog_options
@click.option("--spec", help="Only runs under this spec.")
@click.option("--model", help="Only runs of this model id.")
@click.option("--evalset", help="Only runs on this eval set: its id, or the hash of its bytes.")
@click.option("--decision", help="Only runs with this decision or verdict.")
@click.option("--state", help="Only runs in this state: running, complete, interrupted, damaged, later.")
@click.option(
    "--text", help="Only runs that have each of these words in their id, spec, model, judge, eval set or marks."
)
@click.option("--sort", type=click.Choice(_SORTS), default="started", show_default=True, help="The order.")
@click.option("--ascending", is_flag=True, help="The smallest or oldest first.")
@click.option("--limit", type=int, default=50, show_default=True, help="How many runs; at most 1000.")
@click.option("--after", metavar="CURSOR", help="Go on after an earlier page.")
def show(runs: str, url: str | None, as_json: bool, ascending: bool, **words: Any) -> None:
    """List runs as the catalog has them. `benchbook catalog refresh` brings it up to date."""
    with needs_server_extra():
        from benchbook.catalog.database import default_path, open_catalog
        from benchbook.catalog.queries import list_runs
        from benchbook.catalog.run_filters import RunFilter

    if url is None and not default_path(runs).exists():
        raise UsageError(f"{default_path(runs)}: there is no catalog yet; make it with `benchbook catalog rebuild`")
    paging = {name: words.pop(name) for name in ("sort", "limit", "after")}
    wanted = RunFilter(eval_set=words.pop("evalset"), **words)
    with open_catalog(url or default_path(runs)) as opened:
        page = list_runs(opened, wanted, descending=not ascending, **paging)
    if as_json:
        print_json(page)
        return
    if rows := [_run_fields(row) for row in page.runs]:
        print_table(tuple(rows[0]), (row.values() for row in rows))
    else:
        click.echo("no runs", err=True)
    if page.next_cursor is not None:
        click.echo(f"more: --after {page.next_cursor}", err=True)


def _run_fields(row: IndexedRun) -> dict[str, str]:
    from benchbook.views.names import set_name
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
        "eval set": "-" if row.dataset_id is None else shorten(set_name(row.dataset_id, row.dataset_sha256), 40),
        "hash": (row.journal_sha256 or "-")[:12],
        "error": shorten(row.error or "", 60),
    }
