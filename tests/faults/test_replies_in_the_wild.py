"""Replies as servers really send them: what is no answer is tried again and never scored, what is one is read whole,
and what a reader must know of it is said (SPEC R1.3a, R1.5, R3.6, R3.7)."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from benchbook.record.facts import Failure, Reply
from benchbook.record.reading import read_journal
from outages import well
from scripted_server import OK_JUDGE, running
from tried import Tried, begin, breaking, whole_run

USAGE = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}


def said(
    content: Any = None, *, finish: str | None = "stop", message: Any = None, choice: Any = None, **more: Any
) -> Any:
    """A whole completion; `message`, `choice` and `more` are further fields of its parts."""
    one = {"index": 0, "message": {"role": "assistant", "content": content} | (message or {}), "finish_reason": finish}
    return {"status": 200, "body": {"model": "m-2026-01-01", "choices": [one | (choice or {})], "usage": USAGE} | more}


def streamed(*deltas: Any, finish: str | None = "stop", done: bool = True, held_open: bool = False) -> Any:
    """The same as events. A delta that is no text is a whole event."""
    events = [{"choices": [{"delta": {"content": one}}]} if isinstance(one, str) else one for one in deltas]
    events += [{"choices": [{"delta": {}, "finish_reason": finish}]}] if finish else []
    events += [{"choices": [], "usage": USAGE}] + (["[DONE]"] if done else [])
    return {"behaviour": "events", "events": events, "held_open": held_open}


# What is no answer, by the folder whose kind it is, and a part of what is said of it.
NO_ANSWERS: dict[str, tuple[Any, str]] = {
    "15-error-in-choice": (said("", finish="error", choice={"error": {"code": 502, "message": "Upstr"}}), "Upstr"),
    "15-by-its-finish-reason-alone": (said("", finish="error"), "broke the answer off"),
    "16-error-in-choice-with-half-answer": (
        said("There are sev", finish="error", choice={"error": {"code": 502, "message": "Cut off"}}), "Cut off",
    ),
    "16-in-a-choice-that-stopped": (said("There are", choice={"error": {"message": "cut"}}), "cut"),
    "18-top-error-beside-choices": (said(None, finish=None, error={"code": 503, "message": "Full"}), "Full"),
    "18-beside-half-a-text": (said("There", error={"code": "server_error", "message": "Oops"}), "Oops"),
    "19-empty-choices": ({"status": 200, "body": {"choices": [], "usage": USAGE}}, "no choices"),
    "19-no-choices": ({"status": 200, "body": {"id": "x", "usage": USAGE}}, "no choices"),
    "19-null-choices": ({"status": 200, "body": {"choices": None}}, "no choices"),
    "19-a-choice-of-nothing": ({"status": 200, "body": {"choices": [{}]}}, "neither a message nor a finish reason"),
    "19-an-empty-body": ({"status": 200, "raw": ""}, "status 200, but"),
    "20-deepseek": (said("There are sev", finish="insufficient_system_resource"), "insufficient_system_resource"),
    "20-vllm": (said("There are sev", finish="abort"), "finish reason abort"),
    "20-z-ai": (said("There are sev", finish="network_error"), "network_error"),
    "20-ollama": (said("", finish="load"), "finish reason load"),
    "20-in-upper-case": (said("There", finish="FINISH_REASON_ERROR"), "FINISH_REASON_ERROR"),
    "24-an-object": (said({"answer": "Seven"}), "the content is an object, not text"),
    "24-a-number": (said(12), "the content is a number, not text"),
    "24-a-boolean": (said(True), "the content is a boolean, not text"),
    "58-half-a-gzip": (
        {"status": 200, "raw": gzip.compress(b"{}" * 99)[:-9], "headers": {"Content-Encoding": "gzip"}}, "gzip",
    ),
}  # fmt: skip
IN_STREAMS: dict[str, tuple[Any, str]] = {
    "15-error-in-choice": (
        streamed({"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "Up"}}]}), "Up"),
    "16-error-in-choice-with-half-answer": (
        streamed("There are sev", {"choices": [{"delta": {}, "error": {"code": 502, "message": "Gone"}}]}), "Gone"),
    "16-error-as-an-event": (streamed("There are", {"error": {"message": "Overloaded", "code": 503}}), "Overloaded"),
    "18-top-error-beside-choices": (
        streamed({"error": {"code": 500, "message": "Bad"}, "choices": [{"delta": {"content": ""}}]}), "Bad"),
    "19-no-choices": (streamed(finish=None), "no choices"),
    "20-broke-off": (streamed("There are sev", finish="network_error"), "network_error"),
    "20-without-an-end": (streamed("There are sev", finish=None, done=False), "without its end mark"),
    "24-an-object": (streamed({"choices": [{"delta": {"content": {"a": 1}}}]}), "the content is an object"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("way", "case"),
    [("run-model", case) for case in NO_ANSWERS]
    + [(way, case) for way in ("run-judge", "score") for case in list(NO_ANSWERS)[::2]],
)
def test_what_is_no_answer_is_tried_again(tmp_path: Path, case: str, way: str) -> None:
    """The first reply of each; the second is an answer. 24-content-that-is-no-text says what came."""
    again_and_then_well(tmp_path, way, *NO_ANSWERS[case])


@pytest.mark.parametrize("case", IN_STREAMS)
@pytest.mark.parametrize("way", ["run-model", "score"])
def test_so_it_is_in_a_stream(tmp_path: Path, case: str, way: str) -> None:
    """15, 16, 18, 19, 20, 24"""
    again_and_then_well(tmp_path, way, *IN_STREAMS[case], "--stream")


def again_and_then_well(folder: Path, way: str, reply: Any, words: str, *more: str) -> None:
    tried = whole_run(way, folder, lambda n, request: reply if n == 0 else None, *more, n_items=2)
    (failure,) = tried.failures()
    assert (failure.ends, failure.error) == ("attempt", "provider_error")
    assert words in failure.detail
    assert failure.cause in ("server_error", "broken_reply")
    assert tried.code == 0
    assert not [row for row in tried.rows() if row["candidate_error"]]


@pytest.mark.parametrize("way", ["panel", "judge-run"])
@pytest.mark.parametrize("case", ["15-error-in-choice", "19-empty-choices", "20-vllm", "24-an-object"])
def test_where_it_stays_so_the_run_stops_and_says_it(tmp_path: Path, case: str, way: str) -> None:
    """15, 19, 20, 24: of one of several judges"""
    reply, words = NO_ANSWERS[case]
    with running(breaking(way, lambda n, request: reply)) as server:
        stopped = begin(way, tmp_path, server, "--max-retries", "0")
    assert (stopped.code, stopped.state) == (3, "interrupted")
    assert words in stopped.err
    assert {one.cause for one in stopped.failures()} <= {"server_error", "broken_reply"}


# What is an answer in another form: the reply, whether it is streamed, and the text.
ANSWERS: dict[str, tuple[Any, bool, str]] = {
    "24-parts": (said([{"type": "text", "text": "Sev"}, {"type": "text", "text": "en."}]), False, "Seven."),
    "24-parts-with-thoughts": (
        said([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Seven."}]),
        False, "Seven.",
    ),
    "24-the-older-form": (
        {"status": 200, "body": {"choices": [{"text": "Seven.", "finish_reason": "stop"}], "usage": USAGE}}, False,
        "Seven.",
    ),
    "18-an-empty-error": (said("Seven.", error={}), False, "Seven."),
    "18-a-null-error": (said("Seven.", error=None), False, "Seven."),
    "20-another-word-for-stop": (said("Seven.", finish="end_turn"), False, "Seven."),
    "26-stream-held-open-after-done": (streamed("Sev", "en.", held_open=True), True, "Seven."),
    "26-nothing-after-the-finish-reason": (streamed("Seven.", done=False), True, "Seven."),
    "26-in-one-piece-all-the-same": (said("Seven."), True, "Seven."),
    "26-a-stream-that-nobody-asked-for": (streamed("Sev", "en."), False, "Seven."),
    "58-gzip": (
        {"status": 200, "raw": gzip.compress(json.dumps(said("Seven.")["body"]).encode()),
         "headers": {"Content-Encoding": "gzip"}}, False, "Seven.",
    ),
    "58-deflate": (
        {"status": 200, "raw": zlib.compress(json.dumps(said("Seven.")["body"]).encode()),
         "headers": {"Content-Encoding": "deflate"}}, False, "Seven.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ANSWERS)
@pytest.mark.parametrize("way", ["run-model", "score"])
def test_what_is_an_answer_is_read_whole(tmp_path: Path, case: str, way: str) -> None:
    """18, 20, 24, 26, 58"""
    reply, is_streamed, text = ANSWERS[case]
    words = ["--stream"] if is_streamed else []
    tried = whole_run(way, tmp_path, lambda n, request: reply, *words, "--max-retries", "0", n_items=1)
    answer = replies_of(tried, "candidate")[0]
    assert (answer.text, answer.input_tokens, answer.output_tokens) == (text, 20, 5)
    assert not tried.failures()


def replies_of(tried: Tried, role: str) -> list[Reply]:
    facts = (line.fact for line in read_journal(tried.record.journal))
    return [fact for fact in facts if isinstance(fact, Reply) and fact.role == role]


@pytest.mark.parametrize("words", ["max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens"])
def test_other_words_for_a_cut_answer_are_flagged_as_cut(tmp_path: Path, words: str) -> None:
    """20-finish-reason-server-broke-off: cut by a limit is the model's answer, and judged so."""
    tried = whole_run("run-model", tmp_path, lambda n, request: said("There are sev", finish=words), n_items=1)
    assert replies_of(tried, "candidate")[0].finish_reason == "length"
    assert "1 answer was cut by max_tokens" in tried.warnings


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress"])
@pytest.mark.parametrize("way", ["run-model", "run-judge", "score", "judge-run"])
def test_a_compression_that_cannot_be_read_is_named(tmp_path: Path, encoding: str, way: str) -> None:
    """58-compressed-body-message: without another try, but for one at the end of a sitting; with no word of a codec."""
    reply = {"status": 200, "raw": b"\x8b\x00\x80\xff", "headers": {"Content-Encoding": encoding}}
    with running(breaking(way, lambda n, request: reply)) as server:
        stopped = begin(way, tmp_path, server)
    assert stopped.code == 3
    assert f"content-encoding {encoding} is not supported" in stopped.first
    assert "codec" not in stopped.said
    assert {one.ends for one in stopped.failures()} == {"sitting"}


