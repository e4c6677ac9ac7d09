"""The real tools, each in a process of its own: their packages are in `script/peers`' folder, and never in ours."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from support import ROOT

PEERS = Path(os.environ.get("BENCHBOOK_PEERS", ROOT / ".venv-peers"))
PROGRAMS = Path(__file__).parent / "programs"
Peer: TypeAlias = Callable[..., Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All in this folder need the tools."""
    here = str(Path(__file__).parent) + os.sep
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.peers)


@pytest.fixture(scope="session")
def peers() -> Path:
    """The folder of the tools: `bin/python` has those of Python, and `node_modules` those of npm."""
    if not (PEERS / "bin" / "python").exists():
        pytest.skip("the tools are not here: script/peers installs them")
    return PEERS


@pytest.fixture(scope="session")
def peer(peers: Path) -> Peer:
    """Runs a program of `programs/` with the tools' Python; returns what it prints last, which is a line of JSON."""

    def run(program: str, *words: str | Path, cwd: Path | None = None) -> Any:
        environment = {**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONUTF8": "1"}
        environment.pop("PYTHONPATH", None)
        command = [peers / "bin" / "python", PROGRAMS / program, *words]
        done = subprocess.run(command, capture_output=True, check=False, cwd=cwd, env=environment)
        said = done.stdout.decode()
        assert done.returncode == 0, f"{program}: {said[-2000:]}{done.stderr.decode()[-4000:]}"
        return json.loads(said.splitlines()[-1])

    return run
