"""Requests and results in the form that a vendor's batches have.

A request is rendered as `benchbook run` sends it, in OpenAI's chat form; its hash is of those bytes, and `verify`
renders it again. For a vendor with another form it is said in that form, as the vendor's own OpenAI-compatible address
would read it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.ask.requests import RolePlan
from benchbook.canonical import decode_json, ready
from benchbook.errors import ConfigError, UsageError
from benchbook.record.facts import BatchForm


class _Named(msgspec.Struct):
    """Where a line of results has the id of its request, under any vendor."""

    custom_id: str | None = None
    key: str | None = None


_named = msgspec.json.Decoder(ready(_Named))
_body = msgspec.json.Decoder(dict[str, Any])


def id_in_result(line: bytes) -> str | None:
    """The id of the request that a line of results answers; None where it names none."""
    try:
        found: _Named = _named.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found.custom_id if found.custom_id is not None else found.key


def body_values(body: bytes) -> dict[str, Any]:
    """The values of a request in chat form."""
    values: dict[str, Any] = decode_json(body, _body)
    return values


class BatchWire(ABC):
    """One form. A file is `head`, its requests with `between` between them, and `tail`."""

    name: BatchForm
    head = b""
    between = b"\n"
    tail = b"\n"

    @abstractmethod
    def request(self, custom_id: str, body: bytes) -> bytes:
        """A request, given as it is sent in chat form."""

    @abstractmethod
    def answer(self, line: bytes, body: bytes) -> Answer:
        """The answer on a line of results to the request `body`. Raises: CallFailed."""

    def check(self, plan: RolePlan, setting: str) -> None:
        """Refuse parameters that the form has no place for, and a stream. Raises: ConfigError naming `setting`."""
        if plan.stream:
            raise ConfigError("stream", "true", "nothing: a batch's answers come whole")
        if unknown := [name for name in plan.params if not self.takes(name)]:
            expected = f"parameters that {self.name} takes (NAME=null leaves one out)"
            raise ConfigError(setting, ", ".join(sorted(unknown)), expected)
        if plan.json_schema and not self.takes("response_format"):
            raise ConfigError("judge_json_schema", "true", f"false: {self.name} has no place for it in a batch")

    def takes(self, parameter: str) -> bool:
        """True if requests of this form have a place for a parameter, or the vendor passes it over."""
        del parameter
        return True


def text_in(message: Mapping[str, Any], form: BatchForm) -> str:
    """The text of a message, for forms that say anything else in other words. Raises: UsageError where it has more."""
    content = message.get("content")
    if not isinstance(content, str) or message.get("tool_calls") or message["role"] == "tool":
        raise UsageError(f"a conversation with tools, or parts that are no text, can't be put into a batch of {form}")
    return content


def not_carried_out(why: str) -> CallFailed:
    """The failure of a request that its batch never came to: no fault of its own, and nothing was paid."""
    return CallFailed("provider_error", why, retryable=True, cause="not_carried_out")


def unmeasured(answer: Answer) -> Answer:
    """The answer without times: nobody measured how long it took."""
    return msgspec.structs.replace(answer, latency_e2e_ms=None, time_to_first_token_ms=None)


def values_on(line: bytes) -> Mapping[str, Any]:
    """The values on a line of results; nothing where it is no JSON object."""
    try:
        values = decode_json(line, _anything)
    except msgspec.DecodeError:
        return {}
    return values if isinstance(values, dict) else {}


_anything = msgspec.json.Decoder()
