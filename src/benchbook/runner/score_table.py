"""`answer_correctness@v1` over whole columns, without a record: millions of items in seconds (SPEC A1 to A5)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from benchbook.errors import InputError, RecordError, UsageError
from benchbook.evalsets import open_evalset
from benchbook.runner.preparing import evalset_path
from benchbook.scorers.answer_correctness import AnswerFormat
from benchbook.scorers.answer_correctness_scorecard import Scorecard, tally_columns
from benchbook.text import shorten

if TYPE_CHECKING:
    import polars

__all__ = ["score_table"]

_TEXTS = ("section", "category", "difficulty", "answer_format")
_NAMES = {"item_id": ("item_id", "id"), "expected": ("expected", "expected_answer")}


def score_table(
    evalset: str | Path, predictions: str | Path, target: Path, *, columns: Mapping[str, str] | None = None
) -> Scorecard:
    """Score `predictions` and write a row an item to `target`, a Parquet file; returns the scorecard of A4.

    `evalset` is JSONL, `@NAME`, or Parquet with the columns item_id (or id) and expected (or expected_answer), and
    maybe section, category, difficulty and answer_format. `columns` is as in `score_predictions`. Nothing is recorded:
    what must be shown to others later goes through `score_predictions`.

    Raises: InputError naming the row, UsageError; RecordError where `target` can't be written.
    """
    import polars as pl

    from benchbook.evalsets.prediction_alignment import align_predictions
    from benchbook.evalsets.predictions import read_predictions
    from benchbook.scorers.answer_correctness_columns import score_columns

    items = _items(str(evalset))
    rows = align_predictions(read_predictions(predictions, columns=columns), items).drop("own_keys")
    try:
        scored = rows.hstack(score_columns(rows))
    except UsageError:
        _refuse_texts(Path(evalset), items)
        raise
    _write(scored.rename({"reason": "miss_reason"}), target)
    names = [name for name in ("reason", *_TEXTS[:3]) if name in scored.columns]
    return tally_columns(pl.DataFrame(scored.select(names))).scorecard()


def _items(evalset: str) -> polars.DataFrame:
    from benchbook.evalsets.prediction_alignment import items_frame

    if evalset.endswith(".parquet"):
        return _parquet_items(Path(evalset))
    with open_evalset(evalset_path(evalset), needs_expected_answer=True) as items:
        return items_frame(items)


def _parquet_items(path: Path) -> polars.DataFrame:
    import polars as pl

    try:
        lazy = pl.scan_parquet(path)
        schema = lazy.collect_schema()
        found = {ours: [name for name in theirs if name in schema] for ours, theirs in _NAMES.items()}
        for ours, names in found.items():
            if len(names) != 1:
                what = " and ".join(names) or f"no such column among {', '.join(schema)}"
                raise InputError(path, field=ours, found=what, expected=" or ".join(_NAMES[ours]))
        texts = [*(pl.col(names[0]).alias(ours) for ours, names in found.items()), *(n for n in _TEXTS if n in schema)]
        items = lazy.select(texts).collect()
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None
    except pl.exceptions.PolarsError as error:
        raise InputError(path, found=f"no readable Parquet ({error})", expected="a Parquet file") from None
    for name, dtype in items.schema.items():
        if dtype not in (pl.String, pl.Null):
            raise InputError(path, field=name, found=f"a column of {dtype}", expected="texts")
    items = items.cast(pl.String)
    _refuse_ids(path, items["item_id"])
    return items


def _refuse_texts(path: Path, items: polars.DataFrame) -> None:
    """What the scorer refuses by its row alone, with the file's name and the field."""
    import polars as pl

    from benchbook.scorers.answer_correctness_columns import WHITE_SPACE

    blank = pl.col("expected").is_null() | (pl.col("expected").str.strip_chars(WHITE_SPACE) == "")
    faults = [("expected", blank, "a non-empty text")]
    if "answer_format" in items.columns:
        known = get_args(AnswerFormat)
        faults.append(("answer_format", ~pl.col("answer_format").is_in(known), f"{' or '.join(known)}, or nothing"))
    for name, is_fault, expected in faults:
        wrong = items.select(row=pl.int_range(1, pl.len() + 1), value=name, is_fault=is_fault).filter("is_fault")
        if not wrong.is_empty():
            value = shorten(wrong["value"][0] or "", 60)
            found = repr(value) if value else "nothing but white space" if wrong["value"][0] else "nothing"
            raise InputError(path, line=wrong["row"][0], field=name, found=found, expected=expected)


def _refuse_ids(path: Path, ids: polars.Series) -> None:
    if (missing := ids.is_null()).any():
        raise InputError(path, line=missing.arg_true()[0] + 1, field="item_id", found="nothing", expected="a text")
    # Different hashes are of different ids, and quicker to count; equal ones are looked at again.
    if ids.hash().n_unique() != len(ids) != ids.n_unique():
        row = (~ids.is_first_distinct()).arg_true()[0]
        found = f"{ids[row]!r} again (first in row {(ids == ids[row]).arg_true()[0] + 1})"
        raise InputError(path, line=row + 1, field="item_id", found=found, expected="an id of its own")


def _write(scored: polars.DataFrame, target: Path) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        scored.write_parquet(temporary)
        temporary.replace(target)
    except OSError as error:
        raise RecordError(f"{target}: can't be written ({error.strerror or error})") from None
    finally:
        temporary.unlink(missing_ok=True)
