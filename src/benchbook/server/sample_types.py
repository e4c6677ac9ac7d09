"""The API's answers about samples: rows of their list, and one of them whole."""

from __future__ import annotations

from typing import Any

import msgspec

from benchbook.views.views import JudgedWords


class SampleRow(msgspec.Struct, frozen=True, kw_only=True):
    """A sample in a list, under names that all specs share. `text` is cut; `SampleDetail` has it whole."""

    sample: int
    repeat: int
    item_id: str
    section: str | None
    category: str | None
    difficulty: str | None
    score: float | None
    passed: bool | None  # right, or passed, or a valid evaluation
    reasons: tuple[str, ...]  # why it missed or failed, or could not be scored
    text: str | None


class SamplesPage(msgspec.Struct, frozen=True, kw_only=True):
    """`n` samples fit the filter in all; `next_cursor` is null on the last page."""

    samples: tuple[SampleRow, ...]
    n: int
    next_cursor: str | None


class JudgeReplyRow(msgspec.Struct, frozen=True, kw_only=True):
    """One reply of the judge, as it came. `judge` names the judge of a panel that gave it; else null."""

    judge: str | None
    attempt: int
    text: str | None
    parse_error_reason: str | None
    detail: str | None


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a conversation, by the number that judges know it by. `head` says whose it is."""

    number: int
    head: str
    text: str  # what was said, then each call of a tool


class SampleDetail(SampleRow, frozen=True, kw_only=True):
    """One sample, whole. `row` is its row of samples.parquet.

    `turns` are there for a conversation, and where a quote names one; the answer is the last. `judged` is there where a
    judge scored answers by criteria.
    """

    prompt: str | None  # of a conversation: what people and judges read
    context: str | None  # canonical JSON where it is no text
    expected: str | None
    turns: tuple[Turn, ...] | msgspec.UnsetType = msgspec.UNSET
    judged: JudgedWords | msgspec.UnsetType = msgspec.UNSET
    judge_replies: tuple[JudgeReplyRow, ...]
    row: dict[str, Any]
