"""Who may spend: what runs that are started over HTTP may ask, and the key that each is asked with.

Both are named when the server starts; whatever is not named is refused. A run asks the address as the server's owner
wrote it, and its process sees no other key: an address that only looks like another one leads nowhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import msgspec

from benchbook.ask.providers.access import DEFAULT_BASE_URL, checked_base_url
from benchbook.ask.roles import RoleSettings
from benchbook.ask.settings import ModelConfig
from benchbook.errors import ConfigError
from benchbook.text import shorten

_OPTION = "--endpoint"
_EXPECTED = "an address such as https://host/v1, any-llm/VENDOR, local or scripted; =VARIABLE after it names its key"
_KEY = re.compile(r"[A-Z][A-Z0-9_]*")
_VENDOR = re.compile(r"any-llm/[a-z0-9_-]+")
_IN_PROCESS = frozenset({"local", "scripted"})  # a model of this machine's own: it costs time
_ASKS_NOBODY = "recorded"
_DIRECTIONS = re.compile(r"/\.{0,2}(?=/|$)|[%\\;]")  # in a path: they may mean another one to the server
# What a request may hold beside the messages. Whatever else a vendor's library or a server takes may lead elsewhere.
GENERATION = frozenset({
    "chat_template_kwargs", "dry_allowed_length", "dry_base", "dry_multiplier", "dynatemp_exponent", "dynatemp_range",
    "frequency_penalty", "guided_choice", "guided_grammar", "guided_json", "guided_regex", "ignore_eos",
    "include_reasoning", "length_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens",
    "min_p", "min_tokens", "mirostat", "mirostat_eta", "mirostat_tau", "parallel_tool_calls", "presence_penalty",
    "reasoning", "reasoning_effort", "repeat_last_n", "repeat_penalty", "repetition_penalty", "seed",
    "skip_special_tokens", "stop", "stop_token_ids", "stream_options", "temperature", "thinking", "thinking_budget",
    "tool_choice", "tools", "top_a", "top_k", "top_logprobs", "top_n_sigma", "top_p", "truncate_prompt_tokens",
    "typical_p", "user", "verbosity", "xtc_probability", "xtc_threshold",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Allowed:
    """An endpoint that may be asked.

    `place` is equal for all ways to write it; `key` names the variable with the key that it is sent.
    """

    place: str
    written: str
    key: str | None

    def __str__(self) -> str:
        return self.written if self.key is None else f"{self.written} with the key in {self.key}"


def read_endpoint(text: str) -> Allowed:
    """An endpoint as the option has it: `https://host/v1=VARIABLE`. Raises: ConfigError."""
    before, equals, key = text.rpartition("=")
    written = before if equals and _KEY.fullmatch(key) else text
    variable = None if written is text else key
    if (written in _IN_PROCESS and variable is None) or _VENDOR.fullmatch(written):
        return Allowed(written, written, variable)
    if "://" not in written:
        raise ConfigError(_OPTION, repr(shorten(written, 100)), _EXPECTED)
    base_url = checked_base_url(written, _OPTION)
    if (place := _place_of_url(base_url)) is None:
        raise ConfigError(_OPTION, repr(shorten(written, 100)), "a path without '..', '//', '%', '\\' and ';'")
    return Allowed(place, base_url, variable)


def _place_of_url(base_url: str) -> str | None:
    """The address, alike for all ways to write its scheme, host and port; None for a path that may mean another."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    if _DIRECTIONS.search(path):
        return None
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}{path}?{parts.query}"


