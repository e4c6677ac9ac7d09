"""Logs written as promptfoo's JSON: what is read back is what was written, but for what is told."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import UsageError
from benchbook.exchange.log import Claim, LogFailure, LogSample, LogScore, LogScorer
from benchbook.exchange.promptfoo.writing import written
from benchbook.text import storable
from made_logs import Made
from promptfoo_files import logs_of
from running import benchbook_here
from scored import ITEMS, PREDICTIONS, scored
from support import examples

_MATCH = LogScorer(name="match", highest=1.0)
_JUDGE = LogScorer(name="style", judge="openai/gpt-j")


def _sample(n: int = 0, value: float | None = 1.0, **given: Any) -> LogSample:
    scores = {"match": LogScore(value=value, passed=None if value is None else value == 1)}
    return LogSample(**({"id": f"q{n}", "prompt": f"Question {n}?", "answer": "42", "scores": scores} | given))


def _document(folder: Path, samples: list[LogSample], **header: Any) -> tuple[dict[str, Any], list[str]]:
    header = {"scorers": (_MATCH, _JUDGE)} | header
    lost = written(Made(samples, **header), folder / "out.json")
    return json.loads((folder / "out.json").read_text("utf-8")), [f"{one.what} ({one.n})" for one in lost]


def test_what_promptfoo_shows(tmp_path: Path) -> None:
    scores = {
        "match": LogScore(value=0.5, passed=False, explanation="half of it"),
        "style": LogScore(value=2.0, passed=True, explanation="well said"),
    }
    sample = _sample(
        scores=scores,
        references=("42", "forty-two"),
        context="a sum",
        input_tokens=9,
        output_tokens=3,
        latency_ms=40,
        finish_reason="stop",
        category="maths",
        metadata={"seed": 1},
    )
    document, lost = _document(tmp_path, [sample], created_at="2026-01-02T03:04:05Z", generation_params={"seed": 7})
    (result,) = document["results"]["results"]
    assert (result["score"], result["success"], result["failureReason"], result["error"]) == (
        0.5,
        False,
        1,
        "half of it",
    )
    assert result["vars"] == {"prompt": "Question 0?", "reference": "42\nforty-two", "context": "a sum"}
    assert result["namedScores"] == {"match": 0.5, "style": 2.0}
    assert [(one["pass"], one["score"], one["reason"]) for one in result["gradingResult"]["componentResults"]] == [
        (False, 0.5, "half of it"),
        (True, 2.0, "well said"),
    ]
    assert result["gradingResult"]["componentResults"][1]["assertion"] == {
        "type": "llm-rubric",
        "provider": "openai/gpt-j",
        "value": "style",
        "metric": "style",
    }
    assert result["response"] == {
        "output": "42",
        "tokenUsage": {"prompt": 9, "completion": 3, "total": 12},
        "finishReason": "stop",
        "cached": False,
    }
    assert result["testCase"]["metadata"] == {"testCaseId": "q0", "category": "maths"}
    (column,) = document["results"]["prompts"]
    assert column["metrics"] == {
        "score": 0.5,
        "testPassCount": 0,
        "testFailCount": 1,
        "testErrorCount": 0,
        "assertPassCount": 1,
        "assertFailCount": 1,
        "totalLatencyMs": 40,
        "tokenUsage": {"prompt": 9, "completion": 3, "cached": 0, "total": 12, "numRequests": 1},
        "namedScores": {"match": 0.5, "style": 2.0},
        "namedScoresCount": {"match": 1, "style": 1},
        "cost": 0,
    }
    assert document["results"]["stats"]["failures"] == 1
    assert document["results"]["timestamp"] == "2026-01-02T03:04:05Z"
    assert document["config"]["providers"] == [{"id": "acme/m", "config": {"seed": 7}}]
    assert lost == []


@pytest.mark.parametrize(
    ("sample", "error", "lost"),
    [
        pytest.param(
            _sample(failure=LogFailure(message="HTTP 500"), answer=None, scores={}), "HTTP 500", [], id="a failure"
        ),
        pytest.param(
            _sample(value=None, scores={"match": LogScore(value=None, unscored="NaN")}),
            "unscored: NaN",
            ["unscored samples are errors there (1)"],
            id="NaN",
        ),
        pytest.param(
            _sample(scores={"style": LogScore(value=1)}),
            "unscored: no score",
            ["unscored samples are errors there (1)"],
            id="not scored by the first",
        ),
    ],
)
def test_what_has_no_score_is_an_error_and_no_0(tmp_path: Path, sample: LogSample, error: str, lost: list[str]) -> None:
    document, told = _document(tmp_path, [sample])
    (result,) = document["results"]["results"]
    assert (result["failureReason"], result["error"], result["namedScores"]) == (2, error, {})
    assert document["results"]["stats"] | {"tokenUsage": 0} == {
        "successes": 0,
        "failures": 0,
        "errors": 1,
        "tokenUsage": 0,
    }
    assert told == lost
    (read,) = logs_of(tmp_path / "out.json")[0].samples()
    assert read.scores["score"].value is None


@pytest.mark.parametrize(
    ("scorer", "value", "passes"),
    [
        (LogScorer(name="match", passes_at=0.7), 0.7, True),
        (LogScorer(name="match", passes_at=0.7), 0.6, False),
        (LogScorer(name="match", passes_at=0.7, higher_is_better=False), 0.6, True),
        (LogScorer(name="match", highest=2.0), 2.0, True),
        (LogScorer(name="match", highest=2.0), 1.0, False),
        (LogScorer(name="match", lowest=0.0, higher_is_better=False), 0.0, True),
        (LogScorer(name="match"), 1.0, True),
    ],
)
def test_a_pass_that_is_not_told_is_found_or_the_top(
    tmp_path: Path, scorer: LogScorer, value: float, passes: bool
) -> None:
    sample = _sample(scores={"match": LogScore(value=value)})
    document, lost = _document(tmp_path, [sample], scorers=(scorer,))
    assert document["results"]["results"][0]["success"] is passes
    assert bool(lost) == (scorer.passes_at is None)


def test_what_the_form_can_not_hold_is_told(tmp_path: Path) -> None:
    scores = {
        "match": LogScore(value=1, passed=True, answer="4"),
        "style": LogScore(value=None, unscored="no JSON"),
    }
    claims = (Claim(scorer="match", metric="accuracy", value=1.0, where="results"),)
    document, lost = _document(tmp_path, [_sample(scores=scores, limit="token")], claims=claims)
    assert lost == [
        "scores that were not given are left out, or a judge's reply that could not be read (1)",
        "limits that samples ran into stand in their metadata alone (1)",
        "answers as scorers extracted them (1)",
        "numbers of the log: promptfoo has sums of its own (1)",
    ]
    assert document["results"]["results"][0]["gradingResult"]["componentResults"][1]["metadata"] == {
        "graderError": True
    }
    (read,) = logs_of(tmp_path / "out.json")[0].samples()
    assert read.scores["namedScores.style"] == scores["style"]


_TEXT = st.text(max_size=6) | st.sampled_from(
    ["=1+1", "\x1b[2J", "<b>", "{{x}}", "\ud835", '"]}', "[", '[{"role": 1}]']
)
_VALUE = st.none() | st.integers(-3, 3).map(float) | st.floats(-2, 2)


@st.composite
def _samples(draw: st.DrawFn) -> list[LogSample]:
    found = []
    for n in range(draw(st.integers(0, 4))):
        for repeat in range(draw(st.integers(1, 2))):
            value, style = draw(_VALUE), draw(_VALUE)
            scores = {"match": LogScore(value=value, unscored=None if value is not None else "NaN", passed=value == 1)}
            scores |= {} if style is None else {"style": LogScore(value=style, passed=draw(st.booleans()))}
            broke = draw(st.booleans())
            found.append(
                LogSample(
                    id=f"q{n}",
                    repeat=repeat,
                    prompt=f"{n} " + draw(_TEXT) if not repeat else found[-1].prompt,
                    answer=None if broke else draw(_TEXT),
                    failure=LogFailure(message=draw(_TEXT) or "x") if broke else None,
                    scores={} if broke else scores,
                    input_tokens=draw(st.none() | st.integers(0, 99)),
                    latency_ms=draw(st.none() | st.integers(1, 99)),
                )
            )
    return found


@examples(60)
@given(_samples())
def test_what_is_written_is_read(samples: list[LogSample]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        _document(path, samples)
        (log,) = logs_of(path / "out.json")
        read = list(log.samples())
    assert [(one.id, one.repeat) for one in read] == [(one.id, one.repeat) for one in samples]
    for one, back in zip(samples, read, strict=True):
        value = one.scores["match"].value if one.scores else None
        assert back.prompt == storable(one.prompt)
        assert back.answer == (None if one.answer is None else storable(one.answer))
        assert (back.scores["score"].value, back.failure is None) == (value, one.failure is None)
        style = one.scores.get("style")
        assert (back.scores["namedScores.style"].value if "namedScores.style" in back.scores else None) == (
            style.value if style else None
        )
        assert (back.input_tokens, back.latency_ms) == (one.input_tokens, one.latency_ms)
    assert log.header.n_claimed == len(samples)


def test_a_record_is_exported(tmp_path: Path) -> None:
    record = scored(tmp_path, PREDICTIONS, ITEMS).record
    target = tmp_path / "out.json"
    done = benchbook_here("export", str(record.path), "--to", "promptfoo", "--out", str(target))
    (log,) = logs_of(target)
    said = json.loads(target.read_text("utf-8"))
    assert log.header.n_claimed == len(list(log.samples())) == len(ITEMS)
    assert said["config"]["metadata"]["record_sha256"] in done.stdout.decode()
    assert benchbook_here("audit", str(target)).returncode == 0


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_bytes(b"mine")
    with pytest.raises(UsageError, match="is there already"):
        written(Made([]), tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == b"mine"
