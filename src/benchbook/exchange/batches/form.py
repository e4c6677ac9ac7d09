"""The form of a vendor's batch: a file with one request a line, and a file with one result a line, by the same ids."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.ask.providers.error_body import codes_of, read_error, told_detail
from benchbook.ask.providers.json_parts import text
from benchbook.canonical import ready
from benchbook.evalsets.conversations import MessageError, check_messages, transcript
from benchbook.exchange.json_text import readable
from benchbook.exchange.log import LogFailure

# Words by which vendors say that a request was never carried out: no fault of the model's.
_NEVER_ASKED = frozenset({"batch_expired", "batch_cancelled", "expired", "canceled", "cancelled"})
_TIMED_OUT = frozenset({"request_timeout", "timeout", "deadline_exceeded", "DEADLINE_EXCEEDED"})


class AskedOfBatch(msgspec.Struct, frozen=True, kw_only=True):
    """One request. `messages` is None where it is one prompt and nothing else; `body` are its bytes."""

    id: str
    prompt: str
    messages: list[dict[str, Any]] | None = None
    model: str | None = None
    params: Mapping[str, Any] = {}
    body: bytes = b"{}"
    n_parts_left_out: int = 0  # images and the like, of which the prompt has but the kind


class BatchResult(msgspec.Struct, frozen=True, kw_only=True):
    """One result: an answer, or why there is none. `asked` is there where a vendor repeats the request beside it."""

    id: str
    answer: Answer | None = None
    failure: LogFailure | None = None
    created: float | None = None  # seconds since 1970
    asked: AskedOfBatch | None = None
    n_further: int = 0  # answers to the same request beside the first
    metadata: dict[str, Any] = {}


_ABSENT = msgspec.Raw(b"")


class _LineKeys(msgspec.Struct):
    """The values of the keys by which lines of all vendors are told apart."""

    custom_id: msgspec.Raw = _ABSENT
    key: msgspec.Raw = _ABSENT
    metadata: msgspec.Raw = _ABSENT
    response: msgspec.Raw = _ABSENT
    error: msgspec.Raw = _ABSENT
    result: msgspec.Raw = _ABSENT
    status: msgspec.Raw = _ABSENT
    request: msgspec.Raw = _ABSENT
    params: msgspec.Raw = _ABSENT
    body: msgspec.Raw = _ABSENT


_keys = msgspec.json.Decoder(ready(_LineKeys))


def keys_of(line: bytes) -> Mapping[str, bytes]:
    """The JSON of those keys that a line has; nothing where it is no JSON object."""
    try:
        found = _keys.decode(readable(line))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return {name: data for name in found.__struct_fields__ if (data := bytes(getattr(found, name)))}


JsonPath = tuple[str, ...]  # of keys, as `("dest", "inlined_responses")`


class BatchForm(ABC):
    """One vendor's form. `asks_for_tools` is taken for a request that is not known: its tools may have been called.

    `result_arrays` and `request_arrays` are where one JSON document may have all results, or all requests.
    """

    tool: str
    title: str  # of the form, for people
    id_name: str  # its word for the id
    asks_for_tools = b'{"tools":null}'
    result_arrays: tuple[JsonPath, ...] = ()
    request_arrays: tuple[JsonPath, ...] = ()

    @abstractmethod
    def is_result(self, keys: Mapping[str, bytes]) -> bool:
        """True for the keys of a result's line."""

    @abstractmethod
    def is_request(self, keys: Mapping[str, bytes]) -> bool:
        """True for the keys of a request's line."""

    @abstractmethod
    def read_result(self, line: bytes, path: Path, number: int, request: bytes | None = None) -> BatchResult:
        """Read a result. `request` is the body that it answers, where that is known. Raises: InputError."""

    def as_line(self, element: bytes) -> bytes:
        """An element of such an array as the line that says the same."""
        return element

    def needs_request(self, line: bytes) -> bool:  # noqa: ARG002
        """True for a result that reads differently where its request is known."""
        return False

    @abstractmethod
    def read_request(self, line: bytes, path: Path, number: int) -> AskedOfBatch:
        """Read a request. Raises: InputError."""


# ── what vendors' lines have in common ───────────────────────────────────────────────────────────────────


def failure_of(error: Any) -> LogFailure:
    """The failure that an error's object tells, in any of the shapes that servers use."""
    told = read_error(error)
    words = {code for part in told.parts for code in codes_of(part)}
    kind = "cancelled" if words & _NEVER_ASKED else "timeout" if words & _TIMED_OUT else "error"
    return LogFailure(message=told_detail(told) or "an error without words", kind=kind)


def failure_of_call(failed: CallFailed) -> LogFailure:
    """The failure for a body in which Benchbook finds no answer when it asks itself."""
    return LogFailure(message=failed.detail, kind="timeout" if failed.error == "timeout" else "error")


def asked_as(
    id_: str, turns: Iterable[tuple[str, Any]], *, sent: Any = None, model: Any, params: Mapping[str, Any], body: bytes
) -> AskedOfBatch:
    """A request whose conversation is `turns`, of a role and a content each.

    `sent` are messages of the chat interface: they are kept unchanged, if they are what an item can have.
    """
    n_left_out = 0
    messages: list[dict[str, Any]] = []
    for role, content in turns:
        said, n = _said(content)
        n_left_out += n
        messages.append({"role": role, "content": said})
    with suppress(MessageError):
        messages = check_messages(sent)
    alone = len(messages) == 1 and messages[0]["role"] == "user" and isinstance(messages[0]["content"], str)
    return AskedOfBatch(
        id=id_,
        prompt=messages[0]["content"] if alone else transcript(messages),
        messages=None if alone else messages,
        model=text(model),
        params=params,
        body=body,
        n_parts_left_out=n_left_out,
    )


def _said(content: Any) -> tuple[str, int]:
    """The text of a content, and how many of its parts are none: they leave their kind in brackets."""
    if isinstance(content, str):
        return content, 0
    texts: list[str] = []
    n_left_out = 0
    for part in [content] if isinstance(content, dict) else content if isinstance(content, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, dict):
            n_left_out += 1
            texts.append(f"[{text(part.get('type')) or next(iter(part), 'nothing')}]")
    return "\n".join(texts), n_left_out
