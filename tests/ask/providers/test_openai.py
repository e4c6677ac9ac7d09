"""The OpenAI-compatible provider against a server: outcomes, streams, and what is not kept of a key (SPEC R3.6)."""

from __future__ import annotations

import errno
import gzip
import json
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from benchbook.ask.providers import openai
from benchbook.ask.providers.access import checked_base_url, versioned_url
from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.ask.providers.http_connection import BodyTooLargeError, HttpError, Response
from benchbook.ask.providers.keys import Secret
from benchbook.ask.providers.openai import OpenAIProvider
from benchbook.ask.providers.openai_wire import chat_body
from benchbook.ask.work import run_async
from benchbook.errors import ConfigError
from scripted_server import ScriptedServer, always_good, running

KEY = "sk-proj-Zm9vYmFy4711"
WHOLE = chat_body("m", "How many days has a week?", {})
EVENTS = (
    b': hello\n\ndata: {"model":"m","choices":[{"delta":{"content":"Se"}}]}\r\n\r\n'
    b'data: {"choices":[{"delta":{"content":"ven."},"finish_reason":"stop"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":2}}\n\ndata: [DONE]\n\n'
)
STREAMED = chat_body("m", "How many days has a week?", {}, stream=True)


def asked(reply: dict[str, Any], body: bytes = WHOLE, *, key: str | None = None, **options: Any) -> Answer | CallFailed:
    """What becomes of one request to a server with that reply."""
    with running(lambda role, n, request: reply) as server:
        return run_async(_ask(server, body, Secret(key) if key else None, {"timeout_ms": 60_000} | options))


async def _ask(
    server: ScriptedServer, body: bytes, secret: Secret | None, options: dict[str, Any]
) -> Answer | CallFailed:
    provider = OpenAIProvider(server.base_url, secret, **options)
    try:
        return await provider.ask(body)
    except CallFailed as failed:
        return failed
    finally:
        await provider.close()


def failed(outcome: Answer | CallFailed) -> CallFailed:
    assert isinstance(outcome, CallFailed), outcome
    return outcome


def answered(outcome: Answer | CallFailed) -> Answer:
    assert isinstance(outcome, Answer), vars(outcome)
    return outcome


# ── outcomes ─────────────────────────────────────────────────────────────────────────────────────────────


def test_an_answer_has_its_latency() -> None:
    answer = answered(asked({"status": 200, "content": "Seven.", "usage": {"prompt_tokens": 20}}))
    assert (answer.text, answer.input_tokens, answer.model_reported) == ("Seven.", 20, "m-2026-01-01")
    assert answer.latency_e2e_ms is not None
    assert answer.time_to_first_token_ms is None


@pytest.mark.parametrize(
    ("status", "retryable", "stops_run"),
    [
        (400, False, False), (401, False, True), (403, False, True), (404, False, True), (408, True, False),
        (409, True, False), (422, False, False), (429, True, False), (500, True, False), (503, True, False),
        (301, False, True), (204, False, False),
    ],
)  # fmt: skip
def test_what_a_status_means(status: int, retryable: bool, stops_run: bool) -> None:
    outcome = failed(asked({"status": status, "raw": ""}))
    assert (outcome.error, outcome.status, outcome.retryable, outcome.stops_run) == (
        "provider_error", status, retryable, stops_run,
    )  # fmt: skip
    assert outcome.detail == f"status {status}"


def test_a_failure_says_what_the_server_said_and_how_long_to_wait() -> None:
    reply = {"status": 429, "headers": {"Retry-After": "7"}, "body": {"error": {"message": "slow down"}}}
    outcome = failed(asked(reply))
    assert (outcome.detail, outcome.retry_after_s) == ("status 429: slow down", 7)


@pytest.mark.parametrize("body", [WHOLE, STREAMED], ids=["whole", "streamed"])
def test_no_whole_answer_in_time_is_a_timeout(body: bytes) -> None:
    outcome = failed(asked({"behaviour": "hang"}, body, timeout_ms=50))
    assert (outcome.error, outcome.status, outcome.retryable) == ("timeout", None, False)
    assert outcome.latency_ms > 0


@pytest.mark.parametrize("body", [WHOLE, STREAMED], ids=["whole", "streamed"])
def test_a_cut_reply_may_be_asked_for_again(body: bytes) -> None:
    outcome = failed(asked({"behaviour": "cut_body"}, body))
    assert (outcome.error, outcome.status, outcome.retryable) == ("provider_error", None, True)
    assert "before the reply was whole" in outcome.detail


