"""A model's settings, and the plan, provider and endpoint that follow from them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from benchbook.ask.asking import Endpoint
from benchbook.ask.limits import ConcurrencyLimit
from benchbook.ask.model_id import ModelId, parse_model_id
from benchbook.ask.providers.access import DEFAULT_BASE_URL, checked_base_url, server_of, versioned_url
from benchbook.ask.providers.calls import Answer, CallFailed, Provider
from benchbook.ask.providers.keys import NO_KEYS, Secret
from benchbook.ask.providers.local import SLOTS, LocalProvider, check_installed, find_model, weights_version
from benchbook.ask.providers.openai_wire import LEFT_OUT
from benchbook.ask.requests import ResponseCache, RolePlan
from benchbook.ask.server_pace import ServerPace
from benchbook.ask.settings import ModelConfig, checked_params
from benchbook.ask.unanswered import Who, who_is_asked
from benchbook.errors import ConfigError
from benchbook.record.facts import Role
from benchbook.system.limits import raise_open_files_limit

_OTHERS = 100  # open files of the record, the eval set, libraries


def allow_open_files(connections: int) -> None:
    """Raise the soft limit on open files for so many connections, as far as the hard limit allows. Never lower it."""
    raise_open_files_limit(connections + _OTHERS)


_START_CONNECTIONS = 16  # concurrency grows from here to max_connections

NAMED_KINDS = ("openai", "local", "recorded", "scripted", "any-llm")  # those that a setting can name
KINDS = (*NAMED_KINDS, "python")  # python: a function is handed in
_DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSettings:
    """The settings by which one model is reached and asked. `setting` is its name in messages: `judges[1].model`."""

    setting: str
    prefix: str  # of the names of its other settings in messages: `model_`, `judges[1].`
    config: ModelConfig
    timeout_ms: int
    stream: bool = False

    @property
    def model_id(self) -> ModelId:
        """The parsed id. Raises: ConfigError."""
        return parse_model_id(self.config.model, self.setting)

    @property
    def called(self) -> str:
        """Its name in messages of a provider: `model`, `judge`, `judges[1]`."""
        return self.prefix.rstrip("_.")

    @property
    def place(self) -> tuple[object, ...]:
        """The model and its address; equal for two judges that are one."""
        config, model_id = self.config, self.model_id
        return model_id.provider, model_id.name, config.base_url, config.api_key_env, config.path, self.timeout_ms


# The settings and the plan of each model, by the name of its endpoint.
Roles = Mapping[str, tuple[RoleSettings, RolePlan]]


def judge_roles(judges: Iterable[tuple[str, str, ModelConfig]], timeout_ms: int) -> list[RoleSettings]:
    """The settings of judges, given the setting, prefix and config of each."""
    return [
        RoleSettings(setting=setting, prefix=prefix, config=one, timeout_ms=timeout_ms)
        for setting, prefix, one in judges
    ]


def plan_of_role(role: RoleSettings, defaults: dict[str, Any]) -> RolePlan:
    """The plan for asking a model; `defaults` are generation parameters that its own replace.

    Raises: ConfigError.
    """
    config, model_id = role.config, role.model_id
    if model_id.provider not in KINDS:
        raise ConfigError(
            role.setting, f"provider {model_id.provider!r}", ", ".join(f"{kind}/…" for kind in NAMED_KINDS)
        )
    if model_id.provider == "local" and model_id.version is None:
        # The weights' hash pins a local model better than any name.
        file = find_model(model_id.name, config.path, role.called)
        model_id = ModelId(model_id.provider, model_id.name, weights_version(file))
    params = {name: value for name, value in (defaults | config.params).items() if value not in (None, "null")}
    if role.stream and LEFT_OUT in config.params and LEFT_OUT not in params:
        params[LEFT_OUT] = None  # nothing is sent in its place
    checked_params(config.params, f"{role.prefix}params")
    return RolePlan(
        model_id=str(model_id),
        provider=model_id.provider,
        name=model_id.name,
        params=params,
        json_schema=offers_json_schema(role) if config.json_schema is None else config.json_schema,
        stream=role.stream,
        reasoning_tags=config.reasoning_tags,
    )


def _open_endpoints(roles: Roles, max_connections: int) -> dict[str, Endpoint]:
    """An endpoint for each name. One provider and one gate serve all that are the same model in one place, and a
    server's limits hold for everyone who asks it.

    Raises: ConfigError if a key is missing, or a provider can't be opened.
    """
    endpoints: dict[str, Endpoint] = {}
    opened: dict[tuple[object, ...], Endpoint] = {}
    servers: dict[str, ServerPace] = {}
    for name, (role, plan) in roles.items():
        first = opened.get(role.place)
        provider = first.provider if first else open_provider(role)
        endpoints[name] = Endpoint(
            provider=provider,
            gate=first.gate if first else _gate(plan.provider, max_connections),
            server=servers.setdefault(server_key(role), ServerPace()),
            input_price=role.config.input_price,
            output_price=role.config.output_price,
            keys=getattr(provider, "keys", NO_KEYS),
            cache_scope=f"{role.config.base_url}\n{plan.model_id}",
            who=_who(name, role, plan),
        )
        opened.setdefault(role.place, endpoints[name])
    return endpoints


def _who(name: str, role: RoleSettings, plan: RolePlan) -> Who:
    """The name of whoever is asked, for texts; `name` is the endpoint's, which for a single judge is its role."""
    is_one = role.prefix.endswith("_")
    judge = None if is_one else plan.name
    role_name: Role = "candidate" if name == "candidate" else "judge"
    return who_is_asked(plan, role_name, {"base_url": role.config.base_url}, role.prefix, judge)


