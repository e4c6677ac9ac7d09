"""One run as a table of items, whatever scored it: what comparisons, histories and rankings work on (SPEC A11)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.comparison.comparable import NO_ANSWERS
from benchbook.comparison.whole_runs import WholeRun
from benchbook.errors import UsageError
from benchbook.evaluators.contract import ComparedColumns, EndedEarly, Evaluator
from benchbook.evaluators.exact import NANO, as_float, mean

if TYPE_CHECKING:
    import polars

GROUPINGS = ("section", "category", "difficulty")
INSIDE = "expected_inside_longer_text"
_TEXTS = ("prompt", "expected", "context", *GROUPINGS, "group", "miss_reason")


class UnansweredItems(msgspec.Struct, frozen=True, kw_only=True):
    """The items that a run got no answer to: `n_items` have none in any repeat; `why` are the classes."""

    n_items: int
    n_samples: int
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run ready to be compared: `items` is what `compared_items` gives, `manifest` the record's manifest.json."""

    name: str
    spec: str
    items: polars.DataFrame
    columns: ComparedColumns
    manifest: Mapping[str, Any] = field(default_factory=dict)
    ended_early: EndedEarly | None = None  # its items are then those that were counted
    whole: WholeRun = field(default_factory=WholeRun)  # its own numbers, over all of its samples

    @property
    def score_nano(self) -> int | None:
        """The mean of all scored samples in nano-units: A4's `primary_score`, R4's `aggregate_score`.

        Unanswered samples are no part of it, whatever the record's own derivation made of them (R1.3a).
        """
        return mean(int(self.items["sum_nano"].sum()), int(self.items["n_scored"].sum()))

    @property
    def score(self) -> float | None:
        return as_float(self.score_nano)

    @property
    def unanswered(self) -> UnansweredItems:
        """The items without any answer that counts, for want of one that is not the model's fault (R1.3a)."""
        import polars as pl

        lacking = self.items.filter((pl.col("n_scored") == 0) & (pl.col("n_unanswered") > 0))
        return UnansweredItems(
            n_items=len(lacking),
            n_samples=int(self.items["n_unanswered"].sum()),
            why=tuple(sorted(self.items["unanswered_why"].drop_nulls().unique())),
        )

    @property
    def why_failed(self) -> str | None:
        """How the run failed as a whole, such as `crashed` (A3); None where it did not."""
        status = str(self.manifest.get("run_status", "completed"))
        return None if status == "completed" else status.replace("_", " ")

    @property
    def not_complete(self) -> str | None:
        """How a run stands that did not come to its end, such as `it is interrupted`. None for one that did: every
        sample that it planned was answered or given up by the user.
        """
        state = str(self.manifest.get("state", "complete"))
        return self.columns.not_ended if state == "complete" else f"it is {state}"