@pytest.mark.parametrize("body", [WHOLE, STREAMED], ids=["whole", "streamed"])
def test_a_reply_over_the_limit_is_not_asked_for_again(body: bytes) -> None:
    outcome = failed(asked({"status": 200, "content": "x" * 500}, body, max_reply_bytes=100))
    assert (outcome.error, outcome.retryable) == ("provider_error", False)
    assert "larger than 100 bytes" in outcome.detail


def test_no_server_may_be_asked_again() -> None:
    with running(always_good) as server:
        pass
    outcome = failed(run_async(_ask(server, WHOLE, None, {"timeout_ms": 60_000})))
    assert (outcome.error, outcome.status, outcome.retryable) == ("provider_error", None, True)
    assert outcome.detail.startswith("ConnectionRefusedError: ")


def test_a_certificate_that_is_not_trusted_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten samples that end so stop the run; a retry of each would take hours to come to that."""

    async def refuse(*_: object) -> Response:
        raise ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed certificate")

    async def main() -> Answer:
        provider = OpenAIProvider("https://models.example/v1", None, timeout_ms=60_000)
        monkeypatch.setattr(provider._client, "post", refuse)
        return await provider.ask(WHOLE)

    with pytest.raises(CallFailed, match="self-signed") as caught:
        run_async(main())
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("error", "cause", "retryable", "stops_run"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "connection", True, False),
        (ConnectionResetError(104, "Connection reset"), "connection", True, False),
        (socket.gaierror(-2, "Name or service not known"), "dns", True, False),
        (ssl.SSLCertVerificationError(1, "certificate verify failed"), "tls", False, True),
        (ssl.SSLError(1, "wrong version number"), "tls", True, False),
        (ssl.SSLEOFError(8, "EOF occurred"), "connection", True, False),
        (OSError(errno.EMFILE, "Too many open files"), "local", True, False),
        (OSError(errno.ENFILE, "File table overflow"), "local", True, False),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "local", True, False),
        (OSError(errno.ENOSPC, "No space left"), "local", True, False),
        (OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address"), "local", True, False),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "connection", True, False),
        (MemoryError(), "local", True, False),
        (RuntimeError("can't start new thread"), "local", True, False),
        (HttpError("the proxy refuses", cause="proxy"), "proxy", True, False),
        (HttpError("lost"), "connection", True, False),
        (BodyTooLargeError("too large"), "broken_reply", False, False),
    ],
)
def test_whose_fault_it_is_that_no_reply_came(
    error: Exception, cause: str, retryable: bool, stops_run: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def break_off(*_: object) -> Response:
        raise error

    async def main() -> Answer:
        provider = OpenAIProvider("https://models.example/v1", None, timeout_ms=60_000)
        monkeypatch.setattr(provider._client, "post", break_off)
        return await provider.ask(WHOLE)

    with pytest.raises(CallFailed) as caught:
        run_async(main())
    found = caught.value
    assert (found.error, found.cause, found.retryable, found.stops_run) == (
        "provider_error",
        cause,
        retryable,
        stops_run,
    )


def test_a_time_limit_is_a_cause_of_its_own() -> None:
    assert failed(asked({"behaviour": "hang"}, timeout_ms=50)).cause == "time_limit"


# ── compressed bodies ────────────────────────────────────────────────────────────────────────────────────

COMPLETION = b'{"model":"m","choices":[{"message":{"content":"Seven."},"finish_reason":"stop"}]}'
RAW_DEFLATE = zlib.compressobj(wbits=-15)


async def replied(
    monkeypatch: pytest.MonkeyPatch, status: int, headers: dict[str, str], data: bytes, body: bytes = WHOLE
) -> Answer | CallFailed:
    provider = OpenAIProvider("http://models.example/v1", None, timeout_ms=60_000, max_reply_bytes=10_000)

    async def post(*_: object) -> Response:
        return Response(status, headers, data)

    monkeypatch.setattr(provider._client, "post", post)
    return await outcome_of(provider.ask(body))


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("gzip", gzip.compress(COMPLETION)),
        ("x-GZip", gzip.compress(COMPLETION)),
        ("gzip", gzip.compress(COMPLETION[:20]) + gzip.compress(COMPLETION[20:])),
        ("deflate", zlib.compress(COMPLETION)),
        ("deflate", RAW_DEFLATE.compress(COMPLETION) + RAW_DEFLATE.flush()),
        ("deflate, gzip", gzip.compress(zlib.compress(COMPLETION))),
        ("identity", COMPLETION),
    ],
    ids=["gzip", "x-gzip", "two-members", "deflate", "raw-deflate", "twice", "identity"],
)
def test_a_body_that_was_compressed_unasked_is_read(
    encoding: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for body in (WHOLE, STREAMED):
        outcome = run_async(replied(monkeypatch, 200, {"content-encoding": encoding}, data, body))
        assert answered(outcome).text == "Seven."


def test_a_compressed_stream_is_read_and_its_moments_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    headers = {"content-encoding": "gzip"}
    answer = answered(run_async(replied(monkeypatch, 200, headers, gzip.compress(EVENTS), STREAMED)))
    assert (answer.text, answer.input_tokens, answer.time_to_first_token_ms) == ("Seven.", 20, None)


@pytest.mark.parametrize(
    ("encoding", "data", "retryable", "says"),
    [
        ("br", b"x", False, "content-encoding br is not supported"),
        ("zstd", b"x", False, "content-encoding zstd is not supported"),
        ("gzip", COMPLETION, True, "the body is no gzip"),
        ("gzip", gzip.compress(COMPLETION)[:-9], True, "the gzip body is cut"),
        ("gzip", gzip.compress(b" " * 10_001), False, "larger than 10000 bytes"),
        ("gzip", gzip.compress(b" " * 9_000) + gzip.compress(b" " * 9_000), False, "larger than 10000 bytes"),
    ],
    ids=["br", "zstd", "none", "cut", "too-large", "too-large-in-members"],
)
def test_a_compressed_body_that_can_not_be_read_says_so(
    encoding: str, data: bytes, retryable: bool, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = failed(run_async(replied(monkeypatch, 200, {"content-encoding": encoding}, data)))
    assert (outcome.cause, outcome.retryable, outcome.status) == ("broken_reply", retryable, 200)
    assert says in outcome.detail


def test_a_compressed_error_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(b'{"error":{"message":"slow down"}}')
    outcome = failed(run_async(replied(monkeypatch, 429, {"content-encoding": "gzip"}, data)))
    assert (outcome.cause, outcome.detail) == ("rate_limit", "status 429: slow down")


@pytest.mark.parametrize("start", [b"", b": keep-alive\n\n", b"\n\n"], ids=["at-once", "comments", "blank-lines"])
@pytest.mark.parametrize("data", [COMPLETION, EVENTS], ids=["json", "events"])
def test_what_was_asked_for_whole_may_come_late_or_as_a_stream(
    start: bytes, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = answered(run_async(replied(monkeypatch, 200, {}, start + data)))
    assert (answer.text, answer.time_to_first_token_ms) == ("Seven.", None)


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_key_goes_into_the_authorization_header_and_nowhere_else() -> None:
    with running(always_good) as server:
        answered(run_async(_ask(server, WHOLE, Secret(KEY), {"timeout_ms": 60_000})))
    (headers,) = server.headers
    assert headers.pop("authorization") == f"Bearer {KEY}"
    assert KEY not in json.dumps([headers, server.asked])


def test_without_a_key_there_is_no_authorization_header() -> None:
    with running(always_good) as server:
        answered(run_async(_ask(server, WHOLE, None, {"timeout_ms": 60_000})))
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize("body", [WHOLE, STREAMED], ids=["whole", "streamed"])
def test_an_answer_that_echoes_the_key_is_kept_without_it(body: bytes) -> None:
    assert answered(asked({"status": 200, "content": f"it is {KEY}"}, body, key=KEY)).text == "it is [key removed]"


@pytest.mark.parametrize(
    "reply",
    [
        {"status": 401, "body": {"error": {"message": f"bad key {KEY}"}}},
        {"status": 500, "raw": f"<pre>Authorization: Bearer {KEY}</pre>"},
        {"status": 200, "body": {"error": {"message": f"bad key {KEY}"}}},
        {"status": 200, "raw": f"data: {{{KEY}"},
    ],
    ids=["error", "html", "error-in-a-200", "no-json"],
)
@pytest.mark.parametrize("body", [WHOLE, STREAMED], ids=["whole", "streamed"])
def test_a_failure_that_echoes_the_key_is_told_without_it(reply: dict[str, Any], body: bytes) -> None:
    outcome = failed(asked(reply, body, key=KEY))
    assert "Zm9v" not in outcome.detail
    assert "Zm9v" not in repr(outcome)


Ask = Callable[..., Awaitable[Answer]]

# ── streams, cut into pieces anywhere ────────────────────────────────────────────────────────────────────

IN_ONE_PIECE = json.dumps(
    {"choices": [{"message": {"content": "Seven."}, "finish_reason": "stop"}],
     "usage": {"prompt_tokens": 20, "completion_tokens": 2}}, indent=1,
).encode()  # fmt: skip


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Asks a provider whose server's body comes in these pieces."""

    async def ask(*given: bytes) -> Answer:
        provider = OpenAIProvider("http://models.example/v1", None, timeout_ms=60_000)

        async def post(body: bytes, on_body: Callable[[bytes], bool]) -> Response:
            for piece in given:
                if on_body(piece):
                    break
            return Response(200, {}, b"")

        monkeypatch.setattr(provider._client, "post", post)
        return await provider.ask(STREAMED)

    return ask


