"""Benchmarks still run, on as little as they can: figures are of a quiet machine alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from support import ROOT

_SMALL = {
    "compare": ("--items", "200"),
    "overhead": ("--samples", "20", "--rounds", "1"),
    "records": ("--samples", "10", "--rounds", "1"),
    "score": ("--items", "200", "--record", "20"),
    "shards": ("--shards", "2", "--samples", "10", "--flips", "5", "--speed-up", "2", "--workers", "2"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _SMALL)
def test_a_benchmark_runs(name: str) -> None:
    words = [sys.executable, str(ROOT / "bench" / f"{name}.py"), *_SMALL[name], "--json"]
    known = {key: value for key, value in os.environ.items() if key != "PYTHONWARNINGS"}  # those of other libraries
    done = subprocess.run(words, capture_output=True, env=known, check=False)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    assert json.loads(done.stdout)["load_average"] >= 0
