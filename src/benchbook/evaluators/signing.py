"""Signs what is said of a record, and checks who has signed it.

    RUN/signatures/<hash>/decision.json               what was said of the record with this hash
    RUN/signatures/<hash>/decision.json.NAME.sig      one signature of it

A signature is of a file's bytes, so that `ssh-keygen -Y verify` checks it without Benchbook.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchbook.errors import UsageError
from benchbook.evaluators.attestation import statements
from benchbook.record.derived_files import Discrepancy
from benchbook.record.folder import Record
from benchbook.record.ssh_signatures import SUFFIX, sign_file, signers_of
from benchbook.writing import make_folder, write_file

SIGNATURES = "signatures"


@dataclass(frozen=True, slots=True)
class Signed:
    """A record that was signed: the folder with its statements, and the signatures that were added."""

    folder: Path
    signatures: tuple[Path, ...]


def sign(record: Record, key: str | Path, sha256: str) -> Signed:
    """Sign what follows from a record, whose hash is `sha256` by a verification that held.

    Raises: UsageError where the key can't sign; RecordError where the record can't be read or written.
    """
    folder = record.path / SIGNATURES / sha256
    make_folder(folder)
    added = []
    for name, data in statements(record).items():
        write_file(folder / name, data)
        signature = sign_file(folder / name, key)
        path = folder / f"{name}.{hashlib.sha256(signature).hexdigest()[:12]}{SUFFIX}"
        write_file(path, signature)
        added.append(path)
    return Signed(folder, tuple(added))


def check_statements(place: Path, sha256: str, made: Mapping[str, bytes]) -> Iterator[Discrepancy]:
    """Check that what was signed of a record is what follows from it (`made`). `place` is its folder, or of a redacted
    copy. Statements of its earlier hashes are left alone."""
    folder = place / SIGNATURES / sha256
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        name = f"{SIGNATURES}/{sha256}/{path.name}"
        if path.suffix == SUFFIX and path.name.rpartition(".json.")[0] + ".json" in made:
            continue
        if path.name not in made:
            yield Discrepancy(name, None, "does not belong to the record")
        elif path.read_bytes() != made[path.name]:
            yield Discrepancy(name, None, "says something else than the record")


def signed_by(place: Path, sha256: str, made: Collection[str], allowed: Path) -> dict[str, list[str]]:
    """Who of the allowed signers has signed each of the statements `made` about a record, by their names.

    Raises: UsageError for a file that is none, and for a record that nobody has signed.
    """
    folder = place / SIGNATURES / sha256
    signatures = sorted(folder.glob(f"*{SUFFIX}"))
    if not signatures:
        raise UsageError(f"{place}: nobody has signed it as it is (its hash is {sha256})")
    found: dict[str, list[str]] = {name: [] for name in made}
    for signature in signatures:
        name = signature.name.rpartition(".json.")[0] + ".json"
        if name in made and (folder / name).is_file():
            found[name] += signers_of(folder / name, signature, allowed)
    return {name: sorted(set(names)) for name, names in found.items()}
