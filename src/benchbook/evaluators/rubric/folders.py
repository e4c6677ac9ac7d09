"""Which rubric is meant: one that is shipped, a folder of the user's, or the one that a record keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchbook.errors import InputError, RecordError
from benchbook.evaluators.rubric.plan import Plan
from benchbook.evaluators.rubric.reading import read_rubric
from benchbook.evaluators.rubric.spec import RUBRIC_V1, RubricSpec, rubric_v1
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs import FROZEN, sha256_of_files
from benchbook.specs.faults import SpecError
from benchbook.specs.folders import SPEC_FILE, FilesBeside, spec_path

__all__ = ["RubricFolder", "kept_hashes", "kept_rubric", "load_rubric", "rubric_asked_for", "rubric_of", "spec_of"]


_KEPT = "spec/"  # before the names of a spec's files, among a record's inputs


@dataclass(frozen=True, slots=True)
class RubricFolder:
    """A rubric as it stands in a folder, and the files that define it: none beside one that is shipped."""

    spec: RubricSpec
    paths: Mapping[str, Path]

    @property
    def inputs(self) -> dict[str, Path]:
        """The same as a record names them among its inputs."""
        return {f"{_KEPT}{name}": path for name, path in self.paths.items()}


def rubric_asked_for(spec: str) -> RubricFolder:
    """The rubric that settings name. Raises: as `load_rubric`."""
    return RubricFolder(rubric_v1(), {}) if spec == RUBRIC_V1 else load_rubric(spec)


def load_rubric(folder: str | Path) -> RubricFolder:
    """A user's own rubric. Raises: SpecError with every fault; UsageError where no spec.toml is there."""
    folder = Path(folder)
    path = spec_path(folder, "benchbook rubric init NAME")
    files = FilesBeside(folder)
    spec = read_rubric(files, path)
    if spec.id in FROZEN:
        expected = "a name of your own, or another version"
        raise SpecError((InputError(path, field="name", found=f"{spec.id}, which is shipped", expected=expected),))
    return RubricFolder(replace(spec, sha256=files.sha256), files.read_paths)


def spec_of(record: Record, plan: Plan) -> RubricSpec:
    """The rubric that a record's plan is made under, with what was declared unmeasured left out of it (R1.4).

    A user's own is read from the files that the record keeps: the user's folder may be gone.

    Raises: RecordError for a rubric that neither Benchbook nor the record has; SpecError; ConfigError.
    """
    return rubric_of(record).without(plan.unmeasured)


def rubric_of(record: Record) -> RubricSpec:
    """The rubric that a record is made under, whole. Raises: as `spec_of`."""
    started = record.started()
    return rubric_v1() if started.spec == RUBRIC_V1 else kept_rubric(record, started)


def kept_hashes(started: RunStarted) -> dict[str, str]:
    """The hashes of a spec's files that a record keeps, by their names; whether they have still those bytes, `verify`
    tells."""
    return {name[len(_KEPT) :]: one for name, one in started.inputs.items() if name.startswith(_KEPT)}


def kept_rubric(record: Record, started: RunStarted) -> RubricSpec:
    """The rubric in the files that a record keeps. Raises: RecordError, SpecError."""
    hashes = kept_hashes(started)
    if SPEC_FILE not in hashes:
        raise RecordError(f"{record.path}: spec {started.spec[:80]!r} is not known here, and its inputs have none")
    try:
        files = {name: record.input(sha256).read_bytes() for name, sha256 in hashes.items()}
    except OSError as error:
        raise RecordError(f"{error.filename}: the record's spec can't be read ({error.strerror})") from None
    spec = read_rubric(files, record.input(hashes[SPEC_FILE]), sha256_of_files(hashes))
    if spec.id != started.spec:
        raise RecordError(f"{record.path}: was made under {started.spec[:80]!r}, and keeps the spec of {spec.id!r}")
    return spec
