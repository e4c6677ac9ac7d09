"""Every other vendor. any-llm is not among the test packages (with its vendors' libraries it is large), so a module
with its surface stands in: `AnyLLM.create` and `AnyLLM.acompletion` with the parameters that any-llm-sdk 1.40.2 has and
that 1.0.0, the oldest allowed, has too. Held against the real 1.40.2 with OpenAI's library by hand, 2026-11-28.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, Literal

import pytest

from benchbook.ask.providers.any_llm import AnyLLMProvider
from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.ask.providers.keys import Secret
from benchbook.ask.providers.openai_wire import chat_body
from benchbook.ask.work import run_async
from benchbook.errors import ConfigError

KEY = "sk-ant-Zm9vYmFy4711"
PARAMS = {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42}
BODY = chat_body("m", "How many days has a week?", PARAMS, {"type": "object"})


class Completion:
    """As pydantic's models: `model_dump(mode="json")`."""

    def __init__(self, text: str | None = "Seven.", **more: Any) -> None:
        self._value = {
            "id": "x", "object": "chat.completion", "created": 1, "model": "m-2026-01-01",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22},
        } | more  # fmt: skip

    def model_dump(self, *, mode: Literal["json", "python"] = "python") -> dict[str, Any]:
        assert mode == "json"
        return self._value


class Client:
    """A vendor's library: it would retry by itself."""

    def __init__(self) -> None:
        self.max_retries = 2
        self.closed = False
        self._client = types.SimpleNamespace(follow_redirects=True)  # httpx's

    async def close(self) -> None:
        self.closed = True


class AnyLLM:
    made: list[AnyLLM]
    reply: Callable[[], Any]

    def __init__(self, provider: str, api_key: str | None) -> None:
        self.provider = provider
        self.api_key = api_key
        self.client: Any = Client()
        self.asked: list[dict[str, Any]] = []

    @classmethod
    def create(cls, provider: str, api_key: str | None = None, api_base: str | None = None, **kwargs: Any) -> AnyLLM:
        if provider == "nosuch":
            raise UnsupportedProviderError(f"'nosuch' is not a supported provider. {api_key}")
        cls.made.append(cls(provider, api_key))
        return cls.made[-1]

    async def acompletion(
        self,
        model: str,
        messages: list[dict[str, Any]],
        *,
        tools: list[dict[str, Any]] | None = None,
        tool_choice: str | dict[str, Any] | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        response_format: dict[str, Any] | None = None,
        stream: bool | None = None,
        n: int | None = None,
        stop: str | list[str] | None = None,
        presence_penalty: float | None = None,
        frequency_penalty: float | None = None,
        seed: int | None = None,
        user: str | None = None,
        parallel_tool_calls: bool | None = None,
        logprobs: bool | None = None,
        top_logprobs: int | None = None,
        logit_bias: dict[str, float] | None = None,
        stream_options: dict[str, Any] | None = None,
        max_completion_tokens: int | None = None,
        reasoning_effort: str | None = "auto",
        **kwargs: Any,
    ) -> Any:
        given = {
            name: value for name, value in locals().items() if name not in ("self", "kwargs") and value is not None
        }
        assert not kwargs, "only what every vendor knows"
        assert not stream, "a stream would come back as an iterator"
        self.asked.append(given)
        result = type(self).reply()
        if asyncio.iscoroutine(result):
            return await result
        if isinstance(result, Exception):
            raise result
        return result


class UnsupportedProviderError(Exception):
    pass


@pytest.fixture(autouse=True)
def any_llm(monkeypatch: pytest.MonkeyPatch) -> type[AnyLLM]:
    AnyLLM.made, AnyLLM.reply = [], staticmethod(Completion)
    module = types.ModuleType("any_llm")
    module.AnyLLM = AnyLLM  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "any_llm", module)
    return AnyLLM


