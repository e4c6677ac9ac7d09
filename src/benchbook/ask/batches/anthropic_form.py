"""Anthropic's form: all requests in one document, `{"requests": [{"custom_id", "params"}, …]}`; results a line each.

Sources: https://platform.claude.com/docs/en/api/creating-message-batches (custom_id: 1 to 64 of [a-zA-Z0-9_-]),
https://platform.claude.com/docs/en/build-with-claude/batch-processing ("Retrieving batch results"), and for what is
said how, and what is passed over, https://platform.claude.com/docs/en/api/openai-sdk ("Detailed OpenAI compatible API
support").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchbook.ask.batches.form import BatchWire, body_values, not_carried_out, text_in, unmeasured, values_on
from benchbook.ask.providers.anthropic_wire import answer_in_message
from benchbook.ask.providers.calls import Answer
from benchbook.ask.providers.error_body import read_error, told_detail
from benchbook.ask.providers.faults import broken_reply, failed_without_status
from benchbook.canonical import canonical_json

# The fields that Anthropic's OpenAI-compatible address passes over, and a message has none of.
_PASSED_OVER = frozenset({
    "audio", "frequency_penalty", "logit_bias", "logprobs", "metadata", "modalities", "prediction", "presence_penalty",
    "reasoning_effort", "seed", "service_tier", "store", "top_logprobs", "user",
})  # fmt: skip
_AS_THEY_ARE = frozenset({"temperature", "top_p", "top_k", "thinking", "max_tokens"})
_RENAMED = {"max_completion_tokens": "max_tokens", "stop": "stop_sequences"}
_SYSTEM = ("system", "developer")
_MOST_TOKENS = 4096  # max_tokens must be there


class AnthropicWire(BatchWire):
    """Chat requests as messages: system texts stand apart, at the beginning."""

    name = "anthropic"
    head = b'{"requests":['
    between = b",\n"
    tail = b"]}"

    def takes(self, parameter: str) -> bool:
        return parameter in _PASSED_OVER or parameter in _AS_THEY_ARE or parameter in _RENAMED

    def request(self, custom_id: str, body: bytes) -> bytes:
        return canonical_json({"custom_id": custom_id, "params": params_of(body_values(body))})

    def answer(self, line: bytes, body: bytes) -> Answer:
        result = values_on(line).get("result")
        kind = result.get("type") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(kind, str):
            raise broken_reply("a line of results without a result", 0)
        if kind in ("expired", "canceled"):
            raise not_carried_out(f"{kind}: the batch ended before this request was carried out")
        if kind != "succeeded":
            told = read_error(result.get("error"))
            raise failed_without_status(told, told_detail(told) or f"the result is {kind[:40]}", body, 0)
        message = result.get("message")
        if not isinstance(message, dict) or not isinstance(message.get("content"), list):
            raise broken_reply("succeeded, but there is no message with a content", 0)
        return unmeasured(answer_in_message(message))


def params_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a message by those of a chat request."""
    messages: Sequence[Mapping[str, Any]] = values["messages"]
    params: dict[str, Any] = {"model": values["model"], "max_tokens": _MOST_TOKENS}
    for name, value in values.items():
        if name in _AS_THEY_ARE or name in _RENAMED:
            params[_RENAMED.get(name, name)] = [value] if name == "stop" and isinstance(value, str) else value
    texts = [(one["role"], text_in(one, "anthropic")) for one in messages]
    if system := [text for role, text in texts if role in _SYSTEM]:
        params["system"] = "\n".join(system)
    params["messages"] = [{"role": role, "content": text} for role, text in texts if role not in _SYSTEM]
    return params
