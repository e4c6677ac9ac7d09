"""The results of Anthropic's message batches, read by hand-written right answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.errors import InputError
from benchbook.exchange.anthropic_batch.reading import opened
from benchbook.exchange.tools import recognised

MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-9-20310102", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "Sev"}, {"type": "text", "text": "en."}],
    "usage": {"input_tokens": 10, "output_tokens": 4},
}  # fmt: skip
THOUGHT = [{"type": "thinking", "thinking": "12345", "signature": "x"}, *MESSAGE["content"]]
CALL = [{"type": "text", "text": "So:"}, {"type": "tool_use", "id": "t", "name": "add", "input": {"b": 5, "a": 2}}]
CACHED = {"input_tokens": 10, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 100, "output_tokens": 4}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def succeeded(**more: Any) -> dict[str, Any]:
    return {"type": "succeeded", "message": MESSAGE | more}


# A result, and (answer, finish reason, input and output tokens, failure's kind, words in its message).
READ: dict[str, tuple[dict[str, Any], tuple[Any, ...]]] = {
    "an answer": (succeeded(), ("Seven.", "stop", 10, 4, None, "")),
    "thoughts apart": (succeeded(content=THOUGHT), ("Seven.", "stop", 10, 4, None, "")),
    "cut": (succeeded(stop_reason="max_tokens"), ("Seven.", "length", 10, 4, None, "")),
    "refused by the model": (succeeded(content=[], stop_reason="refusal"), (None, "content_filter", 10, 4, None, "")),
    "a call": (succeeded(content=CALL, stop_reason="tool_use"),
               ('So:\ncalls add({"a":2,"b":5})', "tool_use", 10, 4, None, "")),
    "what was cached was read too": (succeeded(usage=CACHED), ("Seven.", "stop", 113, 4, None, "")),
    "counts that can't be": (succeeded(usage={"input_tokens": -1, "output_tokens": True}),
                             ("Seven.", "stop", None, None, None, "")),
    "errored": ({"type": "errored", "error": OVERLOADED},
                (None, None, None, None, "error", "overloaded_error: Overloaded")),
    "expired": ({"type": "expired"}, (None, None, None, None, "cancelled", "expired")),
    "canceled": ({"type": "canceled"}, (None, None, None, None, "cancelled", "canceled")),
    "without a message": ({"type": "succeeded"}, (None, None, None, None, "error", "no message")),
}  # fmt: skip


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", READ)
def test_a_result_is_read(name: str, tmp_path: Path) -> None:
    result, (answer, reason, given, put, kind, words) = READ[name]
    path = write(tmp_path / "results.jsonl", {"custom_id": "a", "result": result})
    assert recognised(path).name == "anthropic_batch"
    (log,) = opened(path)
    with log:
        (sample,) = log.samples()
    assert (sample.id, sample.answer, sample.finish_reason) == ("a", answer, reason)
    assert (sample.input_tokens, sample.output_tokens) == (given, put)
    assert (sample.failure and sample.failure.kind) == kind
    assert words in (sample.failure.message if sample.failure else "")


def test_requests_beside_have_the_prompts(tmp_path: Path) -> None:
    params = {"model": "claude-9", "max_tokens": 100, "messages": [{"role": "user", "content": "2 + 5?"}]}
    blocks = [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image", "source": {}}]}]
    write(
        tmp_path / "in.jsonl",
        {"custom_id": "a", "params": params},
        {"custom_id": "b", "params": params | {"system": [{"type": "text", "text": "Be brief."}]}},
        {"custom_id": "c", "params": params | {"messages": blocks}},
    )
    lines = [{"custom_id": one, "result": succeeded()} for one in "abc"]
    (log,) = opened(write(tmp_path / "out.jsonl", *lines))
    with log:
        prompts = [sample.prompt for sample in log.samples()]
    assert prompts == ["2 + 5?", "[1] system:\nBe brief.\n\n[2] user:\n2 + 5?", "x\n[image]"]
    assert (log.header.model, log.header.n_claimed, log.header.status) == ("claude-9", 3, "complete")
    assert log.header.generation_params == {"max_tokens": 100}
    assert {note.code: note.n for note in log.notes()} == {"requests_beside": 1, "parts_left_out": 1}


def test_a_result_of_another_kind_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"custom_id": "a", "result": {"type": "paused"}})
    with pytest.raises(InputError, match=r"1: result\.type: found 'paused'; expected succeeded, errored"):
        opened(path)


def test_the_body_that_made_the_batch_has_its_requests(tmp_path: Path) -> None:
    """As sent to the vendor: one JSON document, with line ends wherever its writer put them."""
    texts = {"a": "2 + 5?", "b": 'a\nb \u2028 {"requests": []}'}
    requests = [
        {"custom_id": name, "params": {"model": "c", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}}
        for name, text in texts.items()
    ]
    body = tmp_path / "body.json"
    results = write(tmp_path / "results.jsonl", *({"custom_id": name, "result": succeeded()} for name in ("b", "a")))
    for indent in (None, 2):
        body.write_text(json.dumps({"requests": requests}, indent=indent), encoding="utf-8")
        (log,) = opened(results, requests=body)
        with log:
            assert {sample.id: sample.prompt for sample in log.samples()} == texts
            assert [sample.id for sample in log.samples()] == ["b", "a"]
            assert (log.header.n_claimed, log.header.generation_params, log.notes()[0].code) == (
                2, {"max_tokens": 9}, "out_of_order",
            )  # fmt: skip


BODIES = {
    "a request that is none": ({"requests": [{"custom_id": "a"}]}, "body.json: requests[0]: another form"),
    "no list of messages": (
        {"requests": [{"custom_id": "a", "params": {}}]},
        "requests[0].params.messages: found none",
    ),
    "cut off": ('{"requests": [{"custom_id"', "the file's end in the middle"),
    "none": ({"requests": []}, "body.json"),
}


@pytest.mark.parametrize("what", BODIES)
def test_a_body_that_makes_no_sense_is_refused_by_its_place(what: str, tmp_path: Path) -> None:
    body, says = BODIES[what]
    (tmp_path / "body.json").write_text(body if isinstance(body, str) else json.dumps(body), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        opened(write(tmp_path / "r.jsonl", {"custom_id": "a", "result": succeeded()}), requests=tmp_path / "body.json")
    assert says in str(refused.value)
