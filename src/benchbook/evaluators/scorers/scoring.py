"""Scoring a record's answers that have no outcome yet, and appending the outcomes as facts (F2, F6)."""

from __future__ import annotations

import asyncio
import inspect
import platform
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from itertools import islice
from typing import NamedTuple

from benchbook.ask.limits import Stop
from benchbook.ask.work import Tell, run_async
from benchbook.evalsets import EvalSet
from benchbook.evaluators.answers.rows import last_reply, predicted_text
from benchbook.evaluators.candidate import candidate_plan_of
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.scorers.outcome import outcome_of, raised_outcome
from benchbook.evaluators.scorers.scorer import ScoredItem, Scorer, ScorerSpec
from benchbook.record.facts import Outcome, Outcomes
from benchbook.record.folder import Record
from benchbook.record.joined_state import read_state
from benchbook.record.journal import JournalWriter

# The most outcomes in a fact, their most characters, and the longest time that it covers: a kill loses no more of the
# scorer's work than that.
CHUNK = 256
CHUNK_CHARACTERS = 64 << 10
CHUNK_SECONDS = 1.0
AT_ONCE = 32  # calls of a scorer that is awaited
SCORED = "scored"  # the step that progress names
TELL_SECONDS = 0.2  # between two reports of progress


class _Asked(NamedTuple):
    sample: int
    item: ScoredItem
    answer: str


def has_text(answer: str | None) -> bool:
    """True if there is an answer to score: a blank one is none (A7)."""
    return answer is not None and bool(answer.strip())


def score_answers(scorer: Scorer, record: Record, journal: JournalWriter, tell: Tell) -> None:
    """Score every answer that has no outcome yet. An async scorer gets an event loop, beside any that runs here."""
    if not scorer.is_async:
        with _lacking(scorer, record, journal, tell) as (lacking, facts):
            for one in lacking:
                facts.add(outcome_by(scorer, *one))
        facts.tell_all()
        return
    run_async(score_answers_of_sitting(scorer, record, journal, Stop(), tell))


async def score_answers_of_sitting(
    scorer: Scorer, record: Record, journal: JournalWriter, stop: Stop, tell: Tell
) -> bool:
    """The same within an event loop. True if all are scored, False where a person interrupted it."""
    outcomes = _awaited if scorer.is_async else _called
    with _lacking(scorer, record, journal, tell) as (lacking, facts):
        async with aclosing(outcomes(scorer, lacking, stop)) as found:
            async for outcome in found:
                facts.add(outcome)
    if not stop.interrupted:
        facts.tell_all()
    return not stop.interrupted


@contextmanager
def _lacking(
    scorer: Scorer, record: Record, journal: JournalWriter, tell: Tell
) -> Iterator[tuple[Iterator[_Asked], _Facts]]:
    """The answers without an outcome, in the order of the plan, with items as the record keeps them; and a collector of
    their outcomes, all of which are appended at the block's end, whatever ends it."""
    state = read_state(record.journal)
    plan, derivation = candidate_plan_of(state.started), derivation_of(state.started)

    def found(evalset: EvalSet) -> Iterator[_Asked]:
        for sample, replies in state.index.by_sample():
            if sample in state.outcomes:
                continue
            answer = predicted_text(last_reply(replies), plan, derivation)
            if answer is not None and has_text(answer):
                place = sample % plan.n_items
                yield _Asked(sample, ScoredItem(evalset[place], evalset.fields(place)), answer)

    facts = _Facts(scorer.spec, journal, tell, plan.n_samples)
    with recorded_evalset(record, state.started, keeps_fields=True) as evalset:
        try:
            yield found(evalset), facts
        finally:
            facts.append()


# ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────


def outcome_by(scorer: Scorer, sample: int, item: ScoredItem, answer: str) -> Outcome:
    """The outcome of one answer by a scorer that is not async."""
    try:
        returned = scorer.function(item, answer)
        if inspect.iscoroutine(returned):
            returned.close()  # nobody awaits it; the outcome says that it came
    except Exception as error:
        return raised_outcome(sample, error)
    return outcome_of(sample, returned)


async def _called(scorer: Scorer, lacking: Iterator[_Asked], stop: Stop) -> AsyncGenerator[Outcome, None]:
    """Score one after the other, in a thread: meanwhile a person can interrupt it."""
    while not stop.interrupted:
        outcomes = await asyncio.to_thread(_some, scorer, lacking)
        if not outcomes:
            return
        for outcome in outcomes:
            yield outcome


def _some(scorer: Scorer, lacking: Iterator[_Asked]) -> list[Outcome]:
    """As many outcomes as belong in one fact; none where no answers are left."""
    outcomes: list[Outcome] = []
    until = time.monotonic() + CHUNK_SECONDS
    for one in islice(lacking, CHUNK):
        outcomes.append(outcome_by(scorer, *one))
        if time.monotonic() >= until:
            break
    return outcomes


async def _awaited(scorer: Scorer, lacking: Iterator[_Asked], stop: Stop) -> AsyncGenerator[Outcome, None]:
    """Score many at once; their outcomes come in the order of the plan, whichever was ready first."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def outcome(one: _Asked) -> Outcome:
        async with turns:
            try:
                returned = await scorer.function(one.item, one.answer)
            except Exception as error:
                return raised_outcome(one.sample, error)
        return outcome_of(one.sample, returned)

    under_way: deque[asyncio.Task[Outcome]] = deque()
    try:
        while True:
            room = 0 if stop.interrupted else 2 * AT_ONCE - len(under_way)
            under_way.extend(asyncio.create_task(outcome(one)) for one in islice(lacking, room))
            if not under_way:
                return
            yield await under_way.popleft()
    finally:
        for task in under_way:
            task.cancel()


# ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────


class _Facts:
    """Outcomes that come one by one, appended as facts of a size that a line of the journal should have.

    They come in the order of the plan, so the samples before one are done: scored, or without an answer to score.
    """

    def __init__(self, spec: ScorerSpec, journal: JournalWriter, tell: Tell, n_samples: int) -> None:
        self._spec = spec
        self._journal = journal
        self._tell = tell
        self._n_samples = n_samples
        self._waiting: list[Outcome] = []
        self._n_characters = 0
        self._until = 0.0
        self._tells_at = 0.0  # the first at once: it works

    def add(self, outcome: Outcome) -> None:
        now = time.monotonic()
        if not self._waiting:
            self._until = now + CHUNK_SECONDS
        self._waiting.append(outcome)
        self._n_characters += sum(len(text) for text in outcome.values.values() if isinstance(text, str))
        is_full = len(self._waiting) >= CHUNK or self._n_characters >= CHUNK_CHARACTERS
        if is_full or now >= self._until:
            self.append()
        if now >= self._tells_at:
            self._tells_at = now + TELL_SECONDS
            self._tell(SCORED, outcome.sample + 1)

    def append(self) -> None:
        outcomes, self._waiting, self._n_characters = self._waiting, [], 0
        if outcomes:
            spec, python = self._spec, platform.python_version()
            fact = Outcomes(scorer=spec.id, source_sha256=spec.source_sha256, python=python, outcomes=outcomes)
            self._journal.append(fact)

    def tell_all(self) -> None:
        self._tell(SCORED, self._n_samples)
