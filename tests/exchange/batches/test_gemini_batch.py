"""The results of Gemini's batches, of the API and of Vertex AI, read by hand-written right answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.exchange.gemini_batch.reading import opened
from benchbook.exchange.tools import recognised

ANSWER = {
    "candidates": [
        {"content": {"parts": [{"text": "Sev"}, {"text": "en."}], "role": "model"}, "finishReason": "STOP", "index": 0}
    ],
    "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 3, "totalTokenCount": 11},
    "modelVersion": "gemini-9-flash",
}
SNAKE = {
    "candidates": [{"content": {"parts": [{"text": "7"}]}, "finish_reason": "MAX_TOKENS"}],
    "usage_metadata": {"prompt_token_count": 8, "candidates_token_count": 1, "total_token_count": 9},
    "model_version": "gemini-9-flash",
}
THOUGHT = ANSWER | {
    "candidates": [{"content": {"parts": [{"text": "hmm", "thought": True}, {"text": "7"}]}, "finishReason": "STOP"}],
    "usageMetadata": {
        "promptTokenCount": 8,
        "candidatesTokenCount": 1,
        "thoughtsTokenCount": 20,
        "totalTokenCount": 29,
    },
}
CALL = ANSWER | {"candidates": [{"content": {"parts": [{"functionCall": {"name": "add", "args": {"a": 2}}}]}}]}
BLOCKED = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 8}}
UNSAFE = {"candidates": [{"finishReason": "SAFETY"}], "usageMetadata": {"promptTokenCount": 8}}
REQUEST = {"contents": [{"role": "user", "parts": [{"text": "2 + 5?"}]}], "generationConfig": {"temperature": 0}}

# A line, and (answer, finish reason, input and output tokens, failure's kind, words in its message).
READ: dict[str, tuple[dict[str, Any], tuple[Any, ...]]] = {
    "an answer": ({"key": "a", "response": ANSWER}, ("Seven.", "stop", 8, 3, None, "")),
    "in the other spelling": ({"key": "a", "response": SNAKE}, ("7", "length", 8, 1, None, "")),
    "thoughts are counted": ({"key": "a", "response": THOUGHT}, ("7", "stop", 8, 21, None, "")),
    "a call": ({"key": "a", "response": CALL}, ('calls add({"a":2})', None, 8, 3, None, "")),
    "a blocked prompt": ({"key": "a", "response": BLOCKED}, (None, "content_filter", 8, None, None, "")),
    "a blocked answer": ({"key": "a", "response": UNSAFE}, (None, "content_filter", 8, None, None, "")),
    "the key in metadata": ({"metadata": {"key": "a"}, "response": ANSWER}, ("Seven.", "stop", 8, 3, None, "")),
    "an error within a job": ({"metadata": {"key": "a"}, "response": None, "error": {"code": 3, "message": "bad"}},
                              (None, None, None, None, "error", "bad")),
    "an error": ({"key": "a", "error": {"code": 8, "message": "out of quota", "status": "RESOURCE_EXHAUSTED"}},
                 (None, None, None, None, "error", "out of quota")),
    "too late": ({"key": "a", "error": {"code": 4, "message": "late", "status": "DEADLINE_EXCEEDED"}},
                 (None, None, None, None, "timeout", "late")),
    "nothing": ({"key": "a", "response": {"usageMetadata": {}}}, (None, None, None, None, "error", "no candidates")),
    "of Vertex": ({"key": "a", "request": REQUEST, "status": "", "response": ANSWER},
                  ("Seven.", "stop", 8, 3, None, "")),
    "a failure of Vertex": ({"key": "a", "request": REQUEST, "status": "Bad Request: no such model", "response": {}},
                            (None, None, None, None, "error", "no such model")),
}  # fmt: skip


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", READ)
def test_a_line_is_read(name: str, tmp_path: Path) -> None:
    result, (answer, reason, given, put, kind, words) = READ[name]
    path = write(tmp_path / "results.jsonl", result)
    assert recognised(path).name == "gemini_batch"
    (log,) = opened(path)
    with log:
        (sample,) = log.samples()
    assert (sample.id, sample.answer, sample.finish_reason) == ("a", answer, reason)
    assert (sample.input_tokens, sample.output_tokens) == (given, put)
    assert (sample.failure and sample.failure.kind) == kind
    assert words in (sample.failure.message if sample.failure else "")
    assert sample.prompt == ("2 + 5?" if "request" in result else "")


def test_vertex_repeats_the_requests_and_has_no_keys(tmp_path: Path) -> None:
    """The same request has the same id, in whatever order its result comes; asked twice it is doubled."""
    talk = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "2 + 5?"}]},
            {"role": "model", "parts": [{"text": "7"}]},
            {"role": "user", "parts": [{"text": "+ 1?"}, {"inlineData": {"data": ""}}]},
        ],
    }
    time = "2031-01-02T03:04:05.678+00:00"
    one = {"request": REQUEST, "status": "", "response": ANSWER, "processed_time": time}
    other = {"request": talk, "status": "", "response": ANSWER, "processed_time": time}
    (first,) = opened(write(tmp_path / "one.jsonl", one, other))
    (second,) = opened(write(tmp_path / "two.jsonl", other, one, one))
    with first, second:
        ids = {sample.prompt: sample.id for sample in first.samples()}
        assert {sample.prompt: sample.id for sample in second.samples()} == ids
    assert list(ids) == [
        "2 + 5?",
        "[1] system:\nBe brief.\n\n[2] user:\n2 + 5?\n\n[3] assistant:\n7\n\n[4] user:\n+ 1?\n[inlineData]",
    ]
    assert (first.header.model, first.header.created_at) == ("gemini-9-flash", "2031-01-02T03:04:05Z")
    assert [note.code for note in first.notes()] == ["parts_left_out"]
    assert [note.code for note in second.notes()] == ["doubled_id", "parts_left_out"]


def test_requests_beside_have_the_prompts(tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", {"key": "a", "request": REQUEST}, {"key": "b", "request": {"contents": "3 + 5?"}})
    (log,) = opened(write(tmp_path / "out.jsonl", {"key": "b", "response": ANSWER}, {"key": "a", "response": ANSWER}))
    with log:
        assert [(sample.id, sample.prompt) for sample in log.samples()] == [("b", "3 + 5?"), ("a", "2 + 5?")]


def test_responses_within_a_job_may_have_no_keys(tmp_path: Path) -> None:
    """As Google's library writes each of them; they come in the order of the requests."""
    lines = [{"response": SNAKE, "metadata": None, "error": None}] * 2
    (log,) = opened(write(tmp_path / "x.jsonl", *lines))
    with log:
        assert [(sample.id, sample.answer) for sample in log.samples()] == [("line-1", "7"), ("line-2", "7")]


