"""SPEC A3, A5: predictions out of other people's files, and every row that doesn't fit named by its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.errors import ConfigError, InputError
from benchbook.evalsets import EvalSet, open_evalset
from benchbook.evalsets.predictions import align_predictions, items_frame, prediction_faults, read_predictions
from support import shared_data

EXPECTED = {"a": "2", "b": "Paris", "c": "x\u2028y"}


@pytest.fixture
def evalset(tmp_path: Path) -> Iterator[EvalSet]:
    path = tmp_path / "set.jsonl"
    lines = [json.dumps({"id": key, "prompt": f"{key}?", "expected_answer": text}) for key, text in EXPECTED.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with open_evalset(path) as opened:
        yield opened


def jsonl(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "predictions.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def texts(path: Path, evalset: EvalSet, **more: Any) -> list[str | None]:
    return align_predictions(read_predictions(path, **more), items_frame(evalset))["predicted"].to_list()


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        pytest.param(
            {"item_id": "b", "predicted": "Rome"}, {"item_id": "item_id", "predicted": "predicted"}, id="ours"
        ),
        pytest.param(
            {"id": "b", "predicted_answer": "Rome", "expected_answer": "Paris", "correct": False},
            {"item_id": "id", "predicted": "predicted_answer", "expected": "expected_answer"},
            id="tunix",
        ),
        pytest.param({"id": "b", "output": "Rome"}, {"item_id": "id", "predicted": "output"}, id="output"),
        pytest.param(
            {"trace_version": "1.0", "final_answer": "Rome", "steps": [], "meta": {"eval_id": "b"}},
            {"item_id": "meta.eval_id", "predicted": "final_answer"},
            id="trace",
        ),
    ],
)
def test_columns_are_recognised_and_told(
    row: dict[str, Any], columns: dict[str, str], evalset: EvalSet, tmp_path: Path
) -> None:
    path = jsonl(tmp_path, row)
    assert read_predictions(path).columns == columns
    assert texts(path, evalset) == [None, "Rome", None]


def test_columns_are_mapped(evalset: EvalSet, tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"key": {"n": "b"}, "id": "not this", "text": "Rome"})
    mapping = {"item_id": "key.n", "predicted": "text"}
    assert read_predictions(path, columns=mapping).columns == mapping
    assert texts(path, evalset, columns=mapping) == [None, "Rome", None]


@pytest.mark.parametrize(
    "mapping", [pytest.param({"score": "output"}, id="ours"), pytest.param({"predicted": "text"}, id="theirs")]
)
def test_a_mapping_of_a_column_that_is_not_there_is_refused(mapping: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        read_predictions(jsonl(tmp_path, {"id": "a", "output": "1"}), columns=mapping)


def test_the_three_forms_say_the_same(evalset: EvalSet, tmp_path: Path) -> None:
    values = [None, "caf\xe9", 'x\u2028y\n, "z"']
    frame = pl.DataFrame(
        {"id": ["c", "a", "b"], "output": [values[2], values[0], values[1]], "eval_time_ms": [1, 2, 3]}
    )
    frame.write_csv(tmp_path / "p.csv")
    frame.write_parquet(tmp_path / "p.parquet")
    frame.write_ndjson(tmp_path / "p.jsonl")
    for name in ("p.csv", "p.parquet", "p.jsonl"):
        aligned = align_predictions(read_predictions(tmp_path / name), items_frame(evalset))
        assert aligned["predicted"].to_list() == values
        assert aligned["eval_time_ms"].to_list() == [2, 3, 1]


def test_a_byte_order_mark_and_crlf_are_read(evalset: EvalSet, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id":"a","output":"1"}\r\n\r\n{"id":"b","output":"2"}\r\n')
    assert texts(path, evalset) == ["1", "2", None]
    assert read_predictions(path).frame["line"].to_list() == [1, 3]


@pytest.mark.parametrize(
    ("rows", "line", "reason"),
    [
        pytest.param([{"id": "a", "output": "1"}, {"id": "z", "output": "1"}], 2, "'z'", id="unknown-id"),
        pytest.param([{"id": "a", "output": "1"}, "", {"id": "a", "output": "1"}], 3, "first on line 1", id="id-twice"),
        pytest.param([{"id": "a", "output": "1", "expected": "3"}], 1, "'2', as the eval set has it", id="expected"),
        pytest.param([{"id": "a", "output": "1", "expected": 2}], 1, "found 2", id="expected-number"),
        pytest.param([{"id": "a", "output": 1.5}], 1, "found 1.5", id="number"),
        pytest.param([{"id": "a", "output": True}], 1, "found True", id="bool"),
        pytest.param([{"id": 1, "output": "1"}], 1, "found '1'", id="number-as-id"),
        pytest.param([{"id": 1.5, "output": "1"}], 1, "found 1.5", id="fraction-as-id"),
        pytest.param([{"id": "a", "output": "1", "eval_time_ms": 1.5}], 1, "whole milliseconds", id="time"),
        pytest.param(['{"id": "a", "output": "1"}', '{"id": '], 2, "no JSON object", id="cut"),
        pytest.param([{"id": "a", "text": "1"}], 1, "no such column among id, text", id="no-column"),
        pytest.param([{"id": "a", "item_id": "a", "output": "1"}], 1, "item_id and id", id="two-ids"),
        pytest.param([{"id": "a", "output": "1", "predicted": "2"}], 1, "predicted and output", id="two-outputs"),
        pytest.param([{"id": "a", "output": "1"}, {"id": "b", "predicted": "2"}], 2, "predicted", id="another-name"),
    ],
)
def test_what_does_not_fit_is_named_by_its_line(
    rows: list[Any], line: int | None, reason: str, evalset: EvalSet, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        texts(jsonl(tmp_path, *rows), evalset)
    assert caught.value.line == line
    assert reason in str(caught.value)
    assert caught.value.exit_code == 2


def test_every_row_that_does_not_fit_is_named(evalset: EvalSet, tmp_path: Path) -> None:
    path = jsonl(tmp_path, *({"id": f"z{number}", "output": "1"} for number in range(30)))
    faults = prediction_faults(read_predictions(path), items_frame(evalset))
    assert [fault.line for fault in faults] == list(range(1, 31))
    with pytest.raises(InputError, match=r"And 29 more faults: lines 2, 3, .*, 11, …"):
        texts(path, evalset)


@pytest.mark.parametrize(
    "values",
    [[b"x"], [[b"x"]], [{"inner": b"x"}]],
    ids=["bytes", "in-a-list", "in-an-object"],
)
def test_bytes_in_parquet_are_no_keys_of_the_run(tmp_path: Path, values: list[Any]) -> None:
    """Polars panics when it is to write them as JSON."""
    pl.DataFrame({"id": ["a"], "output": ["2"], "image": values}).write_parquet(tmp_path / "p.parquet")
    with pytest.raises(InputError, match=r"image: found a column of .*Binary.*; expected values that JSON has"):
        read_predictions(tmp_path / "p.parquet", own_keys=True)
    assert len(read_predictions(tmp_path / "p.parquet").frame) == 1


def test_numbers_in_parquet_are_no_texts(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a"], "output": [1.5]}).write_parquet(tmp_path / "p.parquet")
    with pytest.raises(InputError, match="predicted: found a column of Float64; expected texts"):
        read_predictions(tmp_path / "p.parquet")


@pytest.mark.parametrize("name", ["m44_v1_trace", "m45_m44_baseline", "m46_m46_self_correct"])
def test_real_predictions_are_read(name: str) -> None:
    folder = shared_data("tunix-rt")
    found = read_predictions(folder / f"{name}_predictions.jsonl")
    with open_evalset(folder / "eval_v2_original.jsonl") as evalset:
        aligned = align_predictions(found, items_frame(evalset))
    assert aligned["predicted"].count() == 100
    assert found.columns["item_id"] == ("meta.eval_id" if "trace" in name else "id")
