"""The answer in a message of Anthropic's, as its Messages API and its batches have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchbook.ask.providers.calls import Answer
from benchbook.ask.providers.json_parts import count, objects, text
from benchbook.ask.providers.openai_wire import Completion, Usage, answer_of
from benchbook.canonical import canonical_json
from benchbook.evalsets.conversations import called

# All that was read to make the answer, whether it lay in a cache or not.
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def answer_in_message(message: Mapping[str, Any]) -> Answer:
    """The text of a message, followed by a line for each call of a tool."""
    blocks = objects(message["content"])
    said = "".join(block["text"] for block in blocks if block.get("type") == "text" and text(block.get("text")))
    calls = [
        called(text(block.get("name")) or "", canonical_json(block.get("input")).decode())
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    thoughts = sum(len(block["thinking"]) for block in blocks if isinstance(block.get("thinking"), str))
    usage = message["usage"] if isinstance(message.get("usage"), dict) else {}
    read = [n for name in _INPUT if (n := count(usage.get(name))) is not None]
    completion = Completion(
        usage=Usage(
            sum(read) if count(usage.get("input_tokens")) is not None else None, count(usage.get("output_tokens"))
        ),
        model=text(message.get("model")),
    )
    answer = "\n".join([*([said] if said else []), *calls]) or None
    return answer_of(completion, answer, text(message.get("stop_reason")), thoughts or None, {}, 0)