def test_a_line_without_a_key_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"key": "a", "response": ANSWER}, {"response": ANSWER})
    with pytest.raises(InputError, match="2: key: found none"):
        opened(path)


KEYED = [
    {"metadata": {"key": "a"}, "response": ANSWER},
    {"metadata": {"key": "b"}, "error": {"code": 4, "message": "x"}},
]
# A whole job, as a file has it, and the ids of its samples.
JOBS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "of the API": (
        {"name": "batches/1", "metadata": {"@type": "t", "state": "BATCH_STATE_SUCCEEDED"}, "done": True,
         "response": {"@type": "t", "inlinedResponses": {"inlinedResponses": KEYED}}},
        ["a", "b"],
    ),
    "of the API, its output alone": (
        {"name": "batches/1", "output": {"inlinedResponses": {"inlinedResponses": KEYED}}}, ["a", "b"],
    ),
    "of the library": (
        {"name": "batches/1", "state": "JOB_STATE_SUCCEEDED", "src": None,
         "dest": {"file_name": None, "inlined_responses": [{"response": SNAKE, "error": None}, *KEYED]}},
        ["line-1", "a", "b"],
    ),
    "of the library by alias": ({"dest": {"inlinedResponses": KEYED}}, ["a", "b"]),
}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("what", JOBS)
def test_a_whole_job_is_read(what: str, indent: int | None, tmp_path: Path) -> None:
    job, ids = JOBS[what]
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job, indent=indent), encoding="utf-8")
    assert recognised(path).name == "gemini_batch"
    (log,) = opened(path)
    with log:
        samples = list(log.samples())
    assert [one.id for one in samples] == ids
    assert (samples[-2].answer, samples[-1].answer) == ("Seven.", None)
    assert samples[-1].failure is not None
    assert samples[0].where.endswith("[0]")
    assert log.header.task == "job"


def test_the_body_that_made_a_job_has_its_requests(tmp_path: Path) -> None:
    """By key, or, where neither has one, by place."""
    requests = [{"request": REQUEST, "metadata": {"key": "a"}}, {"request": {"contents": "3 + 5?"}}]
    body, job = tmp_path / "body.json", tmp_path / "job.json"
    body.write_text(json.dumps({"batch": {"input_config": {"requests": {"requests": requests}}}}), encoding="utf-8")
    results = [KEYED[0], {"response": ANSWER}]
    job.write_text(json.dumps({"dest": {"inlined_responses": results}}), encoding="utf-8")
    (log,) = opened(job, requests=body)
    with log:
        assert [(sample.id, sample.prompt) for sample in log.samples()] == [("a", "2 + 5?"), ("line-2", "3 + 5?")]


BROKEN_JOBS = {
    "no results": ('{"dest": {"inlined_responses": []}}', "a job without results"),
    "cut off": ('{"dest": {"inlined_responses": [{"resp', "the file's end in the middle"),
    "not JSON": ('{"dest": {"inlined_responses": [{"response": nothing}]}}', "dest.inlined_responses[0]"),
    "not objects": ('{"dest": {"inlined_responses": [1]}}', "dest.inlined_responses"),
    "nested": ('{"dest": {"inlined_responses": [{"response": ' + "[" * 10_000 + "]" * 10_000 + "}]}}", "[0]"),
}


@pytest.mark.parametrize("what", BROKEN_JOBS)
def test_a_job_that_makes_no_sense_is_refused_by_its_place(what: str, tmp_path: Path) -> None:
    text, says = BROKEN_JOBS[what]
    (tmp_path / "job.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        opened(tmp_path / "job.json")
    assert says in str(refused.value)
