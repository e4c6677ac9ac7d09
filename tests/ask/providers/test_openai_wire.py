"""The chat completions format: what is sent, and what servers send back (SPEC R1.4, R2.3, R3.6)."""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.ask.providers.error_body import read_error_body, told_detail
from benchbook.ask.providers.openai import ChatStream
from benchbook.ask.providers.openai_wire import chat_body, read_completion
from benchbook.canonical import canonical_json

# Any text that Python can hold, lone surrogates among it: a model's answer goes into the judge's prompt as it came.
ANY_TEXT = st.text(st.characters(codec=None))


def completion(content: Any = "Seven.", **more: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return json.dumps({"model": "m-2026-01-01", "choices": [choice]} | more).encode()


def read(data: bytes, **headers: str) -> Answer:
    return read_completion(data, {name.replace("_", "-"): value for name, value in headers.items()}, 5)


def error_detail(data: bytes) -> str:
    return told_detail(read_error_body(data))


def failure(data: bytes) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        read(data)
    return caught.value


# ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────

PARAMS = {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42}


def test_a_body_is_one_user_message_and_the_parameters_in_canonical_form() -> None:
    assert (
        chat_body("m", "Whät?", PARAMS)
        == (
            '{"max_tokens":1024,"messages":[{"content":"Whät?","role":"user"}],"model":"m","seed":42,"temperature":0,"top_p":1}'
        ).encode()
    )


@pytest.mark.parametrize(
    ("prompt", "sha256"),
    [
        pytest.param(
            'q "\\ \u2028\U0001f600\x7f\0',
            "5f2a86c33f7081da42d88a1d1d5992677bfe572802b8ea0cea31dbfbe8a22c32",
            id="text",
        ),
        pytest.param(
            'q "\\ \u2028\U0001f600\x7f\0\ud800',
            "3ecfcd0a2249a667856dc95558efb049dc50f206bf41ce1176818773d44d9759",
            id="lone-surrogate",
        ),
    ],
)
def test_the_bytes_of_a_body_do_not_change(prompt: str, sha256: str) -> None:
    """Records keep a request as its hash alone: other bytes would be another request."""
    schema = {"type": "object", "properties": {"b": {}, "a": {}}}
    body = chat_body("org/m", prompt, PARAMS | {"top_p": 0.95}, schema, stream=True)
    assert hashlib.sha256(body).hexdigest() == sha256


def test_a_json_schema_is_asked_for_strictly() -> None:
    body = json.loads(chat_body("m", "q", {}, {"type": "object"}))
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "strict": True, "schema": {"type": "object"}},
    }


def test_a_stream_is_asked_for_with_its_usage() -> None:
    body = json.loads(chat_body("m", "q", {}, stream=True))
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


def test_its_options_are_left_out_where_the_parameter_is_null() -> None:
    body = json.loads(chat_body("m", "q", {"stream_options": None}, stream=True))
    assert body == {"model": "m", "messages": [{"role": "user", "content": "q"}], "stream": True}


@given(ANY_TEXT)
@example("\ud83d\ude00")
@example("\udc00\ud800\0\u2028")
def test_any_prompt_arrives_as_it_is(prompt: str) -> None:
    body = chat_body("m", prompt, PARAMS)
    assert as_units(json.loads(body)["messages"][0]["content"]) == as_units(prompt)


def as_units(text: str) -> bytes:
    """As UTF-16, in which a pair of surrogates and their character are the same, as in JSON's escapes."""
    return text.encode("utf-16", "surrogatepass")


@given(st.permutations(list(PARAMS.items())))
def test_the_order_of_parameters_does_not_matter(items: list[tuple[str, int]]) -> None:
    assert chat_body("m", "q", dict(items)) == chat_body("m", "q", PARAMS)


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_usual_completion() -> None:
    more = {"system_fingerprint": "fp_1", "usage": {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22}}
    assert read(completion(**more, id="x", created=1, service_tier=None)) == Answer(
        text="Seven.",
        finish_reason="stop",
        latency_e2e_ms=5,
        input_tokens=20,
        output_tokens=2,
        model_reported="m-2026-01-01",
        fingerprint="fp_1",
    )


