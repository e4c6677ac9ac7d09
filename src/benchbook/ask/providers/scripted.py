"""Replies by a script, for tests and dry runs: nothing leaves the process.

The script is JSON: `{"replies": [{"contains": "…", "text": "…", "latency_ms": 5, "input_tokens": 1, …}, …]}`. The first
entry whose `contains` stands in the prompt answers; one without it answers everything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.canonical import decode_json, ready
from benchbook.errors import ConfigError
from benchbook.evalsets.conversations import said
from benchbook.record.facts import FailureCause

__all__ = ["ScriptedProvider", "read_script"]


class ScriptedReply(msgspec.Struct, frozen=True, kw_only=True):
    """One entry. `error` makes it a failure of that kind."""

    contains: str = ""
    text: str | None = None
    finish_reason: str = "stop"
    latency_ms: int = 5
    latency_model_ms: int | None = None
    input_tokens: int | None = 10
    output_tokens: int | None = 10
    error: Literal["provider_error", "timeout"] | None = None


class _Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    replies: list[ScriptedReply]


def read_script(path: str | None, setting: str) -> list[ScriptedReply]:
    """The entries of a script.

    Raises: ConfigError.
    """
    if path is None:
        raise ConfigError(f"{setting}_path", "nothing", "a file with scripted replies (provider scripted)")
    try:
        return msgspec.json.decode(Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf"), type=ready(_Script)).replies
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{setting}_path", f"{path} ({error})", 'JSON such as {"replies": [{"text": "…"}]}') from None


_request = msgspec.json.Decoder(dict[str, Any])


class ScriptedProvider:
    def __init__(self, name: str, replies: list[ScriptedReply]) -> None:
        self._name = name
        self._replies = replies

    async def ask(self, body: bytes) -> Answer:
        request: dict[str, Any] = decode_json(body, _request)
        prompt = "\n".join(said(message["content"]) for message in request["messages"])
        for reply in self._replies:
            if reply.contains in prompt:
                return self._answer(reply)
        raise CallFailed("provider_error", "the script has no reply to this prompt", cause="request")

    def _answer(self, reply: ScriptedReply) -> Answer:
        if reply.error is not None:
            cause: FailureCause = "time_limit" if reply.error == "timeout" else "server_error"
            raise CallFailed(reply.error, "scripted", latency_ms=reply.latency_ms, cause=cause)
        return Answer(
            text=reply.text,
            finish_reason=reply.finish_reason,
            latency_e2e_ms=reply.latency_ms,
            latency_model_ms=reply.latency_model_ms,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            model_reported=self._name,
        )

    async def close(self) -> None:
        pass
