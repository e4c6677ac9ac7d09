"""A journal that grows: each look reads what came since the one before, and no line twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import overload

from benchbook.errors import RecordDamagedError, RecordError
from benchbook.record.facts import Failure, Reply, RunStarted
from benchbook.record.reading import JournalLine, read_journal
from benchbook.record.state import JournalState, WriterState


class GrowingJournal:
    """The state of a run that goes on, as far as its journal was read. `look_at` is called with each line, once."""

    def __init__(self, journal: Path, look_at: Callable[[JournalLine], None] = lambda _: None) -> None:
        self._journal = journal
        self._look_at = look_at
        self._last: JournalLine | None = None
        self._state: WriterState | None = None
        self._attempted = bytearray()  # a bit a sample
        self.n_attempted = 0  # samples that have a reply or a failure

    @overload
    def read_on(self) -> JournalState: ...
    @overload
    def read_on(self, is_enough: Callable[[], bool]) -> JournalState | None: ...

    def read_on(self, is_enough: Callable[[], bool] = lambda: False) -> JournalState | None:
        """Read what came since the last look, its chain checked; None where `is_enough` ended that before all was read.

        Raises: RecordDamagedError, also where what was read before is not there as it was; RecordError if the journal
        does not begin with run_started.
        """
        for line in read_journal(self._journal, self._last):
            if self._state is None:
                self._begin(line)
            assert self._state is not None  # noqa: S101 - it was begun
            self._state.add(line)
            self._note_sample(line)
            self._last = line
            self._look_at(line)
            if is_enough():
                return None
        if self._state is None:
            raise RecordError("the journal does not begin with run_started")
        return self._state

    @property
    def last_at(self) -> str | None:
        """When the last fact was recorded; None before the first."""
        return None if self._last is None else self._last.fact.at

    def _begin(self, line: JournalLine) -> None:
        if not isinstance(line.fact, RunStarted):
            raise RecordError("the journal does not begin with run_started")
        self._state = WriterState.begin(self._journal, line.fact)
        self._attempted = bytearray((self._state.n_samples + 7) // 8)

    def _note_sample(self, line: JournalLine) -> None:
        if not isinstance(line.fact, Reply | Failure):
            return
        place, bit = line.fact.sample >> 3, 1 << (line.fact.sample & 7)
        if not self._attempted[place] & bit:
            self._attempted[place] |= bit
            self.n_attempted += 1


class GrowingJournals:
    """The journals of the runs that go on, by their folders."""

    def __init__(self) -> None:
        self._found: dict[Path, GrowingJournal] = {}

    def read_on(self, journal: Path) -> tuple[JournalState, GrowingJournal]:
        """The state of a run now. One whose journal is another than before is read from its beginning.

        Raises: as `GrowingJournal.read_on`.
        """
        known = self._found.pop(journal, None)
        if known is not None:
            try:
                state = known.read_on()
            except RecordDamagedError:
                known = None  # it was cut off, or another stands in its place: its own beginning tells
        if known is None:
            known = GrowingJournal(journal)
            state = known.read_on()
        self._found[journal] = known
        return state, known

    def forget(self, journal: Path) -> None:
        """Drop what was read of a run that has ended."""
        self._found.pop(journal, None)
