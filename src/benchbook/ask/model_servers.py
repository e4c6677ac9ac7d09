"""Finds what can be asked on this machine: servers that listen on their usual ports, and keys by their variables.

Only 127.0.0.1 is asked, all ports at once, within a second. Whatever answers is a stranger: of its JSON only names of
models are taken that can stand in a model's id.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from benchbook.ask.model_id import is_content_hash
from benchbook.ask.providers.http_client import Phase, open_connection
from benchbook.ask.providers.http_connection import HttpError
from benchbook.canonical import decode_json

_HOST = "127.0.0.1"
_WITHIN_S = 1.0
_MOST_BYTES = 1 << 20
_MOST_MODELS = 200
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/+-]{0,127}")
_NO_CHAT = re.compile(r"embed|rerank|whisper|tts|bge-|clip", re.IGNORECASE)  # kinds of models that answer no question
_DIGEST_DIGITS = 12  # as many as `ollama list` shows

_json = msgspec.json.Decoder(dict[str, Any])


class UsualPort(NamedTuple):
    """A server program, and the port on which it listens where nobody says otherwise."""

    program: str
    port: int
    path: str = "/v1/models"


USUAL_PORTS = (
    UsualPort("Ollama", 11434, "/api/tags"),
    UsualPort("vLLM", 8000),
    UsualPort("llama.cpp", 8080),
    UsualPort("LM Studio", 1234),
    UsualPort("SGLang", 30000),
)


class ServedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model that a server offers; `digest` begins its weights' hash, where the server tells it."""

    name: str
    digest: str | None = None


class ModelServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server that answered on the usual port of `program`, with its models that may answer questions."""

    program: str
    base_url: str
    models: list[ServedModel]


def find_servers(ports: Sequence[UsualPort] | None = None) -> list[ModelServer]:
    """The servers that answer now, in the order of `ports`. One that offers no model is left out."""
    return asyncio.run(_find(USUAL_PORTS if ports is None else ports))


async def _find(ports: Sequence[UsualPort]) -> list[ModelServer]:
    found = await asyncio.gather(*map(_asked, ports))
    return [one for one in found if one is not None]


async def _asked(usual: UsualPort) -> ModelServer | None:
    head = f"GET {usual.path} HTTP/1.1\r\nHost: {_HOST}:{usual.port}\r\nAccept: application/json\r\n"
    request = f"{head}Accept-Encoding: identity\r\nConnection: close\r\n\r\n".encode("ascii")
    connection = None
    with suppress(OSError, HttpError, TimeoutError, msgspec.DecodeError, MemoryError):
        try:
            async with asyncio.timeout(_WITHIN_S):
                _, connection = await open_connection(_HOST, usual.port, None, Phase())
                response = await connection.exchange(request, _MOST_BYTES)
        finally:
            if connection is not None:
                connection.abort()
        models = _models_in(decode_json(response.body, _json)) if response.status == 200 else []
        if models:
            return ModelServer(program=usual.program, base_url=f"http://{_HOST}:{usual.port}/v1", models=models)
    return None


def _models_in(told: Mapping[str, Any]) -> list[ServedModel]:
    """The models in `{"data": [{"id": …}]}`, or in Ollama's `{"models": [{"name": …, "digest": …}]}`."""
    entries = told.get("data", told.get("models"))
    found: dict[str, ServedModel] = {}
    for entry in entries[:_MOST_MODELS] if isinstance(entries, list) else ():
        name = entry.get("id", entry.get("name")) if isinstance(entry, dict) else None
        if isinstance(name, str) and _NAME.fullmatch(name) and not _NO_CHAT.search(name):
            found.setdefault(name, ServedModel(name=name, digest=_digest(entry.get("digest"))))
    return list(found.values())


def _digest(told: Any) -> str | None:
    if not isinstance(told, str):
        return None
    short = told.removeprefix("sha256:")[:_DIGEST_DIGITS]
    return short if is_content_hash(short) else None


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Vendor(NamedTuple):
    """A vendor whose key a variable holds; `base_url` is its OpenAI-compatible address, None where each account has
    one of its own, and empty for OpenAI's, which needs none."""

    name: str
    variables: tuple[str, ...]
    base_url: str | None


VENDORS = (
    Vendor("OpenAI", ("OPENAI_API_KEY",), ""),
    Vendor("Anthropic", ("ANTHROPIC_API_KEY",), "https://api.anthropic.com/v1"),
    Vendor("OpenRouter", ("OPENROUTER_API_KEY",), "https://openrouter.ai/api/v1"),
    Vendor("Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "https://generativelanguage.googleapis.com/v1beta/openai"),
    Vendor("Mistral", ("MISTRAL_API_KEY",), "https://api.mistral.ai/v1"),
    Vendor("Groq", ("GROQ_API_KEY",), "https://api.groq.com/openai/v1"),
    Vendor("DeepSeek", ("DEEPSEEK_API_KEY",), "https://api.deepseek.com/v1"),
    Vendor("xAI", ("XAI_API_KEY",), "https://api.x.ai/v1"),
    Vendor("Together", ("TOGETHER_API_KEY",), "https://api.together.xyz/v1"),
    Vendor("Azure", ("AZURE_OPENAI_API_KEY",), None),
)


class FoundKey(msgspec.Struct, frozen=True, kw_only=True):
    """A variable that is set, by its name alone: its value is never looked at beyond that."""

    vendor: str
    variable: str
    base_url: str | None


def find_keys(environment: Mapping[str, str]) -> list[FoundKey]:
    """The keys that are there, one a vendor."""
    found = []
    for vendor in VENDORS:
        variable = next((one for one in vendor.variables if environment.get(one, "").strip()), None)
        if variable is not None:
            found.append(FoundKey(vendor=vendor.name, variable=variable, base_url=vendor.base_url))
    return found