@dataclass(frozen=True, slots=True)
class Means:
    """The endpoints and the cache with which a sitting asks."""

    endpoints: Mapping[str, Endpoint]
    cache: ResponseCache | None


@asynccontextmanager
async def open_means(roles: Roles, *, max_connections: int, cache: str | None) -> AsyncIterator[Means]:
    """Open all endpoints and the response cache, and close them at the end."""
    allow_open_files(max_connections * len(roles))
    endpoints = _open_endpoints(roles, max_connections)
    opened = ResponseCache(cache) if cache else None
    try:
        yield Means(endpoints, opened)
    finally:
        if opened is not None:
            opened.close()
        for provider in {id(endpoint.provider): endpoint.provider for endpoint in endpoints.values()}.values():
            await provider.close()


def _gate(kind: str, max_connections: int) -> ConcurrencyLimit:
    ceiling = min(max_connections, SLOTS) if kind == "local" else max_connections
    return ConcurrencyLimit(ceiling, _START_CONNECTIONS, first_alone=True)


# ── its provider ─────────────────────────────────────────────────────────────────────────────────────────────


def offers_json_schema(role: RoleSettings) -> bool:
    """True if the role's provider is known to take a JSON schema (SPEC R2.3)."""
    kind = role.model_id.provider
    return kind == "local" or (kind == "openai" and role.config.base_url is None)


def server_key(role: RoleSettings) -> str:
    """The name of the server or vendor whose limits hold for this role; equal for all that share them."""
    model_id = role.model_id
    match model_id.provider:
        case "openai":
            return server_of(role.config.base_url or DEFAULT_BASE_URL)
        case "any-llm":
            return model_id.name.partition(":")[0]
        case _:
            return f"{model_id.provider}/{model_id.name} {role.config.path}"


def open_provider(role: RoleSettings) -> Provider:
    """Open a provider inside a running event loop. Only the code of its own kind is loaded.

    Raises: ConfigError, UsageError.
    """
    config, model_id = role.config, role.model_id
    match model_id.provider:
        case "openai":
            return _open_openai(role)
        case "local":
            file = find_model(model_id.name, config.path, role.called)
            return LocalProvider(file, model_id.name, timeout_ms=role.timeout_ms)
        case "scripted":
            from benchbook.ask.providers.in_process import ScriptedProvider, read_script

            return ScriptedProvider(model_id.name, read_script(model_id.name, config.path, role.called))
        case "any-llm":
            from benchbook.ask.providers.any_llm import AnyLLMProvider

            secret = Secret.from_environment(config.api_key_env, f"{role.prefix}api_key_env")
            return AnyLLMProvider(model_id.name, secret, timeout_ms=role.timeout_ms, setting=role.called)
        case "recorded":
            return _Recorded()
        case "python":
            return _open_function(role)
        case kind:
            raise ConfigError(role.called, f"provider {kind!r}", ", ".join(NAMED_KINDS))