HUGE = 10**30


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        pytest.param({"prompt_tokens": 3, "completion_tokens": 4}, (3, 4), id="both"),
        pytest.param({"prompt_tokens": 0, "completion_tokens": 0}, (0, 0), id="zero-is-a-count"),
        pytest.param({"prompt_tokens": 3}, (3, None), id="one-missing"),
        pytest.param({"prompt_tokens": None, "completion_tokens": 4}, (None, 4), id="one-null"),
        pytest.param({"prompt_tokens": 3.0, "completion_tokens": 4.5}, (3, None), id="floats"),
        pytest.param({"prompt_tokens": "3", "completion_tokens": 4}, (None, 4), id="a-string"),
        pytest.param({"prompt_tokens": True, "completion_tokens": 4}, (None, 4), id="a-boolean"),
        pytest.param({"prompt_tokens": [3], "completion_tokens": {}}, (None, None), id="lists-and-objects"),
        pytest.param({"prompt_tokens": -1, "completion_tokens": 4}, (None, 4), id="negative"),
        pytest.param({"prompt_tokens": HUGE, "completion_tokens": 4}, (None, 4), id="huge"),
        pytest.param({"prompt_tokens": 1e300, "completion_tokens": 4}, (None, 4), id="a-huge-float"),
        pytest.param({}, (None, None), id="empty"),
        pytest.param(None, (None, None), id="null"),
        pytest.param("many", (None, None), id="text"),
        pytest.param([3, 4], (None, None), id="a-list"),
    ],
)
def test_tokens_are_as_told_or_null_and_never_guessed(usage: Any, tokens: tuple[int | None, int | None]) -> None:
    answer = read(completion(usage=usage))
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("Seven.", *tokens)


def test_usage_may_be_missing() -> None:
    assert read(completion()).input_tokens is None


@pytest.mark.parametrize(
    ("told", "milliseconds"),
    [
        pytest.param({"timings": {"prompt_ms": 10.4, "predicted_ms": 20.3}}, 31, id="llama.cpp"),
        pytest.param({"timings": {"prompt_n": 1, "predicted_ms": 20}}, 20, id="llama.cpp-in-part"),
        pytest.param({"timings": {"prompt_ms": -1, "predicted_ms": 20}}, 20, id="llama.cpp-negative-part"),
        pytest.param({"timings": {"prompt_ms": "1", "predicted_ms": True}}, None, id="llama.cpp-no-numbers"),
        pytest.param({"timings": {"prompt_ms": HUGE}}, None, id="llama.cpp-huge"),
        pytest.param({"timings": {}}, None, id="llama.cpp-empty"),
        pytest.param({"timings": None}, None, id="llama.cpp-null"),
        pytest.param({"timings": "fast"}, None, id="llama.cpp-text"),
        pytest.param({"prompt_eval_duration": 1_500_000, "eval_duration": 2_000_000}, 4, id="ollama-half-to-even"),
        pytest.param({"eval_duration": 20_000_000}, 20, id="ollama-in-part"),
        pytest.param({"prompt_eval_duration": -5, "eval_duration": 20_000_000.0}, 20, id="ollama-odd-types"),
        pytest.param({"eval_duration": HUGE}, None, id="ollama-huge"),
        pytest.param({}, None, id="nothing"),
    ],
)
def test_the_servers_own_time(told: dict[str, Any], milliseconds: int | None) -> None:
    answer = read(completion(**told))
    assert (answer.text, answer.latency_model_ms) == ("Seven.", milliseconds)


@pytest.mark.parametrize(
    ("header", "milliseconds"),
    [("123", 123), ("0", 0), ("12.5", None), ("-1", None), ("fast", None), ("", None), ("٣", None), ("9" * 5000, None)],
    ids=["whole", "zero", "fraction", "negative", "text", "empty", "not-ascii", "5000-digits"],
)
def test_openais_header_tells_the_servers_time(header: str, milliseconds: int | None) -> None:
    assert read(completion(), openai_processing_ms=header).latency_model_ms == milliseconds


def test_timings_in_the_body_go_before_the_header() -> None:
    assert read(completion(timings={"predicted_ms": 7}), openai_processing_ms="9").latency_model_ms == 7


