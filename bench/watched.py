"""CPU, wall time and memory of a command with all the processes that it starts."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path

_EVERY_S = 0.1


def measure_watched(command: list[str]) -> dict[str, float]:
    """CPU seconds of a command and of what it waited for, wall seconds, the peak of its largest process, and the most
    that all of them held together (`held_mb`: pages that they share are counted once)."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    held_kb = 0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        held_kb = max(held_kb, sum(map(_held_kb, _tree(process.pid))))
        time.sleep(_EVERY_S)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status != 0:
        raise SystemExit(f"{command[1:4]} failed with {process.returncode}")
    return {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "wall_s": time.perf_counter() - started,
        "peak_mb": usage.ru_maxrss / 1024,
        "held_mb": held_kb / 1024,
    }


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
