"""Predictions held against the eval set that they are about; what does not fit is named by line, never guessed over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from benchbook.errors import InputError
from benchbook.evalsets.evalset import EvalSet
from benchbook.evalsets.item_ids import KnownIds, other_expected
from benchbook.evalsets.predictions import Predictions
from benchbook.text import quoted

__all__ = ["align_predictions", "items_frame", "prediction_faults"]

_ITEM_FIELDS = ("section", "category", "difficulty", "answer_format")
_NAMED_LINES = 10


def items_frame(evalset: EvalSet) -> pl.DataFrame:
    """The items in their order: `item_id`, `expected`, section, category, difficulty, `answer_format`."""
    rows = [(item.id, item.expected_answer, *(getattr(item, name) for name in _ITEM_FIELDS)) for item in evalset]
    return pl.DataFrame(rows, dict.fromkeys(("item_id", "expected", *_ITEM_FIELDS), pl.String), orient="row")


def prediction_faults(predictions: Predictions, items: pl.DataFrame) -> list[InputError]:
    """Every prediction that can't be held against the eval set, in the order of the lines.

    An id that no item has; one that an earlier line has; an expected answer that is not the item's, to the character.
    `items` is what `items_frame` gives.
    """
    known = items.select("item_id", wanted="expected", is_item=pl.lit(value=True))
    rows = predictions.frame.join(known, on="item_id", how="left", maintain_order="left")
    other = ~_same_expected("expected", "wanted")
    known_ids = KnownIds(items["item_id"])
    faulty = rows.filter(pl.col("is_item").is_null() | pl.col("item_id").is_duplicated() | other)
    faulty = faulty.with_columns(first=pl.col("line").min().over("item_id"), other=other)
    faults = (_fault(predictions, row, known_ids) for row in faulty.iter_rows(named=True))
    return [fault for fault in faults if fault is not None]


def align_predictions(predictions: Predictions, items: pl.DataFrame) -> pl.DataFrame:
    """`items` in their order with `predicted`, `eval_time_ms` and `own_keys` beside them.

    These are null for an item without a prediction.

    Raises: InputError for the first of `prediction_faults`, telling the lines of the others.
    """
    found = predictions.frame.rename({"expected": "theirs"})
    rows = items.join(found, on="item_id", how="left", maintain_order="left")
    # One join tells whether all is well, which is nearly always; only if not are the faults looked for.
    all_fit = len(rows) == len(items) and rows["line"].count() == len(found)
    if not all_fit or not rows.select(_same_expected("theirs", "expected").all()).item():
        raise _first_of(prediction_faults(predictions, items))
    return rows.drop("line", "theirs")


def _same_expected(theirs: str, ours: str) -> pl.Expr:
    """A file that gives no expected answer has none that differs."""
    return pl.col(theirs).is_null() | pl.col(theirs).eq_missing(pl.col(ours))


def _fault(predictions: Predictions, row: Mapping[str, Any], known: KnownIds) -> InputError | None:
    path, line, item_id = predictions.path, row["line"], quoted(row["item_id"])
    if row["is_item"] is None:
        return known.unknown(path, line, row["item_id"])
    if line != row["first"]:
        found = f"{item_id} again (first on line {row['first']})"
        return InputError(path, line=line, field="item_id", found=found, expected="one prediction an item")
    if row["other"]:
        return other_expected(path, line, row["item_id"], row["expected"], row["wanted"] or "")
    return None  # the first of several lines with one id


def _first_of(faults: list[InputError]) -> InputError:
    first, others = faults[0], faults[1:]
    if not others:
        return first
    lines = ", ".join(str(fault.line) for fault in others[:_NAMED_LINES])
    lines += ", …" if len(others) > _NAMED_LINES else ""
    more = "one more fault: line" if len(others) == 1 else f"{len(others)} more faults: lines"
    if first.expected is None:
        found = f"{first.found}. And {more} {lines}"
        return InputError(first.path, line=first.line, field=first.field, found=found)
    expected = f"{first.expected}. And {more} {lines}"
    return InputError(first.path, line=first.line, field=first.field, found=first.found, expected=expected)
