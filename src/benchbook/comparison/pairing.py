"""Two runs' items side by side, and the class of each (SPEC A11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from benchbook.comparison.difference import MOST_FLIPPED, Difference, p_of_flips, with_p
from benchbook.evaluators.contract import ComparedColumns, ComparedMetric
from benchbook.evaluators.exact import as_float
from benchbook.statistics import Estimate, bounded_difference, paired_difference

if TYPE_CHECKING:
    import polars

_NANO = 1e9


class MetricDifference(msgspec.Struct, frozen=True, kw_only=True):
    """B - A in the unit of the metric. Where lower is better, `n_lost` and the verdict are by that.

    `p_holm` is `difference.p_adjusted`: for all that is shown beside the score. Latency, tokens and cost have no upper
    end, so their interval is Student's, and is null where nothing varies.
    """

    name: str
    higher_is_better: bool
    difference: Difference
    p_holm: float | None


def common_metrics(a: ComparedColumns, b: ComparedColumns) -> tuple[ComparedMetric, ...]:
    """The metrics that both evaluators have beside the score, on one scale: versions of one may differ in criteria."""
    return tuple(one for one in a.metrics if one in b.metrics)


def metric_differences(
    rows: polars.DataFrame, metrics: Sequence[ComparedMetric], *, confidence: float, seed: int
) -> tuple[MetricDifference, ...]:
    """The difference of each metric; `rows` have `cluster`, and each metric's item means with `_a` and `_b`."""
    return tuple(
        MetricDifference(
            name=metric.name, higher_is_better=metric.higher_is_better, difference=found, p_holm=found.p_adjusted
        )
        for metric, found in _differences(rows, metrics, confidence, seed)
    )


def _differences(
    rows: polars.DataFrame, metrics: Sequence[ComparedMetric], confidence: float, seed: int
) -> Iterator[tuple[ComparedMetric, Difference]]:
    for metric in metrics:
        if f"{metric.name}_a" not in rows.columns:
            continue
        known = rows.select("cluster", a=f"{metric.name}_a", b=f"{metric.name}_b").drop_nulls(["a", "b"])
        if len(known):
            found = metric_difference(known, metric, confidence=confidence, seed=seed)
            yield metric, with_p(found, found.p, higher_is_better=metric.higher_is_better)


def metric_difference(
    rows: polars.DataFrame,
    metric: ComparedMetric,
    *,
    confidence: float,
    seed: int,
    most_flipped: int = MOST_FLIPPED,
) -> Difference:
    """The difference between two columns of a metric, `a` and `b`, none of them null; its verdict is not given yet."""
    a, b = (rows[name].to_numpy() for name in ("a", "b"))
    clusters = None if rows["cluster"].null_count() == len(rows) else rows["cluster"].to_numpy()
    span = None if metric.highest is None else metric.highest - metric.lowest
    found = _interval(a, b, clusters, span, confidence)
    fell, rose = int((b < a).sum()), int((b > a).sum())
    is_many = fell + rose > most_flipped
    p, test, drawn_by = p_of_flips(b - a, clusters, seed, found if is_many else None)
    low, high = found.low, found.high
    if low is not None and high is not None and p > 1 - confidence:
        low, high = min(low, 0.0), max(high, 0.0)
    if metric.kind == "usd":  # money is written in full
        low, high = (None if one is None else _rounded(one) for one in (low, high))
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


def _interval(a: Any, b: Any, clusters: Any, span: float | None, confidence: float) -> Estimate:
    if span is None:
        return paired_difference(a, b, clusters=clusters, confidence=confidence)
    found = bounded_difference((b - a) / span, clusters=clusters, confidence=confidence)
    low, high, error = (None if one is None else one * span for one in (found.low, found.high, found.standard_error))
    estimate = None if found.estimate is None else found.estimate * span
    return replace(found, estimate=estimate, low=low, high=high, standard_error=error)


