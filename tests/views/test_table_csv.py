"""The CSV: it reads back, and no cell is a formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import msgspec
import pytest

from benchbook.evaluators.rubric.rows import RubricRow
from benchbook.text import visible
from benchbook.views.csv_files import csv_report, inert
from rubric_v1 import ROW
from views.made_up import HOSTILE, good, hostile_rows, silent, unscored


@pytest.fixture(autouse=True)
def _long_cells() -> Iterator[None]:
    before = csv.field_size_limit(10**8)
    yield
    csv.field_size_limit(before)


def csv_of(rows: list[RubricRow]) -> Iterator[str]:
    return csv_report(map(msgspec.structs.asdict, rows), ROW.__struct_fields__)


def read(rows: list[RubricRow]) -> list[dict[str, str]]:
    written = "".join(csv_of(rows))
    written.encode("utf-8")
    return list(csv.DictReader(io.StringIO(written, newline=""), strict=True))


def test_every_field_is_a_column_and_every_row_a_record() -> None:
    rows = hostile_rows()
    back = read(rows)
    assert len(back) == len(rows)
    assert tuple(back[0]) == ROW.__struct_fields__
    assert [one["sample"] for one in back] == [str(n) for n in range(len(rows))]


def test_lines_end_as_rfc_4180_asks() -> None:
    lines = "".join(csv_of([good(0), good(1)])).split("\r\n")
    assert len(lines) == 4
    assert lines[-1] == ""


def test_null_and_empty_are_told_apart() -> None:
    (line,) = list(csv_of([good(0, candidate_answer="", rationale=None, judge_replies=[])]))[1:]
    fields = dict(zip(ROW.__struct_fields__, line.split(","), strict=False))
    assert (fields["candidate_answer"], fields["rationale"]) == ('""', "")


def test_numbers_are_numbers() -> None:
    (one,) = read([good(0, queue_ms=-5)])
    assert (one["queue_ms"], one["latency_e2e_ms"], one["passed"]) == ("-5", "900", "true")
    assert one["sample_score"] == "1.0"


def test_replies_are_json_and_reasons_a_list() -> None:
    one, two = read([unscored(0), silent(1)])
    replies = json.loads(one["judge_replies"])
    assert [(reply["attempt"], reply["parse_error_reason"]) for reply in replies] == [
        (1, "malformed_json"),
        (2, "malformed_json"),
    ]
    assert two["fail_reasons"].split("; ")[:2] == ["accuracy_below_minimum", "faithfulness_unscored"]


@pytest.mark.parametrize(
    "cell",
    [
        "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\tx", "\rx", " =1", "\n=1", "\u00a0=1", "\u3000=1", '"=1', "'=1",
        "“=1", "＝1", "＋1", "－1", "＠x", "﹦1", "−1", "\ufeff=1", "\u200b=1", ' " =1', "=", "-",
    ],
)  # fmt: skip
def test_a_formula_is_made_inert(cell: str) -> None:
    assert inert(cell) == f"'{cell}"
    (back,) = read([good(0, candidate_answer=cell)])
    assert back["candidate_answer"] == visible(f"'{cell}")


@pytest.mark.parametrize("cell", ["", "x", "1", "a=1", "12-3", "(=1)", " ", "7 + 1", "“quoted”", "e=mc²"])
def test_other_text_stays_as_it_is(cell: str) -> None:
    assert inert(cell) == cell


@pytest.mark.parametrize("words", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_whole_and_in_its_cell(words: str) -> None:
    (back,) = read([good(0, candidate_answer=words)])
    assert back["candidate_answer"] == visible(inert(words))
    assert back["item_id"] == "item-00"
