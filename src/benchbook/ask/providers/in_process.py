"""Models within this process: a function that is called with the prompt, and a script's replies for tests and dry runs.

The script is JSON: `{"replies": [{"contains": "…", "text": "…", "latency_ms": 5, "input_tokens": 1, …}, …]}`. The first
entry whose `contains` is in the prompt answers; one without `contains` answers everything. Benchbook ships two, a
shop's assistant and its judge, so that a first run needs no model.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import textwrap
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchbook.ask.providers.access import setting_of
from benchbook.ask.providers.calls import Answer, CallFailed, elapsed_ms, normalised
from benchbook.canonical import decode_json, ready
from benchbook.errors import ConfigError, UsageError
from benchbook.evalsets.conversations import said
from benchbook.record.facts import FailureCause
from benchbook.text import one_line, shorten

KIND = "python"

Function = Callable[[Any], Any]

_LENT: dict[str, Function] = {}  # by the names in settings, since a function can't stand in a file
_request = msgspec.json.Decoder(dict[str, Any])
_NOT_OF_A_NAME = re.compile(r"[^\w.-]+")
_FIELDS = {"text": str, "input_tokens": int, "output_tokens": int, "finish_reason": str}


def lend(function: Function) -> str:
    """Make a function known to this process as a model, and return its id, `python/NAME@sha256:…` by its source.

    The version names the source as it is written, not anything else that the function uses.
    """
    if not callable(function):
        raise UsageError(f"model: found {type(function).__name__}; expected a model's id or a function")
    plain = (
        _NOT_OF_A_NAME.sub("-", getattr(function, "__qualname__", type(function).__name__)).strip("-.") or "function"
    )
    name, number, sha256 = plain, 1, source_sha256(function)
    while (other := _LENT.setdefault(name, function)) is not function:
        if sha256 is not None and _is_again(function, other):
            _LENT[name] = function
            break
        number += 1
        name = f"{plain}-{number}"
    return f"{KIND}/{name}" + (f"@sha256:{sha256[:16]}" if sha256 else "")


def _is_again(function: Function, other: Function) -> bool:
    """True if a function was defined again word for word, as a cell of a notebook that runs twice does.

    One that closes over something may be another, however alike.
    """
    if not (inspect.isfunction(function) and inspect.isfunction(other)) or function.__closure__ or other.__closure__:
        return False
    parts = [
        (source_sha256(one), one.__code__.co_code, one.__code__.co_consts, one.__defaults__, one.__kwdefaults__)
        for one in (function, other)
    ]
    return function.__globals__ is other.__globals__ and parts[0] == parts[1]


def source_sha256(function: Function) -> str | None:
    """The hash of a function's source, without its indentation; None if the source can't be read."""
    try:
        source = inspect.getsource(function if not isinstance(function, type) else function.__call__)
    except (OSError, TypeError):
        return None
    return hashlib.sha256(textwrap.dedent(source).encode()).hexdigest()


def function_named(name: str) -> Function | None:
    """The function that was lent under a name; None if there is none."""
    return _LENT.get(name)


class PythonFunction:
    """Calls a function with the prompt as a text, or with the list of messages if there is more than one user message.

    It returns a text, None for no answer, or a mapping with `text` and maybe `input_tokens`, `output_tokens` and
    `finish_reason`. An `async def` is awaited; others are called in threads, as many as there are connections. If it
    raises, the sample is left unanswered.
    """

    def __init__(self, function: Function, *, timeout_ms: int) -> None:
        self._function = function
        self._timeout_s = timeout_ms / 1000

    async def ask(self, body: bytes) -> Answer:
        import asyncio

        messages = decode_json(body, _request)["messages"]
        is_prompt = len(messages) == 1 and messages[0]["role"] == "user" and isinstance(messages[0]["content"], str)
        asked = messages[0]["content"] if is_prompt else messages
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout_s):
                found = await self._called(asked)
        except TimeoutError:
            words = "no answer within the time limit"
            raise CallFailed("timeout", words, latency_ms=elapsed_ms(started), cause="time_limit") from None
        except Exception as error:
            said = shorten(one_line(f"{type(error).__name__}: {error}"), 500)
            raise CallFailed("provider_error", said, latency_ms=elapsed_ms(started), cause="server_error") from None
        return _answer(found, elapsed_ms(started))

    async def _called(self, asked: Any) -> Any:
        import asyncio

        if inspect.iscoroutinefunction(self._function) or inspect.iscoroutinefunction(
            getattr(self._function, "__call__", None)  # noqa: B004 - of an object
        ):
            return await self._function(asked)
        found = await asyncio.to_thread(self._function, asked)
        return await found if inspect.isawaitable(found) else found

    async def close(self) -> None:
        """Do nothing: the function belongs to the caller."""


def _answer(found: Any, latency_ms: int) -> Answer:
    """The answer that a function returned. Raises: CallFailed if it is not one."""
    if found is None or isinstance(found, str):
        return Answer(text=found, finish_reason="stop", latency_e2e_ms=latency_ms)
    if isinstance(found, Mapping) and "text" in found and all(map(_is_told, found, found.values())):
        reason = normalised(found.get("finish_reason", "stop"))
        return Answer(**dict(found) | {"finish_reason": reason, "latency_e2e_ms": latency_ms})
    said = (
        f"the function returned {type(found).__name__}; expected a text, None, or a mapping of text, input_tokens, "
        "output_tokens and finish_reason"
    )
    raise CallFailed("provider_error", said, stops_run=True, latency_ms=latency_ms, cause="request")


def _is_told(name: Any, value: Any) -> bool:
    return name in _FIELDS and (value is None or type(value) is _FIELDS[name])


class _ScriptedReply(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a script. `error` makes it a failure of that kind."""

    contains: str = ""
    text: str | None = None
    finish_reason: str = "stop"
    latency_ms: int = 5
    latency_model_ms: int | None = None
    input_tokens: int | None = 10
    output_tokens: int | None = 10
    error: Literal["provider_error", "timeout"] | None = None


class _Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    replies: list[_ScriptedReply]


_SHIPPED = Path(__file__).with_name("scripts")


def read_script(name: str, path: str | None, setting: str) -> list[_ScriptedReply]:
    """The entries of a script: of the file that was named, else of the one that Benchbook ships under this name.

    Raises: ConfigError.
    """
    shipped = (str(file) for file in _SHIPPED.glob("*.json") if file.stem == name)
    if path is None and (path := next(shipped, None)) is None:
        raise ConfigError(setting_of(setting, "path"), "nothing", "a file with scripted replies (provider scripted)")
    try:
        return msgspec.json.decode(Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf"), type=ready(_Script)).replies
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            setting_of(setting, "path"), f"{path} ({error})", 'JSON such as {"replies": [{"text": "…"}]}'
        ) from None


class ScriptedProvider:
    def __init__(self, name: str, replies: list[_ScriptedReply]) -> None:
        self._name = name
        self._replies = replies

    async def ask(self, body: bytes) -> Answer:
        request: dict[str, Any] = decode_json(body, _request)
        prompt = "\n".join(said(message["content"]) for message in request["messages"])
        for reply in self._replies:
            if reply.contains in prompt:
                return self._answer(reply)
        raise CallFailed("provider_error", "the script has no reply to this prompt", cause="request")

    def _answer(self, reply: _ScriptedReply) -> Answer:
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
