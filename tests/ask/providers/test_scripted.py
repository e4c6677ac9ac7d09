"""Replies by a script: what tests and dry runs are made with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.ask.providers.in_process import ScriptedProvider, read_script
from benchbook.ask.providers.openai_wire import chat_body
from benchbook.ask.work import run_async
from benchbook.errors import ConfigError


def script(folder: Path, *replies: dict[str, Any]) -> Path:
    path = folder / "script.json"
    path.write_text(json.dumps({"replies": replies}), encoding="utf-8")
    return path


def ask(path: Path, prompt: str) -> Answer:
    async def main() -> Answer:
        provider = ScriptedProvider("m", read_script("m", str(path), "model"))
        try:
            return await provider.ask(chat_body("m", prompt, {}))
        finally:
            await provider.close()

    answer: Answer = run_async(main())
    return answer


def test_a_prompt_may_hold_a_lone_surrogate(tmp_path: Path) -> None:
    assert ask(script(tmp_path, {"contains": "week", "text": "Seven."}), "week \ud83d").text == "Seven."


def test_the_first_entry_that_stands_in_the_prompt_answers(tmp_path: Path) -> None:
    path = script(
        tmp_path, {"contains": "week", "text": "Seven."}, {"contains": "days", "text": "Many."}, {"text": "What?"}
    )
    prompts = ["How many days has a week?", "How many days has a year?", "Why?"]
    assert [ask(path, prompt).text for prompt in prompts] == ["Seven.", "Many.", "What?"]


def test_an_entry_tells_all_that_an_answer_has(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        {"text": "Seven.", "finish_reason": "length", "latency_ms": 7, "latency_model_ms": 3, "input_tokens": None,
         "output_tokens": 2},
    )  # fmt: skip
    assert ask(path, "?") == Answer(
        text="Seven.", finish_reason="length", latency_e2e_ms=7, latency_model_ms=3, output_tokens=2, model_reported="m"
    )


def test_an_entry_without_a_text_is_an_answer_without_one(tmp_path: Path) -> None:
    assert ask(script(tmp_path, {}), "?").text is None


@pytest.mark.parametrize("error", ["provider_error", "timeout"])
def test_an_entry_may_fail(tmp_path: Path, error: str) -> None:
    with pytest.raises(CallFailed) as caught:
        ask(script(tmp_path, {"error": error, "latency_ms": 9}), "?")
    assert (caught.value.error, caught.value.latency_ms, caught.value.retryable) == (error, 9, False)


def test_a_prompt_that_nothing_matches_fails(tmp_path: Path) -> None:
    with pytest.raises(CallFailed, match="no reply to this prompt"):
        ask(script(tmp_path, {"contains": "week", "text": "Seven."}), "?")


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"{}", b'{"replies": {}}', b'{"replies": [5]}', b'{"replies": [{"text": 5}]}', b"\xff",
     b'{"replies": [{"error": "other"}]}', b'{"answers": []}', b'{"replies": [], "more": 1}', b'{"replies": ["\xff"]}'],
    ids=["empty", "cut", "list", "no-replies", "object", "number", "text-of-a-number", "not-utf-8", "unknown-error",
         "another-name", "more", "not-utf-8-inside"],
)  # fmt: skip
def test_a_script_that_is_none_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "script.json"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=r"judge_path: found .*script\.json"):
        read_script("j", str(path), "judge")


@pytest.mark.parametrize(
    ("name", "is_shipped"),
    [("shop-assistant", True), ("shop-judge", True), ("../scripts/shop-judge", False), ("", False)],
)
def test_a_shipped_script_is_found_by_its_models_name(name: str, is_shipped: bool) -> None:
    if is_shipped:
        assert read_script(name, None, "model")[-1].contains == ""  # it answers whatever it is asked
        return
    with pytest.raises(ConfigError, match="model_path: found nothing"):
        read_script(name, None, "model")


def test_a_folder_is_no_script(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="model_path"):
        read_script("m", str(tmp_path), "model")
