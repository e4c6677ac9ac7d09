"""The answer in a response of Gemini's. Names come in both spellings, `finishReason` and `finish_reason`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from benchbook.ask.providers.calls import Answer
from benchbook.ask.providers.json_parts import count, objects, text
from benchbook.ask.providers.openai_wire import Completion, Usage, answer_of
from benchbook.canonical import canonical_json
from benchbook.evalsets.conversations import called


def answer_in_response(response: Mapping[str, Any]) -> Answer:
    """The first candidate's text, followed by a line for each call of a function; without text where it was blocked."""
    candidates = objects(response.get("candidates"))
    candidate = candidates[0] if candidates else {}
    content = candidate["content"] if isinstance(candidate.get("content"), dict) else {}
    parts = objects(content.get("parts"))
    said = "".join(part["text"] for part in parts if isinstance(part.get("text"), str) and not part.get("thought"))
    thoughts = sum(len(part["text"]) for part in parts if isinstance(part.get("text"), str) and part.get("thought"))
    calls = [
        called(text(call.get("name")) or "", canonical_json(call.get("args")).decode())
        for part in parts
        if (call := within(part, "functionCall")) is not None
    ]
    blocked = (within(response, "promptFeedback") or {}) if not candidate else {}
    reason = text(get(candidate, "finishReason")) or ("content_filter" if get(blocked, "blockReason") else None)
    usage = within(response, "usageMetadata") or {}
    names = ("promptTokenCount", "candidatesTokenCount", "totalTokenCount")
    completion = Completion(
        usage=Usage(*(count(get(usage, name)) for name in names)), model=text(get(response, "modelVersion"))
    )
    answer = "\n".join([*([said] if said else []), *calls]) or None
    return answer_of(completion, answer, reason, thoughts or None, {}, 0)


@cache
def _snake(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()


def spelt(*names: str) -> Iterator[str]:
    """Each name in both spellings, `finishReason` and `finish_reason`."""
    for name in names:
        yield name
        yield _snake(name)


def get(value: Mapping[str, Any], name: str) -> Any:
    """The value of a name in either spelling; None where there is none."""
    return next((value[one] for one in spelt(name) if one in value), None)


def within(value: Mapping[str, Any], name: str) -> dict[str, Any] | None:
    """The same where it is an object, else None."""
    found = get(value, name)
    return found if isinstance(found, dict) else None