TEXT = {"type": "text"}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param("Seven.", "Seven.", id="text"),
        pytest.param("", "", id="empty"),
        pytest.param(None, None, id="null"),
        pytest.param([TEXT | {"text": "Se"}, TEXT | {"text": "ven."}], "Seven.", id="parts"),
        pytest.param([{"type": "image_url"}, None, "x", TEXT | {"text": 5}, TEXT | {"text": "7"}], "7", id="odd-parts"),
        pytest.param([], None, id="no-parts"),
        pytest.param("\ud835 and \udc00", "\ud835 and \udc00", id="lone-surrogates"),
        pytest.param("\0\x1b[31m\u202e", "\0\x1b[31m\u202e", id="controls"),
    ],
)
def test_the_text_is_kept_as_it_came(content: Any, text: str | None) -> None:
    assert read(completion(content)).text == text


@given(ANY_TEXT)
def test_any_text_is_kept_as_it_came(text: str) -> None:
    data = completion(text)
    assert read(data).text == json.loads(data)["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    "choices",
    [
        pytest.param([{"message": {}}], id="empty-message"),
        pytest.param([{"message": {"role": "assistant"}}], id="no-content"),
        pytest.param([{"message": {"content": None, "tool_calls": [{}]}}], id="tools"),
    ],
)
def test_choices_without_a_text_are_an_answer_without_one(choices: list[Any]) -> None:
    assert read(json.dumps({"choices": choices, "usage": {"prompt_tokens": 3}}).encode()) == Answer(
        text=None, latency_e2e_ms=5, input_tokens=3
    )


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        pytest.param([], "the body has no choices", id="none"),
        pytest.param([None], "the choice is no object", id="null"),
        pytest.param(["Seven."], "the choice is no object", id="text"),
        pytest.param([{}], "neither a message nor a finish reason", id="nothing"),
        pytest.param([{"message": None, "index": 0}], "neither a message nor a finish reason", id="null-message"),
        pytest.param([{"message": {"content": {"text": "Seven."}}}], "the content is an object, not text", id="object"),
        pytest.param([{"message": {"content": 7}}], "the content is a number, not text", id="number"),
        pytest.param([{"message": {"content": True}}], "the content is a boolean, not text", id="boolean"),
    ],
)
def test_a_choice_that_says_nothing_readable_is_a_fault_that_says_what_came(choices: list[Any], says: str) -> None:
    failed = failure(json.dumps({"choices": choices, "usage": {"prompt_tokens": 3}}).encode())
    assert (failed.cause, failed.status, failed.retryable) == ("broken_reply", 200, True)
    assert says in failed.detail


def test_a_choice_without_a_message_that_was_filtered_is_an_answer_without_a_text() -> None:
    answer = read(b'{"choices":[{"finish_reason":"content_filter: PROHIBITED_CONTENT","index":0}]}')
    assert (answer.text, answer.finish_reason) == (None, "content_filter")


def test_fields_of_other_types_are_null_and_the_text_stays() -> None:
    answer = read(completion(model=5, system_fingerprint=["x"], finish_reason={}, usage={"prompt_tokens": 3}))
    assert (answer.text, answer.model_reported, answer.fingerprint, answer.input_tokens) == ("Seven.", None, None, 3)


def test_the_first_choice_is_the_answer() -> None:
    two = {"choices": [{"message": {"content": "one"}}, {"message": {"content": "two"}}]}
    assert read(json.dumps(two).encode()).text == "one"


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        *((word, "length") for word in ("length", "max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens",
                                        "FINISH_REASON_MAX_TOKENS", "model_context_window_exceeded")),
        *((word, "stop") for word in ("stop", "STOP", "end_turn", "eos", "eos_token", "stop_sequence", "COMPLETE")),
        *((word, "content_filter") for word in ("content_filter", "SAFETY", "RECITATION", "refusal", "sensitive",
                                                "content_filter: PROHIBITED_CONTENT", "guardrail_intervened")),
        *((word, word) for word in ("tool_calls", "OTHER", "function_call", "something new")),
        (None, None),
    ],
)  # fmt: skip
def test_finish_reasons_are_one_vocabulary(word: str | None, reason: str | None) -> None:
    choice = {"message": {"content": "Seven."}, "finish_reason": word}
    assert read(json.dumps({"choices": [choice]}).encode()).finish_reason == reason
    streamed_answer = streamed(chunk("Seven."), chunk(choices=[{"delta": {}, "finish_reason": word}]), DONE)
    assert streamed_answer.answer({}, 9).finish_reason == reason


