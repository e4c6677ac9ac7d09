"""Samples as the requests of an OpenAI batch, and what is read back of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import UsageError
from benchbook.exchange.log import ForeignLog, LogHeader, LogSample, LogScore
from benchbook.exchange.openai_batch import writing
from benchbook.exchange.openai_batch.reading import opened
from benchbook.exchange.openai_batch.writing import written

TALK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "3 + 5?"}]


class Made(ForeignLog):
    """A log of given samples."""

    def __init__(self, *samples: LogSample, model: str | None = "openai/gpt-9@2031-01-02", **params: Any) -> None:
        self.header = LogHeader(
            tool="x", tool_version=None, form="x", task="sums", model=model, generation_params=params
        )
        self.files = {}
        self._samples = samples

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        return iter(self._samples)


def sample(id_: str, prompt: str = "2 + 5?", **more: Any) -> LogSample:
    return LogSample(id=id_, prompt=prompt, answer=more.pop("answer", None), **more)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_requests_are_those_that_benchbook_would_send(tmp_path: Path) -> None:
    scored = sample("a", answer="7", references=("7",), scores={"x": LogScore(value=1)})
    log = Made(scored, sample("b", "as text", messages=TALK), sample("a", repeat=1), temperature=0, seed=42)
    lost = written(log, tmp_path / "in.jsonl")
    assert lines(tmp_path / "in.jsonl")[0] == {
        "custom_id": "a",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "gpt-9",
            "messages": [{"role": "user", "content": "2 + 5?"}],
            "temperature": 0,
            "seed": 42,
        },
    }
    assert [(one["custom_id"], one["body"]["messages"]) for one in lines(tmp_path / "in.jsonl")[1:]] == [
        ("b", TALK),
        ("a#2", [{"role": "user", "content": "2 + 5?"}]),
    ]
    assert [(one.what.rpartition(" ")[2], one.n) for one in lost] == [("answers", 1), ("scores", 1), ("answers", 1)]


@pytest.mark.parametrize(
    ("model", "sent"),
    [("openai/gpt-9", "gpt-9"), ("x/org/m@1", "org/m"), ("org/m", "org/m"), ("gpt-9", "gpt-9")],
)
def test_the_model_is_named_as_its_server_names_it(model: str, sent: str, tmp_path: Path) -> None:
    written(Made(sample("a"), model=model), tmp_path / "in.jsonl")
    assert lines(tmp_path / "in.jsonl")[0]["body"]["model"] == sent


def test_what_was_written_is_read_as_the_requests(tmp_path: Path) -> None:
    written(Made(sample("a\ud835", "lone \ud835"), sample("b", messages=TALK)), tmp_path / "in.jsonl")
    answers = "".join(
        json.dumps({"custom_id": one["custom_id"], "response": {"status_code": 200, "body": {"choices": []}}}) + "\n"
        for one in lines(tmp_path / "in.jsonl")
    )
    (tmp_path / "out.jsonl").write_text(answers, encoding="utf-8")
    (log,) = opened(tmp_path / "out.jsonl")
    with log:
        assert [one.prompt for one in log.samples()] == ["lone \\ud835", "[1] system:\nBe brief.\n\n[2] user:\n3 + 5?"]
    assert log.header.n_claimed == 2


def test_a_folder_has_as_many_files_as_the_limits_ask_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_REQUESTS", 2)
    log = Made(*(sample(str(number)) for number in range(5)))
    written(log, tmp_path / "batch")
    ids = {path.name: [one["custom_id"] for one in lines(path)] for path in sorted((tmp_path / "batch").iterdir())}
    assert ids == {
        "requests-001.jsonl": ["0", "1"],
        "requests-002.jsonl": ["2", "3"],
        "requests-003.jsonl": ["4"],
    }


def test_no_file_is_larger_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_BYTES", 1000)
    written(Made(*(sample(str(number), "x" * 300) for number in range(5))), tmp_path / "batch")
    assert [path.stat().st_size <= 1000 for path in sorted((tmp_path / "batch").iterdir())] == [True] * 3


FULL = ("0", "1", "2")
REFUSED: dict[str, tuple[ForeignLog, str]] = {
    "over the limit of one file": (Made(*map(sample, FULL)), "name a folder, such as .*in"),
    "no model": (Made(sample("a"), model=None), "names no single model"),
    "no prompt": (Made(sample("a", "", where="line 7")), "line 7: its prompt is not known"),
    "two of one id": (Made(sample("a"), sample("a")), "'a' is the id of two requests"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_can_not_be_asked_is_refused_and_leaves_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "MOST_REQUESTS", 2)
    log, words = REFUSED[name]
    with pytest.raises(UsageError, match=words):
        written(log, tmp_path / "in.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["in.jsonl", "batch"])
def test_nothing_is_written_over(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"kept")
    with pytest.raises(UsageError, match="is there already"):
        written(Made(sample("a")), tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"kept"
