"""What every provider takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import msgspec

from benchbook.records.facts import FailureCause

__all__ = ["Answer", "CallFailed", "Generation", "Provider"]


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
