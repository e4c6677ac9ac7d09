"""Every error that Benchbook raises on purpose.

    BenchbookError                  something a user can act on; its text says what, where and what to do
    ├── UsageError                  wrong use: exit code 2
    │   ├── InputError              a file's content: path, line, field, found, expected
    │   ├── ItemError               a field of an item at hand: found, expected
    │   ├── ConfigError             a setting: its name, found, expected
    │   └── SeveralFaultsError      all that is wrong, told at once; `Gathering` gathers it
    ├── SpecChangedError            a frozen spec's file no longer has its hash
    ├── RecordError                 a record can't be read or written
    │   ├── RecordLockedError       another process writes it
    │   ├── NotJoinedError          it has shards, which nobody has joined yet
    │   ├── LaterRecordError        a later version wrote it, in a format that this one does not know
    │   └── RecordDamagedError      its journal is not a chain of facts: file, line
    ├── StoreError                  an object store refuses, can't be reached, or has what no record has
    │   └── TakenError              another writer's facts are there, where this one's were to go
    ├── SigstoreError               a Sigstore instance refuses, or can't be reached; nothing is signed
    ├── OutputError                 standard output can't be written
    ├── VendorError                 a vendor of batches refuses, or can't be reached; nothing is lost
    └── RunStoppedError             a run ended early; its record resumes

`exit_code` is what the command line ends with (DESIGN, Interfaces).
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any


class BenchbookError(Exception):
    """An error that the user can act on."""

    exit_code = 3

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows instead of a traceback: the message, and the caller's line that it is about."""
        from benchbook.text import visible

        said = [f"{type(self).__name__}: {self}", *_called_on(self.__traceback__)]
        return [visible(line) for line in said]


def _called_on(traceback: TracebackType | None) -> list[str]:
    """The last line on the way here that is none of Benchbook's."""
    from linecache import getline

    ours, found = str(Path(__file__).parent), []
    while traceback is not None and not (name := traceback.tb_frame.f_code.co_filename).startswith(ours):
        found = [f"  line {traceback.tb_lineno}: {getline(name, traceback.tb_lineno).strip()}"]
        traceback = traceback.tb_next
    return found


class UsageError(BenchbookError):
    """A request that can't be carried out as it was made."""

    exit_code = 2


class InputError(UsageError):
    """A file's content is not what it must be.

    `golden.jsonl:17: section: found 'Core'; expected core, trace_sensitive or edge_case`
    """

    def __init__(
        self,
        path: str | Path,
        *,
        line: int | None = None,
        field: str | None = None,
        found: str,
        expected: str | None = None,
    ) -> None:
        super().__init__(path, line, field, found, expected)
        self.path = str(path)
        self.line = line
        self.field = field
        self.found = found
        self.expected = expected

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling, so that a worker process can raise it."""
        return _input_error, self.args

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        what = f"found {self.found}" if self.expected else self.found
        field = f"{self.field}: " if self.field else ""
        wanted = f"; expected {self.expected}" if self.expected else ""
        return f"{where}: {field}{what}{wanted}"


def _input_error(path: str | Path, line: int | None, field: str | None, found: str, expected: str | None) -> InputError:
    return InputError(path, line=line, field=field, found=found, expected=expected)


class ItemError(UsageError):
    """An item's field is not what its score needs: an error in the eval set, not a score (SPEC A3)."""

    def __init__(self, field: str | None, found: str, expected: str) -> None:
        super().__init__(field, found, expected)
        self.field = field
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        return f"{where}found {self.found}; expected {self.expected}"


class NoReleaseGatesError(UsageError):
    """A release gate was asked for a run whose evaluator has none."""


class ConfigError(UsageError):
    """A setting has a value that it can't have, or lacks one that it must have."""

    def __init__(self, setting: str, found: str, expected: str) -> None:
        super().__init__(setting, found, expected)
        self.setting = setting
        self.found = found
        self.expected = expected

    @property
    def name(self) -> str:
        """The setting's own name, without the file that may stand before it."""
        return self.setting.rpartition(": ")[2]

    def __str__(self) -> str:
        return f"{self.setting}: found {self.found}; expected {self.expected}"