def check_can_ask(role: RoleSettings) -> None:
    """Look at all that opening a provider would: its address, its key, its file, its package; nothing is loaded.

    Raises: ConfigError, UsageError.
    """
    config, model_id = role.config, role.model_id
    match model_id.provider:
        case "openai":
            access_of(role)
        case "local":
            find_model(model_id.name, config.path, role.called)
            check_installed()
        case "scripted":
            from benchbook.ask.providers.in_process import read_script

            read_script(model_id.name, config.path, role.called)
        case "any-llm":
            from benchbook.ask.providers.any_llm import check_vendor

            check_vendor(model_id.name, role.called)
            Secret.from_environment(config.api_key_env, f"{role.prefix}api_key_env")
        case _:  # nobody is asked, or what can't be has been said
            pass


def _open_openai(role: RoleSettings) -> Provider:
    from benchbook.ask.providers.openai import OpenAIProvider

    address, key = access_of(role)
    return OpenAIProvider(address, key, timeout_ms=role.timeout_ms)


def access_of(role: RoleSettings) -> tuple[str, Secret | None]:
    """The address of a model, and the key for it. A user's own server mostly needs no key; OpenAI always does.

    Raises: ConfigError.
    """
    config = role.config
    address = checked_base_url(config.base_url or DEFAULT_BASE_URL, f"{role.prefix}base_url")
    if config.base_url is not None or config.api_key_env is not None:
        return address, Secret.from_environment(config.api_key_env, f"{role.prefix}api_key_env")
    if not os.environ.get(_DEFAULT_KEY_VARIABLE, "").strip():
        found = f"no address, so OpenAI itself would be asked, and {_DEFAULT_KEY_VARIABLE} is not set"
        expected = f"the address of your own server, such as http://localhost:8000/v1, or {_DEFAULT_KEY_VARIABLE}"
        raise ConfigError(f"{role.prefix}base_url", found, expected)
    return address, Secret.from_environment(_DEFAULT_KEY_VARIABLE, f"{role.prefix}api_key_env")


def doubts_about(roles: Roles, *, benchmark: bool = False) -> list[str]:
    """Warnings of what may stop a run at its first answer: the server alone knows whether it tells what an id lacks."""
    doubts = []
    for role, plan in roles.values():
        model_id, base_url = parse_model_id(plan.model_id, role.setting), role.config.base_url
        tells = plan.provider == "openai" and base_url is None  # OpenAI itself names dated snapshots
        may_tell = plan.provider in ("openai", "any-llm", "scripted")
        if may_tell and not tells and model_id.declared_version is None:
            doubts.append(
                f"{role.setting}: {model_id} names no version, and the run stops at the first answer if the server "
                f"tells none, by a dated name or a fingerprint; write {model_id}@VERSION"
            )
        elif benchmark and may_tell and (why := model_id.floats_because) is not None:
            doubts.append(
                f"{role.setting}: {model_id} is a floating alias ({why}), and a benchmark stops at the first answer "
                "that names no dated snapshot"
            )
        if plan.provider == "openai" and base_url is not None and (better := versioned_url(base_url)) is not None:
            doubts.append(f"{role.prefix}base_url: {base_url} has no version in its path; most servers need {better}")
    return doubts


def _open_function(role: RoleSettings) -> Provider:
    from benchbook.ask.providers.in_process import PythonFunction, function_named

    name = role.model_id.name
    function = function_named(name)
    if function is None:
        expected = "a function that was given to bb.run in this process; to resume, give it again"
        raise ConfigError(role.called, f"python/{name}", expected)
    return PythonFunction(function, timeout_ms=role.timeout_ms)


class _Recorded:
    """Recorded outputs. They are imported as facts; nobody can be asked for a missing one."""

    async def ask(self, body: bytes) -> Answer:
        del body
        raise CallFailed("provider_error", "the recorded outputs have none for this item", cause="not_recorded")

    async def close(self) -> None:
        pass
