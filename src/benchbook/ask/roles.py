"""One model as it is to be asked: from its settings to its plan and to the endpoint that is asked."""

from __future__ import annotations

import resource
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from benchbook.ask.asking import Endpoint
from benchbook.ask.limits import ConcurrencyLimit
from benchbook.ask.model_id import ModelId, parse_model_id
from benchbook.ask.providers.local import SLOTS, find_model, weights_version
from benchbook.ask.providers.openai_wire import LEFT_OUT
from benchbook.ask.providers.opening import (
    KINDS,
    NAMED_KINDS,
    ProviderSettings,
    offers_json_schema,
    open_provider,
    server_key,
)
from benchbook.ask.requests import ResponseCache, RolePlan
from benchbook.ask.server_pace import ServerPace
from benchbook.ask.settings import JudgeConfig
from benchbook.ask.unanswered import Who, who_is_asked
from benchbook.errors import ConfigError
from benchbook.record.facts import Role

__all__ = ["Means", "RoleSettings", "allow_open_files", "judge_role_settings", "open_means", "plan_of_role"]


_OTHERS = 100  # the record's, the eval set's, libraries'


def allow_open_files(connections: int) -> None:
    """Raise the soft limit for so many connections, as far as the hard limit goes. Never lowers it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + _OTHERS
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    wanted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if wanted > soft:
        with suppress(ValueError, OSError):  # a system may refuse what its hard limit allows
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


START_CONNECTIONS = 16  # concurrency grows from here to max_connections
_RESERVED = frozenset({"messages", "model", "stream", "response_format"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSettings:
    """How one model is reached and asked. `setting` is what error messages name it by: `model`, `judges[1].model`."""

    setting: str
    model: str
    prefix: str  # before the names of its other settings in messages: `model_`, `judges[1].`
    base_url: str | None
    api_key_env: str | None
    path: str | None
    params: dict[str, Any]
    reasoning_tags: tuple[str, ...]
    json_schema: bool | None  # None: where the provider is known to take one
    stream: bool
    timeout_ms: int
    input_price: Decimal | None
    output_price: Decimal | None

    def provider(self, model_id: ModelId) -> ProviderSettings:
        return ProviderSettings(
            setting=self.prefix.rstrip("_."),
            kind=model_id.provider,
            name=model_id.name,
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            path=self.path,
            timeout_ms=self.timeout_ms,
        )


def judge_role_settings(judge: JudgeConfig, timeout_ms: int, *, setting: str, prefix: str) -> RoleSettings:
    """How a judge is reached and asked; `setting` and `prefix` are those of `RoleSettings`."""
    return RoleSettings(
        setting=setting,
        model=judge.model,
        prefix=prefix,
        base_url=judge.base_url,
        api_key_env=judge.api_key_env,
        path=judge.path,
        params=judge.params,
        reasoning_tags=judge.reasoning_tags,
        json_schema=judge.json_schema,
        stream=False,
        timeout_ms=timeout_ms,
        input_price=judge.input_price,
        output_price=judge.output_price,
    )


def plan_of_role(role: RoleSettings, defaults: dict[str, Any]) -> RolePlan:
    """How the model is asked: `defaults` are generation parameters where it has no other.

    Raises: ConfigError.
    """
    model_id = parse_model_id(role.model, role.setting)
    if model_id.provider not in KINDS:
        raise ConfigError(
            role.setting, f"provider {model_id.provider!r}", ", ".join(f"{kind}/…" for kind in NAMED_KINDS)
        )
    if model_id.provider == "local" and model_id.version is None:
        # The weights' hash pins a local model better than any name.
        file = find_model(model_id.name, role.path, role.setting)
        model_id = ModelId(model_id.provider, model_id.name, weights_version(file))
    params = {name: value for name, value in (defaults | role.params).items() if value not in (None, "null")}
    if role.stream and LEFT_OUT in role.params and LEFT_OUT not in params:
        params[LEFT_OUT] = None  # nothing is sent in its place
    if reserved := _RESERVED & params.keys():
        raise ConfigError(f"{role.prefix}params", ", ".join(sorted(reserved)), "generation parameters only")
    wants_schema = role.json_schema
    if wants_schema is None:
        wants_schema = offers_json_schema(role.provider(model_id))
    return RolePlan(
        model_id=str(model_id),
        provider=model_id.provider,
        name=model_id.name,
        params=params,
        json_schema=wants_schema,
        stream=role.stream,
        reasoning_tags=role.reasoning_tags,
    )


def _open_endpoints(roles: Mapping[str, tuple[RoleSettings, RolePlan]], max_connections: int) -> dict[str, Endpoint]:
    """An endpoint for each name. One provider and one gate serve all that are the same model in one place, and what a
    server says of its limits holds for everyone who asks it.

    Raises: ConfigError for a key that is not there, and where a provider can't be opened.
    """
    endpoints: dict[str, Endpoint] = {}
    opened: dict[ProviderSettings, Endpoint] = {}
    servers: dict[str, ServerPace] = {}
    for name, (role, plan) in roles.items():
        settings = role.provider(parse_model_id(plan.model_id, role.setting))
        same = replace(settings, setting="")
        first = opened.get(same)
        endpoints[name] = Endpoint(
            provider=first.provider if first else open_provider(settings),
            gate=first.gate if first else _gate(settings, max_connections),
            server=servers.setdefault(server_key(settings), ServerPace()),
            input_price=role.input_price,
            output_price=role.output_price,
            cache_scope=f"{settings.base_url}\n{plan.model_id}",
            who=_who(name, role, plan),
        )
        opened.setdefault(same, endpoints[name])
    return endpoints


def _who(name: str, role: RoleSettings, plan: RolePlan) -> Who:
    """As texts name whoever is asked; `name` is the endpoint's, and that of the one judge is its role."""
    is_one = role.prefix.endswith("_")
    judge = None if is_one else plan.name
    role_name: Role = "candidate" if name == "candidate" else "judge"
    return who_is_asked(plan, role_name, {"base_url": role.base_url}, role.prefix, judge)


@dataclass(frozen=True, slots=True)
class Means:
    """What a sitting asks with."""

    endpoints: Mapping[str, Endpoint]
    cache: ResponseCache | None


@asynccontextmanager
async def open_means(
    roles: Mapping[str, tuple[RoleSettings, RolePlan]], *, max_connections: int, cache: str | None
) -> AsyncIterator[Means]:
    """All endpoints and the response cache, closed at the end."""
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


def _gate(settings: ProviderSettings, max_connections: int) -> ConcurrencyLimit:
    ceiling = min(max_connections, SLOTS) if settings.kind == "local" else max_connections
    return ConcurrencyLimit(ceiling, START_CONNECTIONS, first_alone=True)
