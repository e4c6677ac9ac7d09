"""Tables of outputs and predictions as people's tools write them: read, or refused with the row, the column and what
would be right (SPEC A3, C5)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from running import benchbook_here

ITEMS = [
    {"id": "a", "prompt": "How many days are in a week?", "expected_answer": "Seven"},
    {"id": "b", "prompt": "How many months are in a year?", "expected_answer": "Twelve"},
    {"id": "c", "prompt": "How many hours are in a day?", "expected_answer": "24"},
]
VERDICT = '{"accuracy_score": 2, "faithfulness_score": 2, "rationale": "Agrees."}'
OUTPUTS = ("item_id", "output", "latency_ms", "input_tokens", "output_tokens")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "items.jsonl").write_text(lines_of(ITEMS), encoding="utf-8")
    (tmp_path / "judge.json").write_text(json.dumps({"replies": [{"text": VERDICT}]}), encoding="utf-8")
    return tmp_path


def lines_of(rows: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def judged(folder: Path, table: str) -> tuple[int, str, list[dict[str, Any]]]:
    """`run` with recorded outputs: its exit, what it complains of, its rows."""
    done = benchbook_here(
        "run", "--evalset", "items.jsonl", "--model", "recorded/m@1", "--outputs", table, "--judge", "scripted/j@1",
        "--judge-path", "judge.json", "--run-id", "r", "--reports", "none", cwd=folder,
    )  # fmt: skip
    return done.returncode, done.stderr.decode(), rows_of(folder)


def scored(folder: Path, table: str) -> tuple[int, str, list[dict[str, Any]]]:
    """`score` with predictions, likewise."""
    done = benchbook_here(
        "score", "--evalset", "items.jsonl", "--predictions", table, "--run-id", "r", "--reports", "none", cwd=folder
    )
    return done.returncode, done.stderr.decode(), rows_of(folder)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    path = folder / "runs" / "r" / "samples.parquet"
    return pl.read_parquet(path).to_dicts() if path.exists() else []


def full(id_: str, output: str) -> dict[str, Any]:
    return dict(zip(OUTPUTS, (id_, output, 100, 1, 1), strict=True))


LATER = {
    "after-the-first-row": (
        [{"item_id": "a", "output": "Seven"}, full("b", "Twelve"), full("c", "24")], [None, 100, 100],
    ),
    "in-the-last-row-alone": (
        [{"item_id": "a", "output": "Seven"}, {"item_id": "b", "output": "Twelve"}, full("c", "24")], [None, None, 100],
    ),
    "one-a-row": (
        [{"item_id": "a", "output": "Seven", "input_tokens": 1}, {"item_id": "b", "output": "Twelve", "latency_ms": 7},
         {"latency_ms": 9, "output": "24", "item_id": "c"}], [None, 7, 9],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LATER)
def test_columns_that_the_first_row_lacks_are_read(folder: Path, case: str) -> None:
    """40-outputs-columns-after-first-row"""
    rows, latencies = LATER[case]
    (folder / "outputs.jsonl").write_text(lines_of(rows), encoding="utf-8")
    code, said, found = judged(folder, "outputs.jsonl")
    assert (code, [row["latency_e2e_ms"] for row in found]) == (0, latencies), said


def test_so_it_is_with_predictions(folder: Path) -> None:
    """40-outputs-columns-after-first-row"""
    rows = [{"item_id": "a", "predicted": "Seven"}, {"item_id": "b", "predicted": "Twelve", "eval_time_ms": 12}]
    (folder / "p.jsonl").write_text(lines_of(rows), encoding="utf-8")
    code, said, found = scored(folder, "p.jsonl")
    assert (code, [row["eval_time_ms"] for row in found]) == (0, [None, 12, None]), said


WHOLE = {
    "100.0": 100, "100": 100, "": None, "NaN": None, "nan": None, "100.00": 100,
}  # fmt: skip


@pytest.mark.parametrize("written", WHOLE)
@pytest.mark.parametrize("separator", [",", ";"])
def test_whole_numbers_as_pandas_writes_them_in_csv(folder: Path, written: str, separator: str) -> None:
    """42-whole-numbers-as-pandas-writes-them: beside a gap all are written with a fraction."""
    rows = [OUTPUTS, ("a", "Seven", "5.0", "10.0", "2.0"), ("b", "Twelve", "", "", ""), ("c", "24", written, "1", "2")]
    text = "".join(separator.join(row) + "\n" for row in rows)
    (folder / "outputs.csv").write_text(text, encoding="utf-8")
    code, said, found = judged(folder, "outputs.csv")
    assert (code, [row["latency_e2e_ms"] for row in found]) == (0, [5, None, WHOLE[written]]), said


@pytest.mark.parametrize("command", ["run", "score"])
@pytest.mark.parametrize("form", ["parquet", "jsonl", "csv"])
def test_nan_beside_whole_numbers_is_a_gap(folder: Path, command: str, form: str) -> None:
    """42-whole-numbers-as-pandas-writes-them: in every form, and in both commands alike."""
    time, text = ("latency_ms", "output") if command == "run" else ("eval_time_ms", "predicted")
    table = pl.DataFrame(
        {"item_id": ["a", "b", "c"], text: ["Seven", "Twelve", "24"], time: [12.0, float("nan"), 15.0]}
    )
    path = folder / f"t.{form}"
    if form == "parquet":
        table.write_parquet(path)
    elif form == "csv":
        table.write_csv(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_dicts()), encoding="utf-8")
    code, said, found = (judged if command == "run" else scored)(folder, path.name)
    column = "latency_e2e_ms" if command == "run" else "eval_time_ms"
    assert (code, [row[column] for row in found]) == (0, [12, None, 15]), said


@pytest.mark.parametrize("written", ["12.5", "-1", "1e99", "twelve", "Infinity"])
@pytest.mark.parametrize("command", ["run", "score"])
def test_what_is_no_whole_number_is_refused_with_its_place(folder: Path, command: str, written: str) -> None:
    """42-whole-numbers-as-pandas-writes-them: nothing is rounded or guessed."""
    time, text = ("latency_ms", "output") if command == "run" else ("eval_time_ms", "predicted")
    (folder / "t.csv").write_text(f"item_id,{text},{time}\na,Seven,5\nb,Twelve,{written}\n", encoding="utf-8")
    code, said, found = (judged if command == "run" else scored)(folder, "t.csv")
    assert (code, found) == (2, [])
    assert "t.csv:3: " in said
    assert written in said


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "Infinity"])
@pytest.mark.parametrize("command", ["run", "score"])
def test_what_is_no_number_in_a_column_of_ones_own_is_nothing(folder: Path, command: str, value: str) -> None:
    """44-nan-in-a-column-of-ones-own: as Python's json writes it."""
    text = "output" if command == "run" else "predicted"
    rows = [f'{{"item_id": "{item["id"]}", "{text}": "x", "logprob": {value}, "ppl": 1.5}}\n' for item in ITEMS]
    (folder / "t.jsonl").write_text("".join(rows), encoding="utf-8")
    code, said, found = (judged if command == "run" else scored)(folder, "t.jsonl")
    assert (code, len(found)) == (0, 3), said
    if command == "score":
        assert json.loads(found[0]["own"]) == {"logprob": None, "ppl": 1.5}


