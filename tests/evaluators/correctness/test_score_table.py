"""Whole columns without a record: the same rows as a record's, from the same files (A1 to A5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.errors import BenchbookError
from benchbook.evaluators.correctness.tables import score_table
from running import benchbook_here
from scored import ITEMS, PREDICTIONS, scored, write_lines

COLUMNS = ["item_id", "expected", "predicted", "correctness", "miss_reason", "eval_time_ms", "section", "difficulty"]


def parquet_items(folder: Path, **changes: Any) -> Path:
    names = ("id", "expected_answer", "section", "difficulty", "answer_format")
    rows = [tuple(item.get(name) for name in names) for item in ITEMS]
    frame = pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row").with_columns(**changes)
    frame.write_parquet(folder / "items.parquet")
    return folder / "items.parquet"


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_the_table_has_the_rows_of_a_record(form: str, tmp_path: Path) -> None:
    made = scored(tmp_path)
    evalset = tmp_path / "items.jsonl" if form == "jsonl" else parquet_items(tmp_path)
    card = score_table(evalset, tmp_path / "predictions.jsonl", tmp_path / "out.parquet")
    found = pl.read_parquet(tmp_path / "out.parquet").select(COLUMNS)
    assert found.rows() == pl.read_parquet(made.record.samples).select(COLUMNS).rows()
    file = made.derived.aggregates
    for name in ("n_items", "n_scored", "n_skipped", "primary_score", "stddev", "misses", "section", "difficulty"):
        assert getattr(card, name) == getattr(file, name)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({"id": pl.lit("a")}, "items.parquet:2: item_id: found 'a' again (first in row 1)", id="twice"),
        pytest.param({"id": pl.lit(None, pl.String)}, "items.parquet:1: item_id: found nothing", id="no-id"),
        pytest.param({"id": pl.lit(7)}, "item_id: found a column of Int32", id="numbers"),
        pytest.param({"item_id": pl.lit("x")}, "item_id: found item_id and id", id="two-columns"),
        pytest.param({"expected_answer": pl.lit(" ")}, "items.parquet:1: expected: found nothing but", id="blank"),
        pytest.param({"expected_answer": pl.lit(None, pl.String)}, "1: expected: found nothing", id="no-answer"),
        pytest.param({"answer_format": pl.lit("xml")}, "items.parquet:1: answer_format: found 'xml'", id="format"),
    ],
)
def test_items_that_can_not_be_scored_are_refused(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    predictions = write_lines(tmp_path / "p.jsonl", [{"id": "a", "output": "2"}])
    with pytest.raises(BenchbookError) as caught:
        score_table(parquet_items(tmp_path, **changes), predictions, tmp_path / "out.parquet")
    assert says in str(caught.value)
    assert not (tmp_path / "out.parquet").exists()


def test_files_that_are_not_what_they_say(tmp_path: Path) -> None:
    predictions = write_lines(tmp_path / "p.jsonl", PREDICTIONS)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 not")
    with pytest.raises(BenchbookError, match="no readable Parquet"):
        score_table(tmp_path / "bad.parquet", predictions, tmp_path / "out.parquet")
    with pytest.raises(BenchbookError, match=r"gone\.parquet"):
        score_table(tmp_path / "gone.parquet", predictions, tmp_path / "out.parquet")


def test_from_the_command_line(tmp_path: Path) -> None:
    evalset, predictions = parquet_items(tmp_path), write_lines(tmp_path / "p.jsonl", PREDICTIONS)
    files = {"--evalset": evalset, "--predictions": predictions, "--table": tmp_path / "o.parquet"}
    words = ["score", *(word for name, path in files.items() for word in (name, str(path)))]
    made = benchbook_here(*words)
    assert (made.returncode, made.stdout.splitlines()[0]) == (0, b"0.4: 2 of 5 items correct; 1 without a prediction")
    refused = benchbook_here(*words, "--run-id", "x")
    assert (refused.returncode, b"--run-id: nothing is recorded" in refused.stderr) == (2, True)