@pytest.mark.parametrize(
    "body",
    [EVENTS, EVENTS.rstrip(), EVENTS.replace(b"\n", b"\r\n"), b"\n\n" + EVENTS, IN_ONE_PIECE, b" \r\n" + IN_ONE_PIECE],
    ids=["events", "without-the-last-line-end", "crlf", "blank-lines-first", "in-one-piece", "in-one-piece-later"],
)
def test_a_stream_may_be_cut_anywhere(pieces: Ask, body: bytes) -> None:
    async def main() -> None:
        cuts = [[body], [body[n : n + 1] for n in range(len(body))]]
        cuts += [[body[:n], body[n:]] for n in range(1, len(body))]
        for given in cuts:
            answer = await pieces(*given)
            told = (answer.text, answer.finish_reason, answer.input_tokens, answer.output_tokens)
            assert told == ("Seven.", "stop", 20, 2), given

    run_async(main())


async def outcome_of(asked: Awaitable[Answer]) -> Answer | CallFailed:
    try:
        return await asked
    except CallFailed as failed:
        return failed


@pytest.mark.parametrize("whole", [EVENTS.rstrip(), IN_ONE_PIECE], ids=["events", "in-one-piece"])
def test_a_stream_that_ends_too_early_anywhere_is_a_fault(pieces: Ask, whole: bytes) -> None:
    async def main() -> None:
        finished = EVENTS.index(b"\n", EVENTS.index(b"finish_reason"))
        for cut in range(len(whole)):
            outcome = await outcome_of(pieces(whole[:cut]))
            if isinstance(outcome, CallFailed):
                assert outcome.retryable
            else:  # R3.6: whole at a finish reason and a clean end
                assert whole is not IN_ONE_PIECE
                assert cut >= finished
                assert outcome.text == "Seven."

    run_async(main())


