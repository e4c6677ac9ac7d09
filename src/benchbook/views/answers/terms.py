"""The terms of the evaluators that score answers one by one, and the tables that only one of them has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from benchbook.evaluators.answers.rows import AnswerRow
from benchbook.evaluators.checks.kind import REASONS
from benchbook.evaluators.checks.rows import ChecksAggregates
from benchbook.evaluators.document import Columns, Kind, Reach, Table, Tone, Value, table
from benchbook.evaluators.gates import Decision, DecisionName, RunVerdict
from benchbook.evaluators.imported.rows import ImportedAggregates
from benchbook.evaluators.inside import Within
from benchbook.evaluators.scorers.rows import ScorerAggregates
from benchbook.text import shorten
from benchbook.views.answers.report import AnswersReport, Terms, misses_by_run_or_item, reason_words, view_over
from benchbook.views.gates import gates_table

# ── the one expected answer ──────────────────────────────────────────────────────────────────────────────────

MISS_REASONS: Mapping[str, str] = {
    "no_prediction": "no prediction",
    "expected_inside_longer_text": "the expected answer stands inside a longer text",
    "numerically_equal": "the same number, written otherwise",
    "different": "another answer",
}
WITHIN: Mapping[Within, str] = {"number": "inside a longer number", "word": "inside a longer word"}

CORRECTNESS = view_over(
    Terms(
        passed="correct",
        score_of="Score: mean correctness",
        passed_of="Correct items",
        reasons=MISS_REASONS,
        column="correctness",
        n_passed=lambda file: int(file.n_correct),
        interval=lambda file: file.interval,
        warning=lambda file: file.floor_warning,
    )
)


# ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────

_LABELS: Mapping[str, tuple[str, Kind]] = {
    "primary_score": ("Score", "score"),
    "pass_rate": ("Items that passed", "rate"),
    "no_prediction_rate": ("Items without a prediction", "rate"),
}
_CHECKS_MISS: Mapping[str, str] = {str(name): words for name, words in REASONS.items()}
_TONES: Mapping[DecisionName, Tone] = {"READY": "good", "NOT_READY": "bad", "INCONCLUSIVE": "doubt"}


def _label(aggregate: str) -> tuple[str, Kind]:
    """An aggregate in words, and what kind of number it is."""
    return _LABELS.get(aggregate) or (f"Mean of {aggregate.removesuffix('_mean')}", "score")


def _checks_tables(report: AnswersReport) -> Iterator[Table]:
    """Each of several checks with its mean, interval and reasons of misses; the gates, where the spec has some."""
    file: ChecksAggregates = report.aggregates
    if len(file.checks) > 1:
        yield from _of_checks(file)
    if isinstance(report.decision, Decision):
        yield gates_table(report.decision, _label, unknown="no value", in_full=False)


def _of_checks(file: ChecksAggregates) -> Iterator[Table]:
    means = [
        (
            name,
            Value("score", one.mean),
            Reach("score", file.intervals[f"{name}_mean"], bare=True),
            sum(one.misses.values()),
        )
        for name, one in file.checks.items()
    ]
    yield table("Checks", {"Check": "text", "Mean": "score", "Interval": "number", "Items not full": "count"}, means)
    misses = [
        (name, reason, reason_words(_CHECKS_MISS, reason), n)
        for name, one in file.checks.items()
        for reason, n in one.misses.items()
    ]
    yield table("Why checks missed", {"Check": "text", "Name": "text", "Why": "text", "Items": "count"}, misses)


def _decided(decision: Decision | RunVerdict) -> tuple[str, Tone] | None:
    """The outcome of the gates: the sentence that ends the headline's meaning, and its tone; None without gates."""
    if isinstance(decision, RunVerdict):
        return None
    return f" By its gates {decision.decision}: {'; '.join(decision.reasons)}.", _TONES[decision.decision]


CHECKS = view_over(
    Terms(
        passed="passed",
        score_of="Score: mean over all items",
        passed_of="Items that passed",
        reasons=_CHECKS_MISS,
        tables=_checks_tables,
        decided=_decided,
    )
)


# ── a function of the user's own ─────────────────────────────────────────────────────────────────────────────

_SAID = 160  # characters of what the scorer said
_values = msgspec.json.Decoder(dict[str, bool | int | float | str])


def _scorer_tables(report: AnswersReport) -> Iterator[Table]:
    """The means of the numbers that the scorer named, and why answers have no score."""
    file: ScorerAggregates = report.aggregates
    if file.values:
        means = [(name, Value("score", one.mean), one.n) for name, one in file.values.items()]
        yield table("What the scorer named", {"Name": "text", "Mean": "score", "Items": "count"}, means)
    if file.unscored:
        faults = [(shorten(one.why, _SAID), one.n_items) for one in file.unscored]
        yield table("Answers without a score", {"Why": "text", "Items": "count"}, faults)


def _scorer_misses(row: AnswerRow) -> list[str]:
    """Why an item did not pass, and what the scorer said of it."""
    if row.unscored is not None and row.score is None:
        return [f"unscored: {shorten(row.unscored, _SAID)}"]
    said = {} if row.values is None else _values.decode(row.values)
    of_texts = (f"{name}: {shorten(words, _SAID)}" for name, words in said.items() if isinstance(words, str))
    return [*misses_by_run_or_item(row), *of_texts]


SCORER = view_over(
    Terms(
        passed="passed",
        score_of="Score: mean over all items that have one",
        passed_of="Items that passed",
        reasons={
            "no_prediction": "there is no answer, or nothing but white space",
            "not_passed": "the scorer did not pass it",
        },
        misses=_scorer_misses,
        tables=_scorer_tables,
    )
)


# ── a log of another tool ────────────────────────────────────────────────────────────────────────────────────


def _imported_tables(report: AnswersReport) -> Iterator[Table]:
    """Each of the log's scorers with its mean on its own scale; why samples have no score, and what ended them."""
    file: ImportedAggregates = report.aggregates
    judges = {one.name: one.judge or "" for one in report.manifest.imported.scorers}
    scorers = [
        (
            name,
            judges.get(name, ""),
            Value("ratio", one.mean, unknown="no values"),
            one.n,
            one.n_unscored,
            one.n_guessed,
        )
        for name, one in file.scorers.items()
    ]
    columns: Columns = {
        "Scorer": "text", "Judge": "text", "Mean on its scale": "number", "Samples": "count", "Unscored": "count",
        "Read by guess": "count",
    }  # fmt: skip
    yield table("The log's scorers", columns, scorers)
    if file.unscored:
        why = [(shorten(one.why, _SAID), one.n_items) for one in file.unscored]
        yield table("Samples without a score", {"Why": "text", "Samples": "count"}, why)
    if file.limits:
        limits = [(shorten(name, _SAID), n) for name, n in file.limits.items()]
        yield table("Samples that a limit ended", {"Limit": "text", "Samples": "count"}, limits)


def _imported_misses(row: AnswerRow) -> list[str]:
    """Why a sample did not pass, or has no score, as the log says it."""
    if row.unscored is not None and row.score is None:
        return [f"unscored: {shorten(row.unscored, _SAID)}"]
    return misses_by_run_or_item(row)


IMPORTED = view_over(
    Terms(
        passed="passed",
        score_of="Score: mean over all samples that have one",
        passed_of="Samples that passed",
        reasons={"not_passed": "the log's scorer did not pass it"},
        misses=_imported_misses,
        tables=_imported_tables,
    )
)
