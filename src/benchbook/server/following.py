"""Runs that go on, followed by whoever looks at them: each look reads what their journals grew by."""

from __future__ import annotations

import time
from collections import OrderedDict
from decimal import Decimal
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING

import msgspec

from benchbook.ask.work import Progress
from benchbook.errors import BenchbookError, RecordError
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.so_far import FailedCalls, LatestSample, RunSoFar
from benchbook.record.folder import Record
from benchbook.record.standing import RunState, last_sign, quiet_s
from benchbook.server.child import Children
from benchbook.server.problems import ProblemError
from benchbook.text import shorten
from benchbook.views.progress import left_words, progress_words
from benchbook.views.words import standing_words

if TYPE_CHECKING:
    from benchbook.server.operations import Request
    from benchbook.server.services import FoundRun

_MOST_FOLLOWED = 16
_READ_S = 0.5  # of a long journal so much is read for one answer; the next goes on


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is, by its journal. `is_read` is false while a long journal is still being read: all numbers are of
    the `n_facts` that were. Nothing here is final before the run's end.

    `score` is the mean so far of what its score will be a mean of, over `n_scored` samples; null where none has one, or
    where scores come at the end alone.
    """

    run_id: str
    state: RunState
    state_words: str
    words: str  # as a terminal says it: `12 of 90 samples, $0.0012, about 0:01:20 left`
    is_read: bool
    n_facts: int
    n_planned: int
    n_done: int
    score_name: str | None  # the aggregate that the score will be
    score: float | None
    n_scored: int
    cost_usd: float | None  # so far, at the configured prices; null where nothing has a price
    per_minute: float | None  # samples, in this sitting
    pace: str | None  # the same in words
    seconds_left: int | None
    last_fact_utc: str | None
    may_cancel: bool  # it was started over HTTP, and goes on
    may_resume: bool  # it was started over HTTP, and was stopped
    resume_with: str  # the command that goes on with it, on the machine where it lies
    n_failed: int  # calls that brought no answer
    failed: tuple[FailedCalls, ...]
    latest: tuple[LatestSample, ...]  # the samples that were done last, the newest first


class Followed:
    """The runs that somebody looked at lately; the least recently looked at goes first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._runs: OrderedDict[str, tuple[RunSoFar, Lock]] = OrderedDict()

    def progress_of(self, found: FoundRun, children: Children) -> RunProgress:
        """The progress of a run now. Raises: RecordError, InputError, UsageError."""
        run_id = found.row.run_id
        try:
            so_far, lock = self._of(run_id, found.record)
            with lock:
                is_read = so_far.read_on(_READ_S)
                return _progress(found, so_far, children, is_read=is_read)
        except (BenchbookError, OSError):
            self._drop(run_id)  # it may have been begun anew in the same place
            raise
        except Exception as error:  # whatever hostile files provoke
            self._drop(run_id)
            raise RecordError(f"{found.record.path}: its facts make no sense ({type(error).__name__})") from None

    def _of(self, run_id: str, record: Record) -> tuple[RunSoFar, Lock]:
        with self._lock:
            if run_id not in self._runs:
                self._runs[run_id] = RunSoFar(record, evaluator_of(record)), Lock()
            self._runs.move_to_end(run_id)
            if len(self._runs) > _MOST_FOLLOWED:
                _close(*self._runs.popitem(last=False)[1])
            return self._runs[run_id]

    def _drop(self, run_id: str) -> None:
        with self._lock:
            if (known := self._runs.pop(run_id, None)) is not None:
                _close(*known)

    def close(self) -> None:
        with self._lock:
            for one in self._runs.values():
                _close(*one)
            self._runs.clear()


def _close(so_far: RunSoFar, lock: Lock) -> None:
    with lock:  # whoever reads it comes to an end
        so_far.close()


def _progress(found: FoundRun, so_far: RunSoFar, children: Children, *, is_read: bool) -> RunProgress:
    run_id, state, now = found.row.run_id, found.row.state, time.time()
    pace = so_far.pace(now) if state == "running" and is_read else None
    left = None if pace is None else pace.seconds_left
    per_minute = None if pace is None else pace.per_minute
    cost = so_far.cost_usd
    said = Progress(planned=so_far.n_planned, done=so_far.n_done, cost_usd=cost or Decimal(0))
    return RunProgress(
        run_id=run_id,
        state=state,
        state_words=standing_words(state, quiet_s(last_sign(found.record), now)),
        words=progress_words(said) + left_words(left),
        is_read=is_read,
        n_facts=so_far.n_facts,
        n_planned=so_far.n_planned,
        n_done=so_far.n_done,
        score_name=so_far.score_name,
        score=so_far.score,
        n_scored=so_far.n_scored,
        cost_usd=None if cost is None else float(cost),
        per_minute=per_minute,
        pace=None if per_minute is None else f"{per_minute:,.1f} samples a minute",
        seconds_left=None if left is None else round(left),
        last_fact_utc=so_far.last_at,
        may_cancel=children.has(run_id),
        may_resume=state == "interrupted" and children.started(run_id) and not children.has(run_id),
        resume_with=f"benchbook {so_far.command} --resume {run_id}",
        n_failed=so_far.n_failed,
        failed=so_far.failed,
        latest=tuple(so_far.latest),
    )


def get_progress(call: Request) -> RunProgress:
    """Raises: ProblemError (409) for a run that has ended, and for one that can't be read."""
    found = call.services.run(call.path["run_id"])
    if found.row.state not in ("running", "interrupted"):
        shown, words = shorten(found.row.run_id, 100), standing_words(found.row.state)
        raise ProblemError(HTTPStatus.CONFLICT, f"run {shown!r} is {words}: its progress is that of a run that goes on")
    return call.services.followed.progress_of(found, call.services.children)
