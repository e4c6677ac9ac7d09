"""OpenAI's batches, and those of servers that have its form: each line read by hand-written right answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.exchange.log import ForeignLog, LogSample
from benchbook.exchange.openai_batch.reading import opened
from benchbook.exchange.tools import opened_logs, recognised

CHAT = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1711471533, "model": "gpt-9-mini-2031-01-02",
    "system_fingerprint": "fp_1",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Seven."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 22, "completion_tokens": 2, "total_tokens": 24},
}  # fmt: skip
RESPONSE = {
    "id": "resp_1", "object": "response", "created_at": 1711471540, "status": "completed", "error": None,
    "model": "gpt-9-2031-01-02",
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "1234567890"}]},
        {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "Sev"}, {"type": "output_text", "text": "en."}]},
    ],
    "usage": {"input_tokens": 30, "output_tokens": 12, "total_tokens": 42},
}  # fmt: skip


def line(id_: str, body: Any = None, *, status: int = 200, error: Any = None) -> dict[str, Any]:
    response = {"status_code": status, "request_id": f"req_{id_}", "body": body}
    return {"id": f"batch_req_{id_}", "custom_id": id_, "response": None if error else response, "error": error}


def asked(id_: str, text: str = "2 + 5?", **body: Any) -> dict[str, Any]:
    whole = {"model": "gpt-9-mini", "messages": [{"role": "user", "content": text}], "temperature": 0, **body}
    return {"custom_id": id_, "method": "POST", "url": "/v1/chat/completions", "body": whole}


def write(path: Path, *lines: Any) -> Path:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in lines]
    path.write_bytes("".join(f"{one}\n" for one in texts).encode("utf-8", "surrogatepass"))
    return path


def only(path: Path, requests: Path | None = None) -> tuple[ForeignLog, list[LogSample]]:
    (log,) = opened(path, requests=requests)
    with log:
        return log, list(log.samples())


def codes(log: ForeignLog) -> dict[str, int]:
    return {note.code: note.n for note in log.notes()}


def choice(content: Any, reason: str, **more: Any) -> dict[str, Any]:
    return CHAT | {"choices": [{"message": {"role": "assistant", "content": content, **more}, "finish_reason": reason}]}


CALL = [{"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a":2}'}}]


# What a line says, and (answer, finish reason, input and output tokens, failure's kind, words in its message).
READ: dict[str, tuple[dict[str, Any], tuple[Any, ...]]] = {
    "an answer": (line("a", CHAT), ("Seven.", "stop", 22, 2, None, "")),
    "cut": (line("a", choice("Sev", "length")), ("Sev", "length", 22, 2, None, "")),
    "filtered": (line("a", choice(None, "content_filter")), (None, "content_filter", 22, 2, None, "")),
    "a call of a tool": (line("a", choice(None, "tool_calls", tool_calls=CALL)),
                         ('calls add({"a":2})', "tool_calls", 22, 2, None, "")),
    "thoughts that are counted in the total alone": (
        line("a", CHAT | {"usage": {"prompt_tokens": 22, "completion_tokens": 2, "total_tokens": 40}}),
        ("Seven.", "stop", 22, 18, None, "")),
    "broken off by the server": (line("a", choice("Sev", "abort")),
                                 (None, None, None, None, "error", "broke the answer")),
    "of /v1/responses": (line("a", RESPONSE), ("Seven.", "stop", 30, 12, None, "")),
    "of /v1/responses, cut": (
        line("a", RESPONSE | {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}),
        ("Seven.", "length", 30, 12, None, "")),
    "of /v1/responses, failed": (
        line("a", RESPONSE | {"status": "failed", "error": {"code": "server_error", "message": "it broke"}}),
        (None, None, None, None, "error", "it broke")),
    "of /v1/responses, a call": (
        line("a", RESPONSE | {"output": [{"type": "function_call", "name": "add", "arguments": "{}"}]}),
        ("calls add({})", "stop", 30, 12, None, "")),
    "of /v1/completions": (line("a", CHAT | {"choices": [{"text": "7", "finish_reason": "length"}]}),
                           ("7", "length", 22, 2, None, "")),
    "expired": (line("a", error={"code": "batch_expired", "message": "not executed in time"}),
                (None, None, None, None, "cancelled", "batch_expired: not executed in time")),
    "cancelled": (line("a", error={"code": "batch_cancelled", "message": "was cancelled"}),
                  (None, None, None, None, "cancelled", "was cancelled")),
    "timed out": (line("a", error={"code": "request_timeout", "message": "the model timed out"}),
                  (None, None, None, None, "timeout", "request_timeout")),
    "refused": (line("a", {"error": {"message": "too long", "type": "invalid_request_error"}}, status=400),
                (None, None, None, None, "error", "status 400: invalid_request_error: too long")),
    "the server's fault": (line("a", None, status=500), (None, None, None, None, "error", "status 500")),
    "vLLM's refusal": (
        {"id": "vllm-1", "custom_id": "a", "response": {"status_code": 400, "request_id": "vllm-batch-1", "body": None},
         "error": {"error": {"message": "no such model", "type": "NotFoundError", "param": None, "code": 404}}},
        (None, None, None, None, "error", "no such model")),
    "vLLM's older refusal": (
        {"id": "vllm-1", "custom_id": "a", "response": {"status_code": 400, "request_id": "vllm-batch-1", "body": None},
         "error": {"object": "error", "message": "too long", "type": "BadRequestError", "param": None, "code": 400}},
        (None, None, None, None, "error", "too long")),
    "Together's error": ({"custom_id": "a", "error": {"message": "rate limited", "code": "rate_limit"}},
                         (None, None, None, None, "error", "rate limited")),
    "an error beside half an answer": (
        line("a", CHAT) | {"error": {"code": "server_error", "message": "broke"}},
        (None, None, None, None, "error", "broke")),
    "an error inside a 200": (line("a", {"error": {"message": "overloaded"}}),
                              (None, None, None, None, "error", "overloaded")),
    "neither": ({"custom_id": "a", "response": None, "error": None, "id": "x"},
                (None, None, None, None, "error", "neither a response nor an error")),
    "no completion": (line("a", {"hello": 1}), (None, None, None, None, "error", "no choices")),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_a_line_is_read(name: str, tmp_path: Path) -> None:
    result, (answer, reason, given, put, kind, words) = READ[name]
    _, (sample,) = only(write(tmp_path / "out.jsonl", result))
    assert (sample.id, sample.answer, sample.finish_reason) == ("a", answer, reason)
    assert (sample.input_tokens, sample.output_tokens) == (given, put)
    assert (sample.failure and sample.failure.kind) == kind
    assert words in (sample.failure.message if sample.failure else "")
    assert sample.scores == {}


def test_the_header_says_only_what_the_batch_says(tmp_path: Path) -> None:
    log, (sample,) = only(write(tmp_path / "july.jsonl", line("a", CHAT)))
    header = log.header
    assert (header.tool, header.task, header.model) == ("openai_batch", "july", "gpt-9-mini-2031-01-02")
    assert (header.status, header.created_at, header.n_claimed) == ("not_known", "2024-03-26T16:45:33Z", None)
    assert (header.claims, header.scorers, header.generation_params) == ((), (), {})
    assert sample.prompt == ""
    assert sample.metadata == {"request_id": "req_a", "system_fingerprint": "fp_1"}
    assert codes(log) == {"prompts_not_known": 1}


def test_requests_are_joined_by_their_ids(tmp_path: Path) -> None:
    talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "3 + 5?"}]
    write(tmp_path / "asked.jsonl", asked("a"), asked("b", messages=talk, temperature=1), asked("c"))
    write(tmp_path / "out.jsonl", line("b", CHAT), line("a", CHAT))
    log, samples = only(tmp_path / "out.jsonl")
    assert [(sample.id, sample.prompt) for sample in samples] == [
        ("b", "[1] system:\nBe brief.\n\n[2] user:\n3 + 5?"),
        ("a", "2 + 5?"),
    ]
    assert [sample.messages for sample in samples] == [talk, None]
    assert (log.header.task, log.header.model, log.header.n_claimed) == ("asked", "gpt-9-mini", 3)
    assert log.header.generation_params == {}  # they differ in the one that they have
    assert codes(log) == {"requests_beside": 1, "requests_without_results": 1, "out_of_order": 1}
    assert set(log.files) == {"asked.jsonl", "out.jsonl"}


def test_what_all_requests_have_is_of_the_batch(tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", asked("a", max_tokens=5, seed=1), asked("b", max_tokens=5, seed=2))
    log, _ = only(write(tmp_path / "out.jsonl", line("a", CHAT), line("b", CHAT)))
    assert log.header.generation_params == {"temperature": 0, "max_tokens": 5}
    assert log.header.status == "complete"


def test_calls_that_were_not_offered_are_none(tmp_path: Path) -> None:
    out = write(tmp_path / "out.jsonl", line("a", choice(None, "tool_calls", tool_calls=CALL)))
    offered = write(tmp_path / "offered.txt", asked("a", tools=[{"type": "function"}]))
    plain = write(tmp_path / "plain.txt", asked("a"))
    assert only(out, offered)[1][0].answer == 'calls add({"a":2})'
    assert only(out, plain)[1][0].answer is None


@pytest.mark.parametrize(
    ("body", "prompt"),
    [
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}, "[1] user:\nx"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, "[image_url]"),
        ({"messages": None, "input": "y", "instructions": "z"}, "[1] system:\nz\n\n[2] user:\ny"),
        ({"messages": None, "input": [{"role": "user", "content": [{"type": "input_text", "text": "y"}]}]}, "y"),
        ({"messages": None, "prompt": "once"}, "once"),
    ],
)
def test_prompts_of_all_addresses(body: dict[str, Any], prompt: str, tmp_path: Path) -> None:
    request = asked("a", **body)
    request["body"] = {name: value for name, value in request["body"].items() if value is not None}
    _, (sample,) = only(write(tmp_path / "out.jsonl", line("a", CHAT)), write(tmp_path / "in.txt", request))
    assert sample.prompt == prompt


def test_a_doubled_id_has_its_first_answer(tmp_path: Path) -> None:
    failed = line("a", error={"code": "batch_expired", "message": "x"})
    second = line("a", choice("Eight.", "stop"))
    log, samples = only(write(tmp_path / "out.jsonl", failed, line("b", CHAT), line("a", CHAT), second, failed))
    assert [(sample.id, sample.answer) for sample in samples] == [("b", "Seven."), ("a", "Seven.")]
    assert codes(log) == {"not_answered": 2, "doubled_id": 3, "prompts_not_known": 5}


def test_requests_with_one_id_are_not_guessed_at(tmp_path: Path) -> None:
    requests = write(tmp_path / "in.txt", asked("a", "one"), asked("a", "two"))
    log, (sample,) = only(write(tmp_path / "out.jsonl", line("a", CHAT)), requests)
    assert sample.prompt == ""
    assert codes(log) == {"doubled_request": 1}


def test_two_files_of_the_same_requests_are_not_guessed_at(tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", asked("a"))
    write(tmp_path / "in2.jsonl", asked("a", "another"))
    log, (sample,) = only(write(tmp_path / "out.jsonl", line("a", CHAT)))
    assert sample.prompt == ""
    assert codes(log) == {"several_requests": 2, "prompts_not_known": 1}


def test_a_folder_has_answers_and_errors_of_one_batch(tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", asked("a"), asked("b"))
    write(tmp_path / "errors.jsonl", line("b", error={"code": "batch_expired", "message": "x"}))
    write(tmp_path / "out.jsonl", line("a", CHAT))
    assert recognised(tmp_path).name == "openai_batch"
    log, samples = only(tmp_path)
    assert [(sample.id, sample.where) for sample in samples] == [
        ("b", "errors.jsonl, line 1"),
        ("a", "out.jsonl, line 1"),
    ]
    assert (log.header.status, log.header.n_claimed) == ("complete", 2)


@pytest.mark.parametrize("other", [line("a", CHAT), line("b", CHAT | {"model": "another"})], ids=["id", "model"])
def test_files_of_different_batches_are_logs_of_their_own(other: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", line("a", CHAT))
    write(tmp_path / "two.jsonl", other)
    assert [log.header.task for log in opened_logs(tmp_path)] == ["one", "two"]


def test_a_batch_of_several_models_names_none(tmp_path: Path) -> None:
    log, _ = only(write(tmp_path / "out.jsonl", line("a", CHAT), line("b", CHAT | {"model": "other"})))
    assert log.header.model is None
    assert codes(log)["several_models"] == 2


def test_further_choices_are_told(tmp_path: Path) -> None:
    log, (sample,) = only(write(tmp_path / "out.jsonl", line("a", CHAT | {"choices": CHAT["choices"] * 3})))
    assert sample.answer == "Seven."
    assert codes(log)["further_answers"] == 2


SURROGATE = json.dumps(line("a", choice("\ud835", "stop")))
HOSTILE = {
    "a broken line": (('{"custom_id": "b", "resp',), "2: no whole JSON"),
    "no object": (("[1]",), "2: another form"),
    "an id that is no text": ((json.dumps(line("b", CHAT) | {"custom_id": 1}),), "2: another form than it should have"),
    "no id": ((json.dumps({"response": None}),), "2: another form"),
    "embeddings": ((json.dumps(line("b", {"object": "list", "data": [{"embedding": [0.1]}]})),), "embeddings"),
    "nested": ((f'{{"custom_id": "b", "error": {"[" * 10_000}{"]" * 10_000}}}',), "nested too deeply"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_makes_no_sense_is_named_with_its_line(name: str, tmp_path: Path) -> None:
    lines, words = HOSTILE[name]
    with pytest.raises(InputError, match=words):
        opened(write(tmp_path / "out.jsonl", line("a", CHAT), *lines))


def test_texts_are_as_they_came(tmp_path: Path) -> None:
    hostile = line("b\x1b[31m", choice("<script>\x1b]0;x\x07\u202e", "stop"))
    _, samples = only(write(tmp_path / "out.jsonl", SURROGATE, "", hostile))
    assert [sample.answer for sample in samples] == ["\\ud835", "<script>\x1b]0;x\x07\u202e"]
    assert [sample.where for sample in samples] == ["line 1", "line 3"]


def test_a_body_nested_too_deeply_is_a_failure_of_its_line(tmp_path: Path) -> None:
    deep = f'{{"custom_id": "a", "response": {{"status_code": 200, "body": {{"choices": {"[" * 900}{"]" * 900}}}}}}}'
    _, (sample,) = only(write(tmp_path / "out.jsonl", deep))
    assert sample.answer is None
    assert sample.failure is not None


def test_samples_can_be_read_again(tmp_path: Path) -> None:
    write(tmp_path / "in.jsonl", asked("a"))
    (log,) = opened(write(tmp_path / "out.jsonl", line("a", CHAT)))
    with log:
        assert list(log.samples()) == list(log.samples())
        assert [(one.metadata, one.messages) for one in log.samples(whole=False)] == [({}, None)]


@pytest.mark.parametrize(
    "first", [{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {}}, {"prompt": "x"}, "no"]
)
def test_other_files_are_not_ours(first: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        recognised(write(tmp_path / "x.jsonl", first))