UNSEEN = {
    "no-break-space": ("a\u00a0", r"a\u00a0"), "zero-width-space": ("a\u200b", r"a\u200b"),
    "byte-order-mark-inside": ("\ufeffa", r"\ufeffa"), "soft-hyphen": ("a\u00ad", r"a\u00ad"),
    "direction": ("\u202ea", r"\u202ea"), "line-feed": ("a\n", r"a\u000a"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNSEEN)
@pytest.mark.parametrize("command", ["run", "score"])
def test_a_character_that_nobody_sees_is_shown(folder: Path, command: str, case: str) -> None:
    """46-id-with-an-invisible-character: and which item looks the same."""
    written, shown = UNSEEN[case]
    text = "output" if command == "run" else "predicted"
    (folder / "t.jsonl").write_text(lines_of([{"item_id": written, text: "Seven"}]), encoding="utf-8")
    code, said, found = (judged if command == "run" else scored)(folder, "t.jsonl")
    assert (code, found) == (2, [])
    assert "t.jsonl:1: " in said
    assert shown in said or (case == "line-feed" and "\\n" in said)
    assert "an item 'a' is there" in said


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("model-input-price", "0,40"),
        ("judge-output-price", "1,5"),
        ("max-cost-usd", "2,5"),
        ("model-output-price", "x"),
    ],
)
def test_a_price_with_a_comma_is_refused_with_what_is_right(folder: Path, setting: str, value: str) -> None:
    """61-decimal-comma-message: in words, and none of a library's."""
    done = benchbook_here(
        "run", "--evalset", "items.jsonl", "--model", "scripted/m@1", "--judge", "scripted/j@1", f"--{setting}", value,
        "--dry-run", cwd=folder,
    )  # fmt: skip
    said = done.stderr.decode()
    assert done.returncode == 2
    assert f"{setting.replace('-', '_')}: found '{value}'; expected " in said
    assert "Invalid" not in said
    if "," in value:
        assert value.replace(",", ".") in said
