"""What else two rubric runs measured, as paired differences: accuracy, faithfulness, latency, tokens (SPEC A11, R1.1).

They stand beside the score, each over the items for which both runs have it, and are adjusted for one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from benchbook.decisions.comparison_difference import MOST_FLIPPED, Difference, p_of_flips, with_p
from benchbook.scorers.exact import as_float
from benchbook.statistics import Estimate, adjust_p_values, bounded_difference, paired_difference

if TYPE_CHECKING:
    import polars

__all__ = ["METRICS", "MetricDifference", "MetricName", "metric_differences"]

MetricName = Literal["accuracy_score", "faithfulness_score", "latency_e2e_ms", "total_tokens"]
METRICS: tuple[MetricName, ...] = get_args(MetricName)
_NANO = 1e9


class MetricDifference(msgspec.Struct, frozen=True, kw_only=True):
    """B - A in the unit of the metric. Where lower is better, `n_lost` and the verdict are by that.

    `p_holm` is `difference.p` adjusted for all metrics that are shown here; the verdict is by it. Latency and tokens
    have no upper end, so their interval is Student's, and is null where nothing varies.
    """

    name: MetricName
    higher_is_better: bool
    difference: Difference
    p_holm: float | None


@dataclass(frozen=True, slots=True)
class _Metric:
    name: MetricName
    largest: float | None  # None: there is no upper end
    higher_is_better: bool = True


_KNOWN = (
    _Metric("accuracy_score", 2.0),
    _Metric("faithfulness_score", 2.0),
    _Metric("latency_e2e_ms", None, higher_is_better=False),
    _Metric("total_tokens", None, higher_is_better=False),
)


def metric_differences(rows: polars.DataFrame, *, confidence: float, seed: int) -> tuple[MetricDifference, ...]:
    """Of rows that are compared: `cluster`, and each metric's item means with `_a` and `_b` behind its name."""
    found = list(_differences(rows, confidence, seed))
    adjusted = adjust_p_values([one.p for _, one in found]).holm
    return tuple(
        MetricDifference(
            name=metric.name,
            higher_is_better=metric.higher_is_better,
            difference=_judged(one, p, metric),
            p_holm=p,
        )
        for (metric, one), p in zip(found, adjusted, strict=True)
    )


def _differences(rows: polars.DataFrame, confidence: float, seed: int) -> Iterator[tuple[_Metric, Difference]]:
    for metric in _KNOWN:
        if f"{metric.name}_a" not in rows.columns:
            continue
        known = rows.select("cluster", a=f"{metric.name}_a", b=f"{metric.name}_b").drop_nulls(["a", "b"])
        if len(known):
            yield metric, _difference(known, metric, confidence, seed)


def _difference(rows: polars.DataFrame, metric: _Metric, confidence: float, seed: int) -> Difference:
    a, b = (rows[name].to_numpy() for name in ("a", "b"))
    clusters = None if rows["cluster"].null_count() == len(rows) else rows["cluster"].to_numpy()
    found = _interval(a, b, clusters, metric.largest, confidence)
    fell, rose = int((b < a).sum()), int((b > a).sum())
    is_many = fell + rose > MOST_FLIPPED
    p, test, drawn_by = p_of_flips(b - a, clusters, seed, found if is_many else None)
    low, high = found.low, found.high
    if low is not None and high is not None and p > 1 - confidence:
        low, high = min(low, 0.0), max(high, 0.0)
    return Difference(
        n=len(rows),
        mean_a=_rounded(a.mean()),
        mean_b=_rounded(b.mean()),
        difference=_rounded((b - a).mean()),
        low=low,
        high=high,
        confidence=confidence,
        method=found.method,
        n_lost=fell if metric.higher_is_better else rose,
        n_won=rose if metric.higher_is_better else fell,
        p=p,
        test=test,
        verdict="no_data",
        n_clusters=found.n_clusters,
        seed=drawn_by,
        reason=found.reason,
        warnings=found.warnings,
    )


def _interval(a: Any, b: Any, clusters: Any, largest: float | None, confidence: float) -> Estimate:
    if largest is None:
        return paired_difference(a, b, clusters=clusters, confidence=confidence)
    found = bounded_difference((b - a) / largest, clusters=clusters, confidence=confidence)
    low, high, error = (None if one is None else one * largest for one in (found.low, found.high, found.standard_error))
    estimate = None if found.estimate is None else found.estimate * largest
    return replace(found, estimate=estimate, low=low, high=high, standard_error=error)


def _judged(found: Difference, p: float | None, metric: _Metric) -> Difference:
    judged = with_p(found, p)
    if metric.higher_is_better or judged.verdict not in ("better", "worse"):
        return judged
    return msgspec.structs.replace(judged, verdict="worse" if judged.verdict == "better" else "better")


def _rounded(value: float) -> float | None:
    return as_float(round(float(value) * _NANO))
