"""`answer_correctness@v1` as a table: a row for each item, and no record (SPEC A1 to A5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbook.errors import UsageError
from benchbook.evalsets.predictions import align_predictions, read_predictions
from benchbook.evaluators.answers.scorecard import Scorecard
from benchbook.evaluators.correctness.columns import tally_rows, with_results
from benchbook.evaluators.correctness.item_tables import opened_items, refuse_texts
from benchbook.record.tables import write_frame

MOST_ITEMS_AT_ONCE = 1 << 20  # about 0.5 GB


def score_table(
    evalset: str | Path, predictions: str | Path, target: Path, *, columns: Mapping[str, str] | None = None
) -> Scorecard:
    """Score `predictions` and write a row for each item to `target`, a Parquet file; return the scorecard of A4.

    `evalset` is JSONL, `@NAME`, or Parquet with the columns item_id (or id) and expected (or expected_answer), and
    maybe section, category, difficulty and answer_format. `columns` is as in `score_predictions`. Nothing is recorded:
    what must be shown to others later goes through `score_predictions`. Over a million items are scored a slice at a
    time, with the predictions in temporary files; only where something is wrong with them are all held to say what.

    Raises: InputError naming the row, UsageError; RecordError where `target` can't be written.
    """
    with opened_items(str(evalset)) as table:
        if table.n_rows > MOST_ITEMS_AT_ONCE:
            from benchbook.evaluators.correctness.large_tables import score_in_slices

            card = score_in_slices(table, predictions, target, columns=columns)
            if card is not None:
                return card
        items = table.whole()
    rows = align_predictions(read_predictions(predictions, columns=columns), items).drop("own_keys")
    try:
        rows = with_results(rows)
    except UsageError:
        refuse_texts(Path(evalset), items)
        raise
    write_frame(target, rows)
    return tally_rows(rows).scorecard()
