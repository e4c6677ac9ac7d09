"""What a report of an `answer_correctness@v1` run is made of, and its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from benchbook.derivations.correctness_rows import (
    CorrectnessAggregates,
    CorrectnessDecision,
    CorrectnessManifest,
    CorrectnessRow,
)
from benchbook.reports import numbers
from benchbook.reports.gates import Tone
from benchbook.reports.words import plural

if TYPE_CHECKING:
    from benchbook.training.curves import Curve

__all__ = [
    "MAX_MISSED",
    "CorrectnessReport",
    "Headline",
    "headline",
    "missed_rows",
    "notices",
    "reason_words",
    "why_missed",
]

MAX_MISSED = 200  # missed items that are shown; samples.jsonl and samples.parquet have them all
_MAX_CHARS = 2_000  # of one text

_REASONS: Mapping[str, str] = {
    "no_prediction": "no prediction",
    "expected_inside_longer_text": "the expected answer stands inside a longer text",
    "numerically_equal": "the same number, written otherwise",
    "different": "another answer",
}
_ERRORS: Mapping[str, str] = {
    "provider_error": "the call failed",
    "timeout": "timed out",
    "cancelled": "cancelled",
}


@dataclass(frozen=True)
class CorrectnessReport:
    """One run, ready to be shown. `rows` starts a new pass over the items; a report never holds them all.

    `loss` reads what the run's trainer logged; None where it logged none.
    """

    manifest: CorrectnessManifest
    aggregates: CorrectnessAggregates
    decision: CorrectnessDecision
    rows: Callable[[], Iterator[CorrectnessRow]]
    loss: Callable[[], Curve | None]


class Headline(NamedTuple):
    words: str
    meaning: str
    tone: Tone


def headline(report: CorrectnessReport) -> Headline:
    """The score, unless the run itself failed: then that comes first (A3)."""
    file = report.aggregates
    counted = f"{file.n_correct:,} of {plural(file.n_items, 'item')} correct"
    if report.decision.verdict == "unavailable":
        return Headline("Nothing was scored", f"Unavailable: {report.decision.reason}.", "none")
    if report.decision.verdict == "fail":
        return Headline("The run failed", f"{report.decision.reason}. {counted}.", "bad")
    span = numbers.interval("score", file.interval)
    tone: Tone = "doubt" if file.floor_warning else "none"
    return Headline(f"Score {numbers.score(file.primary_score)}", f"{counted}; the score is {span}.", tone)


def notices(report: CorrectnessReport) -> list[str]:
    """What a reader must know before any number (A7 first)."""
    file = report.aggregates
    return [*([file.floor_warning] if file.floor_warning else []), *file.warnings]


def why_missed(row: CorrectnessRow) -> list[str]:
    """Why an item has 0.0, by the spec's names; nothing where it is correct."""
    if row.correctness == 1.0:
        return []
    return [name for name in (row.error, row.miss_reason) if name is not None]


def reason_words(name: str) -> str:
    """A reason of A7, or an error, in words."""
    return _REASONS.get(name) or _ERRORS.get(name, name)


def missed_rows(report: CorrectnessReport) -> list[CorrectnessRow]:
    """The first missed items of the plan, their texts cut to what a page can hold."""
    missed = (row for row in report.rows() if row.correctness != 1.0)
    return [_cut(row) for row in islice(missed, MAX_MISSED)]


def _cut(row: CorrectnessRow) -> CorrectnessRow:
    predicted = None if row.predicted is None else row.predicted[:_MAX_CHARS]
    return msgspec.structs.replace(row, predicted=predicted, expected=row.expected[:_MAX_CHARS], own=None)
