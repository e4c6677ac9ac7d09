"""`benchbook serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from benchbook.cli.output import json_option, print_json, runs_option
from benchbook.errors import UsageError

__all__ = ["serve"]


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
@click.option("--endpoint", multiple=True, metavar="URL", help="An address that a run over HTTP may ask.")
@click.option("--quiet", is_flag=True, help="Log nothing but what goes wrong.")
@json_option
def serve(host: str, port: int, runs: str, catalog: str | None, quiet: bool, as_json: bool, **more: Any) -> None:
    """Serve the HTTP API and the page over a folder of records, until Ctrl-C.

    On this machine alone no set-up is needed. On any other address a token is (`benchbook token create`). The log goes
    to standard error, a JSON object a line.
    """
    try:
        from benchbook.server.running import address_of, listening_socket
        from benchbook.server.running import serve as serve_forever
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is not installed: pip install 'benchbook[server]'") from None
    from benchbook.catalog.database import default_path
    from benchbook.server.access import check_setup
    from benchbook.server.below import checked_root_path
    from benchbook.server.events import log_to_stderr, no_log
    from benchbook.server.services import Settings

    settings = Settings(
        runs=Path(runs),
        catalog=catalog or str(default_path(runs)),
        host=host,
        port=port,
        token_file=more["token_file"],
        hosts=more["allow_host"],
        root_path=checked_root_path(more["root_path"]),
        inputs=more["inputs"],
        endpoints=tuple(url.rstrip("/") for url in more["endpoint"]),
    )
    check_setup(settings)
    listening = listening_socket(settings)
    address = address_of(listening, settings)
    if as_json:
        print_json({"address": address, "runs": runs})
    else:
        click.echo(f"{address}  (Ctrl-C ends)")
    serve_forever(settings, listening, no_log if quiet else log_to_stderr)
