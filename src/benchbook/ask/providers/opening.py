"""From a role's settings to a provider that can be asked."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.ask.providers.access import Secret
from benchbook.ask.providers.calls import Answer, CallFailed, Provider
from benchbook.errors import ConfigError

__all__ = [
    "KINDS",
    "NAMED_KINDS",
    "ProviderSettings",
    "default_address",
    "offers_json_schema",
    "open_provider",
    "server_key",
]


NAMED_KINDS = ("openai", "local", "recorded", "scripted", "any-llm")  # by a setting
KINDS = (*NAMED_KINDS, "python")  # a function is handed in
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """How one role's model is reached. `setting` is `model` or `judge`: what error messages name."""

    setting: str
    kind: str
    name: str
    base_url: str | None
    api_key_env: str | None
    path: str | None
    timeout_ms: int


def default_address(kind: str) -> str | None:
    """Where a provider is asked that was given no address; None where it has none of its own."""
    from benchbook.ask.providers.openai import DEFAULT_BASE_URL

    return DEFAULT_BASE_URL if kind == "openai" else None


def offers_json_schema(settings: ProviderSettings) -> bool:
    """Whether the provider is known to take a JSON schema (SPEC R2.3)."""
    return settings.kind == "local" or (settings.kind == "openai" and settings.base_url is None)


def server_key(settings: ProviderSettings) -> str:
    """Who limits how much may be asked: the same for all that ask one server, or one vendor."""
    match settings.kind:
        case "openai":
            from benchbook.ask.providers.access import server_of
            from benchbook.ask.providers.openai import DEFAULT_BASE_URL

            return server_of(settings.base_url or DEFAULT_BASE_URL)
        case "any-llm":
            return settings.name.partition(":")[0]
        case _:
            return f"{settings.kind}/{settings.name} {settings.path}"


def open_provider(settings: ProviderSettings) -> Provider:
    """A provider, opened inside a running event loop.

    Raises: ConfigError, UsageError.
    """
    match settings.kind:
        case "openai":
            return _open_openai(settings)
        case "local":
            return _LocalProvider(settings)
        case "scripted":
            from benchbook.ask.providers.in_process import ScriptedProvider, read_script

            return ScriptedProvider(settings.name, read_script(settings.path, settings.setting))
        case "any-llm":
            from benchbook.ask.providers.any_llm import AnyLLMProvider

            secret = Secret.from_environment(settings.api_key_env, f"{settings.setting}_api_key_env")
            return AnyLLMProvider(settings.name, secret, timeout_ms=settings.timeout_ms, setting=settings.setting)
        case "recorded":
            return _Recorded()
        case "python":
            return _open_function(settings)
        case _:
            raise ConfigError(settings.setting, f"provider {settings.kind!r}", ", ".join(NAMED_KINDS))


def _open_openai(settings: ProviderSettings) -> Provider:
    from benchbook.ask.providers.access import checked_base_url
    from benchbook.ask.providers.openai import DEFAULT_BASE_URL, OpenAIProvider

    # A server of one's own mostly wants no key; OpenAI always does.
    variable = settings.api_key_env or (DEFAULT_KEY_VARIABLE if settings.base_url is None else None)
    return OpenAIProvider(
        checked_base_url(settings.base_url or DEFAULT_BASE_URL, f"{settings.setting}_base_url"),
        Secret.from_environment(variable, f"{settings.setting}_api_key_env"),
        timeout_ms=settings.timeout_ms,
    )


def _open_function(settings: ProviderSettings) -> Provider:
    from benchbook.ask.providers.in_process import PythonFunction, function_named

    function = function_named(settings.name)
    if function is None:
        expected = "a function that was given to bb.run in this process; to resume, give it again"
        raise ConfigError(settings.setting, f"python/{settings.name}", expected)
    return PythonFunction(function, timeout_ms=settings.timeout_ms)


class _LocalProvider:
    """The local server and the client that asks it, opened and closed together."""

    def __init__(self, settings: ProviderSettings) -> None:
        from benchbook.ask.providers.local import LocalServer, find_model
        from benchbook.ask.providers.openai import OpenAIProvider

        self._server = LocalServer(find_model(settings.name, settings.path, settings.setting), settings.name)
        self._client = OpenAIProvider(
            self._server.base_url,
            None,
            timeout_ms=settings.timeout_ms,
        )

    async def ask(self, body: bytes) -> Answer:
        try:
            return await self._client.ask(body)
        except CallFailed as failed:
            if failed.error == "timeout":  # this machine is too slow, or busy for a while: only that may pass
                failed.most_retries = 1
            if failed.cause == "connection" and (ended := self._server.ended()):
                failed.detail, failed.cause, failed.retryable, failed.stops_run = ended, "local", False, True
            raise

    async def close(self) -> None:
        await self._client.close()
        self._server.close()


class _Recorded:
    """Outputs that were recorded elsewhere are imported as facts; there is nobody to ask for one that is missing."""

    async def ask(self, body: bytes) -> Answer:
        del body
        raise CallFailed("provider_error", "the recorded outputs have none for this item", cause="not_recorded")

    async def close(self) -> None:
        pass
