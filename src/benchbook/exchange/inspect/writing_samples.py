"""One sample as Inspect has it: its messages, output, scores, error and limit; and its summary, for lists."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.exchange.inspect.reading_ours import OfSample
from benchbook.exchange.log import LogSample, LogScore, Lost
from benchbook.exchange.ours import OURS


class Losses(Counter[str]):
    """The losses of the form: sentences without their ends, and how often each is the case."""

    def told(self) -> list[Lost]:
        return [Lost(what=what, n=n or None) for what, n in self.items()]


_LIMITS = frozenset({"context", "time", "working", "message", "token", "turn", "cost", "operator", "custom"})
_STOPS: Mapping[str, str] = {"length": "max_tokens"} | {
    one: one for one in ("stop", "max_tokens", "model_length", "tool_calls", "content_filter", "unknown")
}
_LETTERS: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ROLES: Mapping[str, str] = {"developer": "system", "function": "tool"} | {
    one: one for one in ("system", "user", "assistant", "tool")
}


def sample_as(sample: LogSample, model: str, usage: Mapping[str, int] | None, lost: Losses) -> dict[str, Any]:
    took = None if sample.latency_ms is None else sample.latency_ms / 1000
    scores = {name: _score(one, lost) for name, one in sample.scores.items()}
    return {
        "id": sample.id,
        "epoch": sample.repeat + 1,
        "input": sample.prompt,
        "choices": list(sample.choices) or None,
        "target": sample.references[0] if _is_one_text(sample.references) else list(sample.references),
        "messages": _messages(sample, lost),
        "output": _output(sample, usage, took, lost),
        "scores": scores or None,
        "metadata": _metadata(sample, lost),
        "store": {},
        "events": [],
        "model_usage": {} if usage is None else {model: usage},
        "total_time": took,
        "working_time": took,
        "error": _failed(sample, lost),
        "limit": _limit(sample, lost),
        "attachments": {},
    }


def _is_one_text(references: tuple[str, ...]) -> bool:
    """True for one reference that says something: an empty text stands for none."""
    return len(references) == 1 and bool(references[0])


def _messages(sample: LogSample, lost: Losses) -> list[dict[str, Any]]:
    """All that was asked, and the answer as the last of them."""
    asked = sample.messages or [{"role": "user", "content": sample.prompt}]
    found = []
    for message in asked:
        role = _ROLES.get(str(message.get("role")), "user")
        if role != message.get("role"):
            lost["roles that Inspect does not have: developer stands as system, and others as user"] += 1
        content = message.get("content")
        found.append({"role": role, "content": content if isinstance(content, str) else _as_text(content)})
        if message.keys() - {"role", "content"}:
            lost["tool calls and names in messages that were asked"] += 1
    if sample.answer is not None:
        found.append(_answer(sample.answer, sample.model_reported))
    return found


def _as_text(content: Any) -> str:
    """The text of a content in parts, each of what is no text as JSON."""
    parts = content if isinstance(content, list) else [] if content is None else [content]
    texts = [one["text"] if isinstance(one, dict) and isinstance(one.get("text"), str) else one for one in parts]
    return "\n".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in texts)


def _answer(text: str, model: str | None) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "source": "generate"}
    return message if model is None else message | {"model": model}


def _output(sample: LogSample, usage: Mapping[str, int] | None, took: float | None, lost: Losses) -> dict[str, Any]:
    found: dict[str, Any] = {"choices": [], "completion": sample.answer or "", "time": took}
    if sample.model_reported is not None:
        found["model"] = sample.model_reported
    stop = None if sample.finish_reason is None else _STOPS.get(sample.finish_reason)
    if sample.finish_reason is not None and (stop is None or sample.answer is None):
        lost[
            "why the model stopped, in a word that Inspect does not have, or without an answer: in output.metadata"
        ] += 1
        found["metadata"] = {"finish_reason": sample.finish_reason}
    if sample.answer is not None:
        choice = {"message": _answer(sample.answer, sample.model_reported)}
        found["choices"] = [choice if stop is None else choice | {"stop_reason": stop}]
    return found if usage is None else found | {"usage": dict(usage)}


def usage_of(sample: LogSample, lost: Losses) -> dict[str, int] | None:
    counts = (sample.input_tokens, sample.output_tokens)
    if counts == (None, None):
        return None
    if None in counts:
        lost["tokens of which one kind alone was counted: the other stands as 0"] += 1
    given, made = (one or 0 for one in counts)
    return {"input_tokens": given, "output_tokens": made, "total_tokens": given + made}


def _score(score: LogScore, lost: Losses) -> dict[str, Any]:
    """A score on its scorer's own scale; where that says letters that Inspect knows, the letter."""
    value: Any = math.nan if score.value is None else score.value
    more: dict[str, Any] = {name: getattr(score, name) for name in ("passed", "said", "guessed", "parts")}
    if score.said is not None and score.value is not None and score.value == _LETTERS.get(score.said):
        value = more.pop("said")
    metadata = {name: one for name, one in more.items() if one is not None}
    for name in metadata:
        lost[f"`{name}` of a score has no field: it stands in the score's metadata"] += 1
    found = {"value": value, "answer": score.answer, "explanation": score.explanation, "reason": score.unscored}
    return found | {"metadata": metadata or None, "history": []}