@pytest.mark.parametrize(
    "word",
    [
        "error",
        "ERROR",
        "abort",
        "aborted",
        "network_error",
        "insufficient_system_resource",
        "load",
        "FINISH_REASON_ERROR",
    ],
)
def test_half_a_text_that_the_server_broke_off_is_no_answer(word: str) -> None:
    choice = {"message": {"content": "There are sev"}, "finish_reason": word}
    failed = failure(json.dumps({"choices": [choice], "usage": {"prompt_tokens": 20}}).encode())
    assert (failed.cause, failed.status, failed.retryable, failed.stops_run) == ("server_error", 200, True, False)
    assert word in failed.detail
    with pytest.raises(CallFailed, match=word):
        streamed(chunk("There are sev"), chunk(choices=[{"delta": {}, "finish_reason": word}]), DONE).answer({}, 9)


@pytest.mark.parametrize(
    ("error", "status", "cause"),
    [
        ({"code": 502, "message": "gone"}, 502, "server_error"),
        ({"code": 429}, 429, "rate_limit"),
        ("gone", 200, "server_error"),
    ],
)
@pytest.mark.parametrize("where", ["choice", "beside"])
@pytest.mark.parametrize("content", [None, "", "There are sev", {"odd": 1}], ids=["null", "empty", "half", "object"])
def test_an_error_beside_a_choice_or_in_one_makes_it_no_answer(
    error: Any, status: int, cause: str, where: str, content: Any
) -> None:
    choice: dict[str, Any] = {"message": {"content": content}, "finish_reason": "stop"}
    body: dict[str, Any] = {"choices": [choice]}
    (choice if where == "choice" else body)["error"] = error
    failed = failure(json.dumps(body).encode())
    assert (failed.status, failed.cause, failed.retryable) == (status, cause, True)


@pytest.mark.parametrize("error", [None, "", {}, [], {"code": 0, "message": ""}, {"code": None, "message": None}])
def test_an_empty_error_beside_an_answer_is_none(error: Any) -> None:
    assert read(completion(error=error)).text == "Seven."
    assert streamed(chunk("Seven.", error=error), DONE).answer({}, 9).text == "Seven."


@pytest.mark.parametrize(
    ("told", "used", "reported"),
    [
        pytest.param((20, 5, 25), 5, None, id="nothing-apart"),
        pytest.param((20, 5, 9025), 9005, 5, id="thoughts-in-the-total-alone"),
        pytest.param((32, 9, 135), 103, 9, id="xai"),
        pytest.param((20, 0, 1044), 1024, 0, id="nothing-but-thoughts"),
        pytest.param((20, 5, 24), 5, None, id="a-total-that-is-less"),
        pytest.param((20, 5, None), 5, None, id="no-total"),
        pytest.param((None, 5, 9025), 5, None, id="no-input"),
        pytest.param((20, None, 9025), None, None, id="no-output-is-not-guessed"),
    ],
)
def test_tokens_that_only_the_total_holds_are_output(
    told: tuple[int | None, int | None, int | None], used: int | None, reported: int | None
) -> None:  # R1.5
    usage = dict(zip(("prompt_tokens", "completion_tokens", "total_tokens"), told, strict=True))
    for answer in (
        read(completion(usage=usage)),
        read(completion(usage=usage, model=5)),
        streamed(chunk("Seven."), chunk(choices=[], usage=usage), DONE).answer({}, 9),
    ):
        assert (answer.output_tokens, answer.output_tokens_reported) == (used, reported)


def test_thoughts_that_are_counted_in_the_output_are_not_counted_twice() -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 500, "total_tokens": 520,
             "completion_tokens_details": {"reasoning_tokens": 480}}  # fmt: skip
    assert read(completion(usage=usage)).output_tokens == 500


