"""Reads the results of Gemini's batches: `{"key", "response" or "error"}` a line, or all of them within their job; and
Vertex AI's, which repeat the request: `{"request", "response", "status"}`.

Names come in both spellings, `finishReason` of the API and `finish_reason` of Google's library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.providers.calls import is_fault
from benchbook.ask.providers.gemini_wire import answer_in_response, get, spelt, within
from benchbook.ask.providers.json_parts import objects, text
from benchbook.canonical import canonical_json
from benchbook.errors import InputError
from benchbook.evalsets.lines import JSON_WHITE_SPACE
from benchbook.exchange.batches.files import BatchReader
from benchbook.exchange.batches.form import (
    AskedOfBatch,
    BatchForm,
    BatchResult,
    asked_as,
    failure_of,
    keys_of,
)
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import LogFailure

_OF_RESPONSES = (b'"candidates"', b'"usageMetadata"', b'"usage_metadata"', b'"promptFeedback"', b'"prompt_feedback"')
_CONFIG = ("generationConfig", "config")


_ABSENT = msgspec.Raw(b"")


class _GeminiLine(msgspec.Struct):
    key: str | None = None
    metadata: Any = msgspec.UNSET
    request: msgspec.Raw = _ABSENT
    response: Any = None
    error: Any = None
    status: Any = None
    processed_time: Any = None


class _GeminiForm(BatchForm):
    tool = "gemini_batch"
    title = "Gemini batch output"
    id_name = "key"
    result_arrays = (
        ("dest", "inlined_responses"),  # a job as Google's library has it
        ("dest", "inlinedResponses"),
        ("response", "inlinedResponses", "inlinedResponses"),  # and as the API answers
        ("response", "inlinedResponses"),
        ("output", "inlinedResponses", "inlinedResponses"),
        ("metadata", "output", "inlinedResponses", "inlinedResponses"),
    )
    request_arrays = (  # the body that makes a job
        ("batch", "input_config", "requests", "requests"),
        ("batch", "inputConfig", "requests", "requests"),
    )

    def as_line(self, element: bytes) -> bytes:
        keys = keys_of(element)
        if "key" in keys or "metadata" in keys or not keys:
            return element
        return b'{"metadata":null,' + element.lstrip(JSON_WHITE_SPACE)[1:]  # known by its place alone

    def is_result(self, keys: Mapping[str, bytes]) -> bool:
        return "custom_id" not in keys and any(one in keys for one in ("key", "request", "metadata")) and _ended(keys)

    def is_request(self, keys: Mapping[str, bytes]) -> bool:
        is_ours = b'"contents"' in keys.get("request", b"") and "custom_id" not in keys
        return is_ours and "response" not in keys and "error" not in keys

    def read_result(
        self,
        line: bytes,
        path: Path,
        number: int,
        request: bytes | None = None,  # noqa: ARG002
    ) -> BatchResult:
        found = decoded(line, _GeminiLine, path, line=number)
        asked = self.read_request(line, path, number) if bytes(found.request) else None
        id_ = asked.id if asked is not None else _key_of(found, path, number)
        created = _seconds(found.processed_time)
        response = found.response if isinstance(found.response, dict) else {}
        if (failure := _failure_in(found, response)) is not None:
            return BatchResult(id=id_, failure=failure, asked=asked, created=created)
        candidates = objects(response.get("candidates"))
        answer = answer_in_response(response)
        n_further = max(len(candidates) - 1, 0)
        return BatchResult(id=id_, answer=answer, asked=asked, created=created, n_further=n_further)

    def read_request(self, line: bytes, path: Path, number: int) -> AskedOfBatch:
        found = decoded(line, _GeminiLine, path, line=number)
        data = bytes(found.request) or b"{}"
        body = decoded(data, dict[str, Any], path, line=number, within="request")
        if "contents" not in body:
            raise InputError(path, line=number, field="request.contents", found="none", expected="a list of contents")
        has_key = found.key is not None or found.metadata is not msgspec.UNSET
        id_ = _key_of(found, path, number) if has_key else _named_by(body)
        config: dict[str, Any] = next((body[name] for name in spelt(*_CONFIG) if isinstance(body.get(name), dict)), {})
        return asked_as(id_, _turns(body), model=_model(body.get("model")), params=config, body=data)


def _ended(keys: Mapping[str, bytes]) -> bool:
    """True where a response has what Gemini's have; a failure has none, and is known by what stands beside it."""
    response = keys.get("response", b"null")
    if any(word in response for word in _OF_RESPONSES):
        return True
    is_known = "key" in keys or b'"key"' in keys.get("metadata", b"") or b'"contents"' in keys.get("request", b"")
    return response in (b"null", b"{}") and is_known and ("error" in keys or "status" in keys)


def _key_of(found: _GeminiLine, path: Path, number: int) -> str:
    """The key; of responses within a job, which come in the order of their requests, maybe the line's number."""
    key = found.key
    if key is None and isinstance(found.metadata, dict):
        key = text(found.metadata.get("key"))
    if key is None and found.metadata is not msgspec.UNSET:
        return f"line-{number}"
    if key is None:
        raise InputError(
            path, line=number, field="key", found="none", expected="the key of the request, or the request"
        )
    return key


def _named_by(body: Mapping[str, Any]) -> str:
    """An id for a request that has none: the same for the same request, in whatever order results come."""
    return f"request-{sha256(canonical_json(body)).hexdigest()[:16]}"


def _failure_in(found: _GeminiLine, response: Mapping[str, Any]) -> LogFailure | None:
    if found.error:
        return failure_of(found.error)
    if isinstance(found.status, str) and found.status.strip() and not response.get("candidates"):
        return failure_of(found.status)
    candidates = objects(response.get("candidates"))
    if not candidates and within(response, "promptFeedback") is None:
        return LogFailure(message="the response has no candidates")
    reason = text(get(candidates[0], "finishReason")) if candidates else None
    if is_fault(reason):
        return LogFailure(message=f"the server broke the answer off (finish reason {reason})")
    return None


def _turns(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    instruction = get(body, "systemInstruction")
    if instruction is not None:
        yield "system", _parts(instruction)
    contents = body["contents"]
    for content in contents if isinstance(contents, list) else [contents]:
        role = text(content.get("role")) if isinstance(content, dict) else None
        yield {"model": "assistant", "function": "tool"}.get(role or "user", role or "user"), _parts(content)


def _parts(content: Any) -> Any:
    return content.get("parts", content) if isinstance(content, dict) else content


def _model(name: Any) -> str | None:
    return name.rpartition("/")[2] if isinstance(name, str) else None


def _seconds(moment: Any) -> float | None:
    """Seconds since 1970 of a time that names its zone."""
    try:
        read = datetime.fromisoformat(moment) if isinstance(moment, str) else None
        return None if read is None or read.tzinfo is None else read.timestamp()
    except (ValueError, OverflowError):
        return None


FORM = _GeminiForm()
_READER = BatchReader(FORM)
recognises, opened = _READER.recognises, _READER.opened
