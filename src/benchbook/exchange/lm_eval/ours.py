"""The parts of our own logs that the harness has no place for: in documents and a task's metadata, and read back.

Only a task whose metadata says that it was written here is read so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from benchbook.canonical import ready
from benchbook.exchange.log import RECORD_DECIMALS, LogFailure, LogHeader, LogSample, LogScorer, LogStatus
from benchbook.exchange.ours import said_of


class OfTask(msgspec.Struct):
    """The scorers, by the names that they have in the harness's files; and how the log stands."""

    scorers: dict[str, LogScorer] = {}
    status: LogStatus = "not_known"
    error: str | None = None


class OfScoreInDocument(msgspec.Struct):
    """Of a score, what its row has no place for."""

    unscored: str | None = None
    said: str | None = None
    passed: bool | None = None
    answer: str | None = None
    explanation: str | None = None
    guessed: str | None = None


class OfDocument(msgspec.Struct, kw_only=True):
    """Of a sample, what its row has no place for. Where nothing is said of a field, the row has it."""

    prompt: str | None = None
    repeat: int | None = None
    references: tuple[str, ...] | None = None
    choices: tuple[str, ...] = ()
    context: str | None = None
    scores: dict[str, OfScoreInDocument] = {}
    failure: LogFailure | None = None
    limit: str | None = None
    finish_reason: str | None = None
    group: str | None = None
    category: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int | None = None
    model_reported: str | None = None
    messages: list[dict[str, Any]] | None = None
    metadata: dict[str, Any] = {}


_ROWS_TOO = ("prompt", "repeat", "references")
_IN_WHOLE = ("messages", "metadata")


def task_of_ours(config: Mapping[str, Any]) -> OfTask | None:
    """All that a task's settings say of a log of ours; None for the harness's own."""
    return said_of(config.get("metadata"), OfTask)


def header_of_ours(made: LogHeader, own: OfTask) -> LogHeader:
    """A header with what only we say; its numbers are a record's, rounded as those are."""
    claims = tuple(msgspec.structs.replace(one, decimals=RECORD_DECIMALS) for one in made.claims)
    return msgspec.structs.replace(made, status=own.status, error=own.error, claims=claims)


def scorers_of_ours(found: Sequence[LogScorer], own: OfTask) -> tuple[LogScorer, ...]:
    """The scorers under the harness's names, with their scales and judges, and those of whom it has no number."""
    named = dict.fromkeys((*(one.name for one in found), *own.scorers))
    known = {one.name: one for one in found}
    return tuple(
        msgspec.structs.replace(own.scorers[name], name=name) if name in own.scorers else known[name] for name in named
    )


def sample_of_ours(made: LogSample, document: Any, own: OfTask, *, whole: bool) -> LogSample:
    """A sample with what its document says of it."""
    try:
        said = msgspec.convert(document, ready(OfDocument))
    except msgspec.ValidationError:
        return made
    for name in OfDocument.__struct_fields__:
        value = getattr(said, name)
        is_of_row = name in _ROWS_TOO and value is None
        if name != "scores" and not is_of_row and (whole or name not in _IN_WHOLE):
            setattr(made, name, value)
    for name, score in made.scores.items():
        words = said.scores.get(own.scorers[name].name if name in own.scorers else name, OfScoreInDocument())
        score.passed, score.answer, score.explanation = words.passed, words.answer, words.explanation
        score.guessed, score.said = words.guessed, words.said
        if score.value is None and words.unscored is not None:
            score.unscored = words.unscored
    return made