@pytest.mark.parametrize(
    ("message", "characters"),
    [
        pytest.param({"content": None, "reasoning_content": "Seven."}, 6, id="reasoning-content"),
        pytest.param({"content": "", "reasoning": "Seven."}, 6, id="reasoning"),
        pytest.param({"content": None, "reasoning": "ab", "reasoning_content": "ab"}, 2, id="both-are-the-same"),
        pytest.param({"content": None, "reasoning_content": ""}, None, id="empty"),
        pytest.param({"content": None, "reasoning_content": {"odd": 1}}, None, id="no-text"),
    ],
)
def test_a_text_that_came_apart_as_thoughts_is_no_answer_and_is_told(
    message: dict[str, Any], characters: int | None
) -> None:
    answer = read(json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode())
    assert (answer.text or None, answer.reasoning_characters) == (None, characters)
    in_stream = streamed(chunk(choices=[{"delta": message}]), chunk(choices=[{"delta": message}]), DONE).answer({}, 9)
    assert in_stream.reasoning_characters == (2 * characters if characters else None)


def test_thoughts_among_the_parts_of_an_answer_are_not_its_text() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}]},
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "Seven."},
    ]
    answer = read(completion(parts))
    assert (answer.text, answer.reasoning_characters) == ("Seven.", 5)


def test_the_older_form_of_a_choice_is_read() -> None:
    assert read(b'{"choices":[{"index":0,"text":"24","finish_reason":"stop"}]}').text == "24"
    old = b'data: {"choices":[{"index":0,"text":"24"}]}'
    assert streamed(old, old, DONE).answer({}, 9).text == "2424"


# ── a 200 that is no answer ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("error", "status", "retryable", "stops_run"),
    [
        pytest.param({"code": 429, "message": "slow"}, 429, True, False, id="number"),
        pytest.param({"code": "429"}, 429, True, False, id="numeric-string"),
        pytest.param({"code": "rate_limit_exceeded"}, 429, True, False, id="word"),
        pytest.param({"code": None, "type": "overloaded_error"}, 503, True, False, id="word-as-type"),
        pytest.param({"code": "x", "status": 500}, 500, True, False, id="status-after-an-unknown-code"),
        pytest.param({"code": 408}, 408, True, False, id="408"),
        pytest.param({"code": 400}, 400, False, False, id="400"),
        pytest.param({"code": 401}, 401, False, True, id="401-stops"),
        pytest.param({"type": "permission_error"}, 403, False, True, id="word-that-stops"),
        pytest.param({"code": 200}, 200, True, False, id="200-is-no-error's-status"),
        pytest.param({"code": 700}, 200, True, False, id="no-status"),
        pytest.param({"code": True}, 200, True, False, id="boolean"),
        pytest.param({"code": "9" * 5000}, 200, True, False, id="5000-digits"),
        pytest.param({"message": "broken"}, 200, True, False, id="no-code"),
        pytest.param("broken", 200, True, False, id="text"),
        pytest.param(["broken"], 200, True, False, id="list"),
        pytest.param({"code": HUGE, "x": HUGE}, 200, True, False, id="huge"),
    ],
)
@pytest.mark.parametrize("beside", [{}, {"choices": None}, {"choices": []}], ids=["alone", "null", "empty"])
def test_an_error_in_a_200_counts_as_the_status_it_names(
    error: Any, status: int, retryable: bool, stops_run: bool, beside: dict[str, Any]
) -> None:
    failed = failure(json.dumps({"error": error} | beside).encode())
    assert (failed.error, failed.status, failed.retryable, failed.stops_run) == (
        "provider_error", status, retryable, stops_run,
    )  # fmt: skip
    assert failed.detail.startswith("status 200 with an error inside: ")
    assert failed.latency_ms == 5


def test_a_body_that_is_the_error_object_counts_too() -> None:
    failed = failure(b'{"object":"error","message":"busy","type":"ServiceUnavailable","param":null,"code":503}')
    assert (failed.status, failed.retryable) == (503, True)
    assert "503: ServiceUnavailable: busy" in failed.detail


