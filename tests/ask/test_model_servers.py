"""Servers and keys that are found on a machine. Whatever answers is a stranger."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchbook.ask.model_servers import FoundKey, ModelServer, ServedModel, UsualPort, find_keys, find_servers
from scripted_server import in_a_thread

DIGEST = "baf6a787fdffd633537aa2eb51cfd54cb93ff08e28040095462bb63daf552878"
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no silent server."""
    monkeypatch.setattr("benchbook.ask.model_servers._WITHIN_S", 60.0)


@contextmanager
def answering(reply: bytes, path: str = "/v1/models") -> Iterator[int]:
    """The port of a server that sends `reply` to a GET of `path`, and to anything else a 404."""
    ports: list[int] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        is_asked = head.startswith(f"GET {path} HTTP/1.1\r\n".encode())
        writer.write(reply if is_asked else b"HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    with in_a_thread(serve, lambda listening: ports.append(listening.sockets[0].getsockname()[1])):
        yield ports[0]


def json_reply(value: Any, head: bytes = OK) -> bytes:
    body = json.dumps(value).encode()
    return head + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def of_ids(*names: Any) -> bytes:
    return json_reply({"object": "list", "data": [{"id": name} for name in names]})


@pytest.mark.parametrize(
    ("reply", "models"),
    [
        pytest.param(of_ids("meta-llama/Llama-3.1-8B", "b"), ["meta-llama/Llama-3.1-8B", "b"], id="two"),
        pytest.param(of_ids("a", "a"), ["a"], id="the-same-twice"),
        pytest.param(of_ids("nomic-embed-text", "a"), ["a"], id="no-embeddings"),
        pytest.param(of_ids("a b", "\x1b[31ma", "a\nb", "a@1", "", "x" * 200, 7, None, "ok"), ["ok"], id="no-names"),
        pytest.param(OK + b"Connection: close\r\n\r\n" + b'{"data": [{"id": "a"}]}', ["a"], id="until-it-closes"),
        pytest.param(
            OK + b'Transfer-Encoding: chunked\r\n\r\n17\r\n{"data": [{"id": "a"}]}\r\n0\r\n\r\n', ["a"], id="in-chunks"
        ),
    ],
)
def test_a_server_tells_its_models(reply: bytes, models: list[str]) -> None:
    with answering(reply) as port:
        found = find_servers([UsualPort("vLLM", port)])
    base_url = f"http://127.0.0.1:{port}/v1"
    named = [ServedModel(name=name) for name in models]
    assert found == [ModelServer(program="vLLM", base_url=base_url, models=named)]


@pytest.mark.parametrize(
    ("told", "digest"),
    [(DIGEST, "baf6a787fdff"), (f"sha256:{DIGEST}", "baf6a787fdff"), ("latest", None), (7, None), ("abc", None)],
)
def test_ollama_tells_the_digest_of_a_model(told: Any, digest: str | None) -> None:
    with answering(json_reply({"models": [{"name": "llama3.2:1b", "digest": told}]}), "/api/tags") as port:
        (found,) = find_servers([UsualPort("Ollama", port, "/api/tags")])
    assert found.models == [ServedModel(name="llama3.2:1b", digest=digest)]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(json_reply({"data": []}), id="no-model"),
        pytest.param(json_reply([1]), id="no-object"),
        pytest.param(json_reply({"data": "a"}), id="no-list"),
        pytest.param(OK + b"Content-Length: 5\r\n\r\n<html", id="no-json"),
        pytest.param(OK + b"Content-Length: 99999999\r\n\r\n", id="too-large"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", id="no-http"),
        pytest.param(b"HTTP/1.1 302 X\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n", id="elsewhere"),
        pytest.param(json_reply({"data": [{"id": "a"}]}, b"HTTP/1.1 401 X\r\n"), id="wants-a-key"),
        pytest.param(b"", id="hangs-up"),
        pytest.param(OK + b"Content-Length: 90\r\n\r\n" + b"[" * 90, id="deep"),
    ],
)
def test_what_is_no_server_of_models_is_left_out(reply: bytes) -> None:
    with answering(reply) as port, answering(of_ids("b")) as other:
        found = find_servers([UsualPort("vLLM", port), UsualPort("SGLang", other)])
    assert [one.program for one in found] == ["SGLang"]


def test_a_server_that_is_silent_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.ask.model_servers._WITHIN_S", 0.05)

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    ports: list[int] = []
    with in_a_thread(silent, lambda listening: ports.append(listening.sockets[0].getsockname()[1])):
        assert find_servers([UsualPort("vLLM", ports[0])]) == []


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, []),
        ({"OPENAI_API_KEY": "sk-1"}, [("OpenAI", "OPENAI_API_KEY")]),
        ({"OPENAI_API_KEY": " "}, []),
        (
            {"GOOGLE_API_KEY": "x", "MISTRAL_API_KEY": "y"},
            [("Gemini", "GOOGLE_API_KEY"), ("Mistral", "MISTRAL_API_KEY")],
        ),
        ({"GOOGLE_API_KEY": "x", "GEMINI_API_KEY": "y"}, [("Gemini", "GEMINI_API_KEY")]),
        ({"AZURE_OPENAI_API_KEY": "x"}, [("Azure", "AZURE_OPENAI_API_KEY")]),
    ],
)
def test_keys_are_found_by_their_variables(environment: dict[str, str], found: list[tuple[str, str]]) -> None:
    keys = find_keys(environment)
    assert [(key.vendor, key.variable) for key in keys] == found
    assert all(isinstance(key, FoundKey) and "sk-1" not in repr(key) for key in keys)
