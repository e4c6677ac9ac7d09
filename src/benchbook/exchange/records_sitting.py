"""A sitting over several records that stand in one folder: asked one after the other, under limits on all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from time import monotonic
from typing import Any

from benchbook.ask.limits import Stop
from benchbook.ask.starting import resume, start
from benchbook.ask.work import ProgressHandler
from benchbook.errors import RecordError
from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.registry import evaluator_of, is_complete, settings_asked_for
from benchbook.judge_audit.card import cost_usd
from benchbook.record.derived_files import check_derived
from benchbook.record.folder import Record, is_record

OnPart = Callable[[str], None]  # a record's name
SettingsOf = Callable[[Mapping[str, Any]], "dict[str, Any] | None"]


def unheard(_: str) -> None:
    """Nobody hears which record is asked for."""


class RecordsSitting:
    """One sitting: each record is begun or gone on with, until one of them is stopped, which `stop` tells.

    `settings` are those of all records, with their limits on dollars and seconds, which are on all that is asked;
    `changes` those of them that this sitting changes. `asked` gives the records that are there already.
    """

    def __init__(
        self,
        command: str,
        settings: Mapping[str, Any],
        changes: Mapping[str, Any],
        asked: Callable[[], Iterable[Record]],
        on_progress: ProgressHandler | None,
        on_part: OnPart,
    ) -> None:
        self._command, self._settings, self._changes, self._records = command, settings, changes, asked
        self._on_progress, self._on_part = on_progress, on_part
        self._began = monotonic()
        self.stop = Stop()

    async def ask(self, record: Record, settings_of: SettingsOf) -> None:
        """Ask for one record, unless it is whole, or an earlier one was stopped. `settings_of` makes all of a run's
        settings of those that all records share; None where nothing is to be asked."""
        if self.stop.reason is not None or _is_whole(record):
            return
        settings = settings_of(self._settings)
        if settings is None:
            return
        self._on_part(record.path.name)
        if is_record(record.path):
            changes = {**self._changes, **self._time(), **self._money(record)}
            result = await resume(evaluator_of(record), record, changes, self._on_progress)
        else:
            own = {"runs": str(record.path.parent), "run_id": record.path.name, "reports": None}
            limits = self._time() | self._money(record)
            evaluator, checked = settings_asked_for(settings | own | limits, self._command, "run")
            result = await start(evaluator, checked, self._on_progress)
        self.stop = result.stop

    def _time(self) -> dict[str, Any]:
        """The seconds that are left of those that all of the sitting may take: one at least, so that it is said."""
        limit = self._settings.get("max_seconds")
        return {} if limit is None else {"max_seconds": max(1, int(limit - (monotonic() - self._began)))}

    def _money(self, record: Record) -> dict[str, Any]:
        """The dollars that this record may cost: the limit on all, less what the others have."""
        limit = self._settings.get("max_cost_usd")
        others = (one for one in self._records() if one.path != record.path)
        spent = None if limit is None else cost_usd(_derived(others))
        if spent is None:
            return {}
        return {"max_cost_usd": str(max(Decimal(str(limit)) - Decimal(spent), Decimal(0)))}


def _derived(records: Iterable[Record]) -> Iterator[DerivedFiles]:
    """The derived files of those records that have them already."""
    for record in records:
        with suppress(RecordError):
            yield evaluator_of(record).read(record)


def _is_whole(record: Record) -> bool:
    """True for a record that needs no sitting. What was derived may be lost after a power cut: a sitting derives it."""
    try:
        check_derived(record, record.samples.name)
        return is_complete(record)
    except RecordError:
        return False