class SeveralFaultsError(UsageError):
    """Several things are wrong: `faults` has each, and the message a line for each."""

    def __init__(self, faults: tuple[UsageError, ...]) -> None:
        super().__init__(faults)
        self.faults = faults

    def __str__(self) -> str:
        return "\n  ".join([f"{len(self.faults)} things are wrong:", *map(str, self.faults)])


class Gathering:
    """Gathers all that is wrong, so that it is told at once: `with` each look at something, then `raise_any`."""

    def __init__(self) -> None:
        self._faults: list[UsageError] = []

    def __enter__(self) -> None:
        """Gather what the block raises, and go on behind it."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if isinstance(error, UsageError):
            self.add(error)
        return isinstance(error, UsageError)

    def add(self, error: UsageError) -> None:
        """Add an error; of several, each. A setting of which something is said already is left as it is."""
        for one in error.faults if isinstance(error, SeveralFaultsError) else (error,):
            if not (isinstance(one, ConfigError) and one.name in self._settings):
                self._faults.append(one)

    @property
    def _settings(self) -> set[str]:
        return {one.name for one in self._faults if isinstance(one, ConfigError)}

    def raise_any(self) -> None:
        """Raise what was gathered. Raises: that one error; SeveralFaultsError where there are more."""
        if len(self._faults) == 1:
            raise self._faults[0]
        if self._faults:
            raise SeveralFaultsError(tuple(self._faults))


class SpecChangedError(BenchbookError):
    """A frozen spec's file is not the one that was frozen (SPEC C1)."""


class RecordError(BenchbookError):
    """A record can't be read or written."""


class RecordLockedError(RecordError):
    """Another process is writing this record."""


class NotJoinedError(RecordError):
    """A record's shards were not joined yet: it has no numbers."""

    def __init__(self, record: str | Path) -> None:
        super().__init__(record)
        self.record = str(record)

    def __str__(self) -> str:
        return f"{self.record}: its shards are not joined yet; when all are whole: benchbook join {self.record}"


class LaterRecordError(RecordError):
    """A record's format is one that only later versions know."""

    def __init__(self, record: str | Path, found: int, newest: int, made_by: str | None) -> None:
        super().__init__(record, found, newest, made_by)
        self.record = str(record)
        self.found = found
        self.newest = newest
        self.made_by = made_by

    def __str__(self) -> str:
        version = f" ({self.made_by})" if self.made_by else ""
        return (
            f"{self.record}: made by a later Benchbook{version}, in format {self.found}; this one reads formats 1 to "
            f"{self.newest}: upgrade"
        )


class RecordDamagedError(RecordError):
    """A record's journal is not a chain of facts."""

    def __init__(self, path: str | Path, line: int | None, reason: str) -> None:
        super().__init__(path, line, reason)
        self.path = str(path)
        self.line = line
        self.reason = reason

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.reason}"


class StoreError(BenchbookError):
    """An object store refuses, can't be reached, or has what no record has. What is on this disk is whole."""


class TakenError(StoreError):
    """Another writer's facts are in the store, where this one's were to go."""


class SigstoreError(BenchbookError):
    """A Sigstore instance refuses, can't be reached, or gave what does not hold. Nothing is signed."""


class OutputError(BenchbookError):
    """Standard output can't be written, and not because its reader went away."""


class VendorError(BenchbookError):
    """A vendor of batches refuses a call, or gave no answer to it. What is recorded is whole; ask again later.

    `definite`: what was asked was not done; else nobody knows. `needs_a_person`: asking again would bring the same.
    """

    def __init__(
        self,
        what: str,
        *,
        definite: bool = False,
        needs_a_person: bool = False,
        cause: str | None = None,
        wait_s: float | None = None,
    ) -> None:
        super().__init__(what)
        self.definite = definite
        self.needs_a_person = needs_a_person
        self.cause = cause
        self.wait_s = wait_s  # as the vendor asks


class RunStoppedError(BenchbookError):
    """A run ended before its plan did. Its record is whole and resumes."""