def test_an_answer_with_a_null_error_is_an_answer() -> None:
    assert read(completion(error=None)).text == "Seven."


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<html><title>502 Bad <Gateway></title><p>nginx</p>", "502 Bad <Gateway>"),
        ("<title>One<title lang=en>Two &amp; more</title>", "Two & more"),
        ("<script>a < b</script><p>It is <b>down</b></p><style>p {}</style>", "It is  down"),
        ("<script>a<script>b</script>It", "a It"),
        ("<title>" * 9_000, ""),
        ("<script " * 9_000, "<script " * 250),
        ("<" * 60_000, "<" * 2_000),
    ],
    ids=["title", "two-titles", "tags", "script-in-script", "titles-alone", "scripts-alone", "signs-alone"],
)
def test_the_words_of_an_error_page(page: str, words: str) -> None:
    """Pages of nothing but beginnings took seconds, for which everything else waited."""
    assert read_error_body(page.encode()).message.strip() == words.strip()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"<html><body>502 Bad Gateway</body></html>", id="html"),
        pytest.param(completion()[:-1], id="cut"),
        pytest.param(completion() + b"x", id="more"),
        pytest.param(b"\xff\xfe{}", id="not-utf-8"),
        pytest.param(b'{"choices":[{"message":{"content":"\xff"}}]}', id="not-utf-8-in-the-text"),
        pytest.param(b'{"choices":[],"usage":NaN}', id="nan"),
        pytest.param(b"[" * 200_000, id="deep"),
        pytest.param(b'{"choices":[],"x":' + b"[" * 200_000, id="deep-inside"),
    ],
)
def test_what_is_no_json_may_be_asked_for_again(data: bytes) -> None:
    failed = failure(data)
    assert (failed.error, failed.status, failed.retryable) == ("provider_error", 200, True)
    assert failed.detail.startswith("status 200, but the body is no JSON")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{}", ""),
        (b"[]", ""),
        (b"null", ""),
        (b'"x"', ": x"),
        (b"5", ""),
        (b'{"choices":{}}', ""),
        (b'{"detail":"x"}', ": x"),
        (b'{"detail":[{"loc":["body","n"],"msg":"too many"}]}', ": body.n: too many"),
        (b'{"msg":"busy"}', ": busy"),
        (b'{"success":false,"result":null,"errors":[{"code":3040,"message":"Capacity exceeded"}],"messages":[]}',
         ": 3040: Capacity exceeded"),
        (b'{"message":"busy","choices":[]}', ": busy"),
        (b'{"error_msg":"busy","error_code":18}', ": busy"),
        (b'{"base_resp":{"status_code":1013,"status_msg":"internal"},"choices":null}', ": internal"),
    ],
)  # fmt: skip
def test_json_without_choices_is_a_fault_with_the_servers_own_words(data: bytes, says: str) -> None:
    failed = failure(data)
    assert (failed.status, failed.retryable, failed.stops_run) == (200, True, False)
    assert failed.detail == f"status 200, but the body has no choices{says}"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
_FIELDS = ("choices", "usage", "model", "timings", "error", "eval_duration", "system_fingerprint", "object")


@given(
    (st.dictionaries(st.sampled_from(_FIELDS), json_values) | json_values).map(lambda value: json.dumps(value).encode())
)
def test_any_json_is_an_answer_or_a_failure(data: bytes) -> None:
    with contextlib.suppress(CallFailed):
        canonical_json(read(data))  # what the journal does with it


@given(st.binary(max_size=60))
def test_any_bytes_are_an_answer_or_a_failure(data: bytes) -> None:
    with contextlib.suppress(CallFailed):
        read(data)


# ── the bodies of errors ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        pytest.param(b'{"error":{"code":"c","type":"t","message":"m"}}', "c: t: m", id="openai"),
        pytest.param(b'{"error":"model not found"}', "model not found", id="ollama"),
        pytest.param(b'{"detail":"Not Found"}', "Not Found", id="fastapi"),
        pytest.param(b'{"object":"error","message":"m","code":400}', "400: m", id="vllm"),
        pytest.param(b'{"error":{"why":[1]}}', '{"why":[1]}', id="other-words"),
        pytest.param(b"[1]", "[1]", id="a-list"),
        pytest.param(b"<h1>Bad Gateway</h1>", "Bad Gateway", id="html"),
        pytest.param(b"\xff\xfe", "��", id="not-utf-8"),
        pytest.param(b'{"error":"\\ud800"}', "\\ud800", id="lone-surrogate"),
        pytest.param(b'{"error":"key sk-abcd1234 is bad"}', "key [key removed] is bad", id="a-key"),
        pytest.param(b"key sk-abcd1234 is bad", "key [key removed] is bad", id="a-key-in-no-json"),
    ],
)
def test_what_the_body_of_an_error_says(data: bytes, detail: str) -> None:
    assert error_detail(data) == detail