@pytest.mark.parametrize("case", ["19-empty-choices", "20-vllm", "15-error-in-choice", "empty-text"])
def test_no_empty_reply_is_kept_in_a_cache(tmp_path: Path, case: str) -> None:
    """25-cache-keeps-empty-replies: the next run asks, and reads what is there now."""
    reply = said("", finish="stop") if case == "empty-text" else NO_ANSWERS[case][0]
    cache = ("--cache", str(tmp_path / "cache.sqlite"))
    is_well = False
    with running(breaking("run-model", lambda n, request: None if is_well else reply)) as server:
        begin("run-model", tmp_path, server, *cache, "--run-id", "before", "--max-retries", "0")
        is_well, n_before = True, len(server.asked["candidate"])
        tried = begin("run-model", tmp_path, server, *cache)
        assert len(server.asked["candidate"]) == n_before + 3
        begin("run-model", tmp_path, server, *cache, "--run-id", "after")
        assert len(server.asked["candidate"]) == n_before + 3  # a whole one is kept
    assert (tried.code, tried.n_unanswered) == (0, 0)


def test_stream_options_can_be_left_out(tmp_path: Path) -> None:
    """28-stream-options-refused: refused by name, and left out where that is asked for."""

    def refuse(n: int, request: dict[str, Any]) -> Any:
        if "stream_options" in request:
            return {
                "status": 400,
                "body": {"error": {"message": "Unrecognized request argument supplied: stream_options"}},
            }
        return streamed("Seven.")

    with running(breaking("run-model", refuse)) as server:
        stopped = begin("run-model", tmp_path, server, "--stream", "--run-id", "before")
        assert "Leave it out: --model-params stream_options=null." in stopped.out.replace("\n    ", " ")
        tried = begin("run-model", tmp_path, server, "--stream", "--model-params", "stream_options=null")
    assert (stopped.code, tried.code, tried.n_unanswered) == (3, 0, 0)