def test_an_error_inside_a_stream_counts_as_the_status_it_names(pieces: Ask) -> None:
    async def main() -> None:
        with pytest.raises(CallFailed) as caught:
            await pieces(b'data: {"error":{"code":503}}\n', b"more")
        assert (caught.value.status, caught.value.retryable) == (503, True)

    run_async(main())


@pytest.mark.parametrize("start", [b"", b"{", b'data: {"x":"'], ids=["text", "in-one-piece", "one-line"])
def test_a_long_reply_in_tiny_pieces_is_taken_in_linear_time(pieces: Ask, start: bytes) -> None:
    """300,000 pieces: where each is joined to all before it, this takes minutes."""

    async def main() -> None:
        with pytest.raises(CallFailed):
            await pieces(start, *[b"xxxxxxxxxxxxxxxx"] * 300_000)

    run_async(main())


def test_time_to_first_token_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = answered(asked({"status": 200, "content": "Seven.", "usage": {"prompt_tokens": 20}}, STREAMED))
    assert answer.time_to_first_token_ms is not None
    assert answer.latency_e2e_ms is not None
    assert answer.time_to_first_token_ms <= answer.latency_e2e_ms
    assert (answer.text, answer.input_tokens) == ("Seven.", 20)


# ── addresses ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("url", "checked"),
    [
        ("https://host/v1", "https://host/v1"),
        ("https://host/v1/", "https://host/v1"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("HTTPS://Host/V1", "HTTPS://Host/V1"),
        ("https://host/a%20b", "https://host/a%20b"),
        ("https://host/v1/chat/completions", "https://host/v1"),
        ("https://host/v1/chat/completions/", "https://host/v1"),
        ("https://host/chat/completions", "https://host"),
        (
            "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
            "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
        ),
        (
            "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
            "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
        ),
        ("https://host/v1/?a=b&c=d", "https://host/v1?a=b&c=d"),
    ],
)
def test_an_address_is_taken_without_the_slash_at_its_end(url: str, checked: str) -> None:
    assert checked_base_url(url, "model_base_url") == checked


