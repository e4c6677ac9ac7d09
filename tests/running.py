"""Runs of the real program, in this process and in others."""

from __future__ import annotations

import codecs
import importlib
import io
import json
import locale
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.settings import RunConfig
from scripted_server import ScriptedServer


def write_items(path: Path, count: int, **more: Any) -> Path:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number in range(count):
            item = {"id": f"i{number}", "prompt": f"What is {number} + 1?", "expected_answer": str(number + 1)} | more
            file.write(json.dumps(item) + "\n")
    return path


def config(folder: Path, server: ScriptedServer, items: int = 8, **settings: Any) -> RunConfig:
    evalset = write_items(folder / "items.jsonl", items)
    values = {
        "evalset": str(evalset), "model": "openai/m@2026-01-01", "judge": "openai/j@2026-01-01", "run_id": "run",
        "model_base_url": server.base_url, "judge_base_url": server.base_url, "runs": str(folder / "runs"),
    }  # fmt: skip
    return RunConfig(**(values | settings))


def run(folder: Path, server: ScriptedServer, items: int = 8, **settings: Any) -> RunResult:
    return run_async(start_run(config(folder, server, items, **settings)))


def options(folder: Path, server: ScriptedServer, **settings: Any) -> list[str]:
    """The same settings, as words of the command line."""
    values = {
        "evalset": folder / "items.jsonl", "model": "openai/m@2026-01-01", "judge": "openai/j@2026-01-01",
        "model-base-url": server.base_url, "judge-base-url": server.base_url, "runs": folder / "runs", "run-id": "run",
        "reports": "none",
    }  # fmt: skip
    return [word for name, value in (values | settings).items() for word in (f"--{name}", str(value))]


def benchbook(
    *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run `benchbook WORDS` in a process of its own, with its output as bytes."""
    return subprocess.run(
        [sys.executable, "-m", "benchbook", *words],
        capture_output=True, check=False, cwd=cwd, env={**os.environ, **(env or {})}, timeout=300,
    )  # fmt: skip


def written_words(stream: bytes) -> str:
    """What `benchbook_here` wrote. To a stream that says that it is ASCII, click writes UTF-8."""
    encoding = _encoding_of_streams()
    return stream.decode("utf-8" if codecs.lookup(encoding).name == "ascii" else encoding)


def _encoding_of_streams() -> str:
    return os.environ.get("PYTHONIOENCODING", locale.getencoding())


def benchbook_here(
    *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the same in this process: starting another takes longer than most commands do.

    `benchbook` is for tests of a process itself: its start, its streams, its locale, its death, another beside it.
    """
    program = importlib.import_module("benchbook.cli.main")  # `benchbook.cli` has a function of this name
    encoding = _encoding_of_streams()
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding, "backslashreplace", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        for of_a_process_of_its_own in ("prepare_streams", "_save_memory"):
            patch.setattr(program, of_a_process_of_its_own, lambda: None)
        patch.setattr(sys, "argv", ["benchbook", *words])
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        with pytest.raises(SystemExit) as ended:
            program.main()
    said, complained = (stream.detach().getvalue() for stream in (out, err))  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(words, int(ended.value.code or 0), said, complained)