def _rounded(value: float) -> float | None:
    return as_float(round(float(value) * _NANO))


ItemClass = Literal[
    "regressed", "improved", "same_correct", "same_wrong", "only_in_a", "only_in_b", "expected_changed"
]  # fmt: skip
CLASSES: tuple[ItemClass, ...] = get_args(ItemClass)
COMPARED: tuple[ItemClass, ...] = ("regressed", "improved", "same_correct", "same_wrong")

_ASKED = ("prompt", "expected", "context")
_FACTS = ("item_id", *_ASKED, "section", "category", "difficulty", "group")
_OUTCOMES = (
    "sample", "text", "miss_reason", "n_scored", "n_correct", "sum_nano", "score_nano", "correct", "contained",
    "unanswered_why",
)  # fmt: skip


def paired_items(
    a: polars.DataFrame, b: polars.DataFrame, metrics: Sequence[ComparedMetric] = (), *, by_ids: bool = False
) -> tuple[polars.DataFrame, int]:
    """A row an item of either run: A's in their order, then B's others in theirs. `a` and `b` are `compared_items`.

    And the number of items that no run has a score for: they have no row.

    Items are one where id, prompt, context and expected answer are the same; else where these but the id are the same,
    taken in order; else, with the expected answer as the only change, they are one `expected_changed`. What has no
    partner, or a score in one run only, is `only_in_a` or `only_in_b`; where the other run was not answered (R1.3a),
    its `unanswered_why_b` or `unanswered_why_a` says so.

    With `by_ids`, of runs that other tools asked for: an id and an expected answer that both have, too, where these go
    together in (nearly) all ids that both have: tools put the same item otherwise. Such a row has B's `prompt_b`.

    Columns: class, the item's facts (A's where it is in A), `item_id_b` and `expected_b` (B's), and each outcome with
    `_a` or `_b` behind its name; then those of `metrics` that both have.
    """
    import polars as pl

    names = tuple(one.name for one in metrics if one.name in a.columns and one.name in b.columns)
    left, right = (_named(items, ending, names) for items, ending in ((a, "_a"), (b, "_b")))
    same_ids = a["item_id"].equals(b["item_id"])  # nearly always, and then no join is needed
    rows = pl.concat([left, right], how="horizontal") if same_ids else _joined_by(["item_id"], left, right)
    if len(rows) == len(left) == len(right) and rows.select(_same_asked().all()).item():
        rows = rows.with_columns(matched=pl.lit(value=True))
    else:
        rows = _matched(left, right, by_ids=by_ids)
    items, n_unscored = _with_classes(rows, names)
    return (items if by_ids else items.drop("prompt_b")), n_unscored


def _named(items: polars.DataFrame, ending: str, metrics: Sequence[str]) -> polars.DataFrame:
    return items.select(*_FACTS, *_OUTCOMES, *metrics).rename(lambda name: name + ending)


def _same_asked() -> polars.Expr:
    import polars as pl

    return pl.all_horizontal(*(pl.col(f"{name}_a").eq_missing(pl.col(f"{name}_b")) for name in _ASKED))


_BY_ID = ["item_id", "expected"]
_AGREE = 0.95  # of the ids that two runs share, the least share with one expected answer: these are the same items


def _matched(left: polars.DataFrame, right: polars.DataFrame, *, by_ids: bool) -> polars.DataFrame:
    """Match by id and all that was asked; then by what was asked; with `by_ids`, by id and expected answer; then by id
    where only the expected answer differs."""
    import polars as pl

    left, right = left.with_row_index("order_a"), right.with_row_index("order_b")
    found = []
    for keys, matched in (
        (["item_id", *_ASKED], True),
        ([*_ASKED, "place"], True),
        (_BY_ID, True),
        (["item_id", "prompt", "context"], False),
    ):
        if keys == _BY_ID and not (by_ids and _ids_agree(left, right)):
            continue
        if "place" in keys:  # of the items that ask the same, the n-th meets the n-th
            left, right = _with_places(left, "_a"), _with_places(right, "_b")
        pairs = _joined_by(keys, left, right).with_columns(matched=pl.lit(matched))
        found.append(pairs)
        left = left.join(pairs, on="order_a", how="anti", maintain_order="left")
        right = right.join(pairs, on="order_b", how="anti", maintain_order="left")
    rows = pl.concat([*found, left, right], how="diagonal")
    last = pl.col("order_a").is_null()
    return rows.sort(last, pl.when(last).then(pl.col("order_b")).otherwise(pl.col("order_a")))


