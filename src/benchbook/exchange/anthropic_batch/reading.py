"""Reads the results of Anthropic's message batches: `{"custom_id", "result": {"type", "message", "error"}}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.providers.anthropic_wire import answer_in_message
from benchbook.ask.providers.json_parts import objects, text
from benchbook.errors import InputError
from benchbook.exchange.batches.files import BatchReader
from benchbook.exchange.batches.form import (
    AskedOfBatch,
    BatchForm,
    BatchResult,
    asked_as,
    failure_of,
)
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import LogFailure
from benchbook.text import quoted

_NOT_PARAMS = frozenset({"model", "messages", "system", "stream", "metadata"})
_NEVER_ASKED = {
    "expired": "expired: the batch ended before this request was carried out",
    "canceled": "canceled: the batch was canceled before this request was carried out",
}


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
        return BatchResult(id=found.custom_id, answer=answer_in_message(message))

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


FORM = _AnthropicForm()
_READER = BatchReader(FORM)
recognises, opened = _READER.recognises, _READER.opened
