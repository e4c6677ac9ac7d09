"""Every other vendor, through any-llm (an extra: `pip install 'benchbook[any-llm]'`).

A model is named `any-llm/<vendor>:<model>@<version>`. Slower than `openai`, which is the hot path: use that where the
vendor has an OpenAI-compatible address.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec

from benchbook.errors import ConfigError, UsageError
from benchbook.providers.calls import Answer, CallFailed, fault_of_status
from benchbook.providers.openai_wire import read_completion
from benchbook.providers.secrets import Secret, redact

__all__ = ["AnyLLMProvider"]


class AnyLLMProvider:
    """One model of one vendor. Keys are read by any-llm from the vendor's usual variable, or from `secret`."""

    def __init__(self, name: str, secret: Secret | None, *, timeout_ms: int, setting: str) -> None:
        try:
            import any_llm
        except ImportError:
            raise UsageError("provider any-llm needs an extra: pip install 'benchbook[any-llm]'") from None
        vendor, colon, model = name.partition(":")
        if not colon:
            raise ConfigError(setting, f"any-llm/{name}", "any-llm/<vendor>:<model>@<version>")
        self._any_llm: Any = any_llm
        self._vendor, self._model = vendor, model
        self._secret = secret
        self._timeout_s = timeout_ms / 1000

    async def ask(self, body: bytes) -> Answer:
        request: dict[str, Any] = msgspec.json.decode(body)
        request |= {"model": self._model, "provider": self._vendor}
        if self._secret is not None:
            request["api_key"] = self._secret.header().removeprefix("Bearer ")
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout_s):
                completion = await self._any_llm.acompletion(**request)
        except TimeoutError:
            raise CallFailed("timeout", "no answer within the time limit", latency_ms=_ms(started)) from None
        except Exception as error:
            raise self._failure(error, _ms(started)) from None
        latency_ms = _ms(started)
        data = completion.model_dump_json().encode("utf-8")
        return read_completion(data if self._secret is None else self._secret.removed_from(data), {}, latency_ms)

    def _failure(self, error: Exception, latency_ms: int) -> CallFailed:
        """Vendors' libraries raise their own errors; most carry the HTTP status."""
        status = getattr(error, "status_code", None)
        retryable, stops_run = fault_of_status(status) if isinstance(status, int) else (False, False)
        text = f"{type(error).__name__}: {error}"
        if self._secret is not None:
            text = self._secret.removed_from(text.encode("utf-8", "replace")).decode("utf-8")
        return CallFailed(
            "provider_error",
            redact(text)[:500],
            status=status if isinstance(status, int) else None,
            retryable=retryable,
            stops_run=stops_run,
            latency_ms=latency_ms,
        )

    async def close(self) -> None:
        pass


def _ms(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