def compared_items(
    samples: polars.DataFrame, evaluator: Evaluator, manifest: Mapping[str, Any] | None = None
) -> polars.DataFrame:
    """A row an item, in the order of the samples, of a record's samples.parquet.

    `samples` has, beside its evaluator's columns, `prompt` and `expected` (and maybe `context`: what the prompt is
    asked about). `manifest` is the record's, which says whether the run failed as a whole, or has not come to its end.
    The columns of the result:

    item_id, prompt, expected, context, section, category, difficulty, group
    sample, text, miss_reason     of the first repeat
    n_samples, n_scored           its repeats, and those that have a score
    n_unanswered, unanswered_why  those without an answer for a reason that is not the model's (R1.3a): they have no
                                  score here, whatever the record says; and the first one's class
    n_correct                     scored repeats that are right (A1), or passed (R5.1)
    sum_nano                      the sum of its scores in nano-units, exact; over n_scored
    score_nano                    their mean, rounded half to even; null without a score
    correct                       right in more than half of its scored repeats; null without a score
    contained                     the expected answer is the text or stands inside it (A7), in more than half
    accuracy_score, …             the evaluator's metrics, means over the repeats that have one

    Raises: UsageError for an evaluator whose runs can't be compared item by item.
    """
    import polars as pl

    columns = compared_columns(evaluator)
    metrics = {one.name: one.column for one in columns.metrics if one.column in samples.columns}
    rows = samples.with_columns(unanswered_why=unanswered_why(evaluator, samples.columns, manifest or {}))
    is_scored = pl.col(columns.score).is_not_null() & pl.col("unanswered_why").is_null()
    rows = rows.select(
        "item_id",
        "sample",
        *(_text(samples, name) for name in _TEXTS),
        "unanswered_why",
        text=pl.col(columns.answer),
        n_samples=pl.lit(1, pl.Int64),
        n_scored=is_scored.cast(pl.Int64),
        n_unanswered=pl.col("unanswered_why").is_not_null().cast(pl.Int64),
        n_correct=(pl.col(columns.passed).cast(pl.Boolean) & is_scored).fill_null(value=False).cast(pl.Int64),
        sum_nano=pl.when(is_scored).then((pl.col(columns.score) * NANO).round().cast(pl.Int64)).otherwise(0),
        **{
            name: pl.when(pl.col("unanswered_why").is_null()).then(pl.col(column).cast(pl.Float64))
            for name, column in metrics.items()
        },
    )
    # By the reason and not by the score: the texts of a run that failed (A3) are what they are.
    contained = pl.col("miss_reason").is_null() | (pl.col("miss_reason") == INSIDE)
    n_contained = pl.when(pl.col("n_scored") > 0).then(contained.cast(pl.Int64)).otherwise(0)
    rows = rows.with_columns(n_contained=n_contained if columns.tells_containment else pl.col("n_correct"))
    if "repeat" in samples.columns and samples["repeat"].max():
        rows = _one_row_an_item(rows, metrics)
    return rows.with_columns(
        score_nano=_half_even("sum_nano", "n_scored"), correct=_in_most("n_correct"), contained=_in_most("n_contained")
    ).drop("n_contained")


def compared_columns(evaluator: Evaluator) -> ComparedColumns:
    """The columns of an evaluator's items. Raises: UsageError where its runs can't be compared item by item."""
    if evaluator.compared is None:
        what = f"their {NO_ANSWERS}"
        instead = "`benchbook show RUN` has their targets side by side"
        raise UsageError(f"runs under {evaluator.id} can't be compared item by item: {what}; {instead}")
    return evaluator.compared


def unanswered_why(evaluator: Evaluator, columns: Collection[str], manifest: Mapping[str, Any]) -> polars.Expr:
    """The class of what kept a sample from being answered (R1.3a); null where the model answered, or had its chance.

    Of a run that failed as a whole every sample counts as it is scored, 0.0 (A3).
    """
    import polars as pl

    if manifest.get("run_status", "completed") != "completed":
        return pl.lit(None, pl.String)
    return evaluator.unanswered_why(columns, manifest)


def _text(samples: polars.DataFrame, name: str) -> polars.Expr:
    import polars as pl

    return pl.col(name) if name in samples.columns else pl.lit(None, pl.String).alias(name)


def _one_row_an_item(rows: polars.DataFrame, metrics: Collection[str]) -> polars.DataFrame:
    import polars as pl

    counts = ("n_samples", "n_scored", "n_unanswered", "n_correct", "n_contained", "sum_nano")
    first = ("sample", "text", *_TEXTS)
    return rows.group_by("item_id", maintain_order=True).agg(
        *(pl.col(name).sort_by("sample").first() for name in first),
        pl.col("unanswered_why").drop_nulls().first(),
        *(pl.col(name).sum() for name in counts),
        *(pl.col(name).mean() for name in metrics),
    )


def _half_even(total: str, n: str) -> polars.Expr:
    """The quotient of two integer columns, rounded half to even (SPEC C2); null for a divisor of 0."""
    import polars as pl

    divisor = pl.when(pl.col(n) > 0).then(pl.col(n))
    quotient, twice = pl.col(total) // divisor, 2 * (pl.col(total) % divisor)
    up = (twice > divisor) | ((twice == divisor) & (quotient % 2 == 1))
    return quotient + up.cast(pl.Int64)


def _in_most(n: str) -> polars.Expr:
    import polars as pl

    return pl.when(pl.col("n_scored") > 0).then(2 * pl.col(n) > pl.col("n_scored"))
