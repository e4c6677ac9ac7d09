"""Results as facts: each request's first result, in the order of the plan, and none twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from benchbook.ask.asking import Call
from benchbook.ask.batches.calls import calls_now, n_tries
from benchbook.ask.batches.facts_held import HeldFactsOfBatches
from benchbook.ask.batches.form import BatchWire, id_in_result, not_carried_out
from benchbook.ask.batches.request_ids import read_request_id
from benchbook.ask.batches.results import ResultFiles, ResultLines
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import PinCheck
from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.ask.providers.keys import NO_KEYS, Keys
from benchbook.ask.requests import request_sha256
from benchbook.ask.unanswered import Who, advice_on, said_by
from benchbook.ask.work import Questions, Steps
from benchbook.record.batches import HeldBatch, samples_in
from benchbook.record.facts import BatchCollected, BatchEnd, Failure, FailureEnds, Reply
from benchbook.record.journal import JournalWriter
from benchbook.text import sentences

_TELL_AFTER = 1_000  # results


@dataclass(slots=True)
class Recorder:
    """Writes a batch's results into the journal, and looks at what follows for each sample."""

    journal: JournalWriter
    held: HeldFactsOfBatches
    questions: Questions
    stop: Stop
    pins: PinCheck
    max_retries: int
    who: Callable[[str], Who]  # by endpoint, as texts name it
    tell: Callable[[], None] = lambda: None
    n_recorded: int = 0
    _counts: Counter[str] = field(default_factory=Counter)
    _is_cancelled: bool = False  # somebody ended the batch that is recorded: it does not go again by itself

    def record(
        self, batch: HeldBatch, wire: BatchWire, files: ResultFiles, keys: Keys = NO_KEYS, end: BatchEnd | None = None
    ) -> Counter[str]:
        """Record the results of a batch, and how often each thing came. With `end` it is over: a request without a
        result was not carried out.

        Raises: RecordError; RecordDamagedError.
        """
        self.held.facts.read_on()
        self._counts, self._is_cancelled = Counter(), end == "cancelled"
        lines = files.of.get(batch.id) or ResultLines(batch)
        waiting = samples_in(batch.prepared) if end is not None else iter(())
        upcoming = next(waiting, None)
        for sample, place in lines.in_order():
            while upcoming is not None and upcoming < sample:
                self._one(batch, wire, upcoming, None, keys)
                upcoming = next(waiting, None)
            upcoming = next(waiting, None) if upcoming == sample else upcoming
            self._one(batch, wire, sample, files.line_at(place), keys)
        while upcoming is not None:
            self._one(batch, wire, upcoming, None, keys)
            upcoming = next(waiting, None)
        self._counts["doubled"] = lines.n_doubled
        self._counts["strange"] += lines.n_strange + (0 if end is None else files.n_strange)
        return self._counts

    def over(self, batch: HeldBatch, end: BatchEnd, results: Sequence[str] = (), detail: str = "") -> None:
        """Write that a batch is over, with what was counted last."""
        counts = self._counts
        fact = BatchCollected(
            batch=batch.id,
            end=end,
            detail=detail[:500],
            n_replies=batch.n_replies,
            n_failures=batch.n_failures,
            n_doubled=counts["doubled"],
            n_strange=counts["strange"],
            results=list(results),
        )
        self.journal.append(fact)
        self.held.note_fact(fact)

    def _one(self, batch: HeldBatch, wire: BatchWire, sample: int, line: bytes | None, keys: Keys) -> None:
        """Record the result of one sample's request; `line` is None where the batch brought none."""
        facts = self.held.facts_of(sample)
        if any(fact.batch == batch.id for fact in facts):
            self._counts["known"] += 1  # recorded before the process was killed, or from another file
            return
        steps = self.questions.begin(sample, facts)
        who = (batch.prepared.role, batch.prepared.judge)
        call = next((one for one in calls_now(steps) if (one.role, one.judge) == who), None)
        if call is None or not _answers(line, call):
            self._counts["strange"] += 1
            return
        try:
            if line is None:
                raise not_carried_out("the batch ended without a result for it")
            answer = keys.reading(line, lambda data: wire.answer(data, call.body))
        except CallFailed as failed:
            self._counts["failures"] += 1
            self._fail(batch, call, keys.removed_from_failure(failed), n_tries(facts, call), steps)
        else:
            self._counts["replies"] += 1
            self._reply(batch, call, answer, steps)
        self.n_recorded += 1
        if self.n_recorded % _TELL_AFTER == 0:
            self.tell()

    def _reply(self, batch: HeldBatch, call: Call, answer: Answer, steps: Steps) -> None:
        reply = Reply(
            sample=call.sample,
            role=call.role,
            judge=call.judge,
            attempt=call.attempt,
            request_sha256=request_sha256(call.body),
            batch=batch.id,
            **msgspec.structs.asdict(answer),  # the same fields, by name
        )
        self.journal.append(reply)
        self.held.note_fact(reply)
        self.pins.look_at(call.endpoint, reply, self.stop)
        was_stopped = self.stop.reason is not None
        steps.add(reply)
        if steps.next_call() is None and steps.is_finished:
            self.held.mark_done(call.sample)
            self.stop.note_answer()
        if call.attempt > 1 and not was_stopped:
            self.stop.settle()  # what is asked twice goes out together: many in a row that are rejected say nothing

    def _fail(self, batch: HeldBatch, call: Call, failed: CallFailed, tries: int, steps: Steps) -> None:
        failure = Failure(
            sample=call.sample,
            role=call.role,
            judge=call.judge,
            attempt=call.attempt,
            error=failed.error,
            ends=self._ends(call, failed, tries),
            status=failed.status,
            detail=failed.detail,
            cause=failed.cause,
            parameter=failed.parameter,
            request_sha256=request_sha256(call.body),
            batch=batch.id,
        )
        self.journal.append(failure)
        self.held.note_fact(failure)
        steps.add(failure)

    def _ends(self, call: Call, failed: CallFailed, tries: int) -> FailureEnds:
        """The scope that a failure ends: the attempt, where it is sent again, or the sample's part in this sitting."""
        is_given_up = self._is_cancelled and failed.cause == "not_carried_out"
        if failed.retryable and not failed.stops_run and not is_given_up and tries < self.max_retries:
            return "attempt"
        who = self.who(call.endpoint)
        said = said_by(who, failed.cause, failed.detail)
        advice = advice_on(who, failed.cause, failed.parameter)
        if failed.stops_run:
            self.stop.because(sentences(said, advice), failed=True)
        else:
            self.stop.note_unanswered(said, advice, in_a_row=False)  # what follows is out already, or was given up
        return "sitting"


def _answers(line: bytes | None, call: Call) -> bool:
    """True if a line was made for the very bytes of a call."""
    if line is None:
        return True
    named = id_in_result(line)
    found = None if named is None else read_request_id(named)
    return found is not None and found.names(call, request_sha256(call.body))
