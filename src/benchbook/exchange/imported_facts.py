"""A log's samples as facts: an answer or a failure each, and what the log says of many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from benchbook.canonical import canonical_json, ready
from benchbook.exchange.first_look import FirstLook
from benchbook.exchange.log import LogSample, LogScore
from benchbook.record.facts import Failure, LogOutcomes, Reply, RunEnded, Shard
from benchbook.record.imported_scores import ImportedOutcome, ImportedScore
from benchbook.record.journal import JournalWriter
from benchbook.text import all_storable, storable

_CHUNK = 128  # outcomes in a fact
_CHUNK_CHARACTERS = 64 << 10
_LONGEST_METADATA = 256 << 10  # bytes of one sample's, as JSON; what is longer stands in the log alone
MOST_SCORERS = 100
_MOST_COUNT = (1 << 53) - 1  # of tokens or milliseconds: what is more can't be meant, and is as if it were not known


class LogFacts:
    """Samples that come one by one, appended as facts: an answer or a failure each, and what the log says of many.

    Of one shard, those of its samples alone.
    """

    def __init__(self, journal: JournalWriter, look: FirstLook, shard: Shard | None = None) -> None:
        self._journal = journal
        self._look = look
        self._only = range(look.n_items * look.repeats) if shard is None else range(shard.first, shard.end)
        self._order = 0
        self._outcomes: list[ImportedOutcome] = []
        self._n_characters = 0
        self._n_answered = 0

    def add(self, sample: LogSample) -> None:
        counts = self._look.counts(self._order)
        self._order += 1
        if not counts:
            return
        number = self._look.number_of(sample)
        if number not in self._only:
            return
        is_scored = any(one.value is not None for one in sample.scores.values())
        has_reply = sample.failure is None or bool(sample.answer) or is_scored
        if not has_reply:
            self._journal.append(_failure(number, sample))
        else:
            self._journal.append(_reply(number, sample))
            self._n_answered += 1
        asks_another = self._look.asks_another_text(sample)
        outcome = _outcome(number, sample, asks_another=asks_another, own={} if has_reply else sample.metadata)
        self._outcomes.append(outcome)
        self._n_characters += sum(len(one.explanation or "") for one in outcome.scores.values())
        self._n_characters += len(outcome.prompt or "") + len(outcome.own or "")
        if len(self._outcomes) >= _CHUNK or self._n_characters >= _CHUNK_CHARACTERS:
            self._append()

    def _append(self) -> None:
        outcomes, self._outcomes, self._n_characters = self._outcomes, [], 0
        if outcomes:
            self._journal.append(LogOutcomes(outcomes=outcomes))

    def end(self) -> None:
        self._append()
        self._journal.append(RunEnded(accepts_unanswered=self._n_answered < len(self._only)))


def _failure(number: int, sample: LogSample) -> Failure:
    assert sample.failure is not None  # noqa: S101 - asked for alone where there is one
    kinds: Mapping[str, Literal["timeout", "cancelled"]] = {"timeout": "timeout", "cancelled": "cancelled"}
    return Failure(
        sample=number,
        role="candidate",
        error=kinds.get(sample.failure.kind, "provider_error"),
        ends="sample",
        cause="harness",
        detail=sample.failure.message,
        latency_ms=max(sample.latency_ms or 0, 0),
    )


def _reply(number: int, sample: LogSample) -> Reply:
    return Reply(
        sample=number,
        role="candidate",
        text=sample.answer,
        finish_reason=sample.finish_reason,
        latency_e2e_ms=_count(sample.latency_ms),
        input_tokens=_count(sample.input_tokens),
        output_tokens=_count(sample.output_tokens),
        model_reported=sample.model_reported,
        own=_own(sample.metadata),
    )


def _count(value: int | None) -> int | None:
    return value if value is not None and 0 <= value <= _MOST_COUNT else None


def _own(metadata: Mapping[str, Any]) -> str | None:
    if not metadata:
        return None
    found = canonical_json(all_storable(metadata))
    if len(found) > _LONGEST_METADATA:
        return canonical_json({"left_out": f"{len(found):,} bytes of metadata, which stand in the log"}).decode()
    return found.decode()


def _outcome(number: int, sample: LogSample, *, asks_another: bool, own: Mapping[str, Any]) -> ImportedOutcome:
    failure = sample.failure
    return ImportedOutcome(
        sample=number,
        scores={storable(name): _imported(one) for name, one in list(sample.scores.items())[:MOST_SCORERS]},
        failure=None if failure is None else failure.message,
        failure_kind=None if failure is None or failure.kind == "error" else failure.kind,
        limit=sample.limit,
        prompt=sample.prompt if asks_another else None,
        own=_own(own),
    )


def _imported(score: LogScore) -> ImportedScore:
    return msgspec.convert(score, ready(ImportedScore), from_attributes=True)
