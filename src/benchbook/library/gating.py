"""The regression gate over records, and the records of a leaderboard."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import msgspec

from benchbook.decisions.comparison import Comparison, compare
from benchbook.decisions.metadata_difference import Measured
from benchbook.decisions.regressions import RegressionCheck, check_regressions, check_score
from benchbook.derivations.compared_run import compared_run_derived, manifest_of
from benchbook.errors import RecordError, UsageError
from benchbook.records.folder import Record, records_in
from benchbook.records.whole import check_whole, inside

__all__ = ["GateResult", "damaged_in", "records_on_one_evalset", "regression_gate"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """`check` is of both questions together. `comparison` is None where no baseline was asked about."""

    run: str
    score: float | None
    check: RegressionCheck
    comparison: Comparison | None


def regression_gate(
    record: Record,
    baseline: Record | None,
    *,
    max_regressions: int = 0,
    min_score: Decimal | None = None,
    allow_different: Collection[Measured] = (),
) -> GateResult:
    """Hold a record against its baseline, and against a least mean score.

    Both are derived anew from their journals: a file that was edited changes nothing.
    """
    run = compared_run_derived(record)
    check, comparison = RegressionCheck(holds=True, reasons=()), None
    if baseline is not None:
        comparison = compare(compared_run_derived(baseline), run)
        check = check_regressions(comparison, max_regressions=max_regressions, allow_different=allow_different)
    reasons = check.reasons
    if min_score is not None:
        reasons += tuple(reason for reason in check_score(run, min_score) if reason not in reasons)
    return GateResult(
        run.name, run.score, msgspec.structs.replace(check, holds=not reasons, reasons=reasons), comparison
    )


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
