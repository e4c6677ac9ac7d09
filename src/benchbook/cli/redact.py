"""`benchbook redact`: a copy of a record without its texts, which still verifies."""

from __future__ import annotations

from pathlib import Path

import click

from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.errors import UsageError
from benchbook.text import plural, visible


@click.command()
@run_argument
@click.option("--out", required=True, metavar="DIR", help="Where the copy goes; a new folder.")
@click.option(
    "--keep", multiple=True, metavar="NAME", help="An input that is copied all the same, such as evalset; repeat."
)
@runs_option
@json_option
def redact(run: str | None, out: str, keep: tuple[str, ...], runs: str, as_json: bool) -> None:
    """Verify RUN, and write a copy of it without its texts: for an eval set that must stay private.

    Prompts, answers, verdicts and inputs are left out, and each text is replaced by its hash. Numbers, codes and the
    chain of hashes stay, so that `benchbook verify DIR --expect HASH` holds the copy against the hash that was
    published, and names what can no longer be computed.
    """
    from benchbook.evaluators.verify import verify
    from benchbook.exchange.redaction import redact as write_redacted
    from benchbook.record.folder import is_of_labels

    record = find_record(run, runs)
    if is_of_labels(record):
        raise UsageError(f"{record.path}: people's labels are not redacted; leave their folder out")
    made = write_redacted(record, verify(record), Path(out), keep)
    if as_json:
        print_json({"run": str(record.path), "path": out, "sha256": made.sha256, "left_out": made.left_out})
        return
    n = len(made.left_out)
    click.echo(visible(f"{out}: {made.run_id} without its texts, and without {plural(n, 'input')}"))
    click.echo(f"record hash: {made.sha256}")
