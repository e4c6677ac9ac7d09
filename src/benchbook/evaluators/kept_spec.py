"""A user's own spec among a record's inputs: the record needs nothing else, and the folder may be gone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbook.errors import RecordError
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs.folders import SPEC_FILE
from benchbook.text import quoted

__all__ = ["check_kept", "kept_files", "kept_hashes", "spec_inputs"]


_KEPT = "spec/"  # before the names of a spec's files, among a record's inputs


def spec_inputs(paths: Mapping[str, Path]) -> dict[str, Path]:
    """A spec's files as a record names them among its inputs."""
    return {f"{_KEPT}{name}": path for name, path in paths.items()}


def kept_hashes(started: RunStarted) -> dict[str, str]:
    """The hashes of a spec's files that a record keeps, by their names; whether they have still those bytes, `verify`
    tells."""
    return {name[len(_KEPT) :]: one for name, one in started.inputs.items() if name.startswith(_KEPT)}


def kept_files(record: Record, started: RunStarted) -> tuple[dict[str, bytes], Path]:
    """The files by their names, and where the record has spec.toml. Raises: RecordError where one is not there."""
    hashes = kept_hashes(started)
    if SPEC_FILE not in hashes:
        raise RecordError(f"{record.path}: its inputs have no {SPEC_FILE} of {started.spec[:80]!r}")
    for name in hashes:
        if name != Path(name).name or not name.isprintable():  # an archive has these files by their names
            raise RecordError(f"{record.path}: its spec's files: found {quoted(name)}; expected a file's name")
    try:
        files = {name: record.input(sha256).read_bytes() for name, sha256 in hashes.items()}
    except OSError as error:
        raise RecordError(f"{error.filename}: the record's spec can't be read ({error.strerror})") from None
    return files, record.input(hashes[SPEC_FILE])


def check_kept(record: Record, started: RunStarted, spec_id: str) -> None:
    """Raises: RecordError where the spec that a record keeps is another than it was made under."""
    if spec_id != started.spec:
        raise RecordError(f"{record.path}: was made under {started.spec[:80]!r}, and keeps the spec of {spec_id!r}")
