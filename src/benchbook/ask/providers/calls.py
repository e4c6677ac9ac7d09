"""The interface of every provider: requests in, answers and failures out."""

from __future__ import annotations

import re
import time
from typing import Any, Literal, Protocol

import msgspec

from benchbook.evalsets.conversations import called
from benchbook.record.facts import FailureCause


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A whole reply. A value that the provider did not report is null; nothing is guessed (SPEC R1.4)."""

    text: str | None
    finish_reason: str | None = None
    latency_e2e_ms: int | None = None  # from sending the request to the last byte (R1.2)
    latency_model_ms: int | None = None
    time_to_first_token_ms: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_reported: int | None = None  # if the provider's total shows that more were used (R1.5)
    reasoning_characters: int | None = None  # of thoughts that came apart from the answer
    model_reported: str | None = None
    fingerprint: str | None = None


class CallFailed(Exception):  # noqa: N818 - it is an outcome of a call, for the runner, and not an error for users
    """A request brought no answer.

    `retryable`: asking again may help (R3.6). `stops_run`: nothing will help until a person acts (401, 403).
    `retry_after_s`: the wait that the server asked for, 0 or more. `detail` holds no key. `most_retries`: a limit on
    retries below the user's; None: the user's alone. `cause` is what went wrong, and `parameter` the name of the
    refused parameter, if that is the cause.
    """

    def __init__(
        self,
        error: Literal["provider_error", "timeout"],
        detail: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        stops_run: bool = False,
        retry_after_s: float | None = None,
        latency_ms: int = 0,
        cause: FailureCause | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(error, detail)
        self.error = error
        self.detail = detail
        self.status = status
        self.retryable = retryable
        self.stops_run = stops_run
        self.retry_after_s = retry_after_s
        self.latency_ms = latency_ms
        self.cause = cause
        self.parameter = parameter
        self.most_retries: int | None = None


class Provider(Protocol):
    """One model behind one wire format."""

    async def ask(self, body: bytes) -> Answer:
        """Send one request. Raises: CallFailed."""
        ...

    async def close(self) -> None: ...


_WORDS = {
    "stop": ("stop", "endturn", "eos", "eostoken", "stopsequence", "complete", "completed", "endoftext"),
    "length": (
        "length", "maxtokens", "maxlength", "maxoutputtokens", "maxnewtokens", "maxcompletiontokens", "modellength",
        "tokenlimit", "modelcontextwindowexceeded", "contextlengthexceeded",
    ),
    "content_filter": (
        "contentfilter", "contentfiltered", "safety", "recitation", "refusal", "blocklist", "prohibitedcontent", "spii",
        "sensitive", "guardrailintervened", "errortoxic", "imagesafety", "moderation",
    ),
}  # fmt: skip
_NORMALISED = {alias: word for word, aliases in _WORDS.items() for alias in aliases}
# Reasons by which the server, and not the model, broke off: those of DeepSeek, vLLM, z.AI, Ollama, OpenRouter, Cohere.
_FAULTS = frozenset({
    "error", "abort", "aborted", "networkerror", "insufficientsystemresource", "insufficientsystemresources", "load",
    "unload", "servererror", "internalerror", "modelerror", "timeout", "cancelled", "canceled", "usercancel",
})  # fmt: skip
_PREFIX = re.compile(r"^finishreason")


def elapsed_ms(started: float) -> int:
    """Milliseconds since `started`, by the monotonic clock."""
    return round((time.monotonic() - started) * 1000)


def normalised(reason: str | None) -> str | None:
    """`stop`, `length` or `content_filter` for a word that means it; any other word unchanged."""
    if reason is None or reason in _WORDS:
        return reason
    return _NORMALISED.get(_bare(reason.partition(":")[0]), reason)


def is_fault(reason: str | None) -> bool:
    """True if the finish reason says that the server broke the answer off."""
    return reason is not None and _bare(reason.partition(":")[0]) in _FAULTS


def _bare(word: str) -> str:
    return _PREFIX.sub("", re.sub(r"[\W_]+", "", word[:60]).lower())


_MOST = 128  # calls in one answer


class ToolCalls:
    """Gathers tool calls, whole or in the pieces of a stream. They are ignored unless the request offered tools."""

    def __init__(self, request: bytes) -> None:
        self._offered = b'"tools":' in request
        self._calls: dict[int, list[str]] = {}  # by place: name and arguments

    def add(self, value: Any) -> None:
        """Add the `tool_calls` of a message or chunk; those of an unknown form are passed over."""
        if not self._offered or not isinstance(value, list):
            return
        for number, call in enumerate(value):
            function = call.get("function") if isinstance(call, dict) else None
            place = call.get("index", number) if isinstance(call, dict) else number
            if not isinstance(function, dict) or not isinstance(place, int):
                continue
            if place in self._calls or len(self._calls) < _MOST:
                known = self._calls.setdefault(place, ["", ""])
                for part, name in enumerate(("name", "arguments")):
                    known[part] += function[name] if isinstance(function.get(name), str) else ""

    def after(self, content: str | None) -> str | None:
        """The answer's text, followed by a line for each call."""
        lines = [called(name, arguments) for _, (name, arguments) in sorted(self._calls.items())]
        return "\n".join([*([content] if content else []), *lines]) if lines else content
