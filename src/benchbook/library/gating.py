"""The regression gate over records, and the records of a leaderboard."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from benchbook.comparison.compared import Comparison, compare
from benchbook.comparison.records import compared_run_derived, manifest_of
from benchbook.comparison.regressions import (
    DEFAULT_MARGIN,
    Finding,
    GateOutcome,
    RegressionCheck,
    check_regressions,
    check_score,
    failing_outcome,
    with_findings,
)
from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.measured import Measured
from benchbook.record.folder import Record, records_in
from benchbook.record.whole import check_whole, inside

__all__ = ["EXIT_CODES", "GateResult", "damaged_in", "records_on_one_evalset", "regression_gate"]


EXIT_CODES: Mapping[GateOutcome, int] = {"holds": 0, "does_not_hold": 1, "not_complete": 3, "undecided": 4}
"""What `benchbook gate --baseline` ends with (docs/reference/exit-codes.md)."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """`check` is of both questions together. `comparison` is None where no baseline was asked about."""

    run: str
    score: float | None
    check: RegressionCheck
    comparison: Comparison | None

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.check.outcome]


def regression_gate(
    record: Record,
    baseline: Record | None,
    *,
    margin: float | None = None,
    max_regressions: int | None = None,
    min_score: Decimal | None = None,
    allow_different: Collection[Measured] = (),
) -> GateResult:
    """Hold a record against its baseline, and against a least mean score.

    By a margin, DEFAULT_MARGIN unless `max_regressions` is asked instead. Both are derived anew from their journals: a
    file that was edited changes nothing.

    Raises: UsageError for a margin that can't be.
    """
    run = compared_run_derived(record)
    check, comparison = RegressionCheck(holds=True, outcome="holds", reasons=()), None
    if margin is None and max_regressions is None:
        margin = DEFAULT_MARGIN
    if baseline is not None:
        comparison = compare(compared_run_derived(baseline), run, margin=margin)
        check = check_regressions(comparison, max_regressions=max_regressions, allow_different=allow_different)
    if min_score is not None:
        check = with_findings(check, [Finding(failing_outcome(run), why) for why in check_score(run, min_score)])
    return GateResult(run.name, run.score, check, comparison)


def records_on_one_evalset(runs: str | Path, evalset: str | None = None) -> tuple[list[Record], int]:
    """The folder's finished records on one eval set under one scorer, and how many other records there are.

    `evalset` is its id or hash; by default it is the one of the record that was written last.

    Raises: UsageError where there is no such record.
    """
    newest_first = records_in(runs)
    found = [(record, measure) for record in newest_first if (measure := _measure(record)) is not None]
    if evalset is not None:
        found = [one for one in found if evalset in one[1][1:]]
    if not found:
        raise UsageError(f"{runs}: no finished record{f' on eval set {evalset!r}' if evalset else ''}")
    records = [record for record, measure in found if measure == found[0][1]]
    return records, len(newest_first) - len(records)


def damaged_in(runs: str | Path) -> list[tuple[Record, str]]:
    """The folder's records that can't be read, each with what is wrong: no leaderboard has them."""
    found = []
    for record in records_in(runs):
        try:
            check_whole(record)
        except RecordError as error:
            found.append((record, inside(record, str(error))))
    return found


def _measure(record: Record) -> tuple[str, str, str] | None:
    """Scorer, eval set's id and its hash; None for a run that is not finished, scored nothing, or can't be read."""
    try:
        check_whole(record)
        manifest = manifest_of(record)
    except RecordError:
        return None
    if manifest.get("state") != "complete" or manifest.get("dry_run"):
        return None
    return str(manifest.get("spec")), str(manifest.get("dataset_id")), str(manifest.get("dataset_version_or_hash"))
