"""Signs what is said of a record, and checks who has signed it.

    RUN/signatures/<hash>/decision.json               what was said of the record with this hash
    RUN/signatures/<hash>/decision.json.NAME.sig      one signature of it, by an SSH key
    RUN/signatures/<hash>/decision.json.NAME.sigstore.json      one by Sigstore: a bundle, which has the statement in it

A signature by SSH is of a file's bytes, so that `ssh-keygen -Y verify` checks it without Benchbook; a bundle is about
the record's hash and its derived files, so that `sigstore verify identity` does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import UsageError
from benchbook.evaluators.attestation import statements
from benchbook.record import sigstore_bundles
from benchbook.record.derived_files import Discrepancy
from benchbook.record.folder import Record
from benchbook.record.sigstore_bundles import Signer
from benchbook.record.ssh_signatures import SUFFIX, sign_file, signers_of
from benchbook.writing import make_folder, write_file

SIGNATURES = "signatures"


@dataclass(frozen=True, slots=True)
class Signed:
    """The folder with a record's statements, and the signatures that were added; by Sigstore, also as whom."""

    folder: Path
    signatures: tuple[Path, ...]
    signer: Signer | None = None


@dataclass(frozen=True, slots=True)
class SignedBy:
    """Who signed each statement, of those asked for; and what its other signatures are, a sentence each."""

    names: dict[str, list[str]]
    others: dict[str, list[str]]


def sign(record: Record, key: str | Path, sha256: str) -> Signed:
    """Sign what follows from a record, whose hash is `sha256` by a verification that held.

    Raises: UsageError where the key can't sign; RecordError where the record can't be read or written.
    """
    folder = record.path / SIGNATURES / sha256
    make_folder(folder)
    added = []
    for name, data in statements(record).items():
        write_file(folder / name, data)
        added.append(_write_signature(folder, name, sign_file(folder / name, key), SUFFIX))
    return Signed(folder, tuple(added))


def sign_by_sigstore(record: Record, sha256: str, trust: Path | None = None, *, may_ask: bool = False) -> Signed:
    """The same by Sigstore, as whom an identity token names: by the instance in a trust configuration, or the public.

    With `may_ask` a person without a token is sent to a browser. Nothing is written before all statements are signed.
    Raises: UsageError where the library or a token is missing; SigstoreError where the instance refuses, or can't be
    reached; RecordError where the record can't be read or written.
    """
    from benchbook.record.sigstore_signing import sign_statements

    made = statements(record)
    bundles = sign_statements(made, trust, may_ask=may_ask)
    folder = record.path / SIGNATURES / sha256
    make_folder(folder)
    added = []
    for name, bundle in bundles.of.items():
        write_file(folder / name, made[name])
        added.append(_write_signature(folder, name, bundle, sigstore_bundles.SUFFIX))
    return Signed(folder, tuple(added), bundles.signer)


def _write_signature(folder: Path, name: str, data: bytes, suffix: str) -> Path:
    path = folder / f"{name}.{hashlib.sha256(data).hexdigest()[:12]}{suffix}"
    write_file(path, data)
    return path


def _statement_of(file: str) -> str:
    """The name of the statement that a file's name says it is a signature of."""
    return file.removesuffix(sigstore_bundles.SUFFIX).rpartition(".json.")[0] + ".json"


def check_statements(place: Path, sha256: str, made: Mapping[str, bytes]) -> Iterator[Discrepancy]:
    """Check that what was signed of a record is what follows from it (`made`). `place` is its folder, or of a redacted
    copy. Statements of its earlier hashes are left alone."""
    folder = place / SIGNATURES / sha256
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        name = f"{SIGNATURES}/{sha256}/{path.name}"
        if not path.is_file():
            yield Discrepancy(name, None, "is no file")
            continue
        signed = made.get(_statement_of(path.name))
        if signed is not None and path.suffix == SUFFIX:
            continue
        if signed is not None and path.name.endswith(sigstore_bundles.SUFFIX):
            if sigstore_bundles.payload_of(path.read_bytes()) != signed:
                yield Discrepancy(name, None, "its statement says something else than the record")
        elif path.name not in made:
            yield Discrepancy(name, None, "does not belong to the record")
        elif path.read_bytes() != made[path.name]:
            yield Discrepancy(name, None, "says something else than the record")


def signed_by(place: Path, sha256: str, made: Collection[str], allowed: Path) -> dict[str, list[str]]:
    """Who of the allowed signers has signed each of the statements `made` about a record, by their names.

    Raises: UsageError for a file that is none, and for a record that nobody has signed.
    """
    found: dict[str, list[str]] = {name: [] for name in made}
    for path, name in _signatures(place, sha256, SUFFIX, "with an SSH key"):
        if name in made and path.with_name(name).is_file():
            found[name] += signers_of(path.with_name(name), path, allowed)
    return {name: sorted(set(names)) for name, names in found.items()}


def signed_by_sigstore(
    place: Path, sha256: str, made: Mapping[str, bytes], signer: Signer, trust: Path | None = None
) -> SignedBy:
    """The same for one identity, by the roots of trust in a trust configuration, or else those of the public instance.

    Nobody is asked over a network. Raises: UsageError where the library is missing, for a file that is none, and for a
    record that nobody has signed by Sigstore.
    """
    verifier = sigstore_bundles.verifier(trust)
    signatures = _signatures(place, sha256, sigstore_bundles.SUFFIX, "by Sigstore")
    found = SignedBy({name: [] for name in made}, {name: [] for name in made})
    for path, name in signatures:
        if name in made:
            wrong = sigstore_bundles.what_is_wrong(path.read_bytes(), made[name], signer, verifier)
            if wrong is None:
                found.names[name] = [str(signer)]
            else:
                found.others[name].append(f"{path.name} {wrong}")
    return found


def _signatures(place: Path, sha256: str, suffix: str, how: str) -> list[tuple[Path, str]]:
    """The signatures of one kind, and the name of the statement that each is of. Raises: UsageError."""
    found = sorted((place / SIGNATURES / sha256).glob(f"*{suffix}"))
    if not found:
        raise UsageError(f"{place}: nobody has signed it as it is {how} (its hash is {sha256})")
    return [(path, _statement_of(path.name)) for path in found]
