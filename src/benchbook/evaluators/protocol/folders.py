"""Which judge protocol is meant: one that is shipped, a folder of the user's, or the one that a record keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchbook.errors import ConfigError
from benchbook.evaluators.kept_spec import check_kept, kept_files, kept_hashes, spec_inputs
from benchbook.evaluators.protocol.reading import read_protocol
from benchbook.evaluators.protocol.spec import SPEC_ID, Protocol, protocol_v1
from benchbook.evaluators.settings import is_spec_folder
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs import sha256_of_files
from benchbook.specs.folders import FilesBeside, check_own, spec_path
from benchbook.text import shorten

__all__ = ["ProtocolFolder", "kept_protocol", "load_protocol", "protocol_asked_for", "protocol_of"]


@dataclass(frozen=True, slots=True)
class ProtocolFolder:
    """A protocol as it stands in a folder, and the files that define it: none beside one that is shipped."""

    protocol: Protocol
    paths: Mapping[str, Path]

    @property
    def inputs(self) -> dict[str, Path]:
        """The same as a record names them among its inputs."""
        return spec_inputs(self.paths)

    @property
    def identity(self) -> dict[str, str]:
        """What the first fact says of its evaluator, which the name of a user's own does not tell."""
        return {"evaluator": "protocol"} if self.paths else {}


def protocol_asked_for(spec: str) -> ProtocolFolder:
    """The protocol that settings name. Raises: ConfigError for another evaluator; as `load_protocol`."""
    if spec == SPEC_ID:
        return ProtocolFolder(protocol_v1(), {})
    if not is_spec_folder(spec):
        raise ConfigError("spec", repr(shorten(spec, 80)), f"{SPEC_ID}, or the folder of a judge protocol of your own")
    return load_protocol(spec)


def load_protocol(folder: str | Path) -> ProtocolFolder:
    """A user's own protocol. Raises: SpecError with every fault; UsageError where no spec.toml is there."""
    folder = Path(folder)
    path = spec_path(folder, "benchbook protocol init NAME")
    files = FilesBeside(folder)
    protocol = read_protocol(files, path)
    check_own(protocol.id, path)
    return ProtocolFolder(replace(protocol, sha256=files.sha256, files=dict(files.read)), files.read_paths)


def protocol_of(record: Record, started: RunStarted) -> Protocol:
    """The protocol that a record is made under; a user's own is read from the files that the record keeps.

    Raises: RecordError for a protocol that neither Benchbook nor the record has; SpecError.
    """
    return protocol_v1() if started.spec == SPEC_ID else kept_protocol(record, started)


def kept_protocol(record: Record, started: RunStarted) -> Protocol:
    """The protocol in the files that a record keeps. Raises: RecordError, SpecError."""
    files, path = kept_files(record, started)
    protocol = read_protocol(files, path, sha256_of_files(kept_hashes(started)))
    check_kept(record, started, protocol.id)
    return replace(protocol, files=files)
