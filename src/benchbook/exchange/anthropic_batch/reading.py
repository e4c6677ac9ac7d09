"""Reads the results of Anthropic's message batches: `{"custom_id", "result": {"type", "message", "error"}}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.providers.calls import Answer
from benchbook.ask.providers.openai_wire import Completion, Usage, answer_of
from benchbook.canonical import canonical_json
from benchbook.errors import InputError
from benchbook.evalsets.conversations import called
from benchbook.exchange.batches.files import BatchReader
from benchbook.exchange.batches.form import (
    AskedOfBatch,
    BatchForm,
    BatchResult,
    asked_as,
    count,
    failure_of,
    objects,
    text,
)
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import LogFailure
from benchbook.text import quoted

_NOT_PARAMS = frozenset({"model", "messages", "system", "stream", "metadata"})
_NEVER_ASKED = {
    "expired": "expired: the batch ended before this request was carried out",
    "canceled": "canceled: the batch was canceled before this request was carried out",
}
# All that was read to make the answer, whether it lay in a cache or not.
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class _ResultOfMessage(msgspec.Struct):
    type: str
    message: dict[str, Any] | None = None
    error: Any = None


class _MessageLine(msgspec.Struct):
    custom_id: str
    result: _ResultOfMessage


class _MessageRequest(msgspec.Struct):
    custom_id: str
    params: msgspec.Raw


class _AnthropicForm(BatchForm):
    tool = "anthropic_batch"
    title = "Anthropic message batch results"
    id_name = "custom_id"
    request_arrays = (("requests",),)  # the body that makes a batch

    def is_result(self, keys: Mapping[str, bytes]) -> bool:
        return "custom_id" in keys and "result" in keys

    def is_request(self, keys: Mapping[str, bytes]) -> bool:
        return "custom_id" in keys and "params" in keys and "result" not in keys

    def read_result(
        self,
        line: bytes,
        path: Path,
        number: int,
        request: bytes | None = None,  # noqa: ARG002
    ) -> BatchResult:
        found = decoded(line, _MessageLine, path, line=number)
        result = found.result
        if result.type in _NEVER_ASKED:
            failure = LogFailure(message=_NEVER_ASKED[result.type], kind="cancelled")
            return BatchResult(id=found.custom_id, failure=failure)
        if result.type == "errored":
            return BatchResult(id=found.custom_id, failure=failure_of(result.error))
        if result.type != "succeeded":
            expected = "succeeded, errored, canceled or expired"
            raise InputError(path, line=number, field="result.type", found=quoted(result.type), expected=expected)
        message = result.message
        if message is None or not isinstance(message.get("content"), list):
            failure = LogFailure(message="succeeded, but there is no message with a content")
            return BatchResult(id=found.custom_id, failure=failure)
        return BatchResult(id=found.custom_id, answer=_answer_in(message))

    def read_request(self, line: bytes, path: Path, number: int) -> AskedOfBatch:
        found = decoded(line, _MessageRequest, path, line=number)
        body = decoded(bytes(found.params), dict[str, Any], path, line=number, within="params")
        if not isinstance(body.get("messages"), list):
            raise InputError(path, line=number, field="params.messages", found="none", expected="a list of messages")
        params = {name: value for name, value in body.items() if name not in _NOT_PARAMS}
        sent = None if "system" in body else body["messages"]
        return asked_as(
            found.custom_id, _turns(body), sent=sent, model=body.get("model"), params=params, body=bytes(found.params)
        )


def _turns(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if "system" in body:
        yield "system", body["system"]
    for message in objects(body["messages"]):
        yield text(message.get("role")) or "user", message.get("content")


def _answer_in(message: Mapping[str, Any]) -> Answer:
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


FORM = _AnthropicForm()
_READER = BatchReader(FORM)
recognises, opened = _READER.recognises, _READER.opened
