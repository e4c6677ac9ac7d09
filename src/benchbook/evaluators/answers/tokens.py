"""The tokens that a run's answers took: no aggregate has them, since answers that were made elsewhere tell none."""

from __future__ import annotations

from typing import NamedTuple

from benchbook.record.derived_files import reading_frame
from benchbook.record.folder import Record


class TokensUsed(NamedTuple):
    """The tokens of a run's answers, and how many that is for each right one; None where no answer tells."""

    total: int | None = None
    per_right: float | None = None


def tokens_used(record: Record, n_right: int) -> TokensUsed:
    """The tokens, input and output, of a run in which `n_right` items are right. Raises: RecordError."""
    import polars as pl

    if not record.samples.exists():
        return TokensUsed()
    with reading_frame(record.samples):
        rows = pl.scan_parquet(record.samples, glob=False, cache=False)
        tokens = rows.select(n=pl.col("input_tokens") + pl.col("output_tokens"))
        total, n = tokens.select(pl.col("n").sum(), count=pl.col("n").count()).collect().row(0)
    return TokensUsed(total, total / max(n_right, 1)) if n else TokensUsed()
