"""A record's answers that a scorer has said nothing of: they are scored, and what it says is appended as facts."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

from benchbook.ask.limits import Stop
from benchbook.ask.work import run_async
from benchbook.evaluators.answers.rows import last_reply, predicted_text
from benchbook.evaluators.candidate import candidate_plan_of
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.recorded_set import recorded_evalset
from benchbook.evaluators.scorers.outcome import outcome_of, raised_outcome
from benchbook.evaluators.scorers.scorer import ScoredItem, Scorer
from benchbook.record.facts import Outcome, Outcomes
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.record.state import read_state

__all__ = ["has_text", "outcome_by", "score_answers", "score_answers_of_sitting"]


# A fact holds so many outcomes, or so many characters of them: a kill loses no more of the scorer's work than one.
CHUNK = 256
CHUNK_CHARACTERS = 64 << 10
AT_ONCE = 32  # calls of a scorer that is awaited


class _Asked(NamedTuple):
    sample: int
    item: ScoredItem
    answer: str


def has_text(answer: str | None) -> bool:
    """Whether there is an answer to score: one that is blank is none (A7)."""
    return answer is not None and bool(answer.strip())


def score_answers(scorer: Scorer, record: Record, journal: JournalWriter) -> None:
    """Score every answer that has no outcome yet. One that is awaited gets an event loop, beside any that runs here."""
    if not scorer.is_async:
        with _lacking(record) as lacking:
            while chunk := list(islice(lacking, CHUNK)):
                _append(scorer, journal, _called(scorer, chunk))
        return
    whole = score_answers_of_sitting(scorer, record, journal, Stop())
    if _is_in_a_loop():
        with ThreadPoolExecutor(1) as thread:
            thread.submit(run_async, whole).result()
    else:
        run_async(whole)


async def score_answers_of_sitting(scorer: Scorer, record: Record, journal: JournalWriter, stop: Stop) -> bool:
    """The same within an event loop; whether all are scored, which they aren't where a person interrupts it."""
    with _lacking(record) as lacking:
        while not stop.interrupted:
            chunk = list(islice(lacking, CHUNK))
            if not chunk:
                return True
            if scorer.is_async:
                outcomes = await _gathered(scorer, chunk)
            else:
                outcomes = await asyncio.to_thread(_called, scorer, chunk)
            _append(scorer, journal, outcomes)
    return False


@contextmanager
def _lacking(record: Record) -> Iterator[Iterator[_Asked]]:
    """The answers without an outcome, in the order of the plan; of an item as the record keeps it."""
    state = read_state(record.journal)
    plan, derivation = candidate_plan_of(state.started), derivation_of(state.started)

    def found() -> Iterator[_Asked]:
        for sample, facts in state.index.by_sample():
            if sample in state.outcomes:
                continue
            answer = predicted_text(last_reply(facts), plan, derivation)
            if answer is not None and has_text(answer):
                place = sample % plan.n_items
                yield _Asked(sample, ScoredItem(evalset[place], evalset.fields(place)), answer)

    with recorded_evalset(record, state.started, keeps_fields=True) as evalset:
        yield found()


def outcome_by(scorer: Scorer, sample: int, item: ScoredItem, answer: str) -> Outcome:
    """What a scorer that is not awaited says of one answer."""
    try:
        returned = scorer.function(item, answer)
    except Exception as error:
        return raised_outcome(sample, error)
    return outcome_of(sample, returned)


def _called(scorer: Scorer, chunk: list[_Asked]) -> list[Outcome]:
    return [outcome_by(scorer, *one) for one in chunk]


async def _gathered(scorer: Scorer, chunk: list[_Asked]) -> list[Outcome]:
    """Outcomes in the order of the chunk, whichever came first."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def outcome(one: _Asked) -> Outcome:
        async with turns:
            try:
                returned = await scorer.function(one.item, one.answer)
            except Exception as error:
                return raised_outcome(one.sample, error)
        return outcome_of(one.sample, returned)

    return await asyncio.gather(*map(outcome, chunk))


def _append(scorer: Scorer, journal: JournalWriter, outcomes: list[Outcome]) -> None:
    """As facts, each of a size that a line of the journal should have."""
    part: list[Outcome] = []
    n_characters = 0
    for one in outcomes:
        part.append(one)
        n_characters += sum(len(text) for text in one.values.values() if isinstance(text, str))
        if n_characters >= CHUNK_CHARACTERS:
            _append_fact(scorer, journal, part)
            part, n_characters = [], 0
    if part:
        _append_fact(scorer, journal, part)


def _append_fact(scorer: Scorer, journal: JournalWriter, outcomes: list[Outcome]) -> None:
    spec, python = scorer.spec, platform.python_version()
    journal.append(Outcomes(scorer=spec.id, source_sha256=spec.source_sha256, python=python, outcomes=outcomes))


def _is_in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
