"""Rows of this process as an eval set, functions of it as model and judge: recorded by hash, resumed, verified."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import benchbook as bb
from benchbook.errors import ConfigError, InputError, UsageError

ROWS = [
    {"id": "a", "prompt": "One and one?", "expected_answer": "2", "level": 1},
    {"id": "b", "prompt": "Two and two?", "expected_answer": "4", "context": {"hint": [2, 2]}},
]
GOOD = '{"accuracy_score": 2, "faithfulness_score": 2, "rationale": "Right."}'


def model(prompt: str) -> str:
    return "2" if "One" in prompt else "4"


def judge(prompt: str) -> dict[str, Any]:
    assert "strict evaluation judge" in prompt
    return {"text": GOOD, "input_tokens": 300, "output_tokens": 20}


class Rows(list[dict[str, Any]]):
    """As a Hugging Face data set gives them."""


class Frame:
    """As pandas gives them; it is no dependency."""

    iloc = None

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        assert orient == "records"
        return [row | {"group": float("nan")} for row in ROWS]


@pytest.mark.parametrize(
    "evalset",
    [
        pytest.param(ROWS, id="list"),
        pytest.param(Rows(ROWS), id="data-set"),
        pytest.param(pl.DataFrame([{k: v for k, v in row.items() if k != "context"} for row in ROWS]), id="polars"),
        pytest.param(Frame(), id="pandas"),
    ],
)
def test_rows_and_functions_make_a_run_that_verifies(tmp_path: Path, evalset: Any) -> None:
    made = bb.run(evalset=evalset, model=model, judge=judge, runs=tmp_path / "runs")
    assert (made.aggregates.ledger.n_scored, made.stopped) == (2, None)
    assert [row.candidate_answer for row in made.rows()] == ["2", "4"]
    assert bb.verify(made.path).findings == ()
    started = made.record.started()
    assert started.config["evalset"] == "memory:items"
    assert started.config["model"].startswith("python/model@sha256:")
    assert str(tmp_path) not in str(started.config | {"runs": ""})
    assert made.manifest.evaluator_model_version is not None


def test_the_same_rows_are_the_same_set(tmp_path: Path) -> None:
    hashes = {
        bb.run(evalset=rows, model=model, judge=judge, runs=tmp_path).manifest.dataset_version_or_hash
        for rows in (ROWS, Rows(ROWS), [*ROWS])
    }
    assert len(hashes) == 1


def test_a_function_that_fails_leaves_samples_unanswered_and_is_asked_again(tmp_path: Path) -> None:
    broken = [True]

    def flaky(prompt: str) -> str:
        if broken[0] and "Two" in prompt:
            raise ValueError("no \x1b[31mmemory")
        return model(prompt)

    made = bb.run(evalset=ROWS, model=flaky, judge=judge, runs=tmp_path, run_id="r")
    assert made.stopped is not None
    (one,) = made.aggregates.unanswered
    assert "ValueError: no" in one.says
    assert "\x1b" not in one.says
    broken[0] = False
    again = bb.resume(made.path, model=flaky)
    assert (again.aggregates.ledger.n_scored, again.stopped) == (2, None)
    assert bb.verify(again.path).findings == ()


def test_another_function_can_not_go_on(tmp_path: Path) -> None:
    made = bb.run(evalset=ROWS, model=model, judge=judge, runs=tmp_path)
    with pytest.raises(UsageError, match="model is part of the plan"):
        bb.resume(made.path, model=lambda prompt: prompt)


@pytest.mark.parametrize(
    ("returned", "said"),
    [(3, "the function returned int"), ({"text": "x", "tokens": 3}, "returned dict"), ({"text": 3}, "returned dict")],
)
def test_what_is_no_answer_stops_the_run(tmp_path: Path, returned: Any, said: str) -> None:
    made = bb.run(evalset=ROWS, model=lambda _: returned, judge=judge, runs=tmp_path)
    assert made.stopped is not None
    assert said in made.stopped


def test_a_function_may_wait_and_may_say_nothing(tmp_path: Path) -> None:
    async def slowly(prompt: str) -> str | None:
        await asyncio.sleep(0)
        return None if "Two" in prompt else "2"

    made = bb.run(evalset=ROWS, model=slowly, judge=judge, runs=tmp_path)
    assert [row.score_origin for row in made.rows()] == [None, "rule:no_answer"]


def test_conversations_come_as_messages(tmp_path: Path) -> None:
    asked: list[Any] = []

    def answering(messages: Any) -> str:
        asked.append(messages)
        return "2"

    talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "One and one?"}]
    bb.run(evalset=[{"id": "a", "messages": talk}], model=answering, judge=judge, runs=tmp_path)
    assert asked == [talk]


def test_predictions_may_be_scored_on_rows_and_a_function_asked(tmp_path: Path) -> None:
    predictions = tmp_path / "p.jsonl"
    predictions.write_text('{"item_id": "a", "predicted": "2"}\n{"item_id": "b", "predicted": "5"}\n', encoding="utf-8")
    assert bb.score(ROWS, predictions, runs=tmp_path / "runs").aggregates.n_correct == 1
    asked = bb.score(ROWS, model=model, runs=tmp_path / "runs")
    assert asked.aggregates.n_correct == 2
    assert bb.verify(asked.path).findings == ()


@pytest.mark.parametrize(
    ("evalset", "said"),
    [
        (3, "evalset: found int; expected a path, a list of mappings"),
        ({"id": "a"}, "evalset: found dict"),
        ([1], "items:1: found int; expected a mapping"),
        ([{"id": "a", "prompt": object()}], "items:1: what JSON has no form for (the type object)"),
        ([{"id": "a"}], "prompt: found nothing"),
    ],
)
def test_what_is_no_set_is_told(tmp_path: Path, evalset: Any, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        bb.run(evalset=evalset, model=model, judge=judge, runs=tmp_path)


@pytest.mark.parametrize("given", [{"model": 3}, {"model": ["m"]}])
def test_what_is_no_function_is_told(tmp_path: Path, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="expected a model's id or a function"):
        bb.run(evalset=ROWS, judge=judge, runs=tmp_path, **given)


def test_a_function_of_another_process_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"a function that was given to bb\.run in this process"):
        bb.run(evalset=ROWS, model="python/gone@1", judge=judge, runs=tmp_path)


def test_functions_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    def saying(text: str) -> Callable[[str], str]:
        return lambda prompt: text

    ids = [bb.run(evalset=ROWS, model=saying(text), judge=judge, runs=tmp_path).manifest.model_id for text in "xy"]
    assert len(set(ids)) == 2


def test_a_function_that_tells_no_tokens_is_told_how_and_may_declare_it(tmp_path: Path) -> None:
    rows = [{"id": "a", "prompt": "P?", "expected_answer": "x"}]
    asked = {"evalset": rows, "model": lambda prompt: "x", "judge": judge, "runs": tmp_path}
    plain = bb.run(**asked, run_id="plain", reports=None)
    assert "The function returns no token counts" in str(plain)
    declared = bb.run(**asked, unmeasured=["tokens"], run_id="declared", reports=None)
    assert "token counts" not in str(declared)
    assert declared.decision.decision == "INCONCLUSIVE"
    with pytest.raises(ConfigError, match="latency; expected only with recorded outputs"):
        bb.run(**asked, unmeasured=["latency", "tokens"], run_id="timed", reports=None)
