"""Record files of OpenAI Evals: the events of samples put together, and the final report as claims."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.exchange.log import ForeignLog, LogFailure, LogScore
from benchbook.exchange.tools import opened_logs, recognised
from running import benchbook_here
from support import peak_memory_mb

_MATCH = "evals.elsuite.basic.match:Match"
_FUZZY = "evals.elsuite.basic.fuzzy_match:FuzzyMatch"
_GRADED = "evals.elsuite.modelgraded.classify:ModelBasedClassify"


def spec(cls: str = _MATCH, *models: str) -> dict[str, Any]:
    config = {
        "eval_spec": {"cls": cls, "args": {"samples_jsonl": "sums/samples.jsonl"}, "key": "sums.dev.v0"},
        "seed": 7,
        "max_samples": None,
        "command": "oaieval --key sk-1234567890abcdef",
    }
    return {
        "spec": {
            "completion_fns": list(models or ("gpt-x",)),
            "eval_name": "sums.dev.v0",
            "base_eval": "sums",
            "split": "dev",
            "run_config": config,
            "created_by": "someone",
            "run_id": "2601020304ABC",
            "created_at": "2026-01-02 03:04:05.678",
        }
    }


def event(sample: Any, kind: str, **data: Any) -> dict[str, Any]:
    about = {"run_id": "2601020304ABC", "event_id": 0, "created_by": "", "created_at": "2026-01-02 03:04:05+00:00"}
    return about | {"sample_id": sample, "type": kind, "data": data}


def matched(n: int, correct: bool, **more: Any) -> list[dict[str, Any]]:
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return [
        event(f"sums.dev.{n}", "sampling", prompt=f"{n} + 1?", sampled=[f"{n}!"], model="gpt-x-0613", usage=usage),
        event(f"sums.dev.{n}", "match", correct=correct, expected=str(n + 1), picked=None, sampled=f"{n}!", **more),
    ]


def judged(n: int, choice: str, score: float | None, reply: str) -> list[dict[str, Any]]:
    name = f"sums.dev.{n}"
    return [
        event(name, "sampling", prompt=[{"role": "user", "content": f"{n} + 1?"}], sampled=[f"{n}!"]),
        event(name, "sampling", prompt=[{"role": "user", "content": "Is it right?"}], sampled=[reply]),
        event(name, "metrics", choice=choice, score=score),
    ]


def log_of(folder: Path, *lines: Any) -> ForeignLog:
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    (log,) = opened_logs(path)
    return log


def test_a_match_is_a_sample(tmp_path: Path) -> None:
    log = log_of(tmp_path, spec(), *matched(1, False, options=["2", "3"]), {"final_report": {"accuracy": 0.0}})
    (sample,) = log.samples()
    assert (sample.id, sample.prompt, sample.answer, sample.references) == ("sums.dev.1", "1 + 1?", "1!", ("2",))
    assert (sample.choices, sample.input_tokens, sample.output_tokens) == (("2", "3"), 9, 3)
    assert (sample.model_reported, sample.failure, sample.where) == ("gpt-x-0613", None, "line 2")
    assert sample.scores == {"match": LogScore(value=0.0, passed=False)}
    header = log.header
    assert (header.task, header.model, header.status, header.dataset) == (
        "sums.dev.v0",
        "gpt-x",
        "complete",
        "sums/samples.jsonl",
    )
    assert header.created_at == "2026-01-02T03:04:05.678"
    assert header.metadata == {"run_id": "2601020304ABC", "split": "dev", "eval_class": "Match", "seed": 7}
    assert "sk-" not in f"{header}"


def test_events_of_samples_stand_among_each_other_and_behind_the_report(tmp_path: Path) -> None:
    events = [one for n in range(20) for one in matched(n, n % 4 == 0)]
    first = log_of(tmp_path, spec(), *events, {"final_report": {"accuracy": 0.25}})
    known = {one.id: (one.answer, one.scores) for one in first.samples()}
    random.Random(7).shuffle(events)
    mixed = log_of(tmp_path, spec(), {"final_report": {"accuracy": 0.25}}, *events)
    assert {one.id: (one.answer, one.scores) for one in mixed.samples()} == known
    assert [one.id for one in mixed.samples()] == [one.id for one in mixed.samples()]  # again
    assert benchbook_here("audit", str(tmp_path / "run.jsonl")).returncode == 0


def test_ids_that_differ_in_type_are_two_samples(tmp_path: Path) -> None:
    log = log_of(tmp_path, spec(), event("1", "match", correct=True), event(1, "match", correct=False))
    assert [(one.id, one.scores["match"].value) for one in log.samples()] == [("1", 1), ("1", 0)]


def test_a_judges_choice_is_read_with_its_reply(tmp_path: Path) -> None:
    log = log_of(
        tmp_path,
        spec(_GRADED, "gpt-x", "gpt-j"),
        *judged(1, "Y", 1.0, "It is.\nY"),
        *judged(2, "N", 0.0, "N, as 2 + 1 = 3"),
        {"final_report": {"counts/Y": 1, "counts/N": 1, "score": 0.5}},
    )
    one, two = log.samples()
    assert (one.prompt, one.answer) == ("1 + 1?", "1!")
    assert one.messages == [{"role": "user", "content": "1 + 1?"}]
    assert one.scores == {"score": LogScore(value=1.0, said="Y", explanation="It is.\nY")}
    assert two.scores["score"].guessed == "no line of the judge's reply is the choice alone"
    assert [(scorer.name, scorer.judge) for scorer in log.header.scorers] == [("score", "gpt-j")]
    assert benchbook_here("audit", str(tmp_path / "run.jsonl")).returncode == 0


def test_an_invalid_choice_is_no_score_although_the_log_has_the_lowest(tmp_path: Path) -> None:
    report = {"counts/Y": 1, "counts/__invalid__": 1, "score": 0.5}
    events = [*judged(1, "Y", 1.0, "Y"), *judged(2, "__invalid__", 0.0, "Well…")]
    log = log_of(tmp_path, spec(_GRADED), *events, {"final_report": report})
    _, two = log.samples()
    assert two.scores == {
        "score": LogScore(
            value=None, unscored="the judge's reply names no choice", said="__invalid__", explanation="Well…"
        )
    }
    assert [(one.code, one.n) for one in log.notes()] == [("unreadable_reply", 1)]
    assert [(one.metric, one.formula, one.field) for one in log.header.claims] == [
        ("counts/Y", "sum", "counts/Y"),
        ("counts/__invalid__", "sum", "counts/__invalid__"),
        ("score", "mean", "score"),  # of the numbers in the log, one of which nobody said
    ]
    assert benchbook_here("audit", str(tmp_path / "run.jsonl")).returncode == 0


def test_choices_without_scores_are_counted(tmp_path: Path) -> None:
    """Older logs name the metric in the counts."""
    events = [*judged(1, "A", None, "A"), *judged(2, "B", None, "B"), *judged(3, "A", None, "A")]
    log = log_of(tmp_path, spec(_GRADED), *events, {"final_report": {"counts/choice/A": 2, "counts/B": 1}})
    (first, *_) = log.samples()
    assert first.scores["score"] == LogScore(value=None, unscored="the choice has no score", said="A", explanation="A")
    assert first.metadata == {"counts/choice/A": 1, "counts/B": 0}
    assert benchbook_here("audit", str(tmp_path / "run.jsonl")).returncode == 0


@pytest.mark.parametrize(
    ("events", "failure", "scores"),
    [
        pytest.param(
            [event("a", "error", type="APITimeoutError", message="too late")],
            LogFailure(message="too late", kind="timeout"),
            {},
            id="a timeout",
        ),
        pytest.param(
            [event("a", "error", type="ValueError", message="")], LogFailure(message="ValueError"), {}, id="no message"
        ),
        pytest.param(
            [event("a", "error", type="E", message="x"), event("a", "match", correct=True)],
            None,
            {"match": LogScore(value=1.0, passed=True)},
            id="scored all the same",
        ),
        pytest.param([event("a", "sampling", prompt="x", sampled="y")], None, {}, id="nobody scored it"),
        pytest.param(
            [event("a", "metrics", f1=0.5, ok=True, none=None, word="w")],
            None,
            {
                "f1": LogScore(value=0.5),
                "ok": LogScore(value=1.0, passed=True),
                "none": LogScore(value=None, unscored="no value"),
            },
            id="metrics",
        ),
        pytest.param(
            [event("a", "metrics", f1=float("nan"))],
            None,
            {"f1": LogScore(value=None, unscored="NaN")},
            id="NaN",
        ),
        pytest.param(
            [event("a", "match", correct=True), event("a", "match", correct=False, picked=["x", "y"])],
            None,
            {
                "match": LogScore(value=1.0, passed=True),
                "match#2": LogScore(value=0.0, passed=False, answer='["x","y"]'),
            },
            id="two matches",
        ),
    ],
)
def test_what_a_sample_came_to(tmp_path: Path, events: list[Any], failure: Any, scores: dict[str, LogScore]) -> None:
    (sample,) = log_of(tmp_path, spec(), *events).samples()
    assert (sample.failure, sample.scores) == (failure, scores)


def test_what_was_asked_is_found_in_the_raw_sample(tmp_path: Path) -> None:
    raw = {
        "input": [{"role": "system", "content": "Add"}, {"role": "user", "content": "1 + 1?"}],
        "ideal": ["2", "two"],
    }
    log = log_of(tmp_path, spec(), event("a", "raw_sample", **raw), event("a", "match", correct=True, sampled="2"))
    (sample,) = log.samples()
    assert (sample.prompt, sample.references, sample.answer) == ("system: Add\n\nuser: 1 + 1?", ("2", "two"), "2")


def test_numbers_of_the_report_say_how_they_follow(tmp_path: Path) -> None:
    report = {
        "accuracy": 0.5,
        "boostrap_std": 0.1,
        "usage_prompt_tokens": 18,
        "sacrebleu_score": 31.5,
        "by_kind": {"easy": 1.0},
        "words": "none",
        "nothing": float("nan"),
    }
    log = log_of(tmp_path, spec(), *matched(1, True), *matched(2, False), {"final_report": report})
    assert [(one.metric, one.value, one.formula, bool(one.why_not)) for one in log.header.claims] == [
        ("accuracy", 0.5, "mean", False),
        ("boostrap_std", 0.1, None, True),
        ("usage_prompt_tokens", 18, "sum", False),
        ("sacrebleu_score", 31.5, None, True),
        ("by_kind.easy", 1.0, None, True),
        ("nothing", None, None, True),
    ]
    done = benchbook_here("audit", str(tmp_path / "run.jsonl"))
    assert done.returncode == 0, done.stdout.decode()


def test_accuracy_is_of_the_metrics_where_the_eval_takes_those(tmp_path: Path) -> None:
    events = [
        event("a", "match", correct=True),
        event("a", "metrics", accuracy=1.0, f1_score=0.5),
        event("b", "match", correct=False),
        event("b", "metrics", accuracy=0.0, f1_score=0.25),
    ]
    log = log_of(tmp_path, spec(_FUZZY), *events, {"final_report": {"accuracy": 0.5, "f1_score": 0.375}})
    assert [(one.scorer, one.formula) for one in log.header.claims] == [("accuracy", "mean"), ("f1_score", "mean")]
    own = log_of(tmp_path, spec("my.evals:Own"), *events, {"final_report": {"f1_score": 0.9}})
    assert [(one.formula, one.why_not) for one in own.header.claims] == [
        (None, "the eval's own class, Own, computes it by rules of its own")
    ]


def test_accuracy_of_several_matches_a_sample_can_not_be_told(tmp_path: Path) -> None:
    events = [event("a", "match", correct=True), event("a", "match", correct=True), event("b", "match", correct=False)]
    (claim,) = log_of(tmp_path, spec(), *events, {"final_report": {"accuracy": 2 / 3}}).header.claims
    assert (claim.formula, claim.why_not) == (
        None,
        "some samples have several scores of this name, and it is of them all",
    )


def test_a_run_that_goes_on_has_no_report(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    text = "".join(json.dumps(one) + "\n" for one in (spec(), *matched(1, True), *matched(2, True)))
    path.write_text(text[:-40], encoding="utf-8")
    (log,) = opened_logs(path)
    assert (log.header.status, log.header.claims) == ("being_written", ())
    assert [one.code for one in log.notes()] == ["cut_line"]
    assert [(one.id, list(one.scores)) for one in log.samples()] == [("sums.dev.1", ["match"]), ("sums.dev.2", [])]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param('{"spec": {}}\n{"type": \n{}\n', "run.jsonl:2: no whole JSON", id="in the middle"),
        pytest.param('{"spec": {}}\n{"type": \n', "run.jsonl:2: no whole JSON", id="a whole line"),
        pytest.param('{"spec": {}}\n[]', "run.jsonl:2: another form than it should have", id="another form"),
        pytest.param(
            '{"spec": {}}\n{"spec": {}}\n', "run.jsonl:2: found a second spec; expected the events of one run", id="two"
        ),
        pytest.param('{"spec": {"completion_fns": "x"}}\n', "run.jsonl:1: another form", id="a spec of another form"),
        pytest.param(
            '{"spec": {}}\n{"sample_id": "a", "data": ' + "[" * 9000 + "]" * 9000 + "}\n",
            "nested too deeply",
            id="deep",
        ),
    ],
)
def test_an_error_says_where_it_stops_making_sense(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(text, encoding="utf-8")
    assert recognised(path).name == "openai_evals"
    with pytest.raises(InputError) as raised:
        list(opened_logs(path))
    assert said in str(raised.value)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_samples(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    text = "a word " * 200
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(spec()) + "\n")
        for n in range(8_000):
            for one in matched(n, n % 2 == 0):
                one["data"]["sampled"] = text
                file.write(json.dumps(one) + "\n")
    code = (
        "import sys; from benchbook.exchange.tools import opened_logs;"
        "(log,) = opened_logs(sys.argv[1]); assert sum(1 for _ in log.samples()) == 8000;"
        "assert not {'polars', 'pyarrow', 'numpy', 'scipy'} & set(sys.modules)"
    )
    exit_code, peak = peak_memory_mb(code, [str(path)])
    assert exit_code == 0
    assert peak < 60, "the file has 28 MB"
