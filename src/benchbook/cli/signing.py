"""`benchbook sign`, and who signed a record."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_file
from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.errors import UsageError
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.evaluators.signing import SignedBy


@click.command()
@run_argument
@click.option(
    "--key",
    metavar="FILE",
    help="An SSH key: the private one, or the public one of a key that the agent holds. No network is needed.",
    shell_complete=complete_file,
)
@click.option(
    "--sigstore",
    is_flag=True,
    help="Sign by Sigstore, as whom an identity token names: SIGSTORE_ID_TOKEN, CI's own, or you in a browser.",
)
@click.option(
    "--trust-config",
    metavar="FILE",
    help="With --sigstore: the instance, as `sigstore --trust-config` has it; else the public one.",
    shell_complete=complete_file,
)
@runs_option
@json_option
def sign(run: str | None, key: str | None, sigstore: bool, trust_config: str | None, runs: str, as_json: bool) -> None:
    """Verify RUN, and sign its hash, its derived files and its decision with an SSH key, offline, or by Sigstore.

    What is signed are in-toto statements, in RUN/signatures: a test result (READY is PASSED, all else is FAILED), and
    the decision as it is. `benchbook verify --signed-by` checks who signed, and so do `ssh-keygen -Y verify` and
    `sigstore verify identity`. Who signs by Sigstore is named in a public log for good.
    """
    from benchbook.evaluators.signing import sign as sign_record
    from benchbook.evaluators.signing import sign_by_sigstore
    from benchbook.evaluators.verify import verify
    from benchbook.record.folder import is_of_labels

    _check_options(key, sigstore, trust_config)
    record = find_record(run, runs)
    if is_of_labels(record):
        raise UsageError(f"{record.path}: people's labels have no decision to sign")
    found = verify(record)
    if not found.holds:
        first = str(found.findings[0])
        raise UsageError(f"{record.path}: does not hold, and is not signed ({first}); see `benchbook verify`")
    if key is not None:
        made = sign_record(record, key, found.sha256)
    else:
        made = sign_by_sigstore(record, found.sha256, _path(trust_config), may_ask=_has_person(as_json))
    signer = made.signer
    if as_json:
        said = {"run": str(record.path), "sha256": found.sha256, "signatures": [str(one) for one in made.signatures]}
        print_json(said | ({} if signer is None else {"identity": signer.identity, "issuer": signer.issuer}))
        return
    for path in made.signatures:
        click.echo(visible(str(path)))
    if signer is not None:
        click.echo(visible(f"signed by {signer}"))
    click.echo(f"record hash: {found.sha256}")


def _check_options(key: str | None, sigstore: bool, trust_config: str | None) -> None:
    if (key is not None) == sigstore:
        found = "both" if sigstore else "neither"
        raise UsageError(f"found {found}; expected one of --key FILE, an SSH key, and --sigstore")
    if trust_config is not None and not sigstore:
        raise UsageError("--trust-config: is for --sigstore")


def _has_person(as_json: bool) -> bool:
    """True where somebody sits at a terminal, who can be sent to a browser."""
    return not as_json and sys.stdin.isatty() and sys.stderr.isatty()


def _path(name: str | None) -> Path | None:
    return None if name is None else Path(name)


def who_signed(path: Path, sha256: str, asked: str, issuer: str | None, trust_config: str | None) -> SignedBy:
    """Who of those asked for has signed each statement about a record, or a redacted copy of one, that holds.

    `asked` is a file of allowed signers; with an `issuer`, an identity of Sigstore.
    Raises: UsageError.
    """
    from benchbook.evaluators.attestation import statements, statements_on
    from benchbook.evaluators.signing import SignedBy, signed_by, signed_by_sigstore
    from benchbook.exchange.redaction import DERIVED, is_redacted
    from benchbook.record.folder import open_record
    from benchbook.record.sigstore_bundles import Signer

    made = statements_on(path / DERIVED) if is_redacted(path) else statements(open_record(path))
    if issuer is not None:
        return signed_by_sigstore(path, sha256, made, Signer(asked, issuer), _path(trust_config))
    if "@" in asked and not Path(asked).is_file():
        raise UsageError(f"{asked}: no file of allowed signers. Of an identity of Sigstore, name the --issuer, too")
    return SignedBy(signed_by(path, sha256, made, Path(asked)), {})


def check_signer_options(signed_by: str | None, issuer: str | None, trust_config: str | None) -> None:
    """Raises: UsageError for options of `verify` that go with others which are not there."""
    if issuer is not None and signed_by is None:
        raise UsageError("--issuer: is for --signed-by IDENTITY, an identity of Sigstore")
    if trust_config is not None and issuer is None:
        raise UsageError("--trust-config: is for an identity of Sigstore: --signed-by IDENTITY --issuer URL")


def signers_json(signers: SignedBy) -> dict[str, Any]:
    """Who signed each statement; of an identity of Sigstore, also what is said of signatures that are not its own."""
    return {"signed_by": signers.names} | ({"other_signatures": signers.others} if signers.others else {})


def signer_lines(signers: SignedBy, asked: str) -> Iterator[str]:
    """A line for each statement: who signed it, or what its signatures are of instead."""
    for name, names in signers.names.items():
        others = signers.others.get(name, ())
        if names:
            yield f"{name}: signed by {', '.join(names)}"
        elif others:
            yield f"{name}: not signed by {asked}: {'; '.join(others)}"
        else:
            yield f"{name}: signed by nobody in {asked}" if Path(asked).is_file() else f"{name}: not signed by {asked}"
