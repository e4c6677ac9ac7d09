"""CPU, wall time and memory of a command, with all the processes that it waits for; and how results are shown."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_EVERY_S = 0.1


def measure(command: list[str]) -> dict[str, float]:
    """CPU seconds of a command and of what it waited for, wall seconds, and the peak of its largest process."""
    return _measured(command, watched=False)


def measure_watched(command: list[str]) -> dict[str, float]:
    """The same, and the most that all processes held together (`held_mb`: pages that they share are counted once)."""
    return _measured(command, watched=True)


def _measured(command: list[str], *, watched: bool) -> dict[str, float]:
    started, held_kb = time.perf_counter(), 0
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG if watched else 0)
            if pid:
                break
            held_kb = max(held_kb, sum(map(_held_kb, _tree(process.pid))))
            time.sleep(_EVERY_S)
        process.returncode = os.waitstatus_to_exitcode(status)
        if status != 0:
            errors.seek(0)
            raise SystemExit(f"{command[1:4]} failed: {errors.read().decode('utf-8', 'replace')[-2000:]}")
    found = {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "wall_s": time.perf_counter() - started,
        "peak_mb": usage.ru_maxrss / 1024,
    }
    return found | {"held_mb": held_kb / 1024} if watched else found


def _tree(pid: int) -> list[int]:
    """A process and all that come from it."""
    found = [pid]
    for one in found:
        with suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def _held_kb(pid: int) -> int:
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1])
    return 0


def show(result: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what was measured: as JSON, or a line each."""
    if as_json:
        print(json.dumps(result))
        return
    width = max(map(len, result)) + 2
    for name, value in result.items():
        print(f"{name:{width}} {value}")
