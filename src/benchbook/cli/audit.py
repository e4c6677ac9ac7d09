"""`benchbook audit`: each number that another tool's log claims, computed again from its samples."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbook.cli.completion import complete_file
from benchbook.cli.output import json_option, print_json
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.errors import InputError
    from benchbook.exchange.audit.result import LogAudit

_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("log", shell_complete=complete_file)
@click.option("--tool", help="The tool whose log it is, where the file alone does not say it.")
@click.option("--html", type=_file, metavar="FILE", help="Write a page that needs nothing but itself.")
@click.option("--markdown", type=_file, metavar="FILE", help="Write Markdown.")
@json_option
@click.pass_context
def audit(
    ctx: click.Context, log: str, tool: str | None, html: Path | None, markdown: Path | None, as_json: bool
) -> None:
    """Compute each number of another tool's log again from the samples that it holds.

    LOG is a file or a folder: of Inspect, lm-evaluation-harness, promptfoo and others. Each number follows, does not
    follow (with both numbers, and how it may have come about), or can't be told. Ends with 1 where one does not follow.
    Logs in a folder that make no sense are named and left out; it then ends with 2 where it would end with 0.
    """
    from benchbook.exchange.audit.auditing import audits_of, together
    from benchbook.exchange.tools import tool_named

    broken: list[InputError] = []
    on_broken = broken.append if Path(log).is_dir() else None
    audits = list(audits_of(log, None if tool is None else tool_named(tool), on_broken))
    if broken and not audits:
        raise broken[0]
    written = [] if html is None and markdown is None else _written(audits, html, markdown)
    if as_json:
        print_json(audits[0] if len(audits) == 1 and not broken else together(audits, list(map(str, broken))))
    else:
        from benchbook.exchange.audit.document import audit_document
        from benchbook.views.terminal import print_document

        print_document(audit_document(audits), sys.stdout, written=written)
    for error in broken:
        click.echo(f"benchbook: {visible(str(error))}", err=True)
    ctx.exit(1 if any(one.n_do_not_follow for one in audits) else 2 if broken else 0)


def _written(audits: list[LogAudit], html: Path | None, markdown: Path | None) -> list[Path]:
    from benchbook.exchange.audit.document import audit_document
    from benchbook.views.html import html_page
    from benchbook.views.markdown import markdown_page
    from benchbook.views.views import write_pieces

    found = []
    if html is not None:
        found.append(write_pieces(html, html_page(audit_document(audits))))
    if markdown is not None:
        found.append(write_pieces(markdown, markdown_page(audit_document(audits))))
    return found
