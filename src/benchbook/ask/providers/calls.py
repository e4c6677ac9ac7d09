"""What every provider takes and gives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import msgspec

from benchbook.record.facts import FailureCause

__all__ = ["Answer", "CallFailed", "Generation", "Provider", "is_fault", "normalised"]


@dataclass(frozen=True, slots=True)
class Generation:
    """How a text is to be generated. `params` are sent as they are; `json_schema` asks for JSON of that schema."""

    params: Mapping[str, Any] = field(default_factory=dict)
    json_schema: Mapping[str, Any] | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A whole reply. A null is what the provider did not tell; nothing is guessed (SPEC R1.4)."""

    text: str | None
    finish_reason: str | None = None
    latency_e2e_ms: int | None = None  # from sending the request to the last byte (R1.2)
    latency_model_ms: int | None = None
    time_to_first_token_ms: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_reported: int | None = None  # where the provider's total shows that more were used (R1.5)
    reasoning_characters: int | None = None  # of a text that came apart, as thoughts
    model_reported: str | None = None
    fingerprint: str | None = None


class CallFailed(Exception):  # noqa: N818 - it is an outcome of a call, told to the runner, and no user's error
    """A request brought no answer.

    `retryable`: asking again may help (R3.6). `stops_run`: nothing will help until a person acts (401, 403).
    `retry_after_s`: how long the server asked to wait, 0 or more. `detail` holds no key. `most_retries`: how often to
    ask again at most, below the user's limit; None: as often as the user allows. `cause` is what went wrong, and
    `parameter` the name of the one that the server refuses, where that is the cause.
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
# The server broke off, and not the model: DeepSeek, vLLM, z.AI, Ollama, OpenRouter, Cohere have one each.
_FAULTS = frozenset({
    "error", "abort", "aborted", "networkerror", "insufficientsystemresource", "insufficientsystemresources", "load",
    "unload", "servererror", "internalerror", "modelerror", "timeout", "cancelled", "canceled", "usercancel",
})  # fmt: skip
_PREFIX = re.compile(r"^finishreason")


def normalised(reason: str | None) -> str | None:
    """`stop`, `length` or `content_filter` where the word means that; any other as it came."""
    if reason is None or reason in _WORDS:
        return reason
    return _NORMALISED.get(_bare(reason.partition(":")[0]), reason)


def is_fault(reason: str | None) -> bool:
    """Whether the server says that it broke the answer off."""
    return reason is not None and _bare(reason.partition(":")[0]) in _FAULTS


def _bare(word: str) -> str:
    return _PREFIX.sub("", re.sub(r"[\W_]+", "", word[:60]).lower())
