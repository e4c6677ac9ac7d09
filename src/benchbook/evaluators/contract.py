"""The kinds of records: for each spec, what `verify`, `rescore`, `show` and the library need to know of it.

A new kind is a module with a `KIND` and a line in `_MODULES`. It is imported when a record of it is met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import msgspec

from benchbook.errors import RecordError
from benchbook.record.derived_files import Finding
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.record.state import JournalState

__all__ = ["DerivedFiles", "Kind", "Tables", "kind_of", "kind_of_record", "samples_type"]


_MODULES: Mapping[str, str] = {
    "answer_correctness@v1": "benchbook.evaluators.correctness.evaluator",
    "judge_protocol@v1": "benchbook.evaluators.protocol.evaluator",
    "rubric@v1": "benchbook.evaluators.rubric.evaluator",
}


Tables = Mapping[str, type[msgspec.Struct]]


class DerivedFiles(Protocol):
    """What a record's derived files hold, typed by its kind. `decision` is None where one is refused."""

    @property
    def manifest(self) -> Any: ...

    @property
    def aggregates(self) -> Any: ...

    @property
    def decision(self) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One spec's records. manifest.json is among `files`, and its `derived` names every other derived file's hash.

    `folders` are derived folders, all of whose files are derived. `tables` has the row type of each Parquet file.
    """

    spec: str
    files: tuple[str, ...]
    folders: tuple[str, ...] = ()
    tables: Callable[[RunStarted], Tables]
    # Writes all derived files into a folder: the record's own, or another to compare with.
    derive: Callable[[Record, Path], DerivedFiles]
    # The same from a journal that was read already, holding each request against its fact: what does not fit.
    derive_checked: Callable[[Record, Path, JournalState], list[Finding]]
    # The derived files as they are on disk. Raises RecordError.
    read: Callable[[Record], DerivedFiles]
    # The hash of the plan that stands in the first fact, computed again.
    plan_sha256: Callable[[RunStarted], str]
    # Why a record has no per-item table; None where it has one (A6).
    unavailable: Callable[[RunStarted], str | None] = lambda _: None
    # Derived files that a record has beside `files`, by what was imported into it.
    more_files: Callable[[RunStarted], tuple[str, ...]] = lambda _: ()

    def files_of(self, started: RunStarted) -> tuple[str, ...]:
        """All derived files of one record that lie in no derived folder."""
        return (*self.files, *self.more_files(started))


def kind_of(spec: str) -> Kind:
    """What is known of a spec's records.

    Raises: RecordError for a spec that this version of Benchbook does not know.
    """
    module = _MODULES.get(spec)
    if module is None:
        raise RecordError(f"spec {spec[:80]!r}: not known here; expected {', '.join(_MODULES)}")
    kind: Kind = import_module(module).KIND
    return kind


def kind_of_record(record: Record) -> Kind:
    """The kind of a record, by its first fact.

    Raises: RecordError, RecordDamagedError.
    """
    return kind_of(record.started().spec)


def samples_type(record: Record) -> type[Any]:
    """What a row of a record's samples.parquet is.

    Raises: RecordError, RecordDamagedError.
    """
    started = record.started()
    return kind_of(started.spec).tables(started)["samples.parquet"]
