"""`benchbook verify`."""

from __future__ import annotations

import click

from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.text import visible

__all__ = ["verify"]


@click.command()
@run_argument
@click.option("--expect", metavar="HASH", help="The hash that was published for this record.")
@runs_option
@json_option
@click.pass_context
def verify(ctx: click.Context, run: str | None, expect: str | None, runs: str, as_json: bool) -> None:
    """Re-derive everything in RUN from its journal, offline, and name every byte that was changed.

    RUN is a record's folder or its id; by default the newest. Ends with 1 where something does not hold.
    """
    from benchbook.evaluators.verify import verify as check

    record = find_record(run, runs)
    result = check(record, expect=expect)
    if as_json:
        findings = [{"file": one.file, "line": one.line, "what": one.what} for one in result.findings]
        print_json(
            {
                "run": str(record.path),
                "holds": result.holds,
                "sha256": result.sha256,
                "facts": result.n_facts,
                "state": result.state,
                "findings": findings,
            }
        )
    elif result.holds:
        click.echo(f"{record.path}: verified. {result.n_facts} facts, the run is {result.state}")
        click.echo(f"record hash: {result.sha256}")
    else:
        from benchbook.views.words import plural

        for finding in result.findings:
            click.echo(visible(str(finding)))
        count = plural(len(result.findings), "finding")
        click.echo(f"{record.path}: does not hold ({count})", err=True)
    ctx.exit(0 if result.holds else 1)
