"""How runs of checks are shown: their own words and tables in the report of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchbook.evaluators.checks.kind import REASONS
from benchbook.evaluators.checks.rows import ChecksAggregates, ChecksRow
from benchbook.evaluators.document import Kind, Reach, Table, Tone, Value, table
from benchbook.evaluators.gates import Decision, DecisionName, RunVerdict
from benchbook.views.answers.report import AnswersReport, Terms, misses_by_run_or_item, reason_words, view_over
from benchbook.views.gates import gates_table

__all__ = ["VIEW"]


_LABELS: Mapping[str, tuple[str, Kind]] = {
    "primary_score": ("Score", "score"),
    "pass_rate": ("Items that passed", "rate"),
    "no_prediction_rate": ("Items without a prediction", "rate"),
}
_WORDS: Mapping[str, str] = {str(name): words for name, words in REASONS.items()}
_TONES: Mapping[DecisionName, Tone] = {"READY": "good", "NOT_READY": "bad", "INCONCLUSIVE": "doubt"}


def _label(aggregate: str) -> tuple[str, Kind]:
    """An aggregate in words, and what kind of number it is."""
    return _LABELS.get(aggregate) or (f"Mean of {aggregate.removesuffix('_mean')}", "score")


def _tables(report: AnswersReport) -> Iterator[Table]:
    """Of several checks each one's mean with its interval, and why it missed; the gates, where the spec has some."""
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
        (name, reason, reason_words(_WORDS, reason), n)
        for name, one in file.checks.items()
        for reason, n in one.misses.items()
    ]
    yield table("Why checks missed", {"Check": "text", "Name": "text", "Why": "text", "Items": "count"}, misses)


def _decided(decision: Decision | RunVerdict) -> tuple[str, Tone] | None:
    """What the gates come to, as the sentence that ends the headline's meaning."""
    if isinstance(decision, RunVerdict):
        return None
    return f" By its gates {decision.decision}: {'; '.join(decision.reasons)}.", _TONES[decision.decision]


def _why_missed(row: ChecksRow) -> list[str]:
    return [] if row.passed else misses_by_run_or_item(row, row.miss_reason)


VIEW = view_over(
    Terms(
        passed="passed",
        score_of="Score: mean over all items",
        passed_of="Items that passed",
        reasons=_WORDS,
        n_passed=lambda file: int(file.n_passed),
        interval=lambda file: file.intervals["primary_score"],
        why_missed=_why_missed,
        is_missed=lambda row: row.passed is False,
        tables=_tables,
        decided=_decided,
    )
)
