"""What a report of an `answer_correctness@v1` run is made of, and its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, assert_never

import msgspec

from benchbook.derivations.correctness_rows import (
    CorrectnessAggregates,
    CorrectnessDecision,
    CorrectnessManifest,
    CorrectnessRow,
    ItemRow,
)
from benchbook.reports import numbers
from benchbook.reports.gates import Tone
from benchbook.reports.words import plural
from benchbook.scorers.answer_correctness_scorecard import UNANSWERED

if TYPE_CHECKING:
    from benchbook.training.curves import Curve

__all__ = [
    "MAX_MISSED",
    "CorrectnessReport",
    "Headline",
    "headline",
    "missed_rows",
    "misses_of",
    "n_missed",
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
    UNANSWERED: "unanswered when the run was ended",
}
_ERRORS: Mapping[str, str] = {
    "provider_error": "the call failed",
    "timeout": "timed out",
    "cancelled": "cancelled",
    "crashed": "the run crashed",
    "timed_out": "the run timed out",
}
_TIME_OUTS = ("timeout",)
_FAILED: Mapping[str, str] = {"crashed": "The run crashed", "timed_out": "The run timed out"}


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
    """The score, and apart from it how the run itself went: no word of the verdict can be taken for the score's (A3).

    Where the run did not hold, that comes first.
    """
    file, verdict, reason = report.aggregates, report.decision.verdict, report.decision.reason
    counted = f"{file.n_correct:,} of {plural(file.n_items, 'item')} correct"
    score = f"{numbers.score(file.primary_score, unknown='no item is answered')} by {report.manifest.spec}"
    match verdict:
        case "unavailable":
            return Headline("Nothing was scored", f"Unavailable: {reason}.", "none")
        case "fail":
            words = _FAILED.get(report.manifest.run_status, "The run failed")
            return Headline(words, f"{reason}. Score {score}: {counted}.", "bad")
        case "incomplete":
            return Headline("The run is not complete", f"{reason}. Score so far {score}: {counted}.", "doubt")
        case "pass":
            span = numbers.interval("score", file.interval)
            tone: Tone = "doubt" if file.floor_warning else "none"
            return Headline(f"Score {score}; the run itself completed", f"{counted}; the score is {span}.", tone)
        case _:
            assert_never(verdict)


def notices(report: CorrectnessReport) -> list[str]:
    """What a reader must know before any number (A7 first)."""
    file = report.aggregates
    found = [*([file.floor_warning] if file.floor_warning else []), *file.warnings]
    if report.decision.verdict == "incomplete":
        found.append(f"The run can be resumed: benchbook score --resume {report.manifest.run_id}")
    return found


def why_missed(row: CorrectnessRow) -> list[str]:
    """Why an item has 0.0, or no score yet, by the spec's names; nothing where it is correct.

    A run that crashed is the one reason for all of its items.
    """
    if row.correctness == 1.0:
        return []
    if row.error is not None and row.error in _FAILED:
        return [row.error]
    unanswered = row.candidate_error if isinstance(row, ItemRow) else None
    return [name for name in (row.error, row.miss_reason, unanswered) if name is not None]


def misses_of(file: CorrectnessAggregates) -> list[tuple[str, str, int]]:
    """Why items missed: in words, by the spec's name, and how many. Of a run that crashed that alone.

    The reasons of A7, and of the items that they count, those whose call failed.
    """
    if of_run := [(reason_words(name), name, n) for name, n in file.errors.items() if name in _FAILED]:
        return of_run
    # Since items can be unanswered, a call that failed for another reason than the time limit is no miss of its own.
    shown = file.errors if UNANSWERED in file.misses or not isinstance(file.n_unanswered, int) else _TIME_OUTS
    errors = [(f"of these: {reason_words(name)}", name, n) for name, n in file.errors.items() if name in shown]
    return [*((reason_words(name), name, n) for name, n in file.misses.items()), *errors]


def n_missed(file: CorrectnessAggregates) -> int:
    """How many items count 0.0. One that is not answered yet is no miss."""
    unanswered = file.n_unanswered if isinstance(file.n_unanswered, int) else 0
    return file.n_items - file.n_correct - (unanswered - file.misses.get(UNANSWERED, 0))


def reason_words(name: str) -> str:
    """A reason of A7, an error, or what left an item unanswered, in words."""
    return _REASONS.get(name) or _ERRORS.get(name) or name.replace("_", " ")


def missed_rows(report: CorrectnessReport) -> list[CorrectnessRow]:
    """The first missed items of the plan, their texts cut to what a page can hold."""
    missed = (row for row in report.rows() if row.correctness == 0.0)
    return [_cut(row) for row in islice(missed, MAX_MISSED)]


def _cut(row: CorrectnessRow) -> CorrectnessRow:
    predicted = None if row.predicted is None else row.predicted[:_MAX_CHARS]
    return msgspec.structs.replace(row, predicted=predicted, expected=row.expected[:_MAX_CHARS], own=None)
