"""Reads OpenAI's batches: `{"id", "custom_id", "response": {"status_code", "request_id", "body"}, "error"}` a line.

A body is read by the same function as one that Benchbook asked for itself; that of `/v1/responses` here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.ask.providers.error_body import is_error
from benchbook.ask.providers.faults import broken_off, broken_reply, error_in_200, refusal
from benchbook.ask.providers.json_parts import count, objects, text
from benchbook.ask.providers.openai_wire import Completion, Usage, answer_of, json_value, read_completion
from benchbook.canonical import ready
from benchbook.errors import InputError
from benchbook.evalsets.conversations import called
from benchbook.exchange.batches.files import BatchReader
from benchbook.exchange.batches.form import (
    AskedOfBatch,
    BatchForm,
    BatchResult,
    asked_as,
    failure_of,
    failure_of_call,
)
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import LogFailure
from benchbook.text import quoted

_NOT_ENDED = frozenset({"failed", "cancelled", "queued", "in_progress"})
_NOT_PARAMS = frozenset({"model", "messages", "prompt", "input", "instructions", "stream", "metadata", "user"})


_ABSENT = msgspec.Raw(b"")


class _Response(msgspec.Struct):
    status_code: int | None = None
    request_id: Any = None
    body: msgspec.Raw = _ABSENT


class _ResultLine(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: Any = None


class _RequestLine(msgspec.Struct):
    custom_id: str
    body: msgspec.Raw
    url: str = "/v1/chat/completions"


class _Body(msgspec.Struct):
    """The fields of a body by which its kind is known, and that no answer has."""

    object: Any = None
    output: Any = None
    data: Any = None
    choices: list[msgspec.Raw] | None = None
    created: Any = None
    created_at: Any = None


class _OpenAIForm(BatchForm):
    tool = "openai_batch"
    title = "OpenAI batch output"
    id_name = "custom_id"

    def is_result(self, keys: Mapping[str, bytes]) -> bool:
        return "custom_id" in keys and ("response" in keys or "error" in keys)

    def is_request(self, keys: Mapping[str, bytes]) -> bool:
        return "custom_id" in keys and "body" in keys and not self.is_result(keys)

    def read_result(self, line: bytes, path: Path, number: int, request: bytes | None = None) -> BatchResult:
        found = decoded(line, _ResultLine, path, line=number)
        if is_error(found.error):
            return BatchResult(id=found.custom_id, failure=failure_of(found.error))
        response = found.response
        if response is None:
            return BatchResult(id=found.custom_id, failure=LogFailure(message="neither a response nor an error"))
        data = bytes(response.body)
        status = 200 if response.status_code is None else response.status_code
        if not 200 <= status < 300:
            failed = refusal(status, {}, b"" if data == b"null" else data, request or b"{}", 0)
            return BatchResult(id=found.custom_id, failure=failure_of_call(failed))
        return self._answered(found, data, path, number, request)

    def _answered(self, found: _ResultLine, data: bytes, path: Path, number: int, request: bytes | None) -> BatchResult:
        body = _kind_of(data)
        if body.object == "list" and isinstance(body.data, list) and body.choices is None:
            raise InputError(
                path, line=number, field="response.body", found="embeddings, or scores", expected="a model's answer"
            )
        request = self.asks_for_tools if request is None else request
        try:
            is_response = body.object == "response" or isinstance(body.output, list)
            answer = _read_response(data, request) if is_response else read_completion(data, {}, 0, request)
        except CallFailed as failed:
            return BatchResult(id=found.custom_id, failure=failure_of_call(failed))
        request_id = text(found.response.request_id) if found.response is not None else None
        created = body.created if body.created_at is None else body.created_at
        return BatchResult(
            id=found.custom_id,
            answer=answer,
            created=created if isinstance(created, int | float) and not isinstance(created, bool) else None,
            n_further=max(len(body.choices or ()) - 1, 0),
            metadata=_told(request_id=request_id, system_fingerprint=answer.fingerprint),
        )

    def needs_request(self, line: bytes) -> bool:
        return b'"tool_calls"' in line

    def read_request(self, line: bytes, path: Path, number: int) -> AskedOfBatch:
        found = decoded(line, _RequestLine, path, line=number)
        body = decoded(bytes(found.body), dict[str, Any], path, line=number, within="body")
        sent = body.get("messages")
        if sent is None and "prompt" not in body and "input" not in body:
            expected = "messages, prompt or input: a request that a model answers"
            raise InputError(path, line=number, field="body", found=f"none, for {quoted(found.url)}", expected=expected)
        params = {name: value for name, value in body.items() if name not in _NOT_PARAMS}
        return asked_as(
            found.custom_id, _turns(body), sent=sent, model=body.get("model"), params=params, body=bytes(found.body)
        )


def _kind_of(data: bytes) -> _Body:
    try:
        return msgspec.json.decode(data, type=ready(_Body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _Body()


def _told(**values: str | None) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _turns(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The conversation of a body of any of the three addresses."""
    if (instructions := body.get("instructions")) is not None:
        yield "system", instructions
    for name in ("messages", "input", "prompt"):
        if name not in body:
            continue
        if not isinstance(body[name], list) or all(isinstance(one, str) for one in body[name]):
            yield "user", body[name]
        for turn in objects(body[name]):
            yield text(turn.get("role")) or "user", turn.get("content", turn)
        return


# ── /v1/responses ────────────────────────────────────────────────────────────────────────────────────────


def _read_response(data: bytes, request: bytes) -> Answer:
    """The answer in a body of `/v1/responses`. Raises: CallFailed."""
    value = json_value(data, "status 200, but the body", 0)
    if not isinstance(value, dict) or not isinstance(value.get("output"), list):
        raise broken_reply("status 200, but the body has no output", 0)
    if is_error(value.get("error")):
        raise error_in_200(value["error"], request, 0)
    status = text(value.get("status"))
    if status in _NOT_ENDED:
        raise broken_off(status, 0)
    details = value.get("incomplete_details")
    reason = text(details.get("reason")) if isinstance(details, dict) else None
    usage = value["usage"] if isinstance(value.get("usage"), dict) else {}
    names = ("input_tokens", "output_tokens", "total_tokens")
    completion = Completion(usage=Usage(*(count(usage.get(name)) for name in names)), model=text(value.get("model")))
    return answer_of(completion, _said_in(value["output"]), reason or status, _thoughts_in(value["output"]), {}, 0)


def _said_in(output: list[Any]) -> str | None:
    """The text of the messages, followed by a line for each call of a tool."""
    parts = [part for item in objects(output) if item.get("type") == "message" for part in objects(item.get("content"))]
    said = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    calls = [
        called(text(item.get("name")) or "", text(item.get("arguments")) or "")
        for item in objects(output)
        if item.get("type") == "function_call"
    ]
    return "\n".join([*([said] if said else []), *calls]) or None


def _thoughts_in(output: list[Any]) -> int | None:
    texts = [
        part["text"]
        for item in objects(output)
        if item.get("type") == "reasoning"
        for part in (*objects(item.get("summary")), *objects(item.get("content")))
        if isinstance(part.get("text"), str)
    ]
    return sum(map(len, texts)) or None


FORM = _OpenAIForm()
_READER = BatchReader(FORM)
recognises, opened = _READER.recognises, _READER.opened
