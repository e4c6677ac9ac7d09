"""`benchbook sign`, and who signed a record."""

from __future__ import annotations

from pathlib import Path

import click

from benchbook.cli.completion import complete_file
from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.errors import UsageError
from benchbook.text import visible


@click.command()
@run_argument
@click.option(
    "--key",
    required=True,
    metavar="FILE",
    help="An SSH key: the private one, or the public one of a key that the agent holds.",
    shell_complete=complete_file,
)
@runs_option
@json_option
def sign(run: str | None, key: str, runs: str, as_json: bool) -> None:
    """Verify RUN, and sign its hash, its derived files and its decision with an SSH key, offline.

    What is signed are in-toto statements, in RUN/signatures: a test result (READY is PASSED, all else is FAILED), and
    the decision as it is. `benchbook verify --signed-by FILE` checks who signed, and so does `ssh-keygen -Y verify`.
    """
    from benchbook.evaluators.signing import sign as sign_record
    from benchbook.evaluators.verify import verify
    from benchbook.record.folder import is_of_labels

    record = find_record(run, runs)
    if is_of_labels(record):
        raise UsageError(f"{record.path}: people's labels have no decision to sign")
    found = verify(record)
    if not found.holds:
        first = str(found.findings[0])
        raise UsageError(f"{record.path}: does not hold, and is not signed ({first}); see `benchbook verify`")
    made = sign_record(record, key, found.sha256)
    if as_json:
        print_json(
            {"run": str(record.path), "sha256": found.sha256, "signatures": [str(one) for one in made.signatures]}
        )
        return
    for path in made.signatures:
        click.echo(visible(str(path)))
    click.echo(f"record hash: {found.sha256}")


def who_signed(path: Path, sha256: str, allowed: str) -> dict[str, list[str]]:
    """Who of the allowed signers has signed each statement about a record, or a redacted copy of one, that holds.

    Raises: UsageError.
    """
    from benchbook.evaluators.attestation import statements, statements_on
    from benchbook.evaluators.signing import signed_by
    from benchbook.exchange.redaction import DERIVED, is_redacted
    from benchbook.record.folder import open_record

    made = statements_on(path / DERIVED) if is_redacted(path) else statements(open_record(path))
    return signed_by(path, sha256, made, Path(allowed))
