"""A sample of Inspect's as a sample of any log."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import canonical_json
from benchbook.evalsets.conversations import transcript
from benchbook.exchange.inspect.reading_forms import NOTHING, InspectOutput, InspectSample, InspectUsage
from benchbook.exchange.inspect.reading_judges import InspectJudges
from benchbook.exchange.inspect.reading_ours import sample_of_ours, score_of_ours
from benchbook.exchange.inspect.reading_values import ScoreNames, as_text, scores_of
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import LogFailure, LogSample, LogScore
from benchbook.text import shorten

_ATTACHED = re.compile(r"attachment://([0-9a-f]{32}|\d+)")
_ROLES = frozenset({"system", "user", "assistant", "tool"})
_LONGEST_MS = 1 << 53
_FAILURES = {"CancelledError": "cancelled", "TimeoutError": "timeout"}


class SampleReader:
    """Makes samples of one log into samples of any. `seen` counts what is to be noted of them."""

    def __init__(
        self,
        path: Path,
        model: str,
        names: ScoreNames,
        judged: InspectJudges,
        fields: frozenset[str],
        *,
        is_ours: bool = False,
    ) -> None:
        """`fields` of their metadata are kept even where only an audit needs them."""
        self._is_ours = is_ours
        self.seen: Counter[str] = Counter()
        self._path, self._model, self._names, self._judged, self._fields = path, model, names, judged, fields

    def begin(self) -> None:
        """Forget what was counted: a new pass begins."""
        self.seen.clear()

    def sample(self, sample: InspectSample, where: str, *, whole: bool) -> LogSample:
        """Raises: InputError where its attachments are none."""
        texts = _Texts(self._path, where, sample.attachments)
        output = sample.output or InspectOutput()
        chat = [_chat_message(one, texts) for one in sample.input] if isinstance(sample.input, list) else None
        first = output.choices[0] if output.choices else None
        usage = self._usage(sample, output) or InspectUsage()
        self._count(sample)
        made = LogSample(
            id=str(sample.id),
            repeat=max(sample.epoch - 1, 0),
            prompt=_prompt(sample, chat, texts),
            references=_texts_of(sample.target),
            choices=_texts_of(sample.choices),
            answer=_answer(output, texts, self._path, where),
            scores=self._scores(sample),
            failure=_failure(sample),
            limit=_limit(sample.limit),
            finish_reason=first.stop_reason if first else None,
            input_tokens=_input_tokens(usage),
            output_tokens=usage.output_tokens,
            latency_ms=_latency_ms(sample, output),
            model_reported=output.model or None,
            messages=chat if whole and chat is not None and not _is_prompt(chat) else None,
            metadata=self._metadata(sample, whole=whole),
            where=where,
        )
        return sample_of_ours(made, whole=whole) if self._is_ours else made

    def _scores(self, sample: InspectSample) -> dict[str, LogScore]:
        held = {scorer: score for scorer, score in (sample.scores or {}).items() if score is not None}
        if sample.score is not None:
            held = {self._names.only: sample.score, **held}
        made: dict[str, LogScore] = {}
        for scorer, score in held.items():
            found = dict(scores_of(scorer, score, self._names, self._judged, self.seen))
            made.update(found if not self._is_ours else {n: score_of_ours(one, score) for n, one in found.items()})
        return made

    def _metadata(self, sample: InspectSample, *, whole: bool) -> dict[str, Any]:
        held = getattr(sample, "metadata", None)
        if not isinstance(held, dict):
            return {}
        return held if whole or self._is_ours else {name: held[name] for name in self._fields if name in held}

    def _usage(self, sample: InspectSample, output: InspectOutput) -> InspectUsage | None:
        """The tokens of the model. Of several turns the output has the last one's alone; the sum has the judge's, too,
        where the model judged itself."""
        if output.usage is not None and _n_turns(sample) <= 1:
            return output.usage
        return (sample.model_usage or {}).get(self._model)

    def _count(self, sample: InspectSample) -> None:
        if sample.invalidation is not None:
            self.seen["invalidated"] += 1
        if isinstance(sample.id, int):
            self.seen["id_number"] += 1
        elif sample.id.isdecimal():
            self.seen["id_digits"] += 1


class _Texts:
    """The texts of a sample, those that stand apart from it put in their places."""

    def __init__(self, path: Path, where: str, attachments: msgspec.Raw) -> None:
        self._path, self._where, self._raw = path, where, attachments
        self._held: dict[str, Any] | None = None

    def of(self, text: str) -> str:
        if "attachment://" not in text or bytes(self._raw) == bytes(NOTHING):
            return text
        if self._held is None:
            within = f"{self._where}: attachments"
            self._held = decoded(bytes(self._raw), dict[str, Any], self._path, within=within)
        held = self._held
        return _ATTACHED.sub(lambda match: as_text(held.get(match[1], match[0])) or "", text)


def _prompt(sample: InspectSample, chat: list[dict[str, Any]] | None, texts: _Texts) -> str:
    """The prompt: a conversation of one user's message is that message."""
    if chat is None:
        return texts.of(as_text(sample.input) or "")
    return str(chat[0]["content"]) if _is_prompt(chat) else transcript(chat)


