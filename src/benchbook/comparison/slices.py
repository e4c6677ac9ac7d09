"""The difference between two runs in each section, category and difficulty, by any metric (SPEC A11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchbook.comparison.difference import (
    MOST_FLIPPED_IN_SLICE,
    SliceDifference,
    item_difference,
    with_tarone_holm,
)
from benchbook.comparison.items import GROUPINGS
from benchbook.comparison.measures import column_of, in_nano
from benchbook.comparison.pairing import metric_difference
from benchbook.evaluators.contract import ComparedMetric

if TYPE_CHECKING:
    import polars

MOST_SLICES = 200  # values of one field; a field with more is free text, and is not sliced


def slice_differences(
    rows: polars.DataFrame, metric: ComparedMetric, *, confidence: float, seed: int
) -> tuple[SliceDifference, ...]:
    """The slices of compared items, each p adjusted for the others. `rows` have `cluster`, GROUPINGS, and the metric's
    column with `_a` and `_b`.
    """
    found = list(_slices(rows, metric, confidence, seed))
    return with_tarone_holm(found, higher_is_better=metric.higher_is_better)


def _slices(rows: polars.DataFrame, metric: ComparedMetric, confidence: float, seed: int) -> Iterator[SliceDifference]:
    name = column_of(metric)
    if f"{name}_a" not in rows.columns:
        return
    for field in GROUPINGS:
        known = rows.select(field, "cluster", a=f"{name}_a", b=f"{name}_b").drop_nulls([field, "a", "b"])
        if known[field].n_unique() > MOST_SLICES:
            continue
        parts = known.partition_by(field, as_dict=True)
        for (value,), part in sorted(parts.items()):
            if in_nano(metric):
                found = item_difference(part, confidence=confidence, seed=seed, most_flipped=MOST_FLIPPED_IN_SLICE)
            else:
                found = metric_difference(
                    part, metric, confidence=confidence, seed=seed, most_flipped=MOST_FLIPPED_IN_SLICE
                )
            yield SliceDifference(field=field, value=str(value), difference=found)
