"""Trainers' logs that are not what they look like: refused with the columns that are there, or read up to where they
end."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from running import benchbook_here, write_items

SWIFT = [
    {"loss": 2.3, "learning_rate": 1e-06, "memory(GiB)": 12.1, "epoch": 0.01, "global_step/max_steps": "1/100"},
    {"loss": 2.1, "learning_rate": 2e-06, "memory(GiB)": 12.1, "epoch": 0.05, "global_step/max_steps": "5/100"},
    {"train_runtime": 200.5, "train_loss": 2.0, "epoch": 1.0, "global_step/max_steps": "100/100"},
]


def scored(folder: Path, log: str, *words: str) -> tuple[int, str]:
    write_items(folder / "items.jsonl", 2)
    predictions = "".join(json.dumps({"item_id": f"i{n}", "predicted": str(n + 1)}) + "\n" for n in range(2))
    (folder / "predictions.jsonl").write_text(predictions, encoding="utf-8")
    done = benchbook_here(
        "score", "--evalset", "items.jsonl", "--predictions", "predictions.jsonl", "--training-metrics", log,
        "--run-id", "r", "--reports", "none", *words, cwd=folder,
    )  # fmt: skip
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def points(folder: Path) -> list[tuple[int, float]]:
    table = pl.read_parquet(folder / "runs" / "r" / "training_metrics.parquet")
    return [(row["step"], row["value"]) for row in table.to_dicts() if row["name"] == "loss"]


def test_a_step_that_is_written_with_how_many_there_are(tmp_path: Path) -> None:
    """36-log-without-step-column: ms-swift's is known."""
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in SWIFT), encoding="utf-8")
    code, said = scored(tmp_path, "log.jsonl")
    assert (code, points(tmp_path)) == (0, [(1, 2.3), (5, 2.1)]), said
    assert verify(Record(tmp_path / "runs" / "r")).holds


def test_a_row_whose_step_has_another_name_is_refused(tmp_path: Path) -> None:
    rows = [*SWIFT[:2], {"train_loss": 2.0, "epoch": 1.0, "step": 100}]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code, said = scored(tmp_path, "log.jsonl")
    assert (code, "log.jsonl:3: global_step/max_steps: found nothing" in said) == (2, True), said


NO_STEP = {
    "a-name-of-ones-own": ([{"loss": 2.3, "epoch": 0.01, "iter": 1}], ["iter", "epoch", "loss"]),
    "no-step-at-all": ([{"loss": 2.5, "tokens": 7}, {"loss": 2.4, "tokens": 9}], ["tokens", "loss"]),
    "a-step-in-the-last-row-alone": ([{"loss": 2.5}, {"loss": 2.4}, {"eval_loss": 2.0, "step": 2}], ["eval_loss"]),
}


@pytest.mark.parametrize("case", NO_STEP)
def test_a_loss_without_a_step_is_refused_with_the_columns_that_are_there(tmp_path: Path, case: str) -> None:
    """36-log-without-step-column: the loss is not lost in silence."""
    rows, columns = NO_STEP[case]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code, said = scored(tmp_path, "log.jsonl")
    assert code == 2, said
    assert "log.jsonl" in said
    assert "step" in said
    assert all(name in said for name in columns), said
    assert not (tmp_path / "runs" / "r").exists()


def test_so_it_is_in_csv(tmp_path: Path) -> None:
    """36-log-without-step-column"""
    (tmp_path / "log.csv").write_text("iter,loss\n1,2.5\n2,2.4\n", encoding="utf-8")
    code, said = scored(tmp_path, "log.csv")
    assert (code, "iter" in said, "loss" in said) == (2, True, True), said


def test_a_column_that_is_named_is_the_step(tmp_path: Path) -> None:
    """36-log-without-step-column: what mends it."""
    (tmp_path / "log.csv").write_text("iter,loss\n1,2.5\n2,2.4\n", encoding="utf-8")
    code, said = scored(tmp_path, "log.csv", "--training-columns", "step=iter")
    assert (code, points(tmp_path)) == (0, [(1, 2.5), (2, 2.4)]), said


WHOLE = '{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 2.4}\n'
TORN = {
    "in-a-name": '{"step": 3, "lo', "in-a-number": '{"step": 3, "loss": 2.',
    "before-its-end": '{"step": 3, "loss": 2.3',
    "in-a-character": b'{"step": 3, "note": "\xc3', "at-its-first-sign": "{",
}  # fmt: skip


@pytest.mark.parametrize("case", TORN)
def test_a_last_line_that_is_being_written_is_read_up_to_there(tmp_path: Path, case: str) -> None:
    """37-log-still-being-written: as event files are; it is said, and recorded."""
    torn = TORN[case]
    (tmp_path / "log.jsonl").write_bytes(WHOLE.encode() + (torn if isinstance(torn, bytes) else torn.encode()))
    code, said = scored(tmp_path, "log.jsonl")
    assert (code, points(tmp_path)) == (0, [(1, 2.5), (2, 2.4)]), said
    assert verify(Record(tmp_path / "runs" / "r")).holds


def test_a_broken_line_that_is_not_the_last_is_refused(tmp_path: Path) -> None:
    """37-log-still-being-written, where it is not so."""
    (tmp_path / "log.jsonl").write_text('{"step": 1, "lo\n{"step": 2, "loss": 2.4}\n', encoding="utf-8")
    code, said = scored(tmp_path, "log.jsonl")
    assert (code, "log.jsonl:1: " in said) == (2, True), said


def test_a_broken_last_line_that_was_ended_is_refused(tmp_path: Path) -> None:
    """37-log-still-being-written: its line feed says that nobody is writing it any more."""
    (tmp_path / "log.jsonl").write_text(WHOLE + '{"step": 3, "lo\n', encoding="utf-8")
    code, said = scored(tmp_path, "log.jsonl")
    assert (code, "log.jsonl:3: " in said) == (2, True), said