def _is_prompt(chat: list[dict[str, Any]]) -> bool:
    return len(chat) == 1 and chat[0]["role"] == "user"


def _answer(output: InspectOutput, texts: _Texts, path: Path, where: str) -> str | None:
    """The model's text; None where it gave no answer at all."""
    if output.completion:
        return texts.of(output.completion)
    if not output.choices:
        return None
    message = output.choices[0].message
    content = None if message is None else decoded(bytes(message.content), Any, path, within=where)
    return texts.of(_content_text(content))


def _content_text(content: Any) -> str:
    """The text of a message's content; of what is no text, its kind."""
    if isinstance(content, list):
        return "\n".join(part for one in content if (part := _part_text(one)) is not None)
    return as_text(content) or ""


def _part_text(part: Any) -> str | None:
    if not isinstance(part, Mapping):
        return as_text(part)
    kind = part.get("type")
    if kind == "text":
        return as_text(part.get("text"))
    return None if kind == "reasoning" else f"[{shorten(str(kind), 20)}]"


def _chat_message(message: Any, texts: _Texts) -> dict[str, Any]:
    """A message in the form of the chat interface."""
    if not isinstance(message, Mapping):
        return {"role": "user", "content": texts.of(as_text(message) or "")}
    role = message.get("role")
    made: dict[str, Any] = {
        "role": role if isinstance(role, str) and role in _ROLES else "user",
        "content": texts.of(_content_text(message.get("content"))),
    }
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        made["tool_calls"] = [_call(one) for one in calls if isinstance(one, Mapping)]
    if made["role"] == "tool":
        made["tool_call_id"] = str(message.get("tool_call_id") or "")
    return made


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments")
    said = arguments if isinstance(arguments, str) else canonical_json(arguments or {}).decode()
    function = {"name": str(call.get("function") or ""), "arguments": said}
    return {"id": str(call.get("id") or ""), "type": "function", "function": function}


def _texts_of(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(as_text(one) or "" for one in value)
    text = as_text(value)
    return (text,) if text else ()


def _failure(sample: InspectSample) -> LogFailure | None:
    if sample.error is not None:
        message = sample.error.message
        return LogFailure(message=message, kind=_FAILURES.get(message.partition("(")[0].rpartition(".")[2], "error"))
    if sample.invalidation is None:
        return None
    reason = sample.invalidation.get("reason") if isinstance(sample.invalidation, Mapping) else None
    message = f"declared invalid: {reason}" if reason else "declared invalid"
    return LogFailure(message=message, kind="invalidated")


def _limit(limit: Any) -> str | None:
    kind = limit.get("type") if isinstance(limit, Mapping) else limit
    return None if kind is None else shorten(str(kind), 80)


def _n_turns(sample: InspectSample) -> int:
    """How often the model was asked."""
    if sample.turn_count is not None:
        return sample.turn_count
    return sum(one.role == "assistant" and one.source != "input" for one in sample.messages or ())


def _input_tokens(usage: InspectUsage) -> int | None:
    """All that the model read, from a cache or not."""
    if usage.input_tokens is None:
        return None
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    total = usage.total_tokens
    return usage.input_tokens + (cached if total == usage.input_tokens + cached + (usage.output_tokens or 0) else 0)


def _latency_ms(sample: InspectSample, output: InspectOutput) -> int | None:
    """How long the one answer took; of several turns, how long the sample did, the judge's time with it."""
    seconds = output.time if _n_turns(sample) <= 1 else None
    for one in (seconds, sample.working_time, sample.total_time):
        if isinstance(one, float) and math.isfinite(one) and 0 <= one * 1000 < _LONGEST_MS:
            return round(one * 1000)
    return None
