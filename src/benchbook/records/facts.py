"""The kinds of facts (DESIGN, The record). Each is one journal line.

Every fact has `seq` (from 0), `prev` (the SHA-256 of the line before, without its newline; 64 zeros at first) and
`at` (UTC). The journal sets them. Times are milliseconds of a monotonic clock (SPEC C7).
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = [
    "FIRST_PREV",
    "Fact",
    "Failure",
    "FailureEnds",
    "Interrupted",
    "Reply",
    "Resumed",
    "Role",
    "RunEnded",
    "RunStarted",
    "Sealed",
    "fact_decoder",
]

FIRST_PREV = "0" * 64

Role = Literal["candidate", "judge"]
# What a failed call brought to its end: the attempt (it was tried again), the sample, or the whole run.
FailureEnds = Literal["attempt", "sample", "run"]


class _Fact(msgspec.Struct, kw_only=True, omit_defaults=True, tag_field="kind"):
    seq: int = -1
    prev: str = ""
    at: str = ""


class RunStarted(_Fact, tag="run_started", kw_only=True):
    """What was going to be done, before anything was."""

    run_id: str
    spec: str
    spec_sha256: str
    plan_sha256: str
    n_items: int
    repeats: int
    config: dict[str, Any]
    inputs: dict[str, str]
    identity: dict[str, Any]  # R7.1's metadata as far as it was known at the start
    code_version: dict[str, Any]
    environment: dict[str, Any]


class Reply(_Fact, tag="reply", kw_only=True):
    """An answer that came back whole. `text` is None where it held no text (a content filter)."""

    sample: int
    role: Role
    attempt: int = 1  # the judge's parse retry is 2 (R3.5)
    text: str | None = None
    finish_reason: str | None = None
    request_sha256: str | None = None  # None for recorded outputs: nobody was asked
    latency_e2e_ms: int | None = None
    latency_model_ms: int | None = None
    time_to_first_token_ms: int | None = None
    queue_ms: int = 0
    retry_ms: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    model_reported: str | None = None
    fingerprint: str | None = None
    cached: bool = False


class Failure(_Fact, tag="failure", kw_only=True):
    """A call that brought no answer."""

    sample: int
    role: Role
    attempt: int = 1
    error: Literal["provider_error", "timeout", "cancelled"]
    ends: FailureEnds
    status: int | None = None
    detail: str = ""
    request_sha256: str | None = None
    latency_ms: int = 0  # how long this attempt took
    queue_ms: int = 0
    retry_ms: int = 0


class Sealed(_Fact, tag="sealed", kw_only=True):
    """A full segment was compressed; `sha256` is that of the compressed file, `lines_sha256` that of its lines."""

    segment: int
    sha256: str
    lines_sha256: str


class Interrupted(_Fact, tag="interrupted", kw_only=True):
    """The run stopped before its plan's end, on purpose, and can be resumed."""

    reason: str


class Resumed(_Fact, tag="resumed", kw_only=True):
    """The run goes on, perhaps elsewhere."""

    code_version: dict[str, Any]
    environment: dict[str, Any]
    config: dict[str, Any]  # the settings that may change between sittings: limits, endpoints


class RunEnded(_Fact, tag="run_ended", kw_only=True):
    """Every planned sample has its outcome."""


Fact = RunStarted | Reply | Failure | Sealed | Interrupted | Resumed | RunEnded

fact_decoder: msgspec.json.Decoder[Fact] = msgspec.json.Decoder(Fact)
