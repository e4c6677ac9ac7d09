"""The files of a spec of checks: in a folder of the user's, and as a record keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchbook.evaluators.checks.reading import read_checks
from benchbook.evaluators.checks.spec import ChecksSpec
from benchbook.specs.folders import SPEC_FILE, FilesBeside, check_own, spec_path, spec_text

__all__ = ["SpecFolder", "read_spec_files", "read_spec_folder"]


@dataclass(frozen=True, slots=True)
class SpecFolder:
    """A spec as it stands in a folder, and the files that define it: spec.toml, and those that it names."""

    spec: ChecksSpec
    paths: Mapping[str, Path]
    sha256: str


def read_spec_folder(folder: str | Path) -> SpecFolder:
    """A user's own evaluator. Raises: SpecError with every fault; UsageError where no spec.toml is there."""
    folder = Path(folder)
    path = spec_path(folder, "benchbook checks init NAME")
    files = FilesBeside(folder)
    spec = read_spec_files(files, path)
    check_own(spec.id, path)
    return SpecFolder(spec, files.read_paths, files.sha256)


def read_spec_files(files: Mapping[str, bytes], path: str | Path = SPEC_FILE) -> ChecksSpec:
    """The spec of these files. `path` names spec.toml in messages. Raises: SpecError with every fault."""
    return read_checks(spec_text(files[SPEC_FILE], path), path, files)
