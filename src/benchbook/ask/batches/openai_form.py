"""OpenAI's form: `{"custom_id", "method", "url", "body"}` a line, as vLLM, Groq, Together and Azure take it.

Source: https://platform.openai.com/docs/api-reference/batch/request-input and …/batch/request-output, and vLLM's
`vllm/entrypoints/openai/run_batch.py` (BatchRequestInput, BatchRequestOutput).
"""

from __future__ import annotations

from typing import Any

import msgspec

from benchbook.ask.batches.form import BatchWire, not_carried_out, unmeasured
from benchbook.ask.providers.calls import Answer
from benchbook.ask.providers.error_body import codes_of, is_error, read_error, told_detail
from benchbook.ask.providers.faults import broken_reply, failed_without_status, refusal
from benchbook.ask.providers.openai_wire import read_completion
from benchbook.canonical import canonical_json, ready

CHAT_URL = "/v1/chat/completions"
# The codes of requests that the batch never came to (guides/batch, "Batch expiration" and "Cancelling a batch").
_NEVER_ASKED = frozenset({"batch_expired", "batch_cancelled"})

_ABSENT = msgspec.Raw(b"")


class _OfRequest(msgspec.Struct):
    """The outcome of one request, as it would have been answered alone."""

    status_code: int | None = None
    body: msgspec.Raw = _ABSENT


class _OutputLine(msgspec.Struct):
    """A line of an output file, or of a file of errors."""

    response: _OfRequest | None = None
    error: Any = None


_line = msgspec.json.Decoder(ready(_OutputLine))


class OpenAIWire(BatchWire):
    """Requests as they are, each in an envelope."""

    name = "openai"

    def request(self, custom_id: str, body: bytes) -> bytes:
        head = canonical_json({"custom_id": custom_id, "method": "POST", "url": CHAT_URL})
        return head[:-1] + b',"body":' + body + b"}"

    def answer(self, line: bytes, body: bytes) -> Answer:
        try:
            found: _OutputLine = _line.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise broken_reply(f"a line of results that makes no sense ({error})", 0) from None
        response, data = found.response, b"" if found.response is None else bytes(found.response.body)
        status = None if response is None else response.status_code
        if is_error(found.error) and (status is None or 200 <= status < 300):
            told = read_error(found.error)
            if any(code in _NEVER_ASKED for part in told.parts for code in codes_of(part)):
                raise not_carried_out(told_detail(told))
            raise failed_without_status(told, told_detail(told), body, 0)
        if response is None:
            raise not_carried_out("neither a response nor an error")
        if status is not None and not 200 <= status < 300:
            # vLLM tells the error beside the response, and leaves its body empty.
            said = canonical_json(found.error) if data in (b"", b"null") and is_error(found.error) else data
            raise refusal(status, {}, b"" if said == b"null" else said, body, 0)
        return unmeasured(read_completion(data, {}, 0, body))