def _metadata(sample: LogSample, lost: Losses) -> dict[str, Any]:
    """A sample's own, and beside them what Inspect has no field for, as `reading_ours` reads it."""
    found = dict(sample.metadata)
    own = OfSample(messages=sample.messages)
    for name in ("context", "group", "category"):
        if (value := getattr(sample, name)) is not None:
            lost[f"`{name}` of a sample has no field: it stands in the sample's metadata"] += 1
            if name in found:
                own.values[name] = value
            else:
                found[name] = value
                own.fields.append(name)
    own.failure = sample.failure.kind if sample.failure is not None and sample.failure.kind != "error" else None
    own.limit = sample.limit if sample.limit not in _LIMITS else None
    stop = sample.finish_reason
    own.finish_reason = stop if sample.answer is None or stop is None or _STOPS.get(stop) != stop else None
    if (sample.input_tokens is None) != (sample.output_tokens is None):
        own.unknown_tokens = "input" if sample.input_tokens is None else "output"
    if OURS in found:
        lost[f"the name `{OURS}` is taken in a sample's metadata"] += 1
        del found[OURS]
    if said := msgspec.to_builtins(own):
        found[OURS] = said
    return found


def _failed(sample: LogSample, lost: Losses) -> dict[str, str] | None:
    if sample.failure is None:
        return None
    if sample.failure.kind != "error":
        lost["that a failure was a timeout, a limit, or cancelled: all are errors"] += 1
    return error_as(sample.failure.message)


def error_as(message: str) -> dict[str, str]:
    return {"message": message, "traceback": "", "traceback_ansi": ""}


def _limit(sample: LogSample, lost: Losses) -> dict[str, Any] | None:
    if sample.limit is None:
        return None
    kind = sample.limit if sample.limit in _LIMITS else "custom"
    if kind != sample.limit:
        lost["limits that Inspect has no word for stand as `custom`, with their own in its reason"] += 1
    return {"type": kind, "limit": math.nan, "reason": None if kind == sample.limit else sample.limit}


_MOST_CHARACTERS = 1000  # of a text in a summary, which is for lists


def summary_of(whole: Mapping[str, Any]) -> dict[str, Any]:
    """A sample in lists: its texts cut, and no metadata."""
    names = ("id", "epoch", "choices", "model_usage", "total_time", "working_time")
    found = {name: whole[name] for name in names}
    found |= {"input": _cut(whole["input"]), "target": whole["target"], "completed": True, "metadata": {}}
    if isinstance(found["target"], str):
        found["target"] = _cut(found["target"])
    else:
        found["target"] = [_cut(one) for one in found["target"]]
    found["scores"] = whole["scores"] and {name: _short(one) for name, one in whole["scores"].items()}
    found["error"] = whole["error"] and _cut(whole["error"]["message"])
    found["limit"] = whole["limit"] and whole["limit"]["type"]
    return found | {"message_count": len(whole["messages"])}


def _short(score: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: None if score[name] is None else _cut(score[name]) for name in ("answer", "explanation", "reason")}
    return {"value": score["value"]} | texts


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