TOTALS = {
    "gemini": ({"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 9025}, 9005, 5),
    "thoughts-are-in-the-output": ({"prompt_tokens": 20, "completion_tokens": 9005, "total_tokens": 9025}, 9005, None),
    "no-total": ({"prompt_tokens": 20, "completion_tokens": 5}, 5, None),
    "a-total-that-is-too-small": ({"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 5}, 5, None),
    "no-input": ({"completion_tokens": 5, "total_tokens": 9025}, 5, None),
}


@pytest.mark.parametrize("usage", TOTALS)
def test_what_was_used_is_what_the_total_says(tmp_path: Path, usage: str) -> None:
    """29-usage-total-holds-thoughts: in R5.1 and in the cost; what was reported is kept beside it."""
    told, used, reported = TOTALS[usage]
    tried = whole_run(
        "run-model", tmp_path, lambda n, request: said("Seven.", usage=told), "--model-output-price", "10",
        "--model-input-price", "0", n_items=1,
    )  # fmt: skip
    answer = replies_of(tried, "candidate")[0]
    assert (answer.output_tokens, answer.output_tokens_reported) == (used, reported)
    assert tried.aggregates["candidate_cost_usd" if "candidate_cost_usd" in tried.aggregates else "cost"] is not None
    row = tried.rows()[0]
    assert ("tokens" in " ".join(row["fail_reasons"])) == (used > 6000 or "prompt_tokens" not in told)


def test_a_budget_sees_what_was_used(tmp_path: Path) -> None:
    """29-usage-total-holds-thoughts: 9,005 tokens at 10 dollars a million are 9 cents."""
    reply = said("Seven.", usage=TOTALS["gemini"][0])
    prices = ("--model-output-price", "10", "--model-input-price", "0", "--max-cost-usd", "0.1")
    with running(breaking("run-model", lambda n, request: reply)) as server:
        stopped = begin("run-model", tmp_path, server, *prices)
    assert stopped.code == 3
    assert "the cost limit" in stopped.err
    assert len(server.asked["candidate"]) == 1


@pytest.mark.parametrize("way", ["run-model", "score"])
def test_another_model_that_answers_is_told(tmp_path: Path, way: str) -> None:
    """31-another-model-answers"""
    tried = whole_run(way, tmp_path, lambda n, request: said("Seven.", model="tiny-llama-1.1b-q2"))
    assert "The model's server answered as 'tiny-llama-1.1b-q2'; asked for was 'm'." in tried.warnings


def test_a_judge_that_is_the_model_is_told(tmp_path: Path) -> None:
    """31-another-model-answers: by what its server says."""
    with running(lambda role, n, request: well(role, n, request) | {"model": "tiny-llama-1.1b-q2"}) as server:
        tried = begin("run-model", tmp_path, server)
    assert "The judge is the model itself" in tried.warnings


@pytest.mark.parametrize("model", ["m", "m-2026-01-01", "M", "models/m"])
def test_the_same_model_under_a_longer_name_is_no_other(tmp_path: Path, model: str) -> None:
    """31-another-model-answers, where it is not so."""
    tried = whole_run("run-model", tmp_path, lambda n, request: said("Seven.", model=model))
    assert "answered as" not in tried.warnings


# What an answer shows, the options, and what is said of it.
APART = "without text; the text stood apart"
SIGNS: dict[str, tuple[Any, tuple[str, ...], str]] = {
    "32-lone-closing-tag": (said("Hm. Seven?\n</think>\n\nSeven."), (), "hold </think>: thoughts were"),
    "32-undeclared-thoughts": (said("<think>Hm.</think>Seven."), (), "hold </think>: thoughts were"),
    "32-of-another-family": (said("[THINK]Hm.[/THINK]Seven."), (), "hold [think]: thoughts were"),
    "34-reasoning-content": (said(None, message={"reasoning_content": "Seven."}), (), APART),
    "34-reasoning": (said(None, message={"reasoning": "Seven."}), (), APART),
    "34-thinking": (said("", message={"thinking": "Seven."}), (), APART),
    "34-reasoning-details": (
        said(None, message={"reasoning_details": [{"type": "reasoning.text", "text": "Seven."}]}), (),
        APART,
    ),
    "34-thinking-blocks": (
        said(None, message={"thinking_blocks": [{"type": "thinking", "thinking": "Seven."}]}), (),
        APART,
    ),
    "34-in-a-stream": (
        streamed({"choices": [{"delta": {"reasoning_content": "Seven."}}]}), ("--stream",),
        APART,
    ),
    "35-cut-and-empty": (
        said("", finish="length", message={"reasoning_content": "Let me think"}), (),
        "3 answers were cut by max_tokens before any text came",
    ),
    "35-in-another-word": (said(None, finish="MAX_TOKENS"), (), "3 answers were cut by max_tokens before any text"),
}  # fmt: skip


@pytest.mark.parametrize("case", SIGNS)
@pytest.mark.parametrize("way", ["run-model", "score"])
def test_what_an_answer_shows_is_said(tmp_path: Path, case: str, way: str) -> None:
    """32, 34-text-in-reasoning-content, 35-cut-and-empty-called-judged"""
    reply, options, words = SIGNS[case]
    tried = whole_run(way, tmp_path, lambda n, request: reply, *options)
    assert words in tried.warnings
    assert words in " ".join(tried.out.split())
    if case.startswith("35"):
        assert "judged so" not in tried.said


@pytest.mark.parametrize("way", ["run-model", "score"])
def test_thoughts_whose_opening_tag_stood_in_the_prompt_are_moved(tmp_path: Path, way: str) -> None:
    """32-thoughts-without-opening-tag, where the tag is declared (R3.7)."""
    reply = said("Let me see. Seven?\n</think>\n\n1")
    tried = whole_run(way, tmp_path, lambda n, request: reply, "--model-reasoning-tags", "think", n_items=1)
    assert "thoughts were" not in tried.warnings
    if way == "score":
        assert tried.rows()[0]["correctness"] == 1.0
    else:
        assert tried.rows()[0]["candidate_answer"].strip() == "1"


@pytest.mark.parametrize(
    ("address", "key_header"),
    [
        pytest.param("/openai/deployments/gpt-4o?api-version=2024-10-21", True, id="api-version"),
        pytest.param("/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21", True, id="whole"),
        pytest.param("/v1?team=a", False, id="another-query"),
    ],
)
def test_a_query_in_the_address_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, key_header: bool
) -> None:
    """57-azure-api-version: behind the path, with the key in the header that such a server reads."""
    monkeypatch.setenv("AZURE_KEY", "sk-of-a-test-0123456789")
    with running(well) as server:
        root = server.base_url.removesuffix("/v1")
        given = ("--model-base-url", root + address, "--model-api-key-env", "AZURE_KEY")
        tried = begin("run-model", tmp_path, server, *given, n_items=1)
    assert tried.code == 0
    path, _, query = address.partition("?")
    assert f"{path.removesuffix('/chat/completions')}/chat/completions?{query}" in server.paths
    assert any(one.get("api-key") == "sk-of-a-test-0123456789" for one in server.headers) == key_header
    for file in tried.record.path.rglob("*"):
        assert not file.is_file() or b"sk-of-a-test" not in file.read_bytes()


@pytest.mark.parametrize("query", ["?api-key=abc", "?code=Zm9v", "?sig=x&api-version=1"])
def test_a_key_in_the_address_is_refused(tmp_path: Path, query: str) -> None:
    """57-azure-api-version: where it belongs is said, and it is not repeated."""
    with running(well) as server:
        tried = begin("run-model", tmp_path, server, "--model-base-url", server.base_url + query)
    assert tried.code == 2
    assert "expected the key in an environment variable" in tried.err
    assert query not in tried.err


VERDICT = str(OK_JUDGE["content"])
UNREADABLE: dict[str, tuple[Any, str]] = {
    "fenced": (f"```json\n{VERDICT}\n```", "json_schema = true"),
    "talking": (f"Here you are: {VERDICT}", "json_schema = true"),
    "thinking": (f"<think>Hm.</think>{VERDICT}", 'reasoning_tags = ["think"]'),
    "silent": (None, "another judge"),
}


@pytest.mark.parametrize("case", UNREADABLE)
@pytest.mark.parametrize("way", ["run-judge", "panel", "judge-run"])
def test_ten_replies_in_a_row_that_cannot_be_read_stop_the_run(tmp_path: Path, case: str, way: str) -> None:
    """Issue 10, point 3: and name the setting that mends it."""
    text, setting = UNREADABLE[case]
    with running(breaking(way, lambda n, request: said(text))) as server:
        stopped = begin(way, tmp_path, server, "--max-connections", "2", n_items=60)
    assert stopped.state == "interrupted"
    assert stopped.code in (2, 3)
    assert "10" in stopped.err
    assert setting in stopped.err
    assert not [one for one in stopped.failures() if isinstance(one, Failure) and one.ends != "attempt"]
