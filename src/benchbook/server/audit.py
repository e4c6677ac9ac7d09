"""The audit log: who was to change what, noted before anything is done, and what came of it (docs/decisions/0036)."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from benchbook.record.journal import utc_now
from benchbook.record.lines import LineFile
from benchbook.server.problems import ProblemError, status_of_disk
from benchbook.text import shorten

_logger = logging.getLogger("benchbook.server")
_MOST_OF_NOBODY, _WITHIN_S = 60, 60.0
_REFUSED_READS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST)


@dataclass(slots=True)
class Noted:
    """A request, as the log names it: no body, no query and no token is in it. `operation` is None for none of ours."""

    method: str
    who: str
    via: str
    operation: str | None
    target: dict[str, str]
    begun: bool = False
    request: str = field(default_factory=lambda: secrets.token_hex(6))


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line. A request that was carried out has two: `status` is null in the first, written before it began."""

    at: str
    request: str
    who: str
    via: str
    operation: str | None
    target: dict[str, str]
    status: int | None
    detail: str | None
    not_noted: int | msgspec.UnsetType = (
        msgspec.UNSET
    )  # requests of nobody's that were refused before, and just counted


def is_noted(method: str, status: int) -> bool:
    """True for writes, and for reads that were refused for who asked."""
    return method not in ("GET", "HEAD", "OPTIONS") or status in _REFUSED_READS


class Audit:
    """The log, in a file that only its owner can read."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.monotonic) -> None:
        self._file = LineFile(folder / "audit.jsonl", mode=0o600)
        self._thread = ThreadPoolExecutor(1, "audit")
        self._lock = Lock()
        self._now = now
        self._ends = 0.0
        self._n_of_nobody = 0
        self._not_noted = 0

    async def begin(self, asked: Noted) -> None:
        """Note what is about to be done. Raises: OSError; then it may not be done."""
        await self._in_thread(self._note, asked, None, None)
        asked.begun = True

    async def end(self, asked: Noted, status: int, detail: str | None) -> ProblemError | None:
        """Note what came of a request that is noted at all (`is_noted`). Of those that were refused before anything
        began, for nobody but so many a minute.

        Returns the answer to be given in the place of a success that can't be noted.
        """
        if not asked.begun and asked.via == "nobody" and not self._has_room():
            return None
        try:
            await self._in_thread(self._note, asked, status, detail)
        except OSError as error:
            _logger.exception("the audit log can't be written")
            what = "it was done, but the audit log can't hold that it was; look before you send it again"
            return ProblemError(status_of_disk(error) or HTTPStatus.SERVICE_UNAVAILABLE, what)
        return None

    def refuse_unheard(self, status: int) -> None:
        """Note the refusal of what never became a request: its head was too large, or none at all. Nobody waits."""
        if self._has_room():
            self._thread.submit(self._note, Noted("", "nobody", "nobody", None, {}), status, None)

    async def _in_thread(self, work: Callable[..., None], *values: Any) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, work, *values)

    def close(self) -> None:
        self._thread.shutdown()

    def _has_room(self) -> bool:
        """True while few came lately: whoever has no token can't fill the disk."""
        with self._lock:
            if self._now() >= self._ends:
                self._ends, self._n_of_nobody = self._now() + _WITHIN_S, 0
            has_room = self._n_of_nobody < _MOST_OF_NOBODY
            self._n_of_nobody += 1
            self._not_noted += not has_room
        return has_room

    def _note(self, asked: Noted, status: int | None, detail: str | None) -> None:
        with self._lock:
            not_noted, self._not_noted = self._not_noted, 0
        entry = _Entry(
            at=utc_now(),
            request=asked.request,
            who=asked.who,
            via=asked.via,
            operation=asked.operation,
            target={name: shorten(value, 300) for name, value in asked.target.items()},
            status=status,
            detail=detail,
            not_noted=not_noted or msgspec.UNSET,
        )
        try:
            self._file.append(entry)
        except OSError:
            with self._lock:
                self._not_noted += not_noted
            raise