def _ids_agree(left: polars.DataFrame, right: polars.DataFrame) -> bool:
    """True if the ids that both have name the same items, as far as their expected answers tell."""
    shared = _joined_by(["item_id"], left, right).drop_nulls(["expected_a", "expected_b"])
    n_alike = int((shared["expected_a"] == shared["expected_b"]).sum())
    return len(shared) > 0 and n_alike >= _AGREE * len(shared)


def _with_places(items: polars.DataFrame, ending: str) -> polars.DataFrame:
    import polars as pl

    return items.with_columns(
        pl.int_range(pl.len()).over([f"{name}{ending}" for name in _ASKED]).alias(f"place{ending}")
    )


def _joined_by(keys: list[str], left: polars.DataFrame, right: polars.DataFrame) -> polars.DataFrame:
    """Join the two; nulls are equal: an item without a context is asked as another without one."""
    return left.join(
        right,
        left_on=[f"{key}_a" for key in keys],
        right_on=[f"{key}_b" for key in keys],
        how="inner",
        nulls_equal=True,
        coalesce=False,
        maintain_order="left",
    )


def _with_classes(rows: polars.DataFrame, metrics: Sequence[str]) -> tuple[polars.DataFrame, int]:
    import polars as pl

    scored_a, scored_b = pl.col("n_scored_a").fill_null(0) > 0, pl.col("n_scored_b").fill_null(0) > 0
    facts = [pl.coalesce(f"{name}_a", f"{name}_b").alias(name) for name in _FACTS if name not in _ASKED]
    in_a = pl.col("item_id_a").is_not_null()
    asked = [pl.when(in_a).then(f"{name}_a").otherwise(f"{name}_b").alias(name) for name in _ASKED]
    outcomes = [f"{name}{ending}" for name in (*_OUTCOMES, *metrics) for ending in ("_a", "_b")]
    scored = rows.filter(scored_a | scored_b)
    items = scored.select(
        pl.when(~scored_b)
        .then(pl.lit("only_in_a"))
        .when(~scored_a)
        .then(pl.lit("only_in_b"))
        .when(~pl.col("matched").fill_null(value=False))
        .then(pl.lit("expected_changed"))
        .otherwise(_change())
        .cast(pl.Enum(CLASSES))
        .alias("class"),
        *facts,
        *asked,
        "item_id_b",
        "expected_b",
        pl.when(pl.col("prompt_a").ne_missing(pl.col("prompt_b"))).then("prompt_b").alias("prompt_b"),
        *outcomes,
    )
    return items, len(rows) - len(items)


def _change() -> polars.Expr:
    """The class of a pair. Means are compared crosswise, in integers: exact for any repeats. Passing decides a tie."""
    import polars as pl

    def crosswise(name: str) -> polars.Expr:
        return (pl.col(f"{name}_b") * pl.col("n_scored_a") - pl.col(f"{name}_a") * pl.col("n_scored_b")).sign()

    score, passing = crosswise("sum_nano"), crosswise("n_correct")
    sign = pl.when(score != 0).then(score).otherwise(passing)
    return (
        pl.when(sign < 0)
        .then(pl.lit("regressed"))
        .when(sign > 0)
        .then(pl.lit("improved"))
        .when(pl.col("correct_a"))
        .then(pl.lit("same_correct"))
        .otherwise(pl.lit("same_wrong"))
    )
