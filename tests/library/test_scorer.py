"""How `bb.score` is told what scores, what is scored, and where the answers are from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import benchbook as bb
from benchbook.errors import BenchbookError, UsageError

ITEMS = [{"id": "a", "prompt": "One?", "expected_answer": "1"}, {"id": "b", "prompt": "Two?", "expected_answer": "2"}]
PREDICTIONS = [{"item_id": "a", "predicted": "1"}, {"item_id": "b", "predicted": "1"}]


@bb.scorer(name="equal")
def equal(item: Any, answer: str) -> dict[str, Any]:
    right = item["expected_answer"] == answer
    return {"score": right, "length": len(answer), "kind": "digit" if answer.isdigit() else None}


def one(prompt: str) -> str:
    del prompt
    return "1"


def files(folder: Path) -> tuple[str, Path]:
    pl.DataFrame(ITEMS).write_ndjson(folder / "items.jsonl")
    pl.DataFrame(PREDICTIONS).write_parquet(folder / "predictions.parquet")
    return str(folder / "items.jsonl"), folder / "predictions.parquet"


@pytest.mark.slow
def test_a_scorer_stands_first_or_is_the_spec(tmp_path: Path) -> None:
    items, predictions = files(tmp_path)
    runs = [
        bb.score(equal, items, predictions, runs=tmp_path / "runs"),
        bb.score(equal, evalset=ITEMS, predictions=PREDICTIONS, runs=tmp_path / "runs"),
        bb.score(equal, ITEMS, pl.DataFrame(PREDICTIONS), runs=tmp_path / "runs"),
        bb.score(items, predictions, spec=equal, runs=tmp_path / "runs"),
        bb.score(evalset=items, predictions=predictions, spec=equal, runs=tmp_path / "runs"),
        bb.score(equal, ITEMS, model=one, runs=tmp_path / "runs"),
    ]
    assert [(run.spec, run.samples["score"].to_list()) for run in runs] == [("equal@v1", [1.0, 0.0])] * 6
    assert {run.manifest.spec_sha256 for run in runs} == {equal.spec.sha256}


def test_without_one_all_is_as_it_was(tmp_path: Path) -> None:
    items, predictions = files(tmp_path)
    for made in (
        bb.score(items, predictions, runs=tmp_path / "runs"),
        bb.score(items, predictions=predictions, runs=tmp_path / "runs"),
        bb.score(ITEMS, PREDICTIONS, runs=tmp_path / "runs"),
        bb.score(evalset=items, predictions=str(predictions), runs=tmp_path / "runs"),
    ):
        assert isinstance(made, bb.CorrectnessRun)
        assert made.aggregates.n_correct == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scorer": equal, "evalset": ITEMS, "spec": "contains@v1"}, "found a scorer and spec; expected one of them"),
        (
            {"scorer": one, "evalset": ITEMS, "predictions": PREDICTIONS},
            "found function as a scorer; expected",
        ),
        ({"scorer": equal, "predictions": PREDICTIONS}, "score: found no eval set; expected a path, rows or a frame"),
        ({}, "score: found no eval set"),
        ({"scorer": equal, "evalset": ITEMS, "predictions": 3}, "predictions: found int; expected a path"),
        (
            {"scorer": equal, "evalset": ITEMS, "predictions": PREDICTIONS, "model": one},
            "nobody is asked where",
        ),
    ],
)
def test_what_does_not_go_together(tmp_path: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(BenchbookError, match=said):
        bb.score(**given, runs=tmp_path)
    assert not [*tmp_path.iterdir()]


def test_what_it_named_is_a_frame(tmp_path: Path) -> None:
    made = bb.score(equal, ITEMS, PREDICTIONS, runs=tmp_path)
    assert isinstance(made, bb.ScorerRun)
    assert made.values.to_dicts() == [
        {"sample": 0, "item_id": "a", "kind": "digit", "length": 1},
        {"sample": 1, "item_id": "b", "kind": "digit", "length": 1},
    ]
    assert [row.values for row in made.rows()] == ['{"kind":"digit","length":1}'] * 2


def test_a_frame_holds_numbers_and_texts_of_one_name(tmp_path: Path) -> None:
    @bb.scorer(name="mixed")
    def mixed(item: Any, answer: str) -> Any:
        del answer
        return {"score": 1, "of": 1.5 if item.id == "a" else "text"}

    made = bb.score(mixed, ITEMS, PREDICTIONS, runs=tmp_path)
    assert isinstance(made, bb.ScorerRun)
    assert made.values["of"].to_list() == ["1.5", "text"]
    assert (made.aggregates.values["of"].mean, made.aggregates.values["of"].n) == (1.5, 1)


def test_a_dry_run_calls_nothing(tmp_path: Path) -> None:
    @bb.scorer(name="never")
    def never(item: Any, answer: str) -> bool:
        raise AssertionError(item, answer)

    made = bb.score(never, ITEMS, PREDICTIONS, runs=tmp_path, dry_run=True)
    assert made.decision.verdict == "unavailable"
    with pytest.raises(UsageError, match="its samples are unavailable"):
        _ = made.samples
    assert bb.verify(made.path).holds
