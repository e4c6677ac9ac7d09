"""One run as a table of items, whatever scored it: what comparisons, histories and rankings work on (SPEC A11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchbook.errors import UsageError
from benchbook.scorers.exact import NANO, as_float, mean

if TYPE_CHECKING:
    import polars

__all__ = ["GROUPINGS", "ComparedRun", "compared_items"]

GROUPINGS = ("section", "category", "difficulty")
INSIDE = "expected_inside_longer_text"

# What a scorer's own table calls the score, whether it is right, and the model's text.
_COLUMNS: Mapping[str, tuple[str, str, str]] = {
    "answer_correctness": ("correctness", "correctness", "predicted"),
    "rubric": ("sample_score", "passed", "candidate_answer"),
}
_TEXTS = ("prompt", "expected", "context", *GROUPINGS, "group", "miss_reason")


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run ready to be compared: `items` is what `compared_items` gives, `manifest` the record's manifest.json."""

    name: str
    spec: str
    items: polars.DataFrame
    manifest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def score_nano(self) -> int | None:
        """The mean of all scored samples in nano-units: A4's `primary_score`, R4's `aggregate_score`."""
        return mean(int(self.items["sum_nano"].sum()), int(self.items["n_scored"].sum()))

    @property
    def score(self) -> float | None:
        return as_float(self.score_nano)

    @property
    def has_reasons(self) -> bool:
        """Whether its scorer says why an item missed (SPEC A7)."""
        return self.spec.partition("@")[0] == "answer_correctness"


def compared_items(samples: polars.DataFrame, spec: str) -> polars.DataFrame:
    """A row an item, in the order of the samples, of a record's samples.parquet.

    `samples` has, beside its scorer's columns, `prompt` and `expected` (and maybe `context`: what the prompt is asked
    about). The columns of the result:

    item_id, prompt, expected, context, section, category, difficulty, group
    sample, text, miss_reason     of the first repeat
    n_samples, n_scored           its repeats, and those that have a score
    n_correct                     scored repeats that are right (A1), or passed (R5.1)
    sum_nano                      the sum of its scores in nano-units, exact; over n_scored
    score_nano                    their mean, rounded half to even; null without a score
    correct                       right in more than half of its scored repeats; null without a score
    contained                     the expected answer is the text or stands inside it (A7), in more than half

    Raises: UsageError for a scorer whose runs can't be compared item by item.
    """
    import polars as pl

    columns = _COLUMNS.get(spec.partition("@")[0])
    if columns is None:
        raise UsageError(f"runs under {spec} can't be compared item by item; expected {' or '.join(_COLUMNS)}")
    score, right, text = columns
    rows = samples.select(
        "item_id",
        "sample",
        *(_text(samples, name) for name in _TEXTS),
        text=pl.col(text),
        n_samples=pl.lit(1, pl.Int64),
        n_scored=pl.col(score).is_not_null().cast(pl.Int64),
        n_correct=(pl.col(right).cast(pl.Boolean) & pl.col(score).is_not_null()).cast(pl.Int64),
        sum_nano=(pl.col(score) * NANO).round().cast(pl.Int64).fill_null(0),
    )
    # By the reason and not by the score: the texts of a run that failed (A3) are what they are.
    contained = pl.col("miss_reason").is_null() | (pl.col("miss_reason") == INSIDE)
    has_reasons = "miss_reason" in samples.columns
    rows = rows.with_columns(n_contained=contained.cast(pl.Int64) if has_reasons else pl.col("n_correct"))
    if "repeat" in samples.columns and samples["repeat"].max():
        rows = _one_row_an_item(rows)
    return rows.with_columns(
        score_nano=_half_even("sum_nano", "n_scored"), correct=_in_most("n_correct"), contained=_in_most("n_contained")
    ).drop("n_contained")


def _text(samples: polars.DataFrame, name: str) -> polars.Expr:
    import polars as pl

    return pl.col(name) if name in samples.columns else pl.lit(None, pl.String).alias(name)


def _one_row_an_item(rows: polars.DataFrame) -> polars.DataFrame:
    import polars as pl

    counts = ("n_samples", "n_scored", "n_correct", "n_contained", "sum_nano")
    first = ("sample", "text", *_TEXTS)
    return rows.group_by("item_id", maintain_order=True).agg(
        *(pl.col(name).sort_by("sample").first() for name in first), *(pl.col(name).sum() for name in counts)
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
