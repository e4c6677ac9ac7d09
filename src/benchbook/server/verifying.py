"""Verifications that go on while the page looks elsewhere: one a record, whose progress and outcome are asked for."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Literal

import msgspec

from benchbook.errors import BenchbookError
from benchbook.evaluators.verify import Verification, verify
from benchbook.evaluators.verify_progress import VerifyStep
from benchbook.record.folder import Record
from benchbook.server.problems import problem_of
from benchbook.server.settings import Settings
from benchbook.server.types import FindingRow, VerificationAnswer
from benchbook.views.progress import verification_words

if TYPE_CHECKING:
    from benchbook.server.operations import Request
    from benchbook.server.services import FoundRun

_AT_ONCE, _MOST_KEPT = 2, 200
_logger = logging.getLogger("benchbook.server")


class VerificationJob(msgspec.Struct, frozen=True, kw_only=True):
    """A verification of a record as it is now. `none`: nobody asked for one since it changed. `answer` is there once it
    is `done`, `detail` where it could not be carried out (`failed`).

    `done` of `total` facts were read, or samples derived again; `total` is null where nobody knows it yet.
    """

    run_id: str
    state: Literal["none", "waiting", "running", "done", "failed"]
    step: VerifyStep | None = None
    done: int | None = None
    total: int | None = None
    words: str | None = None  # `12,000 of 90,000 facts read`
    answer: VerificationAnswer | None = None
    detail: str | None = None


class _Ended(BaseException):  # no fault of the record: whatever verifies it would report one
    """The server ends."""


@dataclass(slots=True)
class _Kept:
    state_id: str
    job: VerificationJob


class Verifications:
    """At most two at once; the others wait."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._kept: dict[str, _Kept] = {}
        self._threads = ThreadPoolExecutor(_AT_ONCE, "verify")
        self._ends = False

    def start(self, found: FoundRun) -> VerificationJob:
        """Begin a verification, unless one of this record goes on."""
        run_id, state_id = found.row.run_id, found.state_id
        with self._lock:
            known = self._kept.get(run_id)
            if known is not None and known.state_id == state_id and known.job.state in ("waiting", "running"):
                return known.job
            kept = _Kept(state_id, VerificationJob(run_id=run_id, state="waiting"))
            self._kept.pop(run_id, None)
            self._kept[run_id] = kept
            for old in [name for name, one in self._kept.items() if one.job.state in ("done", "failed")][:-_MOST_KEPT]:
                del self._kept[old]
        self._threads.submit(self._carry_out, found, kept)
        return kept.job

    def of(self, found: FoundRun) -> VerificationJob:
        """The verification of the record as it is now."""
        with self._lock:
            known = self._kept.get(found.row.run_id)
        if known is None or known.state_id != found.state_id:
            return VerificationJob(run_id=found.row.run_id, state="none")
        return known.job

    def close(self) -> None:
        """End those that go on: nothing of them is kept anyway."""
        self._ends = True
        self._threads.shutdown(cancel_futures=True)

    def _carry_out(self, found: FoundRun, kept: _Kept) -> None:
        run_id = found.row.run_id

        def tell(step: VerifyStep, done: int, total: int | None) -> None:
            if self._ends:
                raise _Ended
            kept.job = VerificationJob(
                run_id=run_id,
                state="running",
                step=step,
                done=done,
                total=total,
                words=verification_words(step, done, total),
            )

        try:
            result = verify(Record(found.record.path), on_progress=tell)  # nothing of it is known already
            kept.job = VerificationJob(run_id=run_id, state="done", answer=verification_answer(run_id, result))
        except BenchbookError as error:
            detail = problem_of(error, self._settings).detail
            kept.job = VerificationJob(run_id=run_id, state="failed", detail=detail)
        except _Ended:
            kept.job = VerificationJob(run_id=run_id, state="none")
        except Exception as error:  # as for every operation, no internals go out
            _logger.exception("a verification broke")
            kept.job = VerificationJob(run_id=run_id, state="failed", detail=f"something broke: {type(error).__name__}")


def verification_answer(run_id: str, result: Verification) -> VerificationAnswer:
    """The outcome of a verification, as the API has it."""
    return VerificationAnswer(
        run_id=run_id,
        holds=result.holds,
        state=result.state,
        n_facts=result.n_facts,
        journal_sha256=result.sha256,
        findings=tuple(FindingRow(file=one.file, line=one.line, message=one.what) for one in result.findings),
        not_computed=result.not_computed,
    )


def verify_run(call: Request) -> VerificationAnswer:
    """Derive everything again from the journal, and compare it."""
    found = call.services.run(call.path["run_id"])
    return verification_answer(found.row.run_id, verify(Record(found.record.path)))


def begin_verification(call: Request) -> VerificationJob:
    return call.services.verifications.start(call.services.run(call.path["run_id"]))


def get_verification(call: Request) -> VerificationJob:
    return call.services.verifications.of(call.services.run(call.path["run_id"]))