def ask(
    body: bytes = BODY, *, reply: Any = None, key: str | None = KEY, timeout_ms: int = 60_000
) -> Answer | CallFailed:
    if reply is not None:
        AnyLLM.reply = staticmethod(lambda: reply)

    async def main() -> Answer | CallFailed:
        secret = Secret(key) if key else None
        provider = AnyLLMProvider("anthropic:claude", secret, timeout_ms=timeout_ms, setting="model")
        try:
            return await provider.ask(body)
        except CallFailed as failed:
            return failed
        finally:
            await provider.close()

    outcome: Answer | CallFailed = run_async(main())
    return outcome


def failed(reply: Any, **more: Any) -> CallFailed:
    outcome = ask(reply=reply, **more)
    assert isinstance(outcome, CallFailed), outcome
    return outcome


# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────


def test_a_request_is_the_body_under_the_vendors_model() -> None:
    ask()
    (made,) = AnyLLM.made
    (asked,) = made.asked
    schema = {"name": "reply", "strict": True, "schema": {"type": "object"}}
    assert (made.provider, made.api_key) == ("anthropic", KEY)
    assert asked == PARAMS | {
        "model": "claude",
        "messages": [{"role": "user", "content": "How many days has a week?"}],
        "response_format": {"type": "json_schema", "json_schema": schema},
        "reasoning_effort": "auto",
    }


def test_without_a_variable_the_vendors_own_is_left_to_any_llm() -> None:
    ask(key=None)
    assert AnyLLM.made[0].api_key is None


def test_a_stream_is_asked_for_whole() -> None:
    answer = ask(chat_body("m", "?", {}, stream=True))
    assert isinstance(answer, Answer)
    assert answer.time_to_first_token_ms is None
    assert AnyLLM.made[0].asked[0].keys() == {"model", "messages", "reasoning_effort"}


def test_a_prompt_with_lone_surrogates_is_handed_on() -> None:
    ask(chat_body("m", "\ud800", {}))
    assert AnyLLM.made[0].asked[0]["messages"][0]["content"] == "\ud800"


def test_one_client_serves_all_requests_does_not_retry_and_is_closed() -> None:
    async def main() -> None:
        provider = AnyLLMProvider("anthropic:claude", None, timeout_ms=60_000, setting="model")
        await provider.ask(BODY)
        await provider.ask(BODY)
        await provider.close()

    run_async(main())
    (made,) = AnyLLM.made
    assert (len(made.asked), made.client.max_retries, made.client.closed) == (2, 0, True)


