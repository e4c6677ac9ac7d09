"""The facts that a file of predictions comes to: while it is imported, and to verify."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from benchbook.canonical import canonical_json
from benchbook.evalsets import EvalSet
from benchbook.record.facts import Reply

if TYPE_CHECKING:
    import polars

    from benchbook.evalsets.predictions import Predictions

__all__ = ["prediction_replies"]


def prediction_replies(predictions: Predictions, evalset: EvalSet) -> Iterator[Reply]:
    """A reply for each item that the file has something for, in the order of the eval set; nobody was asked.

    Raises: InputError for an id that the eval set does not have, one that is there twice, another expected answer.
    """
    import polars as pl

    from benchbook.evalsets.predictions import align_predictions, items_frame

    if others := evalset.left_out():  # of a part: the file may be about the whole set
        kept = predictions.frame.filter(~pl.col("item_id").is_in(list(others)))
        predictions = replace(predictions, frame=kept)
    rows = align_predictions(predictions, items_frame(evalset))
    return _replies(rows.select("predicted", "eval_time_ms", "own_keys"), is_canonical=predictions.form != "parquet")


def _replies(rows: polars.DataFrame, *, is_canonical: bool) -> Iterator[Reply]:
    for sample, (predicted, eval_time_ms, own) in enumerate(rows.iter_rows()):
        if (predicted, eval_time_ms, own) != (None, None, None):
            if own is not None and not is_canonical:
                own = canonical_json(msgspec.json.decode(own)).decode()
            yield Reply(sample=sample, role="candidate", text=predicted, latency_e2e_ms=eval_time_ms, own=own)