@pytest.mark.parametrize("data", [b'{"error":"' + b"x" * 10_000 + b'"}', b"x" * 10_000, b"[" * 200_000])
def test_a_long_error_is_shortened(data: bytes) -> None:
    assert len(error_detail(data)) == 500


def test_a_key_at_the_cut_does_not_stay_in_part() -> None:
    assert "sk-" not in error_detail(b"x" * 490 + b" sk-abcdefgh1234567890")


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────


def streamed(*lines: bytes) -> ChatStream:
    """The lines, the first at 1 ms, each 1 ms after the one before."""
    stream = ChatStream()
    for elapsed_ms, line in enumerate(lines, start=1):
        stream.feed(line, elapsed_ms)
    return stream


def chunk(content: Any = None, **more: Any) -> bytes:
    delta = {} if content is None else {"content": content}
    return b"data: " + json.dumps({"model": "m", "choices": [{"delta": delta}]} | more).encode()


DONE = b"data: [DONE]"


def test_a_usual_stream() -> None:
    stream = streamed(
        b'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}',
        b"",
        chunk("Se"),
        b"",
        chunk("ven."),
        chunk(choices=[{"delta": {}, "finish_reason": "stop"}], system_fingerprint="fp"),
        chunk(choices=[], usage={"prompt_tokens": 20, "completion_tokens": 2}, timings={"predicted_ms": 3}),
        DONE,
    )
    assert stream.done
    assert stream.answer({}, 9) == Answer(
        text="Seven.",
        finish_reason="stop",
        latency_e2e_ms=9,
        latency_model_ms=3,
        time_to_first_token_ms=3,  # the empty role chunk is no token
        input_tokens=20,
        output_tokens=2,
        model_reported="m",
        fingerprint="fp",
    )


@pytest.mark.parametrize("end", [b"", b"\r"], ids=["lf", "crlf"])
@pytest.mark.parametrize("start", [b"data: ", b"data:", b"data:   "], ids=["a-space", "no-space", "spaces"])
def test_lines_as_servers_write_them(start: bytes, end: bytes) -> None:
    body = chunk("Seven.").removeprefix(b"data: ")
    assert streamed(start + body + end, end, start + b"[DONE]" + end).answer({}, 9).text == "Seven."


@pytest.mark.parametrize(
    "line",
    [b": keep-alive", b"event: message", b"id: 5", b"retry: 100", b"", b"   ", b"\xff", b"datum: x"],
    ids=["comment", "event", "id", "retry", "empty", "blank", "garbage", "another-field"],
)
def test_lines_that_are_no_data_are_passed_over(line: bytes) -> None:
    stream = streamed(line, chunk("Se"), line, chunk("ven."), line, DONE)
    assert stream.answer({}, 9).text == "Seven."


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b'data: {"choices":null}', id="null-choices"),
        pytest.param(b'data: {"choices":[null, 5]}', id="odd-choices"),
        pytest.param(b'data: {"choices":[{"delta":null,"finish_reason":5}]}', id="null-delta"),
        pytest.param(b'data: {"choices":[{"index":1}]}', id="no-delta"),
        pytest.param(b'data: {"model":5,"usage":"x","timings":[],"choices":[]}', id="odd-types"),
        pytest.param(b'data: {"prompt_filter_results":[],"choices":[]}', id="azure"),
        pytest.param(b"data: null", id="null"),
        pytest.param(b"data: []", id="a-list"),
        pytest.param(b'data: {"error":null}', id="null-error"),
        pytest.param(b'data: {"\\ud800":1,"usage":{"prompt_tokens":"\\ud800"}}', id="lone-surrogates-in-odd-places"),
    ],
)
def test_an_odd_chunk_takes_nothing_from_the_answer(line: bytes) -> None:
    answer = streamed(chunk("Se"), line, chunk("ven."), line, DONE).answer({}, 9)
    assert (answer.text, answer.model_reported) == ("Seven.", "m")


def test_chunks_are_read_as_loosely_as_whole_bodies() -> None:
    parts = [{"type": "text", "text": "Seven."}]
    answer = streamed(
        chunk(parts), chunk(choices=[], usage={"prompt_tokens": 20.0, "completion_tokens": -1}), DONE
    ).answer({}, 9)
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("Seven.", 20, None)


