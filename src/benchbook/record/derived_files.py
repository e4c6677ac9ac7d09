"""What every kind of record writes alike: JSON laid out to be read, and a manifest that holds its own hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import canonical_json
from benchbook.errors import RecordError
from benchbook.record.folder import Record, write_file
from benchbook.record.reading import LFS_POINTER, read_journal, why_unreadable
from benchbook.record.whole import check_whole

__all__ = ["Finding", "hashes_of", "place_of_fact", "pretty_json", "reading_derived", "sha256_of", "write_manifest"]


def pretty_json(value: Any) -> bytes:
    """Canonical JSON, laid out to be read: same values, same bytes."""
    return msgspec.json.format(canonical_json(value), indent=2) + b"\n"


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hashes_of(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Name -> SHA-256, for a manifest's `derived`; the manifest itself is left out."""
    return {name: sha256_of(folder / name) for name in names if name != "manifest.json"}


def write_manifest(folder: Path, manifest: dict[str, Any]) -> str:
    """Write manifest.json with its own hash in it, as `manifest_sha256`, and return that hash."""
    manifest = {name: value for name, value in manifest.items() if value is not msgspec.UNSET}
    digest = hashlib.sha256(canonical_json(manifest | {"manifest_sha256": ""})).hexdigest()
    write_file(folder / "manifest.json", pretty_json(manifest | {"manifest_sha256": digest}))
    return digest


@contextmanager
def reading_derived(record: Record) -> Iterator[None]:
    """While a record's derived files are read: whatever is wrong with them is told as RecordError.

    They are not read at all where the journal that they came from is gone or another one (RecordDamagedError).
    """
    check_whole(record)
    try:
        yield
    except FileNotFoundError as error:
        hint = "the run was not ended: resume it, or `benchbook rescore` it"
        raise RecordError(f"{error.filename or record.path}: not there; {hint}") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        why = f"its derived files can't be read ({error}); `benchbook rescore` it"
        for path in (record.aggregates, record.decision):
            why = f"{path.name} {LFS_POINTER}" if why_unreadable(path, why) == LFS_POINTER else why
        raise RecordError(f"{record.path}: {why}") from None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was written. `line` counts from 1 within the file; None: the file as a whole."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.what}"


def place_of_fact(journal: Path, seq: int) -> tuple[str, int | None]:
    """Segment and line of a fact, as a finding names them."""
    for line in read_journal(journal):
        if line.fact.seq == seq:
            return f"journal/{line.segment:06d}.jsonl", line.number
    return "journal", None
