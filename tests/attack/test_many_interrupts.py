"""Ctrl-C again and again: it ends at once and says so, and the record resumes as if it had been pressed once."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import running
from benchbook.evaluators.verify import verify
from benchbook.record.folder import Record
from scripted_server import always_good
from scripted_server import running as scripted

pytestmark = pytest.mark.attack


@pytest.mark.parametrize("pause", [0.001, 0.005, 0.02, 0.05, 0.2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_until_it_ends(tmp_path: Path, number: signal.Signals, pause: float) -> None:
    asked = threading.Event()

    def tells(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        if n >= 20:
            asked.set()
        return always_good(role, n, request)

    with scripted(tells) as server:
        running.write_items(tmp_path / "items.jsonl", 300)
        words = running.options(tmp_path, server, **{"max-connections": 4})
        run = subprocess.Popen([sys.executable, "-m", "benchbook", "run", *words], stderr=subprocess.PIPE)
        assert asked.wait(60)
        assert run.stderr is not None
        while run.poll() is None:
            run.send_signal(number)
            try:
                run.wait(pause)
            except subprocess.TimeoutExpired:
                continue
        said = run.stderr.read().decode()
        run.stderr.close()
        assert run.returncode in (3, -number), said
        assert "Traceback" not in said
        assert "interrupted" in said or run.returncode == -signal.SIGTERM
        resumed = running.benchbook("run", "--resume", str(tmp_path / "runs" / "run"), "--reports", "none")
        assert resumed.returncode == 0, resumed.stderr.decode()
    found = verify(Record(tmp_path / "runs" / "run"))
    assert (found.holds, found.state) == (True, "complete")
