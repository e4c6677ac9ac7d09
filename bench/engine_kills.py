"""A run in shards by an engine, whose workers are killed at random while it asks."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import sysconfig
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
_TOKEN = "BENCHBOOK_BENCH_RUN"
_WORKERS = {"ray": b"ray::shard", "processes": b"engines.processes import main"}  # in their command lines


_GROWN_BYTES = (100_000, 1_500_000)  # a shard of 1,000 samples has about a million


def killed_at_random(words: Sequence[str], run: Path, engine: str, seed: int) -> int:
    """Run `benchbook WORDS`, killing a worker of the engine whenever more is recorded; return the number of kills.

    Ray is that of this Python, else that of the folder that `script/peers` makes.
    """
    chance, token, kills = random.Random(seed), uuid.uuid4().hex, 0
    process = subprocess.Popen([_python(engine), "-m", "benchbook", *words], env=_environment(token))
    try:
        before, enough = 0, chance.uniform(*_GROWN_BYTES)
        while process.poll() is None:
            time.sleep(0.02)
            # What is sealed is smaller: either way something was done.
            if abs(_bytes_of(run) - before) > enough and (found := list(_workers(token, engine))):
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(found), signal.SIGKILL)
                    kills += 1
                before, enough = _bytes_of(run), chance.uniform(*_GROWN_BYTES)
    finally:
        if process.poll() is None:
            process.kill()
    if process.returncode != 0:
        raise SystemExit(f"benchbook ended with {process.returncode}")
    return kills


def _bytes_of(run: Path) -> int:
    total = 0
    for path in run.glob("shards/*/journal/*"):
        with suppress(FileNotFoundError):  # sealed meanwhile
            total += path.stat().st_size
    return total


def _python(engine: str) -> str:
    if engine != "ray" or find_spec("ray") is not None:
        return sys.executable
    python = Path(os.environ.get("BENCHBOOK_PEERS", ROOT / ".venv-peers")) / "bin" / "python"
    if not python.exists():
        raise SystemExit("Ray is not here: script/peers installs it")
    return str(python)


def _environment(token: str) -> dict[str, str]:
    """Our packages come before Ray's, in all that Ray starts, too."""
    places = os.pathsep.join((str(ROOT / "src"), sysconfig.get_paths()["purelib"]))
    return os.environ | {"PYTHONPATH": places, _TOKEN: token, "PYTHONWARNINGS": "ignore"}


def _workers(token: str, engine: str) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*"):
        try:
            is_worker = _WORKERS[engine] in (path / "cmdline").read_bytes()
            is_ours = is_worker and token.encode() in (path / "environ").read_bytes()
        except OSError:  # it has ended
            continue
        if is_ours:
            yield int(path.name)
