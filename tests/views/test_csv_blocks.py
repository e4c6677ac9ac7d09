"""Rows that Polars writes as CSV have the bytes that they have one by one, hostile texts and odd numbers too."""

from __future__ import annotations

import csv
import io
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.text import visible
from benchbook.views.csv_blocks import ITEMS, SAMPLES, csv_block, csv_head
from benchbook.views.csv_files import csv_lines, csv_report, inert
from support import examples

STARTS = [
    "=",
    "+",
    "-",
    "@",
    "＝",
    "﹢",
    "⁻",
    "₊",
    "−",
    "\t",
    "\r",
    "'",
    "«",
    " ",
    "\u200b",
    "\ufeff",
    "\xa0",
    "(",
    "",
    "a",
]
TEXT = st.tuples(
    st.sampled_from(STARTS), st.sampled_from(STARTS), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
).map("".join)
ROW = st.fixed_dictionaries({
    "text": st.none() | TEXT,
    "texts": st.none() | st.lists(TEXT, max_size=2),
    "some": st.none() | st.lists(st.none() | TEXT, max_size=2),
    "whole": st.none() | st.integers(-(2**63), 2**63 - 1),
    "number": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "is": st.none() | st.booleans(),
    "parts": st.none() | st.lists(st.fixed_dictionaries({"b": st.integers(0, 9), "a": TEXT}), max_size=2),
})  # fmt: skip
SCHEMA = {
    "text": pl.String, "texts": pl.List(pl.String), "some": pl.List(pl.String), "whole": pl.Int64,
    "number": pl.Float64, "is": pl.Boolean, "parts": pl.List(pl.Struct({"b": pl.Int64, "a": pl.String})),
}  # fmt: skip


def written_by_rows(rows: list[dict[str, Any]], columns: list[str]) -> bytes:
    return "".join(csv_lines(rows, columns)).encode()


def items_by_rows(rows: list[dict[str, Any]]) -> bytes:
    """As Python's own writer has it, each text inert and visible."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    for row in rows:
        writer.writerow([visible(inert(one)) if isinstance(one, str) else one for one in row.values()])
    return text.getvalue().encode()


@examples(100)
@given(st.lists(ROW, max_size=5))
def test_samples_have_the_bytes_of_rows_written_one_by_one(rows: list[dict[str, Any]]) -> None:
    frame = pl.DataFrame(rows, SCHEMA)
    columns = ["number", *(name for name in SCHEMA if name != "number")]
    assert csv_block(frame, columns, SAMPLES) == written_by_rows(rows, columns)


@examples(100)
@given(st.lists(ROW, max_size=5))
def test_items_have_the_bytes_of_pythons_writer(rows: list[dict[str, Any]]) -> None:
    names = ["whole", "text", "number", "is"]
    frame = pl.DataFrame(rows, SCHEMA).select(names)
    assert csv_block(frame, names, ITEMS) == items_by_rows([{name: row[name] for name in names} for row in rows])


@pytest.mark.parametrize(
    "number",
    [0.0, -0.0, 1.0, 0.1, 0.8375, 100.0, 1e-4, 9.999e-5, 1e-5, 1.5e-7, 123456.789, 1e15, 999999999999999.9, 1e16, 1e17,
     1.7976931348623157e308, 5e-324, -2.5, 0.30000000000000004, 1 / 3],
)  # fmt: skip
def test_numbers_are_as_python_writes_them(number: float) -> None:
    frame = pl.DataFrame({"x": [number, None]}, {"x": pl.Float64})
    assert csv_block(frame, ["x"], SAMPLES) == f"{number!r}\r\n\r\n".encode()


@pytest.mark.parametrize("words", ["=1+1", "\u202e=1", " ＝SUM(A1)", "−1", '"=1"', "a\rb", "a\x1b[31m", "x\u2066"])
def test_hostile_texts_are_inert(words: str) -> None:
    line = csv_block(pl.DataFrame({"x": [words]}), ["x"], SAMPLES)
    assert line == "".join(csv_lines([{"x": words}], ["x"])).encode()
    assert words.encode() not in line or line.startswith(b"\"'")


def test_names_of_classes_and_the_head() -> None:
    frame = pl.DataFrame({"class": ["a", None]}, {"class": pl.Enum(["a", "b"])})
    assert csv_block(frame, ["class"], ITEMS) == b"a\r\n\r\n"
    names = ["item_id", "=1", 'a"b']
    assert csv_head(names, SAMPLES) == "".join(csv_report((), names)).encode()
    assert csv_head(["a", "b,c"], ITEMS) == b'a,"b,c"\r\n'


def test_no_rows_are_no_lines() -> None:
    assert csv_block(pl.DataFrame(schema=SCHEMA), list(SCHEMA), SAMPLES) == b""