@pytest.mark.parametrize("client", [None, object(), types.SimpleNamespace(close=lambda: None)])
def test_a_vendors_client_may_be_of_any_kind(monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    def create(provider: str, api_key: str | None = None) -> AnyLLM:
        made = AnyLLM(provider, api_key)
        made.client = client
        return made

    monkeypatch.setattr(AnyLLM, "create", create)
    assert isinstance(ask(), Answer)


# ── what comes back ──────────────────────────────────────────────────────────────────────────────────────


def test_an_answer() -> None:
    answer = ask()
    assert isinstance(answer, Answer)
    assert answer.latency_e2e_ms is not None
    assert (answer.text, answer.finish_reason, answer.input_tokens, answer.output_tokens, answer.model_reported) == (
        "Seven.", "stop", 20, 2, "m-2026-01-01",
    )  # fmt: skip


@pytest.mark.parametrize("text", [None, "", "\ud835 \0", f"{'x' * 100_000}"], ids=["null", "empty", "hostile", "long"])
def test_the_text_is_kept_as_it_came(text: str | None) -> None:
    answer = ask(reply=Completion(text))
    assert isinstance(answer, Answer)
    assert answer.text == text


def test_an_answer_that_echoes_the_key_is_kept_without_it() -> None:
    answer = ask(reply=Completion(f"it is {KEY}"))
    assert isinstance(answer, Answer)
    assert answer.text == "it is [key removed]"


def test_a_key_that_json_spells_otherwise_is_removed_too() -> None:
    """What the vendor's library decoded may hold the key, whatever its form on the wire."""
    key = 'sk-"quoted"\\key/123456'
    answer = ask(reply=Completion(f"it is {key}"), key=key)
    assert isinstance(answer, Answer)
    assert answer.text == "it is [key removed]"


class VendorError(Exception):
    """As openai's, anthropic's and cohere's: with the status, and the response where there was one."""

    def __init__(self, text: str, status: Any, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status_code = status
        self.response = types.SimpleNamespace(headers=headers)


class GoogleError(Exception):
    code = 503


class APIConnectionError(Exception):
    """openai's and anthropic's."""


class TransportError(Exception):
    """httpx's."""


class ReadError(TransportError):
    pass


@pytest.mark.parametrize(
    ("error", "status", "retryable", "stops_run"),
    [
        pytest.param(VendorError("slow", 429), 429, True, False, id="429"),
        pytest.param(VendorError("busy", 529), 529, True, False, id="overloaded"),
        pytest.param(VendorError("bad request", 400), 400, False, False, id="400"),
        pytest.param(VendorError("bad key", 401), 401, False, True, id="401-stops"),
        pytest.param(GoogleError("busy"), 503, True, False, id="google"),
        pytest.param(APIConnectionError("Connection error."), None, True, False, id="connection"),
        pytest.param(ReadError("cut"), None, True, False, id="httpx"),
        pytest.param(ConnectionResetError("reset"), None, True, False, id="system"),
        pytest.param(VendorError("odd", "429"), None, False, False, id="a-status-that-is-no-number"),
        pytest.param(VendorError("odd", 200), None, False, False, id="a-status-of-no-error"),
        pytest.param(TypeError("unexpected keyword argument 'seed'"), None, False, True, id="a-parameter"),
        pytest.param(ImportError("anthropic required packages"), None, False, False, id="a-missing-package"),
    ],
)
def test_what_a_vendors_error_means(error: Exception, status: int | None, retryable: bool, stops_run: bool) -> None:
    outcome = failed(error)
    assert (outcome.error, outcome.status, outcome.retryable, outcome.stops_run) == (
        "provider_error", status, retryable, stops_run,
    )  # fmt: skip
    assert outcome.detail == f"{type(error).__name__}: {error}"


class BodyError(VendorError):
    """As openai's: with the body that came."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__("Error code", status)
        self.body = body


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "cause", "parameter"),
    [
        pytest.param(VendorError("slow", 429), "rate_limit", None, id="429"),
        pytest.param(VendorError("busy", 529), "server_error", None, id="529"),
        pytest.param(VendorError("bad key", 401), "authentication", None, id="401"),
        pytest.param(VendorError("no model", 404), "not_found", None, id="404"),
        pytest.param(VendorError("seed: Extra inputs are not permitted", 400), "parameter", "seed", id="extra"),
        pytest.param(BodyError(429, {"message": "x", "code": "insufficient_quota"}), "payment", None, id="body"),
        pytest.param(BodyError(400, {"message": "x", "param": "top_p"}), "parameter", "top_p", id="param"),
        pytest.param(TypeError("unexpected keyword argument 'seed'"), "parameter", "seed", id="keyword"),
        pytest.param(ImportError("required packages"), "local", None, id="no-package"),
        pytest.param(APIConnectionError("Connection error."), "connection", None, id="connection"),
        pytest.param(
            caused(APIConnectionError("Connection error."), socket.gaierror(-2, "not known")), "dns", None, id="dns"
        ),
        pytest.param(
            caused(ReadError("x"), ssl.SSLCertVerificationError(1, "self-signed")), "tls", None, id="certificate"
        ),
        pytest.param(caused(ReadError("x"), OSError(errno.EMFILE, "files")), "local", None, id="files"),
        pytest.param(MemoryError(), "local", None, id="memory"),
        pytest.param(AttributeError("choices"), "broken_reply", None, id="odd"),
    ],
)
def test_the_cause_of_a_vendors_error(error: Exception, cause: str, parameter: str | None) -> None:
    outcome = failed(error)
    assert (outcome.cause, outcome.parameter) == (cause, parameter)


def test_a_wait_in_the_words_of_a_vendors_error_is_read() -> None:
    assert failed(VendorError("Rate limit. Please try again in 1.5s.", 429)).retry_after_s == 1.5


def test_retry_after_is_read_from_the_vendors_response() -> None:
    assert failed(VendorError("slow", 429, {"Retry-After": "7"})).retry_after_s == 7


def test_an_error_that_echoes_the_key_is_told_without_it() -> None:
    outcome = failed(VendorError(f"bad key {KEY} \ud800 Bearer abc123", 401))
    assert outcome.detail == "VendorError: bad key [key removed] \\ud800 [key removed]"


def test_a_long_error_is_shortened() -> None:
    assert len(failed(VendorError("x" * 10_000, 500)).detail) == 500


def test_a_reply_that_can_not_be_read_is_a_fault_of_its_own() -> None:
    outcome = failed(object())  # no model_dump
    assert (outcome.error, outcome.retryable) == ("provider_error", False)
    assert outcome.detail.startswith("AttributeError: ")


def test_no_answer_in_time_is_a_timeout() -> None:
    async def hang() -> None:
        await asyncio.sleep(60)

    AnyLLM.reply = staticmethod(hang)
    outcome = ask(timeout_ms=30)
    assert isinstance(outcome, CallFailed)
    assert (outcome.error, outcome.status) == ("timeout", None)


def test_being_cancelled_is_no_failure_of_the_vendor() -> None:
    async def hang() -> None:
        await asyncio.sleep(60)

    async def main() -> None:
        provider = AnyLLMProvider("anthropic:claude", None, timeout_ms=60_000, setting="model")
        task = asyncio.ensure_future(provider.ask(BODY))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    AnyLLM.reply = staticmethod(hang)
    run_async(main())


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_name_without_a_vendor_is_refused() -> None:
    with pytest.raises(ConfigError, match="any-llm/<vendor>:<model>@<version>"):
        AnyLLMProvider("claude", None, timeout_ms=60_000, setting="judge")


def test_a_vendor_that_can_not_be_opened_is_refused_at_once_and_without_the_key() -> None:
    with pytest.raises(ConfigError, match="is not a supported provider") as caught:
        AnyLLMProvider("nosuch:m", Secret(KEY), timeout_ms=60_000, setting="judge")
    assert str(caught.value).startswith("judge: found any-llm/nosuch:m (UnsupportedProviderError: ")
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(("variable", "is_key"), [("VENDOR_API_KEY", True), ("VENDOR_PROJECT_ID", False)])
def test_a_key_that_any_llm_reads_by_itself_is_taken_out_too(
    any_llm: Any, monkeypatch: pytest.MonkeyPatch, variable: str, is_key: bool
) -> None:
    monkeypatch.setattr(any_llm, "ENV_API_KEY_NAME", variable, raising=False)
    monkeypatch.setenv(variable, "ab/cd/0815/4711")
    answer = ask(key=None, reply=Completion('{"a": "ab\\/cd\\/0815\\/4711"}'))
    assert isinstance(answer, Answer)
    assert answer.text == ('{"a": "[key removed]"}' if is_key else '{"a": "ab\\/cd\\/0815\\/4711"}')


def test_a_models_name_may_hold_colons() -> None:
    async def main() -> None:
        provider = AnyLLMProvider("bedrock:anthropic.claude-v2:1", None, timeout_ms=60_000, setting="model")
        await provider.ask(BODY)

    run_async(main())
    (made,) = AnyLLM.made
    assert (made.provider, made.asked[0]["model"]) == ("bedrock", "anthropic.claude-v2:1")
