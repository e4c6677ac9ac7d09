"""What servers' refusals mean: cause, whether asking again may help, whether the run stops (SPEC R3.6, R3.6a).

The bodies are those of the servers that are named, some with other numbers in them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.ask.providers.calls import CallFailed
from benchbook.ask.providers.faults import error_in_200, refusal
from benchbook.ask.providers.openai_wire import chat_body

PARAMS = {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42, "stop": ["x"], "logit_bias": {}}
REQUEST = chat_body("m", "q", PARAMS, {"type": "object"}, stream=True)

RETRIED = {"rate_limit", "server_error"}
STOPPING = {"authentication", "payment", "not_found", "parameter"}


def refused(status: int, body: Any, **headers: str) -> CallFailed:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refusal(status, {name.replace("_", "-"): value for name, value in headers.items()}, data, REQUEST, 7)


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message} | more}


QUOTA = "You exceeded your current quota, please check your plan and billing details."
RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "14.5s"}


@pytest.mark.parametrize(
    ("status", "body", "cause", "wait_s", "says"),
    [
        pytest.param(401, error("Incorrect API key provided"), "authentication", None, "Incorrect", id="openai-key"),
        pytest.param(403, {"detail": "Forbidden"}, "authentication", None, "Forbidden", id="403"),
        pytest.param(
            400, [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}],
            "authentication", None, "API key not valid", id="gemini-key",
        ),
        pytest.param(
            402, {"error": {"message": "Insufficient Balance", "code": "invalid_request_error"}}, "payment", None,
            "Insufficient Balance", id="deepseek",
        ),
        pytest.param(429, error(QUOTA, code="insufficient_quota"), "payment", None, "exceeded", id="openai-quota"),
        pytest.param(
            429, error("You exceeded your current quota.", code=429, status="RESOURCE_EXHAUSTED", details=[RETRY_INFO]),
            "rate_limit", 14.5, "exceeded", id="gemini-rate",
        ),
        pytest.param(
            429, [error("You exceeded your current quota. Please retry in 3.25s.")], "rate_limit", 3.25, "retry in",
            id="gemini-rate-in-words",
        ),
        pytest.param(
            400, {"type": "error", "error": {"type": "invalid_request_error",
                                             "message": "Your credit balance is too low to access the Anthropic API."}},
            "payment", None, "credit balance", id="anthropic-credit",
        ),
        pytest.param(
            403, error("Key limit exceeded (monthly limit)."), "payment", None, "monthly", id="openrouter-key-limit"
        ),
        pytest.param(429, error("余额不足或无可用资源包", code="1113"), "payment", None, "1113", id="z.ai-arrears"),
        pytest.param(429, error("速率限制", code="1302"), "rate_limit", None, "1302", id="z.ai-rate"),
        pytest.param(429, error("too fast"), "rate_limit", None, "too fast", id="bare"),
        pytest.param(
            400, {"__type": "ThrottlingException", "code": "ThrottlingException", "message": "Slow down."},
            "rate_limit", None, "Slow down", id="throttled-with-400",
        ),
        pytest.param(404, error("m does not exist", code="model_not_found"), "not_found", None, "model_not_found",
                     id="openai-model"),
        pytest.param(400, error("m is no model", code="model_not_found"), "not_found", None, "no model",
                     id="model-with-400"),
        pytest.param(
            403, error("Project `p` does not have access to model `m`", code="model_not_found"), "not_found", None,
            "access", id="model-with-403",
        ),
        pytest.param(404, {"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError",
                           "param": None, "code": 404}, "not_found", None, "does not exist", id="vllm-model"),
        pytest.param(404, error('model "m" not found, pull it first'), "not_found", None, "pull", id="ollama"),
        pytest.param(
            404, b"<html><head><title>404 Not Found</title></head><body>nginx</body></html>", "not_found", None,
            "status 404: 404 Not Found", id="address-html",
        ),
        pytest.param(404, {"detail": "Not Found"}, "not_found", None, "Not Found", id="address-fastapi"),
        pytest.param(405, {"detail": "Method Not Allowed"}, "not_found", None, "Method", id="address-405"),
        pytest.param(
            400, error("This model's maximum context length is 4096 tokens, however you requested 5000 tokens (3976 in "
                       "your prompt; 1024 for the completion). Please reduce max_tokens.", code=400),
            "request", None, "context length", id="too-long",
        ),
        pytest.param(400, error("max_tokens must be at least 1, got -20."), "request", None, "-20", id="vllm-too-long"),
        pytest.param(400, error("I can't help with that.", code="content_policy_violation"), "request", None,
                     "can't", id="policy"),
        pytest.param(413, b"", "request", None, "status 413", id="too-large"),
        pytest.param(407, b"", "proxy", None, "status 407", id="proxy"),
        pytest.param(408, b"", "server_error", None, "status 408", id="408"),
        pytest.param(409, b"", "server_error", None, "status 409", id="409"),
        pytest.param(500, b"\x00\x1b[31mbroken", "server_error", None, r"\u0000\u001b[31mbroken", id="controls"),
        pytest.param(503, error("Loading model"), "server_error", None, "Loading", id="llama.cpp"),
        pytest.param(503, error("busy, try again in 2 minutes"), "server_error", 120, "busy", id="503-with-a-wait"),
        pytest.param(
            529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "server_error",
            None, "overloaded_error: Overloaded", id="anthropic-overloaded",
        ),
        pytest.param(
            400, {"error": {"message": "Provider returned error", "code": 400, "metadata": {
                "provider_name": "X", "raw": '{"error":{"message":"prompt rejected"}}'}}},
            "request", None, "prompt rejected", id="openrouter-raw",
        ),
        pytest.param(502, {"error": {"error": {"message": "deep"}}}, "server_error", None, "deep", id="nested"),
    ],
)  # fmt: skip
def test_what_a_refusal_means(status: int, body: Any, cause: str, wait_s: float | None, says: str) -> None:
    failed = refused(status, body)
    assert (failed.cause, failed.retry_after_s) == (cause, wait_s)
    assert (failed.error, failed.status, failed.latency_ms) == ("provider_error", status, 7)
    assert (failed.retryable, failed.stops_run) == (cause in RETRIED, cause in STOPPING)
    assert says in failed.detail
    assert failed.parameter is None


@pytest.mark.parametrize(
    ("status", "body", "parameter"),
    [
        pytest.param(
            400, {"type": "error", "error": {"type": "invalid_request_error", "message":
                  "`temperature` and `top_p` cannot both be specified for this model. Please use only one."}},
            "top_p", id="anthropic-both",
        ),
        pytest.param(400, error("temperature and top_p cannot both be specified"), "top_p", id="both-unquoted"),
        pytest.param(
            400, error("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                       "'max_completion_tokens' instead.", param="max_tokens", code="unsupported_parameter"),
            "max_tokens", id="openai-max-tokens",
        ),
        pytest.param(
            400, error("Unsupported value: 'temperature' does not support 0 with this model.", param="temperature"),
            "temperature", id="openai-temperature",
        ),
        pytest.param(400, error("Unrecognized request argument supplied: stream_options", param=None), "stream_options",
                     id="stream-options"),
        pytest.param(400, [error('Invalid JSON payload received. Unknown name "seed": Cannot find field.')], "seed",
                     id="gemini-seed"),
        pytest.param(422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "top_p"],
                                       "msg": "Extra inputs are not permitted"}]}, "top_p", id="fastapi"),
        pytest.param(422, {"object": "error", "message": {"detail": [
            {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}},
                     "seed", id="mistral"),
        pytest.param(400, error("This response_format type is unavailable now: not supported"), "response_format",
                     id="deepseek-schema"),
        pytest.param(400, error("Invalid schema for response_format 'reply'", param="response_format"),
                     "response_format", id="openai-schema"),
        pytest.param(400, error("max_tokens is too large: 1024. This model supports at most 512 completion tokens.",
                                param="max_tokens"), "max_tokens", id="too-many-tokens-for-the-model"),
        pytest.param(400, error("`top_p` is deprecated for this model."), "top_p", id="deprecated"),
        pytest.param(400, error("seed is not supported"), "seed", id="a-word-in-prose"),
        pytest.param(400, error("logit_bias: unknown field"), "logit_bias", id="any-that-was-sent"),
        pytest.param(400, error("x", param="generation_config.top_p"), "top_p", id="a-path"),
    ],
)  # fmt: skip
def test_a_refused_parameter_is_named(status: int, body: Any, parameter: str) -> None:
    failed = refused(status, body)
    assert (failed.cause, failed.parameter, failed.stops_run, failed.retryable) == ("parameter", parameter, True, False)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(error("Please stop sending forbidden words"), id="a-word-that-is-a-name-too"),
        pytest.param(error("The text 'At what temperature does lead melt?' is not allowed"), id="the-prompt-quoted"),
        pytest.param(error("frequency_penalty is not supported"), id="one-that-was-not-sent"),
        pytest.param(error("too long; expected max_tokens", param="messages[0].content"), id="about-the-messages"),
        pytest.param(error("no such parameter"), id="none-named"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_what_names_no_parameter_is_about_the_request(body: Any) -> None:
    failed = refused(400, body)
    assert (failed.cause, failed.parameter, failed.stops_run) == ("request", None, False)


@pytest.mark.parametrize(
    ("headers", "message", "wait_s"),
    [
        ({"retry_after": "3"}, "Please try again in 9s", 3),
        ({"retry_after_ms": "250"}, "", 0.25),
        ({"x_ratelimit_reset_requests": "120ms", "x_ratelimit_reset_tokens": "6m0s"}, "slow", 0.12),
        (
            {"x_ratelimit_reset_requests": "1s", "x_ratelimit_remaining_requests": "5",
             "x_ratelimit_reset_tokens": "7.66s", "x_ratelimit_remaining_tokens": "0"},
            "slow", 7.66,
        ),
        ({"x_ratelimit_reset_requests": "1s"}, "Please try again in 2.5s", 2.5),
        ({"x_ratelimit_reset_requests": "soon"}, "slow", None),
    ],
)  # fmt: skip
def test_how_long_a_429_asks_to_wait(headers: dict[str, str], message: str, wait_s: float | None) -> None:
    assert refused(429, error(message), **headers).retry_after_s == wait_s


def test_the_limits_of_a_reply_that_met_none_are_no_wait() -> None:
    assert refused(500, error("x"), x_ratelimit_reset_requests="1s").retry_after_s is None


def test_a_spent_quota_stays_one_whenever_its_limits_begin_anew() -> None:
    failed = refused(429, error(QUOTA, code="insufficient_quota"), x_ratelimit_reset_requests="1s")
    assert (failed.cause, failed.retry_after_s) == ("payment", None)


def test_a_redirect_says_where_to() -> None:
    failed = refused(308, b"", location="https://host/v1/chat/completions")
    assert (failed.cause, failed.stops_run) == ("not_found", True)
    assert "https://host/v1/chat/completions" in failed.detail


@pytest.mark.parametrize(
    ("told", "status", "cause"),
    [
        ({"code": 429, "message": "x"}, 429, "rate_limit"),
        ({"message": "rate limit reached, retry in 2s"}, 200, "rate_limit"),
        ({"message": "Insufficient credits"}, 200, "payment"),
        ({"message": "The model `m` does not exist"}, 200, "not_found"),
        ({"message": "Unknown parameter: `top_p`"}, 200, "parameter"),
        ({"message": "upstream went away"}, 200, "server_error"),
        ({"status_code": 1008, "status_msg": "insufficient balance"}, 402, "payment"),
        ({"status_code": 1002, "status_msg": "rate limit"}, 429, "rate_limit"),
        ({"code": "1002", "message": "token"}, 401, "authentication"),
    ],
)
def test_an_error_with_status_200(told: dict[str, Any], status: int, cause: str) -> None:
    failed = error_in_200(told, REQUEST, 5)
    assert (failed.status, failed.cause) == (status, cause)


@pytest.mark.parametrize("message", ["x" * 100_000, "again " * 20_000, "wait 1 and " * 20_000, "a" * 3 + "\ud800"])
def test_a_long_or_odd_message_is_read_in_no_time_and_shortened(message: str) -> None:
    assert len(refused(429, error(message)).detail) <= 520
    refused(429, error(message)).detail.encode()


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "code", "loc", "retryAfter", "raw", "x"]), inner
        )
    ),
    max_leaves=8,
)


@given(st.integers(201, 599), _json)
def test_any_body_is_a_failure_with_a_cause(status: int, body: Any) -> None:
    failed = refused(status, body)
    assert failed.cause is not None
    assert failed.retry_after_s is None or 0 <= failed.retry_after_s <= 1e12
    failed.detail.encode()


@given(st.integers(201, 599), st.binary(max_size=80))
def test_any_bytes_are_a_failure_with_a_cause(status: int, body: bytes) -> None:
    assert refused(status, body).cause is not None
