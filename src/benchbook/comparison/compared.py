"""Two runs compared: what regressed, what improved, by how much, and whether the same was measured (SPEC A11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from benchbook.comparison.adjusting import adjusted
from benchbook.comparison.by_metric import chosen
from benchbook.comparison.comparable import OTHER_SCORER, compared_as
from benchbook.comparison.contenders import measured_by
from benchbook.comparison.corrected_results import CorrectedDifference
from benchbook.comparison.difference import Difference, SliceDifference, item_difference
from benchbook.comparison.items import GROUPINGS, ComparedRun
from benchbook.comparison.leaderboard import History, Leaderboard, history, leaderboard
from benchbook.comparison.measures import SCORE, metric_named
from benchbook.comparison.pairing import (
    CLASSES,
    COMPARED,
    ItemClass,
    MetricDifference,
    common_metrics,
    metric_differences,
    paired_items,
)
from benchbook.comparison.slices import slice_differences
from benchbook.errors import UsageError
from benchbook.evaluators.contract import ComparedMetric, PairVerdict
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.measured import (
    LeafDifference,
    Measured,
    MeasuredDifference,
    measured_differences,
    metadata_difference,
    unknown_in_both,
)

if TYPE_CHECKING:
    import polars

Change = Literal["regressed", "improved", "answer_lost", "answer_won", "expected_changed", "text_changed"]
CHANGES: tuple[Change, ...] = get_args(Change)


@dataclass(frozen=True, slots=True)
class Containment:
    """SPEC A7's diagnosis in both runs: the expected answer is the text, or stands inside it.

    It stands beside the score and never in its place. `lost` and `won` are A's and B's ids of the items in question.
    """

    n_a: int
    n_b: int
    lost: tuple[str, ...]
    won: tuple[str, ...]
    difference: Difference


@dataclass(frozen=True)
class Comparison:
    """B against A, item by item. `items` is what `paired_items` gives; `counts` its classes, all of them.

    `score` is over the `n_compared` items that both have; `passing` is the same for the share of items that are right
    or pass, where the score is graded. `measured` says which parts of what was measured differ, `unknown` which of
    them neither run knows. `containment` is None where a scorer does not say why an item missed. `metrics` are what
    else both runs measured.

    An item that a run got no answer to (R1.3a) is a missing pair, never a loss: `n_unanswered_a` and
    `n_unanswered_b` items.
    """

    a: ComparedRun
    b: ComparedRun
    items: polars.DataFrame
    counts: Mapping[ItemClass, int]
    score: Difference
    passing: Difference | None
    metrics: tuple[MetricDifference, ...]
    slices: tuple[SliceDifference, ...]
    containment: Containment | None
    measured: tuple[MeasuredDifference, ...]
    unknown: tuple[Measured, ...]
    metadata: tuple[LeafDifference, ...]
    n_unscored: int  # items that no run has a score for; they are not among `items`
    corrected: tuple[CorrectedDifference, ...] = ()  # as people would judge, where there are labels

    @property
    def n_compared(self) -> int:
        return sum(self.counts[name] for name in COMPARED)

    @property
    def n_unanswered_a(self) -> int:
        return self.a.unanswered.n_items

    @property
    def n_unanswered_b(self) -> int:
        return self.b.unanswered.n_items

    def n_not_asked(self, run: Literal["a", "b"]) -> int:
        """The number of items of the other run alone that this one, which ended early, did not ask."""
        return int(self.was_not_asked(run).sum())

    def was_not_asked(self, run: Literal["a", "b"]) -> polars.Series:
        """True for each of `items` that the run, which ended early, did not ask; never between two eval sets."""
        ended = (self.a if run == "a" else self.b).ended_early is not None
        is_one_set = all(one.name != "evalset" for one in self.measured)
        return self.items[f"sample_{run}"].is_null() & (ended and is_one_set)

    @property
    def shown_by_its_end(self) -> PairVerdict | None:
        """The verdict, where B was compared with this very A while it went on, and ended early by that."""
        early = self.b.ended_early
        if early is None or early.against_sha256 is None:
            return None
        return early.verdict if early.against_sha256 == self.a.manifest.get("journal_sha256") else None

    @property
    def n_left_out(self) -> int:
        """Items that are not compared: in one run only, with another expected answer, or without any score."""
        return sum(self.counts.values()) - self.n_compared + self.n_unscored

    @property
    def n_by_id(self) -> int:
        """Compared items that two tools put otherwise: their ids and expected answers agree, and not their texts."""
        if "prompt_b" not in self.items.columns:
            return 0
        rows = self.items.filter(self.items["class"].is_in(COMPARED))
        return len(rows) - rows["prompt_b"].null_count()

    @property
    def n_changed(self) -> int:
        """Items of both runs in which anything changed."""
        return len(self._changes)

    def changed(self, most: int) -> polars.DataFrame:
        """The first `most` items in which anything changed: `change` (one of CHANGES), `row`, and the item's columns.

        They come in the order of CHANGES. Where score and class stay, the expected answer inside the text is lost or
        won (A7's diagnosis), or the text alone is another. `row` is the item's place in `items`.
        """
        import polars as pl

        changes = self._changes.head(most)
        return pl.concat([changes, self.items[changes["row"]]], how="horizontal")

    @cached_property
    def _changes(self) -> polars.DataFrame:
        """`change` and `row` of each item that has one, in order; no more of them, since runs are large."""
        import polars as pl

        changed_class = pl.col("class").is_in(("regressed", "improved", "expected_changed"))
        change = (
            pl.when(changed_class)
            .then(pl.col("class").cast(pl.String))
            .when(pl.col("contained_a") & ~pl.col("contained_b"))
            .then(pl.lit("answer_lost"))
            .when(pl.col("contained_b") & ~pl.col("contained_a"))
            .then(pl.lit("answer_won"))
            .when(pl.col("text_a").ne_missing(pl.col("text_b")))
            .then(pl.lit("text_changed"))
        )
        is_in_both = pl.all_horizontal(
            *(pl.col(f"sample_{run}").is_not_null() & pl.col(f"unanswered_why_{run}").is_null() for run in "ab")
        )
        rows = self.items.select(
            pl.when(is_in_both).then(change).cast(pl.Enum(CHANGES)).alias("change"), pl.int_range(pl.len()).alias("row")
        )
        return rows.drop_nulls("change").sort("change", maintain_order=True)


def compare(
    a: ComparedRun,
    b: ComparedRun,
    *,
    confidence: float = 0.95,
    margin: float | None = None,
    seed: int = 0,
    by: str = SCORE.name,
) -> Comparison:
    """Compare two runs of one scorer. `margin` asks whether B is not worse by more than that; slices are by the metric
    that `by` names.

    Raises: UsageError for runs under different scorers, for a margin or confidence that can't be, and for a metric that
    not both have.
    """
    _check(a, b, confidence, margin)
    metric = metric_named(by, (a, b))
    metrics = common_metrics(a.columns, b.columns)
    items, n_unscored = items_of_pair(a, b)
    sizes = dict(items["class"].value_counts().iter_rows())
    rows = _compared_rows(items, metrics)

    def difference(column: str, margin: float | None = None) -> Difference:
        chosen = rows.select("cluster", a=f"{column}_a", b=f"{column}_b")
        return item_difference(chosen, confidence=confidence, margin=margin, seed=seed)

    found = Comparison(
        a=a,
        b=b,
        items=items,
        counts={name: sizes.get(name, 0) for name in CLASSES},
        score=difference("score_nano", margin),
        passing=difference("correct") if a.columns.is_graded else None,
        metrics=metric_differences(rows, metrics, confidence=confidence, seed=seed),
        slices=slice_differences(rows, metric, confidence=confidence, seed=seed),
        containment=_containment(rows, difference("contained")) if a.columns.tells_containment else None,
        measured=measured_differences(a.manifest, b.manifest),
        unknown=unknown_in_both(a.manifest, b.manifest),
        metadata=metadata_difference(a.manifest, b.manifest),
        n_unscored=n_unscored,
    )
    return adjusted([found])[0]


def items_of_pair(a: ComparedRun, b: ComparedRun) -> tuple[polars.DataFrame, int]:
    """The items of two runs of one scorer side by side, as `paired_items` has them.

    Raises: UsageError where other tools asked for both, and none of their items is in both.
    """
    by_ids = a.columns.asked_elsewhere and b.columns.asked_elsewhere
    items, n_unscored = paired_items(a.items, b.items, common_metrics(a.columns, b.columns), by_ids=by_ids)
    if by_ids and items["class"].is_in(("only_in_a", "only_in_b")).all():
        raise UsageError(
            f"{a.name} and {b.name} have no item in common: neither their texts agree, nor their ids with the expected "
            "answers; compare logs of one task"
        )
    return items, n_unscored


def _check(a: ComparedRun, b: ComparedRun, confidence: float, margin: float | None) -> None:
    if compared_as(a.spec) != compared_as(b.spec):
        raise UsageError(OTHER_SCORER.format(a=a.name, spec_a=a.spec, b=b.name, spec_b=b.spec))
    if not 0.5 < confidence < 1:
        raise UsageError(f"confidence {confidence}: expected a number between 0.5 and 1")
    if margin is not None and not 0 < margin <= 1:
        raise UsageError(f"margin {margin}: expected a number above 0, at most 1")


def _compared_rows(items: polars.DataFrame, metrics: Sequence[ComparedMetric]) -> polars.DataFrame:
    """The items that are compared, with their cluster; truths as nano-units, so that all can be held against another.

    An item without a group is a cluster of its own where others have one.
    """
    import polars as pl

    rows = items.filter(pl.col("class").is_in(COMPARED))
    cluster = pl.lit(None, pl.Int64)
    if rows["group"].null_count() < len(rows):
        alone = -1 - pl.int_range(pl.len(), dtype=pl.Int64)
        cluster = pl.coalesce(pl.col("group").rank("dense").cast(pl.Int64), alone)
    truths = (f"{name}_{run}" for name in ("correct", "contained") for run in "ab")
    return rows.select(
        "item_id", *GROUPINGS, "score_nano_a", "score_nano_b", *(pl.col(name).cast(pl.Int64) * NANO for name in truths),
        *(name for one in metrics for run in "ab" if (name := f"{one.name}_{run}") in rows.columns),
        cluster=cluster,
    )  # fmt: skip


def _containment(rows: polars.DataFrame, difference: Difference) -> Containment:
    import polars as pl

    def ids(condition: Any) -> tuple[str, ...]:
        return tuple(rows.filter(condition)["item_id"].to_list())

    a, b = pl.col("contained_a"), pl.col("contained_b")
    return Containment(
        n_a=int(rows.select((a > 0).sum()).item()),
        n_b=int(rows.select((b > 0).sum()).item()),
        lost=ids(b < a),
        won=ids(b > a),
        difference=difference,
    )


@dataclass(frozen=True, slots=True)
class ComparisonSet:
    """`pairs` hold the later runs against the first, and `p_holm` the p of each pair's score adjusted for the others.

    `histories` (three runs or more) are by correctness and, where a scorer says why an item missed, by containment.
    `leaderboard` is None for two runs, and where the runs are not over one eval set.
    """

    runs: tuple[ComparedRun, ...]
    pairs: tuple[Comparison, ...]
    p_holm: tuple[float | None, ...]
    histories: tuple[History, ...]
    leaderboard: Leaderboard | None
    by: str = SCORE.name  # the metric that the runs are shown by


def compare_runs(
    runs: Sequence[ComparedRun],
    *,
    confidence: float = 0.95,
    margin: float | None = None,
    seed: int = 0,
    by: str = SCORE.name,
) -> ComparisonSet:
    """Compare two runs or more, in the order given: checkpoints of one training from the first to the last. `by` names
    the metric that they are shown by, and that slices are by, unless it is one of whole runs alone.

    Raises: UsageError for fewer than two, for two of one name, and as `compare`.
    """
    if len(runs) < 2:
        raise UsageError(f"{len(runs)} run: a comparison needs two")
    names = [run.name for run in runs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{twice}: named twice; compare runs of different names")
    of_items = by if chosen(by, runs).by_items else SCORE.name
    pairs = adjusted(
        [compare(runs[0], run, confidence=confidence, margin=margin, seed=seed, by=of_items) for run in runs[1:]]
    )
    histories: tuple[History, ...] = ()
    if len(runs) > 2:
        histories = (history(runs),)
        if all(run.columns.tells_containment for run in runs):
            histories += (history(runs, by="contained"),)
    is_one_set = len({measured_by(run) for run in runs}) == 1
    return ComparisonSet(
        runs=tuple(runs),
        pairs=pairs,
        p_holm=tuple(pair.score.p_adjusted for pair in pairs),
        histories=histories,
        leaderboard=leaderboard(runs, confidence=confidence) if len(runs) > 2 and is_one_set else None,
        by=by,
    )
