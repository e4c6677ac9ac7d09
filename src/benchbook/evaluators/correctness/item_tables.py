"""The items that a table is scored by, all at once or some rows at a time: out of an eval set, or somebody's Parquet.

Parquet needs the columns item_id (or id) and expected (or expected_answer), and maybe section, category, difficulty and
answer_format; nothing else of an item is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Protocol, get_args

import polars as pl

from benchbook.errors import InputError
from benchbook.evalsets import open_evalset
from benchbook.evalsets.evalset import EvalSet
from benchbook.evalsets.opening import evalset_path
from benchbook.evalsets.predictions import ForeignParquet, foreign_parquet, items_frame
from benchbook.evaluators.correctness.columns import WHITE_SPACE
from benchbook.evaluators.correctness.scoring import AnswerFormat
from benchbook.text import shorten

_TEXTS = ("section", "category", "difficulty", "answer_format")
_NAMES = {"item_id": ("item_id", "id"), "expected": ("expected", "expected_answer")}
_ITEMS_AT_ONCE = 1 << 14  # of an eval set, whose items are objects


class ItemTable(Protocol):
    """Items as frames of texts: `item_id`, `expected`, and what else of an item is known."""

    @property
    def n_rows(self) -> int: ...

    def whole(self) -> pl.DataFrame:
        """All items, whose ids differ. Raises: InputError naming the row."""
        ...

    def frames(self) -> Iterator[pl.DataFrame]:
        """The items in order, some at a time; whether ids differ is not looked at. Raises: InputError."""
        ...

    def ids(self) -> Iterator[pl.Series]:
        """Their ids alone, likewise."""
        ...


@contextmanager
def opened_items(evalset: str) -> Iterator[ItemTable]:
    """The items of an eval set by its name in settings, or of a Parquet file, to be read within the block.

    Raises: InputError naming the line, UsageError.
    """
    if evalset.endswith(".parquet"):
        with foreign_parquet(Path(evalset)) as file:
            yield _ParquetItems(Path(evalset), file)
    else:
        with open_evalset(evalset_path(evalset), needs_expected_answer=True) as items:
            yield _SetItems(items)


class _SetItems:
    def __init__(self, evalset: EvalSet) -> None:
        self._evalset = evalset
        self.n_rows = len(evalset)

    def whole(self) -> pl.DataFrame:
        return items_frame(self._evalset)

    def frames(self) -> Iterator[pl.DataFrame]:
        items = iter(self._evalset)
        while some := list(islice(items, _ITEMS_AT_ONCE)):
            yield items_frame(some)

    def ids(self) -> Iterator[pl.Series]:
        return (frame["item_id"] for frame in self.frames())


class _ParquetItems:
    def __init__(self, path: Path, file: ForeignParquet) -> None:
        self._path, self._file = path, file
        self._asked = _columns(path, file.schema)
        self.n_rows = file.n_rows

    def whole(self) -> pl.DataFrame:
        items = self._texts(self._file.select(self._asked))
        _refuse_ids(self._path, items["item_id"])
        return items

    def frames(self) -> Iterator[pl.DataFrame]:
        return map(self._texts, self._file.frames(self._asked))

    def ids(self) -> Iterator[pl.Series]:
        for frame in self._file.frames({"item_id": self._asked["item_id"]}):
            yield self._texts(frame)["item_id"]

    def _texts(self, items: pl.DataFrame) -> pl.DataFrame:
        for name, dtype in items.schema.items():
            if dtype not in (pl.String, pl.Null):
                raise InputError(self._path, field=name, found=f"a column of {dtype}", expected="texts")
        return items.cast(pl.String)


def _columns(path: Path, schema: pl.Schema) -> dict[str, pl.Expr]:
    """The file's columns by our names."""
    found = {ours: [name for name in theirs if name in schema] for ours, theirs in _NAMES.items()}
    for ours, names in found.items():
        if len(names) != 1:
            what = " and ".join(names) or f"no such column among {', '.join(schema)}"
            raise InputError(path, field=ours, found=what, expected=" or ".join(_NAMES[ours]))
    texts = {ours: names[0] for ours, names in found.items()} | {name: name for name in _TEXTS if name in schema}
    return {ours: pl.col(theirs) for ours, theirs in texts.items()}


def _refuse_ids(path: Path, ids: pl.Series) -> None:
    if (missing := ids.is_null()).any():
        raise InputError(path, line=missing.arg_true()[0] + 1, field="item_id", found="nothing", expected="a text")
    # Different hashes are of different ids, and quicker to count; equal ones are looked at again.
    if ids.hash().n_unique() != len(ids) != ids.n_unique():
        row = (~ids.is_first_distinct()).arg_true()[0]
        found = f"{ids[row]!r} again (first in row {(ids == ids[row]).arg_true()[0] + 1})"
        raise InputError(path, line=row + 1, field="item_id", found=found, expected="an id of its own")


def refuse_texts(path: Path, items: pl.DataFrame) -> None:
    """Refuse a row that the scorer would refuse by its number alone, with the file's name and the field."""
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
