"""An imported record's samples as its facts have them, whole: its table has columns for most of that alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.exchange.first_look import unknown_prompt
from benchbook.exchange.log import LogFailure, LogSample, LogScore
from benchbook.record.facts import Failure, Reply
from benchbook.record.folder import Record
from benchbook.record.imported_scores import ImportedOutcome, ImportedScore
from benchbook.record.joined_state import read_state
from benchbook.text import all_storable, storable

_KINDS = {"timeout": "timeout", "cancelled": "cancelled"}  # of a failed call; any other is an error


class ImportedFacts:
    """The facts of a record's samples, which are asked for in plan order. A few bytes of each are kept."""

    def __init__(self, record: Record, headline: str | None) -> None:
        state = read_state(record.journal)
        self._headline = headline
        self._outcomes = state.outcomes
        self._facts = state.index.by_sample()
        self._next = next(self._facts, None)

    def over(self, sample: LogSample, row: Mapping[str, Any], *, whole: bool) -> LogSample:
        """A sample of the table, `row`, as the log had it."""
        fact, outcome = self._fact_of(row["sample"]), self._outcome_of(row["sample"])
        reply = fact if isinstance(fact, Reply) else None
        answer = None if reply is None else reply.text
        return msgspec.structs.replace(
            sample,
            prompt=storable(self._prompt(sample, outcome)),
            answer=None if answer is None else storable(answer),
            scores=self._scores(outcome, row),
            failure=_failure(fact, outcome),
            limit=outcome.limit,
            latency_ms=(fact.latency_ms or None) if isinstance(fact, Failure) else sample.latency_ms,
            finish_reason=None if reply is None else reply.finish_reason,
            metadata=_metadata(reply, outcome) if whole else {},
        )

    def _fact_of(self, number: int) -> Reply | Failure | None:
        while self._next is not None and self._next[0] < number:
            self._next = next(self._facts, None)
        return self._next[1][0] if self._next is not None and self._next[0] == number else None

    def _outcome_of(self, number: int) -> ImportedOutcome:
        found = self._outcomes.of(number)
        return found if isinstance(found, ImportedOutcome) else ImportedOutcome(sample=number)

    def _prompt(self, sample: LogSample, outcome: ImportedOutcome) -> str:
        if outcome.prompt is not None:
            return outcome.prompt
        return "" if sample.prompt == unknown_prompt(sample.id) else sample.prompt

    def _scores(self, outcome: ImportedOutcome, row: Mapping[str, Any]) -> dict[str, LogScore]:
        """Each scorer's word, and where the log does not say whether a sample passed, the record's own."""
        found = {name: _score(one) for name, one in outcome.scores.items()}
        headline = found.get(self._headline or "")
        if headline is not None and headline.value is not None and headline.passed is None:
            headline.passed = row["passed"]
        for one in found.values():
            if one.value is None and one.unscored is None and one.parts is None:
                one.unscored = "no value"
        return found


def _score(one: ImportedScore) -> LogScore:
    said: dict[str, Any] = all_storable(msgspec.structs.asdict(one))
    return LogScore(**{**said, "parts": one.parts})


def _failure(fact: Reply | Failure | None, outcome: ImportedOutcome) -> LogFailure | None:
    if outcome.failure is None and not isinstance(fact, Failure):
        return None
    kind, message = "error", outcome.failure
    if isinstance(fact, Failure):
        kind, message = _KINDS.get(fact.error, kind), fact.detail if message is None else message
    return LogFailure(message=message or kind, kind=outcome.failure_kind or kind)


def _metadata(reply: Reply | None, outcome: ImportedOutcome) -> dict[str, Any]:
    own = outcome.own if reply is None else reply.own
    found: dict[str, Any] = {} if own is None else msgspec.json.decode(own)
    return found