@pytest.mark.parametrize(
    "url",
    [
        "", "host/v1", "ftp://host", "file:///etc/passwd", "https://", "https:///v1", "http://:80/v1", "http://host:port/",
        "http://host:99999/", "http://host:0/", "http://[::1/v1", "http://ho st/v1", "http://host/a b", "http://host/v1\n",
        "http://höst/v1", "http://host/ü", "http://host/\r\nX-Evil:1", "http://host/\x7f",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="model_base_url: found ") as caught:
        checked_base_url(url, "model_base_url")
    assert caught.value.expected.startswith("an address such as https://host/v1")


@pytest.mark.parametrize(
    "url",
    [
        "https://me:pass@host/v1",
        "https://pass@host/v1",
        "https://@host/v1",
        "https://host/v1?key=pass",
        "https://host/v1?api_key=pass",
        "https://host/v1?api-version=1&subscription-key=pass",
        "https://host/v1?Token=pass",
        "https://host/v1?sig=pass",
        "https://host/v1?code=pass",
        "https://host/v1?password=pass",
        "https://host/v1?pass",
        "https://host/v1?a=sk-pass0123456789abcdefgh",
        "https://host/v1#pass",
    ],
)
def test_an_address_with_more_than_an_address_in_it_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ConfigError, match="credentials in it") as caught:
        checked_base_url(url, "model_base_url")
    assert "pass" not in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "sent_as"),
    [
        ("https://x.openai.azure.com/openai/v1", ["Authorization", "api-key"]),
        ("https://gateway.example/openai/deployments/d?api-version=2024-10-21", ["Authorization", "api-key"]),
        ("https://host/v1", ["Authorization"]),
        ("https://openai.azure.com.evil.example/v1", ["Authorization"]),
    ],
)
def test_azure_gets_its_key_in_its_own_header_too(
    base_url: str, sent_as: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[dict[str, str]] = []

    def note(self: Any, url: str, headers: dict[str, str], **more: Any) -> None:
        self._proxy = None
        made.append(headers | {"url": url})

    monkeypatch.setattr("benchbook.ask.providers.openai.HttpClient.__init__", note)
    OpenAIProvider(base_url, Secret(KEY), timeout_ms=1)
    (headers,) = made
    assert [name for name in headers if KEY in headers[name]] == sent_as
    path, _, query = base_url.partition("?")
    assert headers["url"] == f"{path}/chat/completions" + (f"?{query}" if query else "")


def test_credentials_in_what_is_no_address_are_not_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        checked_base_url("ftp://me:pass@host", "model_base_url")
    assert "pass" not in str(caught.value)


@pytest.mark.parametrize(("nanoseconds", "milliseconds"), [(0, 0), (499_999, 0), (500_000, 1), (1_499_999, 1)])
def test_milliseconds_are_rounded_half_up(monkeypatch: pytest.MonkeyPatch, nanoseconds: int, milliseconds: int) -> None:
    monkeypatch.setattr("benchbook.ask.providers.openai.time.monotonic_ns", lambda: nanoseconds)
    assert openai._since(0) == milliseconds


@pytest.mark.parametrize(
    ("url", "versioned"),
    [
        ("http://host:1", "http://host:1/v1"),
        ("http://host:1/", "http://host:1/v1"),
        ("http://v1.host/api/?team=a", "http://v1.host/api/v1?team=a"),
        ("http://host/?to=/v1", "http://host/v1?to=/v1"),
        ("http://host/chat/completions", "http://host/v1"),
        ("https://host/v1", None),
        ("https://host/v1beta/openai/", None),
        ("https://x.openai.azure.com/openai/deployments/m", None),
        ("https://host/openai?api-version=2024-10-21", None),
    ],
)
def test_what_an_address_without_a_version_is_with_one(url: str, versioned: str | None) -> None:
    assert versioned_url(url) == versioned
