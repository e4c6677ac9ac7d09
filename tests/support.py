"""Helpers of all tests: the case files, and other people's data."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent
CASES = Path(os.environ.get("BENCHBOOK_CASES", ROOT / "tests" / "cases"))
SHARED = Path(os.environ.get("BENCHBOOK_SHARED", ROOT.parent / "shared"))

CITED = re.compile(r"\bSPEC [A-Z]\d|\([RAPC]\d+[a-z]?[,):]|\b[RAPC]\d+\.\d+[a-z]?\b")
"""A clause of the SPEC, as code cites it and no text for people does."""


def cases(name: str) -> list[Any]:
    """The cases of `<BENCHBOOK_CASES>/<name>.json` as pytest parameters; none if the folder lacks the file."""
    path = CASES / f"{name}.json"
    if not path.exists():
        return [pytest.param(None, id="absent", marks=pytest.mark.skip(f"{path.name} is not in BENCHBOOK_CASES"))]
    return [pytest.param(case, id=case["id"]) for case in json.loads(path.read_text("utf-8"))]


def examples(most: int, *unchecked: HealthCheck) -> settings:
    """Settings of a property with `most` examples; under the profile `fast`, a fifth of them.

    `unchecked` health checks are off beside those of the profile, which Hypothesis would otherwise switch on again.
    """
    profile = settings()
    return settings(
        max_examples=max(1, most * profile.max_examples // 100),
        suppress_health_check=[*profile.suppress_health_check, *unchecked],
    )


def peak_memory_mb(main: str, words: list[str]) -> tuple[int, float]:
    """`(exit code, peak MB)` of a Python program in a process of its own: `main` is a statement that runs it.

    The kernel counts it for that program alone; `ru_maxrss` would hold what the test's own process had when it forked.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("the peak of a process is read from /proc")
    tell = f"print(open({str(status)!r}, encoding='utf-8').read(), file=sys.stderr)"
    code = f"import atexit, sys; atexit.register(lambda: {tell}); {main}"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, check=False)
    (line,) = (line for line in done.stderr.decode().splitlines() if line.startswith("VmHWM:"))
    return done.returncode, int(line.split()[1]) / 1024


def shared_data(name: str) -> Path:
    """A folder of other people's real data, read in place; the test is skipped if it is absent."""
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"shared data {name!r} is not here (set BENCHBOOK_SHARED)")
    return path
