"""Output items of hosted evals, as the API lists them and as its page exports them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.exchange.log import LogFailure, LogScore
from benchbook.exchange.tools import opened_logs, recognised


def exported(n: int = 0, run: str = "evalrun_1", **more: Any) -> dict[str, Any]:
    """A line of the page's export."""
    return {
        "run_id": run,
        "data_source_idx": n,
        "item": {"input": f"{n} + 1?", "expected": n + 1},
        "grades": {"Right": 6, "Brief": 0.5},
        "grader_samples": {"Right": {"outputs": [{"role": "assistant", "content": '{"result":6}'}]}},
        "passes": {"Right": True, "Brief": False},
        **more,
    }


def listed(n: int = 0, **sample: Any) -> dict[str, Any]:
    """An object of the API."""
    graded = {"output": [{"role": "assistant", "content": "yes"}], "model": "gpt-j"}
    said = {
        "input": [{"role": "user", "content": f"{n} + 1?"}],
        "output": [{"role": "assistant", "content": f"{n}!"}],
        "model": "gpt-x",
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12, "cached_tokens": 0},
        "error": {"code": "", "message": ""},
        "temperature": 0.5,
    }
    return {
        "object": "eval.run.output_item",
        "id": f"outputitem_{n}",
        "run_id": "evalrun_1",
        "eval_id": "eval_1",
        "status": "pass",
        "datasource_item_id": n,
        "datasource_item": {"question": f"{n} + 1?"},
        "results": [{"name": "Right", "score": 1.0, "passed": True, "sample": graded}],
        "sample": said | sample,
    }


def _written(folder: Path, *lines: Any) -> Path:
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


def test_an_export_of_the_page(tmp_path: Path) -> None:
    path = _written(tmp_path, exported(3), exported(1, "evalrun_2"), exported(4))
    assert recognised(path).name == "openai_evals"
    first, second = opened_logs(path)
    one, two = first.samples()
    assert (one.id, one.prompt, one.answer, one.where) == ("3", "3 + 1?", None, "line 1")
    assert one.scores == {
        "Right": LogScore(value=6.0, passed=True, explanation='{"result":6}'),
        "Brief": LogScore(value=0.5, passed=False),
    }
    assert one.metadata == {"item": {"input": "3 + 1?", "expected": 4}}
    assert (two.id, [sample.id for sample in second.samples()]) == ("4", ["1"])
    assert (first.header.task, first.header.claims) == ("evalrun_1", ())


@pytest.mark.parametrize("as_page", [False, True])
def test_items_of_the_api(tmp_path: Path, as_page: bool) -> None:
    items = [listed(1), listed(2, output=[], error={"code": "rate_limit", "message": "too many"})]
    lines = [{"object": "list", "data": items, "has_more": False}] if as_page else items
    (log,) = opened_logs(_written(tmp_path, *lines))
    one, two = log.samples()
    assert (one.id, one.prompt, one.answer, one.model_reported) == ("1", "1 + 1?", "1!", "gpt-x")
    assert (one.input_tokens, one.output_tokens, one.finish_reason) == (9, 3, "stop")
    assert one.scores == {"Right": LogScore(value=1.0, passed=True, explanation="yes")}
    assert (two.failure, two.scores, two.answer) == (LogFailure(message="rate_limit: too many"), {}, None)
    assert (log.header.task, log.header.model, log.header.generation_params) == (
        "eval_1",
        "gpt-x",
        {"temperature": 0.5},
    )
    assert [(scorer.name, scorer.judge) for scorer in log.header.scorers] == [("Right", "gpt-j")]


@pytest.mark.parametrize(
    ("more", "failure"),
    [
        ({"error": "broke"}, LogFailure(message="broke")),
        ({"error": None}, None),
        ({"error": {"code": None, "message": None}}, None),
        ({}, None),
    ],
)
def test_an_error_of_a_call_is_a_failure(tmp_path: Path, more: dict[str, Any], failure: LogFailure | None) -> None:
    sample = {"outputs": [{"role": "assistant", "content": "4"}], "token_usage": {"prompt_tokens": 5}} | more
    (log,) = opened_logs(_written(tmp_path, exported(3, sample=sample)))
    (one,) = log.samples()
    assert (one.failure, one.answer, one.input_tokens, one.output_tokens) == (failure, "4", 5, None)
    assert bool(one.scores) == (failure is None)


@pytest.mark.parametrize(
    ("more", "score"),
    [
        ({"Right": None}, LogScore(value=None, unscored="no score", passed=True, explanation='{"result":6}')),
        ({"Right": True}, LogScore(value=None, unscored="no score", passed=True, explanation='{"result":6}')),
        ({"Right": 10**400}, LogScore(value=None, unscored="no score", passed=True, explanation='{"result":6}')),
    ],
)
def test_what_is_no_number_is_no_score(tmp_path: Path, more: dict[str, Any], score: LogScore) -> None:
    (log,) = opened_logs(_written(tmp_path, exported(grades=more)))
    assert [one.scores for one in log.samples()] == [{"Right": score}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps(exported()) + "\n{", "items.jsonl:2: no whole JSON"),
        (json.dumps(exported()) + '\n{"run_id": 7}', "items.jsonl:2: another form than it should have"),
        (json.dumps({"object": "list", "data": [listed()]})[:-9], "data[0]: found the file's end"),
    ],
)
def test_an_error_says_where_it_stops_making_sense(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        list(opened_logs(path))
    assert said in str(raised.value)
