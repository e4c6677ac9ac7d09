"""All other vendors, through any-llm (an extra: `pip install 'benchbook[any-llm]'`).

A model is named `any-llm/<vendor>:<model>@<version>`. This is slower than `openai`, which is the hot path: use that if
the vendor has an OpenAI-compatible address.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from benchbook.ask.providers.calls import Answer, CallFailed, elapsed_ms
from benchbook.ask.providers.error_body import Told, read_error, refused_parameter
from benchbook.ask.providers.faults import refused
from benchbook.ask.providers.http_connection import cause_of_error
from benchbook.ask.providers.keys import Keys, Secret, redact
from benchbook.ask.providers.openai_wire import LEFT_OUT, read_completion
from benchbook.canonical import canonical_json, decode_json
from benchbook.errors import ConfigError, UsageError
from benchbook.record.facts import FailureCause
from benchbook.text import one_line

_request = msgspec.json.Decoder(dict[str, Any])
# Names that vendors' libraries give errors of the connection, without a status: OSError, httpx.TransportError,
# openai.APIConnectionError, aiohttp.ClientConnectionError, botocore's EndpointConnectionError, …
_TRANSPORT = ("ConnectionError", "TransportError", "TimeoutError", "ConnectError", "OSError")


_NAME_OF_KEY = re.compile("KEY|TOKEN")  # some vendors have a project's id there


def check_vendor(name: str, setting: str) -> tuple[str, str]:
    """The vendor and the model that a name has. Raises: ConfigError; UsageError where the extra is not installed."""
    if (sys.modules.get("any_llm") or importlib.util.find_spec("any_llm")) is None:
        raise UsageError("provider any-llm needs an extra: pip install 'benchbook[any-llm]'")
    vendor, colon, model = name.partition(":")
    if not colon:
        raise ConfigError(setting, f"any-llm/{name}", "any-llm/<vendor>:<model>@<version>")
    return vendor, model


class AnyLLMProvider:
    """One model of one vendor. Keys are read by any-llm from the vendor's usual variable, or from `secret`."""

    def __init__(self, name: str, secret: Secret | None, *, timeout_ms: int, setting: str) -> None:
        vendor, self._model = check_vendor(name, setting)
        import any_llm

        self.keys = Keys() if secret is None else Keys(secret.reveal())
        self._timeout_s = timeout_ms / 1000
        try:
            self._llm: Any = any_llm.AnyLLM.create(vendor, api_key=None if secret is None else secret.reveal())
        except Exception as error:
            found = f"any-llm/{name} ({self._described(error)})"
            raise ConfigError(setting, found, "a vendor of any-llm, its packages installed and its key set") from None
        if secret is None and (known := _key_of_vendor(self._llm)) is not None:
            self.keys = Keys(known)
        self._client: Any = getattr(self._llm, "client", None)
        if self._client is not None and hasattr(self._client, "max_retries"):
            self._client.max_retries = 0  # the runner retries, and records it (SPEC R1.2, R3.6)
        http = getattr(self._client, "_client", self._client)  # within OpenAI's library and those made like it
        if hasattr(http, "follow_redirects"):
            http.follow_redirects = False  # httpx would take a vendor's own key header along, wherever it leads

    async def ask(self, body: bytes) -> Answer:
        """Send one request, never as a stream: vendors cut theirs differently. Raises: CallFailed."""
        request: dict[str, Any] = decode_json(body, _request) | {"model": self._model}
        request.pop("stream", None)
        request.pop(LEFT_OUT, None)
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout_s):
                completion = await self._llm.acompletion(**request)
            latency_ms = elapsed_ms(started)
            data = canonical_json(completion.model_dump(mode="json"))
        except TimeoutError:
            raise CallFailed(
                "timeout", "no answer within the time limit", latency_ms=elapsed_ms(started), cause="time_limit"
            ) from None
        except Exception as error:
            raise self._failure(error, body, elapsed_ms(started)) from None
        return self.keys.reading(data, lambda data: read_completion(data, {}, latency_ms, body))

    def _failure(self, error: Exception, body: bytes, latency_ms: int) -> CallFailed:
        """The failure for a vendor library's own error, most of which carry the HTTP status and the body's words."""
        described, told = self._described(error), _told(error)
        if (status := _status_of(error)) is not None:
            return refused(status, told, described, _headers_of(error), body, latency_ms)
        parameter = refused_parameter(told, body)
        cause: FailureCause = "parameter" if parameter else _cause_of(error)
        return CallFailed(
            "provider_error",
            described,
            retryable=cause in ("connection", "dns", "local") and not isinstance(error, ImportError),
            stops_run=cause in ("parameter", "tls"),
            latency_ms=latency_ms,
            cause=cause,
            parameter=parameter,
        )

    def _described(self, error: Exception) -> str:
        text = self.keys.removed_from_text(f"{type(error).__name__}: {error}")
        return one_line(redact(text))[:500]

    async def close(self) -> None:
        closing = self._client.close() if hasattr(self._client, "close") else None
        if inspect.isawaitable(closing):
            await closing


def _key_of_vendor(llm: Any) -> str | None:
    """The key that any-llm read by itself, from the variable that it names; None if it names none with a key."""
    variable = getattr(llm, "ENV_API_KEY_NAME", None)
    if not isinstance(variable, str) or not _NAME_OF_KEY.search(variable):
        return None
    return os.environ.get(variable, "").strip() or None


def _status_of(error: Exception) -> int | None:
    """An error's HTTP status: `status_code` for most libraries, `code` for Google's."""
    for value in (getattr(error, "status_code", None), getattr(error, "code", None)):
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return None


def _told(error: Exception) -> Told:
    """The words of the body, if the library passes it on; else the error's own."""
    body = getattr(error, "body", None)
    told = read_error(body if isinstance(body, dict | list) else str(error))
    if told.message:
        return told
    return read_error(str(error))


def _cause_of(error: Exception) -> FailureCause:
    """The cause of an error without a status: the first that its chain shows, else `broken_reply`."""
    for one in _chain(error):
        if isinstance(one, ImportError):
            return "local"  # a vendor's package is not installed
        if isinstance(one, OSError | MemoryError):
            return cause_of_error(one)
    if any(base.__name__.endswith(_TRANSPORT) for one in _chain(error) for base in type(one).__mro__):
        return "connection"
    return "broken_reply"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that led to it."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__


def _headers_of(error: Exception) -> dict[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return {str(name).lower(): str(value) for name, value in headers.items()} if isinstance(headers, Mapping) else {}
