"""Requests and results in each vendor's form: said as its own OpenAI-compatible address would read them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from batch_vendors import CUSTOM_ID
from benchbook.ask.asking import Call
from benchbook.ask.batches.anthropic_form import AnthropicWire
from benchbook.ask.batches.form import BatchWire, id_in_result
from benchbook.ask.batches.gemini_form import GeminiWire
from benchbook.ask.batches.openai_form import OpenAIWire
from benchbook.ask.batches.request_ids import RequestId, new_batch_id, read_request_id, request_id
from benchbook.ask.providers.calls import CallFailed
from benchbook.ask.providers.openai_wire import chat_body
from benchbook.ask.requests import RolePlan, request_sha256
from benchbook.errors import ConfigError, UsageError

PARAMS = {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42}
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi."},
    {"role": "user", "content": "Why?"},
]
BODY = chat_body("m", TALK, PARAMS | {"stop": "\n"})
WIRES: dict[str, BatchWire] = {"openai": OpenAIWire(), "anthropic": AnthropicWire(), "gemini": GeminiWire()}


def asked(wire: BatchWire, body: bytes = BODY) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(wire.request("id-1", body))
    return value


# ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_openais_body_is_the_request_as_it_is() -> None:
    found = asked(OpenAIWire())
    assert found == {
        "custom_id": "id-1", "method": "POST", "url": "/v1/chat/completions", "body": json.loads(BODY)
    }  # fmt: skip
    assert BODY in OpenAIWire().request("id-1", BODY)


def test_anthropics_system_text_stands_apart_and_what_it_passes_over_is_left_out() -> None:
    assert asked(AnthropicWire())["params"] == {
        "model": "m", "max_tokens": 1024, "temperature": 0, "top_p": 1, "stop_sequences": ["\n"], "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "Why?"},
        ],
    }  # fmt: skip


def test_anthropic_must_have_a_number_of_tokens() -> None:
    assert asked(AnthropicWire(), chat_body("m", "Why?", {}))["params"]["max_tokens"] == 4096


def test_geminis_turns_are_contents_and_parameters_its_configuration() -> None:
    assert asked(GeminiWire()) == {
        "key": "id-1",
        "request": {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Hello"}]}, {"role": "model", "parts": [{"text": "Hi."}]},
                {"role": "user", "parts": [{"text": "Why?"}]},
            ],
            "generationConfig": {
                "temperature": 0, "topP": 1, "maxOutputTokens": 1024, "seed": 42, "stopSequences": ["\n"],
            },
        },
    }  # fmt: skip


def test_gemini_is_asked_for_json_of_a_schema() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    config = asked(GeminiWire(), chat_body("m", "Why?", {}, schema))["request"]["generationConfig"]
    assert config == {"responseMimeType": "application/json", "responseJsonSchema": schema}


@pytest.mark.parametrize("vendor", ["anthropic", "gemini"])
def test_a_conversation_with_tools_is_refused_where_it_would_be_said_otherwise(vendor: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    talk = [
        {"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
    ]  # fmt: skip
    body = chat_body("m", talk, {})
    with pytest.raises(UsageError, match="tools"):
        WIRES[vendor].request("id-1", body)
    assert asked(OpenAIWire(), body)["body"]["messages"] == talk


@pytest.mark.parametrize(
    ("vendor", "plan", "setting"),
    [
        pytest.param("openai", {"stream": True}, "stream", id="a-stream"),
        pytest.param("anthropic", {"params": {"max_words": 3}}, "params", id="anthropic-unknown"),
        pytest.param("anthropic", {"json_schema": True}, "judge_json_schema", id="anthropic-schema"),
        pytest.param("gemini", {"params": {"logit_bias": {}}}, "params", id="gemini-unknown"),
    ],
)
def test_what_a_form_has_no_place_for_is_refused(vendor: str, plan: dict[str, Any], setting: str) -> None:
    role = RolePlan(**{"model_id": "openai/m@1", "provider": "openai", "name": "m", "params": {}, **plan})
    with pytest.raises(ConfigError) as refused:
        WIRES[vendor].check(role, "params")
    assert refused.value.setting == setting


# vLLM's own schema of a line that run-batch reads and of one that it writes: BatchRequestInput, BatchResponseData and
# BatchRequestOutput of vllm/entrypoints/openai/run_batch.py, as of commit 0056ae7b2144abbc7b4916a43491c154567e0b76.
# ChatCompletionRequest has `extra: allow`; of its fields those are here that our requests have.
VLLM_INPUT = {
    "type": "object",
    "required": ["custom_id", "method", "url", "body"],
    "properties": {
        "custom_id": {"type": "string"},
        "method": {"const": "POST"},
        "url": {"const": "/v1/chat/completions"},
        "body": {
            "type": "object",
            "required": ["messages"],
            "properties": {
                "messages": {"type": "array", "items": {"type": "object", "required": ["role"]}},
                "model": {"type": ["string", "null"]},
                "max_tokens": {"type": ["integer", "null"]},
                "temperature": {"type": ["number", "null"]},
                "top_p": {"type": ["number", "null"]},
                "seed": {"type": ["integer", "null"]},
                "stop": {"type": ["array", "string", "null"]},
                "stream": {"type": ["boolean", "null"]},
            },
        },
    },
}
VLLM_OUTPUT = {
    "type": "object",
    "required": ["id", "custom_id", "response", "error"],
    "properties": {
        "id": {"type": "string"},
        "custom_id": {"type": "string"},
        "response": {
            "type": ["object", "null"],
            "required": ["request_id"],
            "properties": {"status_code": {"type": "integer"}, "request_id": {"type": "string"}},
        },
    },
}


def test_vllms_run_batch_takes_the_requests() -> None:
    jsonschema_rs.validate(VLLM_INPUT, asked(OpenAIWire()))


VLLM_ANSWERED = {
    "id": "vllm-1", "custom_id": "id-1", "error": None,
    "response": {
        "status_code": 200, "request_id": "vllm-batch-1",
        "body": {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{
                "index": 0, "message": {"role": "assistant", "content": "So.", "tool_calls": []}, "logprobs": None,
                "finish_reason": "stop", "stop_reason": None,
            }],
            "usage": {"prompt_tokens": 9, "total_tokens": 11, "completion_tokens": 2},
        },
    },
}  # fmt: skip
VLLM_FAILED = {
    "id": "vllm-1", "custom_id": "id-1",
    "response": {"status_code": 400, "request_id": "vllm-batch-1", "body": None},
    "error": {
        "error": {"message": "The maximum context length is 8 tokens.", "type": "BadRequestError", "code": 400},
    },
}  # fmt: skip


@pytest.mark.parametrize("line", [VLLM_ANSWERED, VLLM_FAILED], ids=["answered", "failed"])
def test_what_vllm_writes_is_read(line: dict[str, Any]) -> None:
    jsonschema_rs.validate(VLLM_OUTPUT, line)
    if line is VLLM_ANSWERED:
        answer = OpenAIWire().answer(json.dumps(line).encode(), BODY)
        assert (answer.text, answer.input_tokens, answer.output_tokens, answer.finish_reason) == ("So.", 9, 2, "stop")
        assert (answer.latency_e2e_ms, answer.time_to_first_token_ms) == (None, None)
        return
    with pytest.raises(CallFailed) as failed:
        OpenAIWire().answer(json.dumps(line).encode(), BODY)
    assert (failed.value.status, failed.value.cause, failed.value.retryable) == (400, "request", False)


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────


def _openai(response: Any = None, error: Any = None) -> dict[str, Any]:
    return {"id": "r", "custom_id": "id-1", "response": response, "error": error}


def _anthropic(**result: Any) -> dict[str, Any]:
    return {"custom_id": "id-1", "result": result}


def _refused(kind: str) -> dict[str, Any]:
    return _anthropic(type="errored", error={"type": "error", "error": {"type": kind, "message": "No."}})


@pytest.mark.parametrize(
    ("vendor", "line", "cause", "retryable"),
    [
        pytest.param("openai", _openai(error={"code": "batch_expired", "message": "late"}), "not_carried_out", True),
        pytest.param("openai", _openai(error={"code": "batch_cancelled", "message": "x"}), "not_carried_out", True),
        pytest.param("openai", _openai(), "not_carried_out", True),
        pytest.param(
            "openai",
            _openai({"status_code": 429, "body": {"error": {"code": "rate_limit_exceeded"}}}),
            "rate_limit",
            True,
        ),
        pytest.param("openai", _openai({"status_code": 503, "body": None}), "server_error", True),
        pytest.param(
            "openai", _openai({"status_code": 400, "body": {"error": {"message": "too long"}}}), "request", False
        ),
        pytest.param(
            "openai", _openai({"status_code": 404, "body": {"error": {"message": "no such model"}}}), "not_found", False
        ),
        pytest.param("openai", _openai({"status_code": 200, "body": {}}), "broken_reply", True),
        pytest.param("openai", [1], "broken_reply", True),
        pytest.param("anthropic", _anthropic(type="expired"), "not_carried_out", True),
        pytest.param("anthropic", _anthropic(type="canceled"), "not_carried_out", True),
        pytest.param("anthropic", _refused("overloaded_error"), "server_error", True),
        pytest.param("anthropic", _refused("api_error"), "server_error", True),
        pytest.param("anthropic", _refused("invalid_request_error"), "request", False),
        pytest.param("anthropic", _anthropic(type="succeeded", message={}), "broken_reply", True),
        pytest.param("anthropic", {"custom_id": "id-1"}, "broken_reply", True),
        pytest.param(
            "gemini",
            {"key": "id-1", "error": {"code": 14, "status": "UNAVAILABLE", "message": "x"}},
            "server_error",
            True,
        ),
        pytest.param(
            "gemini",
            {"key": "id-1", "error": {"code": 3, "status": "INVALID_ARGUMENT", "message": "x"}},
            "request",
            False,
        ),
        pytest.param("gemini", {"key": "id-1", "response": {}}, "broken_reply", True),
        pytest.param("gemini", {"key": "id-1"}, "broken_reply", True),
    ],
)
def test_why_there_is_no_answer(vendor: str, line: Any, cause: str, retryable: bool) -> None:
    with pytest.raises(CallFailed) as failed:
        WIRES[vendor].answer(json.dumps(line).encode(), BODY)
    assert (failed.value.cause, failed.value.retryable) == (cause, retryable)


def test_a_blocked_answer_of_geminis_is_the_models() -> None:
    line = {"key": "k", "response": {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}}
    answer = GeminiWire().answer(json.dumps(line).encode(), BODY)
    assert (answer.text, answer.finish_reason, answer.latency_e2e_ms) == (None, "content_filter", None)


# ── ids ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "call",
    [
        Call(0, "candidate", 1, b"{}", "candidate"),
        Call(268_435_455, "judge", 9, b"{}", "judge 9999", judge=9999),
        Call(7, "judge", 2, b"{}", "judge", judge=0),
    ],
    ids=["first", "longest", "retry"],
)
def test_an_id_leads_back_to_its_call_within_every_vendors_limits(call: Call) -> None:
    batch, sha256 = new_batch_id(), request_sha256(call.body)
    text = request_id(batch, call, sha256)
    assert CUSTOM_ID.fullmatch(text)
    found = read_request_id(text)
    assert found == RequestId(batch, call.sample, call.role, call.judge, call.attempt, sha256[:32])
    assert found.names(call, sha256)
    assert not found.names(call, request_sha256(b"[]"))
    for line in ({"custom_id": text}, {"key": text, "response": {}}):
        assert id_in_result(json.dumps(line).encode()) == text


@pytest.mark.parametrize("text", ["", "request-1", "0123456789ab-1-c-1-", "0123456789ab-1-x-1-" + "0" * 32])
def test_an_id_of_others_is_none_of_ours(text: str) -> None:
    assert read_request_id(text) is None