def test_lone_surrogates_in_a_chunk_are_kept() -> None:
    assert streamed(chunk("\ud835"), DONE).answer({}, 9).text == "\ud835"


def test_a_stream_without_its_end_mark_is_not_done() -> None:
    assert not streamed(chunk("Seven."), b"").done


def test_a_stream_that_finished_and_ended_cleanly_is_whole() -> None:  # R3.6
    stream = streamed(chunk("Seven."), chunk(choices=[{"delta": {}, "finish_reason": "stop"}]))
    assert (stream.done, stream.is_whole) == (False, True)
    assert stream.answer({}, 9).text == "Seven."


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([chunk("Seven.")], "without its end mark"),
        ([DONE], "the stream has no choices"),
        ([chunk(choices=[]), DONE], "the stream has no choices"),
        ([b'data: {"detail":"no such route"}'], "without its end mark: no such route"),
        ([b'data: {"message":"busy"}', DONE], "no choices: busy"),
        ([chunk({"a": 1}), DONE], "the content is an object, not text"),
    ],
)
def test_a_stream_that_is_no_answer_is_a_fault_that_says_what_came(lines: list[bytes], says: str) -> None:
    with pytest.raises(CallFailed) as caught:
        streamed(*lines).answer({}, 9)
    assert (caught.value.cause, caught.value.retryable) == ("broken_reply", True)
    assert says in caught.value.detail


def test_an_event_that_is_called_an_error_is_one() -> None:
    with pytest.raises(CallFailed, match="busy") as caught:
        streamed(chunk("Se"), b"event: error", b'data: {"code":503,"message":"busy"}')
    assert (caught.value.status, caught.value.cause) == (503, "server_error")


def test_what_follows_the_end_mark_changes_nothing() -> None:
    assert streamed(chunk("Seven."), DONE, chunk(" Eight.")).answer({}, 9).text == "Seven."


def test_a_stream_without_a_text_is_an_answer_without_one() -> None:
    answer = streamed(chunk(choices=[{"delta": {}, "finish_reason": "length"}]), DONE).answer({}, 9)
    assert (answer.text, answer.finish_reason, answer.time_to_first_token_ms) == (None, "length", None)


@pytest.mark.parametrize(
    ("line", "status", "retryable"),
    [
        (b'data: {"error":{"code":429,"message":"slow"}}', 429, True),
        (b'data: {"error":{"message":"broken"},"choices":[]}', 200, True),
        (b'data: {"error":"broken","choices":null}', 200, True),
        (b'data: {"choices":[{"delta":{},"error":{"code":502},"finish_reason":"error"}]}', 502, True),
        (b'data: {"object":"error","code":503,"message":"busy"}', 503, True),
    ],
    ids=["named", "unnamed", "text", "in-a-choice", "the-chunk-itself"],
)
def test_an_error_inside_ends_the_stream(line: bytes, status: int, retryable: bool) -> None:
    with pytest.raises(CallFailed) as caught:
        streamed(chunk("Se"), line)
    failed = caught.value
    assert (failed.status, failed.retryable, failed.latency_ms) == (status, retryable, 2)


@pytest.mark.parametrize(
    "line", [b"data: {", b"data: x", b"data: \xff", b"data: ", b"data: " + b"[" * 200_000],
    ids=["cut", "word", "not-utf-8", "nothing", "deep"],
)  # fmt: skip
def test_a_chunk_that_is_no_json_may_be_asked_for_again(line: bytes) -> None:
    with pytest.raises(CallFailed, match="no JSON") as caught:
        streamed(chunk("Se"), line)
    assert caught.value.retryable


@given((st.dictionaries(st.sampled_from(_FIELDS), json_values) | json_values).map(json.dumps))
def test_any_chunk_is_taken_or_a_failure(value: str) -> None:
    with contextlib.suppress(CallFailed):
        canonical_json(streamed(b"data: " + value.encode(), DONE).answer({}, 9))


@given(st.lists(ANY_TEXT, min_size=1, max_size=5))
def test_the_pieces_add_up_to_the_text(pieces: list[str]) -> None:
    lines = [chunk(piece) for piece in pieces]
    arrived = [json.loads(line[5:])["choices"][0]["delta"]["content"] for line in lines]
    assert streamed(*lines, DONE).answer({}, 9).text == ("".join(arrived) or None)
