"""Calls of tools in an answer, whole or as a stream, are part of the text that is judged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchbook.ask.providers.openai import ChatStream
from benchbook.ask.providers.openai_wire import chat_body, read_completion

TOOLS = chat_body("m", "q", {"tools": [{"type": "function", "function": {"name": "weather"}}]})
NO_TOOLS = chat_body("m", "q", {})
CALL = {"id": "c", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Kyiv"}'}}


def completion(message: dict[str, Any]) -> bytes:
    return json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).encode()


@pytest.mark.parametrize(
    ("message", "request_body", "text"),
    [
        pytest.param({"content": None, "tool_calls": [CALL]}, TOOLS, 'calls weather({"city": "Kyiv"})', id="call"),
        pytest.param({"content": "Let me look.", "tool_calls": [CALL]}, TOOLS,
                     'Let me look.\ncalls weather({"city": "Kyiv"})', id="text-and-call"),
        pytest.param({"tool_calls": [CALL, CALL]}, TOOLS, "\n".join(['calls weather({"city": "Kyiv"})'] * 2), id="two"),
        pytest.param({"content": None, "tool_calls": [CALL]}, NO_TOOLS, None, id="not-offered"),
        pytest.param({"content": "x", "tool_calls": None}, TOOLS, "x", id="none"),
        pytest.param({"content": None, "tool_calls": ["c", {"function": 3}, {"function": {"name": 3}}]}, TOOLS,
                     "calls ()", id="odd"),
    ],
)  # fmt: skip
def test_calls_stand_behind_the_text(message: dict[str, Any], request_body: bytes, text: str | None) -> None:
    assert read_completion(completion(message), {}, 1, request_body).text == text


def test_a_call_comes_in_pieces() -> None:
    reader = ChatStream(TOOLS)
    deltas: list[dict[str, Any]] = [
        {"content": "Let me "},
        {"content": "look."},
        {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "weather", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '"Kyiv"}'}}]},
    ]
    for delta in deltas:
        reader.feed(b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode(), 1)
    reader.feed(b'data: {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}', 2)
    assert reader.answer({}, 3).text == 'Let me look.\ncalls weather({"city": "Kyiv"})'
