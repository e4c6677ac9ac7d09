"""Which rubric is meant: one that is shipped, a folder of the user's, or the one that a record keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchbook.evaluators.kept_spec import check_kept, kept_files, kept_hashes, spec_inputs
from benchbook.evaluators.recorded_set import recorded_evalset
from benchbook.evaluators.rubric.plan import Plan
from benchbook.evaluators.rubric.reading import read_rubric
from benchbook.evaluators.rubric.spec import RUBRIC_V1, RubricSpec, rubric_v1
from benchbook.evaluators.rubric.steps import ItemOf, no_item
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs import sha256_of_files
from benchbook.specs.folders import FilesBeside, check_own, spec_path

__all__ = ["RubricFolder", "items_for", "kept_rubric", "load_rubric", "rubric_asked_for", "rubric_of", "spec_of"]


@dataclass(frozen=True, slots=True)
class RubricFolder:
    """A rubric as it stands in a folder, and the files that define it: none beside one that is shipped."""

    spec: RubricSpec
    paths: Mapping[str, Path]

    @property
    def inputs(self) -> dict[str, Path]:
        """The same as a record names them among its inputs."""
        return spec_inputs(self.paths)


def rubric_asked_for(spec: str) -> RubricFolder:
    """The rubric that settings name. Raises: as `load_rubric`."""
    return RubricFolder(rubric_v1(), {}) if spec == RUBRIC_V1 else load_rubric(spec)


def load_rubric(folder: str | Path) -> RubricFolder:
    """A user's own rubric. Raises: SpecError with every fault; UsageError where no spec.toml is there."""
    folder = Path(folder)
    path = spec_path(folder, "benchbook rubric init NAME")
    files = FilesBeside(folder)
    spec = read_rubric(files, path)
    check_own(spec.id, path)
    return RubricFolder(replace(spec, sha256=files.sha256), files.read_paths)


def spec_of(record: Record, plan: Plan) -> RubricSpec:
    """The rubric that a record's plan is made under, with what was declared unmeasured left out of it (R1.4), and with
    the prices that the run was begun with.

    A user's own is read from the files that the record keeps: the user's folder may be gone.

    Raises: RecordError for a rubric that neither Benchbook nor the record has; SpecError; ConfigError.
    """
    prices = (record.started().config.get(f"model_{name}_price") for name in ("input", "output"))
    return rubric_of(record).without(plan.unmeasured).priced(*prices)


@contextmanager
def items_for(record: Record, plan: Plan, spec: RubricSpec) -> Iterator[ItemOf]:
    """How the item of a sample is found, where the rubric's replies can't be read without; else nothing is opened."""
    if not spec.needs_item:
        yield no_item
        return
    with recorded_evalset(record, record.started()) as evalset:
        yield lambda sample: evalset[sample % plan.n_items]


def rubric_of(record: Record) -> RubricSpec:
    """The rubric that a record is made under, whole. Raises: as `spec_of`."""
    started = record.started()
    return rubric_v1() if started.spec == RUBRIC_V1 else kept_rubric(record, started)


def kept_rubric(record: Record, started: RunStarted) -> RubricSpec:
    """The rubric in the files that a record keeps. Raises: RecordError, SpecError."""
    files, path = kept_files(record, started)
    spec = read_rubric(files, path, sha256_of_files(kept_hashes(started)))
    check_kept(record, started, spec.id)
    return spec
