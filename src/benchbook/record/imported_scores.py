"""The word of another tool's log on one sample: what its scorers gave, and how it ended."""

from __future__ import annotations

import msgspec


class ImportedScore(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One scorer's word on a sample, as another tool's log has it.

    `value` is on the scorer's own scale; where there is none, `unscored` says why. `guessed` says why a judge's reply
    can be read by guess alone.
    """

    value: float | None = None
    unscored: str | None = None
    parts: tuple[float, ...] | None = None  # numbers of which only those of all samples make a value
    said: str | None = None  # the value as the log has it, where that is no number
    passed: bool | None = None
    answer: str | None = None  # what the scorer compared
    explanation: str | None = None
    guessed: str | None = None


class ImportedOutcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """All that a log says of one sample's worth. `limit` is what ended it before its time: tokens, messages, time.

    `prompt` is what was asked, where that is another text than the item's; `own` is the metadata of a sample that has
    no reply to hold them.
    """

    sample: int
    scores: dict[str, ImportedScore] = {}  # by scorer
    failure: str | None = None  # of the tool that asked, where it has an answer or scores all the same
    failure_kind: str | None = None  # where that is no plain error
    limit: str | None = None
    prompt: str | None = None
    own: str | None = None  # as a JSON object
