"""`benchbook token`: create, list, revoke."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchbook.cli.output import json_option, print_json, runs_option
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.server.tokens import Token, TokenFile

__all__ = ["token"]


_Command = TypeVar("_Command", bound=Callable[..., Any])


def _options(command: _Command) -> _Command:
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
@_options
def create(name: str, scope: tuple[str, ...], runs: str, token_file: Path | None, as_json: bool) -> None:
    """Make a token and print it, this once."""
    text, made = _file(runs, token_file).create(name, scope)
    if as_json:
        print_json({"token": text, **_shown(made)})
        return
    click.echo(text)
    click.echo(f"{made.token_id}: {', '.join(made.scopes)}, for {visible(made.name)}. It is not shown again.", err=True)


@token.command(name="list")
@_options
def list_tokens(runs: str, token_file: Path | None, as_json: bool) -> None:
    """List the tokens, also those that were revoked."""
    tokens = _file(runs, token_file).tokens()
    if as_json:
        print_json([_shown(one) for one in tokens])
        return
    if not tokens:
        click.echo("no tokens", err=True)
    for one in tokens:
        state = f"revoked {one.revoked_utc}" if one.revoked_utc else "valid"
        click.echo(f"{one.token_id}  {','.join(one.scopes):16}  {one.created_utc}  {state}  {visible(one.name)}")


@token.command()
@click.argument("token_id")
@_options
def revoke(token_id: str, runs: str, token_file: Path | None, as_json: bool) -> None:
    """Refuse a token from now on, by its id. A server that is running sees it at the next request."""
    revoked = _file(runs, token_file).revoke(token_id)
    if as_json:
        print_json(_shown(revoked))
    else:
        click.echo(f"{revoked.token_id}: revoked")


def _file(runs: str, token_file: Path | None) -> TokenFile:
    from benchbook.server.tokens import TokenFile, default_token_file

    return TokenFile(token_file or default_token_file(runs))


def _shown(one: Token) -> dict[str, Any]:
    names = ("token_id", "name", "scopes", "created_utc", "revoked_utc")
    return {name: getattr(one, name) for name in names}
