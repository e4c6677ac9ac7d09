"""One run by section, category and difficulty: its score and its passes there, each with its n and its interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.comparison.items import GROUPINGS, compared_columns, unanswered_why
from benchbook.comparison.records import manifest_of, samples_of
from benchbook.comparison.slices import MOST_SLICES
from benchbook.evaluators.exact import NANO, as_float, mean, ratio
from benchbook.evaluators.intervals import Interval, bounded_mean, interval_of, rate_interval
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.folder import Record

if TYPE_CHECKING:
    import polars

CONFIDENCE = 0.95


class RunSlice(msgspec.Struct, frozen=True, kw_only=True):
    """The samples that share one value of a field; `value` is null for those that name none.

    `score` is the mean of the `n_scored` that have one. Where scores are graded, `n_passed` of `n_samples` pass, those
    without a score not among them. `n_unanswered` are in neither: no answer came, for a reason that is not the model's.
    """

    field: str
    value: str | None
    n_samples: int
    n_scored: int
    n_unanswered: int
    score: float | None
    score_interval: Interval
    n_passed: int | None = None
    pass_rate: float | None = None
    pass_interval: Interval | None = None


class RunSlices(msgspec.Struct, frozen=True, kw_only=True):
    """A field whose values are all one, or more than 200, is not sliced. Intervals are each by itself."""

    slices: tuple[RunSlice, ...]
    is_graded: bool
    confidence: float = CONFIDENCE


def run_slices(record: Record) -> RunSlices:
    """A run's slices, by its table of samples as it is on disk.

    Raises: as `compared_run`.
    """
    import polars as pl

    evaluator, manifest = evaluator_of(record), manifest_of(record)
    columns = compared_columns(evaluator)
    samples = samples_of(record, evaluator)
    is_answered = unanswered_why(evaluator, samples.columns, manifest).is_null()
    failed = manifest.get("run_status", "completed") != "completed"  # then every sample scores 0 (A3)
    score = pl.lit(0, pl.Int64) if failed else (pl.col(columns.score) * NANO).round().cast(pl.Int64)
    rows = samples.select(
        *(pl.col(name) for name in GROUPINGS if name in samples.columns),
        cluster=_cluster(samples),
        is_answered=is_answered,
        score=pl.when(is_answered).then(score),
        passed=(pl.col(columns.passed).cast(pl.Boolean) & is_answered & (not failed)).fill_null(value=False),
    )
    return RunSlices(slices=tuple(_slices(rows, is_graded=columns.is_graded)), is_graded=columns.is_graded)


def _cluster(samples: polars.DataFrame) -> polars.Expr:
    """The name of what rises and falls together: an item's group, where items have one; else the item, if repeated."""
    import polars as pl

    if "group" in samples.columns and samples["group"].null_count() < len(samples):
        return pl.coalesce("group", pl.format("\0{}", "item_id"))
    is_repeated = "repeat" in samples.columns and bool(samples["repeat"].max())
    return pl.col("item_id") if is_repeated else pl.lit(None, pl.String)


def _slices(rows: polars.DataFrame, *, is_graded: bool) -> Iterator[RunSlice]:
    for field in GROUPINGS:
        if field not in rows.columns or not 1 < rows[field].n_unique() <= MOST_SLICES + 1:
            continue
        parts = rows.partition_by(field, as_dict=True)
        for (value,), part in sorted(parts.items(), key=lambda one: (one[0][0] is None, str(one[0][0]))):
            yield _slice(field, value, part, is_graded=is_graded)


def _slice(field: str, value: Any, part: polars.DataFrame, *, is_graded: bool) -> RunSlice:
    answered = part.filter("is_answered")
    scored = answered.drop_nulls("score")
    n, total, n_passed = len(scored), int(scored["score"].sum()), int(answered["passed"].sum())
    found = RunSlice(
        field=field,
        value=value,
        n_samples=len(answered),
        n_scored=n,
        n_unanswered=len(part) - len(answered),
        score=as_float(mean(total, n)),
        score_interval=_of_scores(scored) if is_graded else _of_passes(scored, total // NANO),
    )
    if not is_graded:
        return found
    rate = as_float(ratio(n_passed, len(answered)))
    return msgspec.structs.replace(
        found, n_passed=n_passed, pass_rate=rate, pass_interval=_of_passes(answered, n_passed)
    )


def _of_passes(rows: polars.DataFrame, n_passed: int) -> Interval:
    import polars as pl

    clusters = [(int(n), int(passed)) for n, passed, _ in _sums(rows, pl.col("passed").cast(pl.Int64))]
    return rate_interval(n_passed, len(rows), clusters, CONFIDENCE)


def _of_scores(rows: polars.DataFrame) -> Interval:
    import polars as pl

    clusters = [(int(n), int(total), _exact(squares)) for n, total, squares in _sums(rows, pl.col("score"))]
    ((n, total, squares),) = rows.select(_parts(pl.col("score"))).rows()
    sums = int(n), int(total), _exact(squares)
    return interval_of(bounded_mean(sums, clusters or None, NANO, CONFIDENCE), unit=NANO)


def _sums(rows: polars.DataFrame, values: polars.Expr) -> list[tuple[float, float, float]]:
    """Each cluster's parts; none where samples stand alone."""
    if rows["cluster"].null_count() == len(rows):
        return []
    return rows.group_by("cluster").agg(_parts(values)).drop("cluster").rows()


def _parts(values: polars.Expr) -> list[polars.Expr]:
    """Size, sum, and the sum of the squares of shares: those of billionths are beyond 64 bits."""
    import polars as pl

    share = values / NANO
    return [pl.len(), values.sum().alias("sum"), (share * share).sum().alias("squares")]


def _exact(squares: float) -> int:
    return round(squares * NANO) * NANO
