"""The contract: all that whoever handles records, runs or views needs to know of an evaluator, and no more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol

import msgspec

from benchbook.ask.requests import plan_sha256
from benchbook.ask.setting_types import SittingSettings
from benchbook.ask.starting import Opened, Prepared
from benchbook.record.derived_files import Finding
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.record.state import JournalState
from benchbook.specs import load_spec

__all__ = ["MAY_CHANGE", "DerivedFiles", "Evaluator", "Tables"]

Tables = Mapping[str, type[msgspec.Struct]]

# Settings of every sitting that may differ between sittings: they change how requests are sent, not which.
MAY_CHANGE = frozenset({
    "max_connections", "requests_per_minute", "tokens_per_minute", "max_cost_usd", "max_seconds", "timeout_ms",
    "max_retries", "max_wait_ms", "cache", "reports", "accept_unanswered",
})  # fmt: skip


class DerivedFiles(Protocol):
    """What a record's derived files hold, typed by its evaluator. `decision` is None where one is refused."""

    @property
    def manifest(self) -> Any: ...

    @property
    def aggregates(self) -> Any: ...

    @property
    def decision(self) -> Any: ...


class Evaluator(ABC):
    """One evaluator, `name@vN`. A fourth is a folder with a class of these methods, and a line in the registry."""

    id: str
    command: ClassVar[str]  # of the command line: it makes the evaluator's records, and resumes them
    may_change: ClassVar[frozenset[str]] = MAY_CHANGE

    # ── what it plans and asks (`ask.starting.Asks`) ─────────────────────────────────────────────────────────

    @abstractmethod
    def settings(self, values: Mapping[str, Any], source: str) -> SittingSettings:
        """Checked settings out of plain ones. Raises: ConfigError naming `source` and the setting."""

    @abstractmethod
    def prepare(self, config: Any) -> Prepared:
        """A run as it would be begun. Raises: ConfigError, InputError, UsageError before anything is written."""

    def nothing_to_resume(self, started: RunStarted) -> str | None:
        """Why a record has nothing that could be asked again; None where it may."""
        del started
        return None

    @abstractmethod
    def reopen(self, record: Record, config: Any) -> Opened:
        """A record's questions, for another sitting."""

    # ── its records ──────────────────────────────────────────────────────────────────────────────────────────

    # The derived files; manifest.json is among them, and its `derived` names every other one's hash.
    files: ClassVar[tuple[str, ...]]
    folders: ClassVar[tuple[str, ...]] = ()  # derived folders, all of whose files are derived

    def more_files(self, started: RunStarted) -> tuple[str, ...]:
        """Derived files that a record has beside `files`, by what was imported into it."""
        del started
        return ()

    def files_of(self, started: RunStarted) -> tuple[str, ...]:
        """All derived files of one record that lie in no derived folder."""
        return (*self.files, *self.more_files(started))

    @abstractmethod
    def plan_of(self, started: RunStarted) -> msgspec.Struct:
        """The plan in a record's first fact."""

    def plan_sha256(self, started: RunStarted) -> str:
        """The hash of the plan that stands in the first fact, computed again."""
        return plan_sha256(self.plan_of(started))

    @property
    def spec_sha256(self) -> str:
        """The hash of the files that define it, as they are here."""
        return load_spec(self.id).sha256

    @abstractmethod
    def tables(self, started: RunStarted) -> Tables:
        """The row type of each Parquet file of a record; `samples.parquet` is always one."""

    @abstractmethod
    def derive(self, record: Record, target: Path) -> DerivedFiles:
        """Write all derived files into a folder: the record's own, or another to compare with.

        Raises: RecordDamagedError, RecordError, InputError.
        """

    @abstractmethod
    def derive_checked(self, record: Record, target: Path, state: JournalState) -> list[Finding]:
        """The same from a journal that was read already, holding each request against its fact: what does not fit."""

    @abstractmethod
    def read(self, record: Record) -> DerivedFiles:
        """The derived files as they are on disk. Raises: RecordError."""

    def unavailable(self, started: RunStarted) -> str | None:
        """Why a record has no per-item table; None where it has one (A6)."""
        del started
        return None
