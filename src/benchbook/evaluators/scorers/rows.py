"""The derived files of a record that a user's function scored: their columns and fields (A3 to A5, F4, F5)."""

from __future__ import annotations

import msgspec

from benchbook.ask.unanswered import Unanswered
from benchbook.evaluators.answers.rows import CAUSE, SCORED, AnswerManifest, NamedMean, Unscoreds, answer_row
from benchbook.evaluators.answers.scorecard import Scorecard
from benchbook.evaluators.intervals import Interval

ScorerRow = answer_row({
    "predicted": SCORED,
    "miss_reason": [
        ("unscored", str | None),  # why an answer has no score: what the scorer raised, or returned instead of one
        ("values", str | None),  # what the scorer named beside the score: numbers and texts, as a JSON object
    ],
    "error": [CAUSE],
})  # fmt: skip


class ScorerAggregates(Scorecard, frozen=True, kw_only=True):
    """aggregates.json: the scorecard over the items' scores, and beside it what passed.

    `intervals` has those of `primary_score` and `pass_rate`; their bounds are null where the run failed. `unscored` has
    the most frequent reasons first, `values` the first numbers that were named.
    """

    spec: str
    n_passed: int
    pass_rate: float | None  # of the items that have a score
    unscored: list[Unscoreds]
    values: dict[str, NamedMean]
    intervals: dict[str, Interval]
    errors: dict[str, int]  # error -> items that have it
    warnings: list[str]
    unanswered: list[Unanswered] | msgspec.UnsetType = msgspec.UNSET  # why items are, in words
    n_warnings_first: int | msgspec.UnsetType = msgspec.UNSET  # of the warnings: those that stand before any number


class ScorerSaid(msgspec.Struct, frozen=True, kw_only=True):
    """The scorer: its name, the least score at which it passes an answer, and the hash of its source, which is among
    the inputs. `python` are the versions that it ran under."""

    name: str
    version: int
    function: str
    passes_at: float
    source_sha256: str
    python: list[str]


class ScorerManifest(AnswerManifest, frozen=True, kw_only=True):
    """manifest.json: who, what, when, with what, and the hash that names the record."""

    evaluator: str  # `scorer`: a function of the user's own; its outcomes are facts
    scorer: ScorerSaid