class Spending:
    """The endpoints that runs over HTTP may ask, by the words of the option.

    Raises: ConfigError, also for a key whose variable is not set.
    """

    def __init__(self, endpoints: Iterable[str]) -> None:
        self.endpoints = tuple(map(read_endpoint, endpoints))
        for one in self.endpoints:
            if one.key is not None and not os.environ.get(one.key, "").strip():
                raise ConfigError(
                    _OPTION, f"{one.key}, which is not set", f"the variable with the key of {one.written}"
                )

    def __str__(self) -> str:
        if not self.endpoints:
            return "runs that are started over HTTP may ask nobody: --endpoint says whom"
        return "runs that are started over HTTP may ask " + "; ".join(map(str, self.endpoints))

    def permitted(self, role: RoleSettings) -> ModelConfig:
        """The settings of a model that may be asked, with the address and the key as the server has them.

        Raises: ConfigError for any other model, address, key or parameter.
        """
        config, kind = role.config, role.model_id.provider
        _check_parameters(config.params, f"config: {role.prefix}params")
        takes_address = kind == "openai"
        if config.base_url is not None and not takes_address:
            raise ConfigError(f"config: {role.prefix}base_url", "an address", f"nothing: {kind}/… takes none")
        if kind == _ASKS_NOBODY:
            return self._with_key(role, None, [None])
        allowed = [one for one in self.endpoints if one.place == _place(role)]
        if not allowed:
            setting = f"{role.prefix}base_url" if config.base_url is not None else role.setting
            found = "an address that was not allowed" if takes_address else f"{kind}/…, which was not allowed"
            named = ", ".join(one.written for one in self.endpoints) or "nothing"
            raise ConfigError(f"config: {setting}", found, f"one that `serve --endpoint` names: {named}")
        written = allowed[0].written if config.base_url is not None else None
        return self._with_key(role, written, [one.key for one in allowed])

    def _with_key(self, role: RoleSettings, base_url: str | None, keys: list[str | None]) -> ModelConfig:
        wanted, setting = role.config.api_key_env, f"config: {role.prefix}api_key_env"
        if wanted is not None and wanted not in keys:
            named = " or ".join(key for key in keys if key is not None)
            expected = f"{named}, the key for this address" if named else "nothing: no key is named for this address"
            raise ConfigError(setting, repr(shorten(wanted, 60)), expected)
        key = wanted if wanted is not None else keys[0]
        if key is None and base_url is None and role.model_id.provider == "openai":  # it would take the usual key
            raise ConfigError(setting, "no key", f"one for it: `serve --endpoint {DEFAULT_BASE_URL}=OPENAI_API_KEY`")
        return msgspec.structs.replace(role.config, base_url=base_url, api_key_env=key)


def _place(role: RoleSettings) -> str | None:
    """The place that a model is asked at, as `Allowed` names it; None if it can't be named. Raises: ConfigError."""
    match role.model_id.provider:
        case "openai":
            url = role.config.base_url
            return _place_of_url(checked_base_url(DEFAULT_BASE_URL if url is None else url, f"{role.prefix}base_url"))
        case "any-llm":
            return f"any-llm/{role.model_id.name.partition(':')[0]}"
        case kind:
            return kind if kind in _IN_PROCESS else None


def _check_parameters(params: Mapping[str, Any], setting: str) -> None:
    for name, value in params.items():
        if name not in GENERATION:
            expected = "a parameter of generation, such as temperature; others are for `benchbook run`"
            raise ConfigError(setting, repr(shorten(name, 60)), expected)
        if name == "tools" and not _are_functions(value):
            raise ConfigError(f"{setting}.tools", "a tool of the vendor's own", 'tools of the type "function"')


def _are_functions(tools: Any) -> bool:
    """True if the tools are descriptions, which nobody calls; others let the vendor reach out."""
    if not isinstance(tools, list):
        return tools in (None, "null")
    return all(isinstance(tool, Mapping) and tool.get("type") == "function" for tool in tools)


# ── what a run's process sees of the environment ─────────────────────────────────────────────────────────────

_SEEN = re.compile(
    r"PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM|(?:LD|DYLD)_LIBRARY_PATH|PYTHON\w*|VIRTUAL_ENV|XDG_\w+"
    r"|SSL_CERT_(?:FILE|DIR)|(?i:https?|all|no)_(?i:proxy)|BENCHBOOK_REGION|COVERAGE_\w+|(?:OMP|POLARS|RAYON|ARROW)_\w+"
)


def seen_environment(keys: Iterable[str]) -> dict[str, str]:
    """The environment for a run's process: what programs need, and these keys. A vendor's library that looks for a key
    or an address of its own finds none."""
    wanted = set(keys)
    return {name: value for name, value in os.environ.items() if name in wanted or _SEEN.fullmatch(name)}
