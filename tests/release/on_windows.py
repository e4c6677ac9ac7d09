# ruff: noqa: T201
"""What works on Windows, on Windows: records are read, verified, compared and served, and to write one is refused.

CI runs it there (`.github/workflows/ci.yml`), with what `pip install .[server]` gives. Elsewhere it runs but for the
refusal.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "records"  # without derived files
RUNS = ("score_a", "score_b", "judged_gaps")
SCRIPTED = ["--model", "scripted/answers@1", "--judge", "scripted/verdicts@1"]
SCRIPTED += ["--model-path", "worked/script.json", "--judge-path", "worked/script.json"]


def benchbook(folder: Path, *words: str, ends: int = 0, says: str = "") -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchbook", *words], cwd=folder, capture_output=True, encoding="utf-8", check=False
    )
    told = done.stdout + done.stderr
    if done.returncode != ends or says not in told or "Traceback" in told:
        sys.exit(f"benchbook {' '.join(words)}: ended with {done.returncode} and says\n{told}")
    print("benchbook", *words)


def served(folder: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "benchbook", "serve", "--runs", "runs", "--port", "0", "--quiet"],
        cwd=folder, stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[0]
        with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
            listed = client.get("/api/v1/runs").raise_for_status().json()["runs"]
            assert {run["run_id"] for run in listed} == set(RUNS), listed
            assert client.post("/api/v1/runs/score_a/verify").raise_for_status().json()["holds"]
            assert client.put("/api/v1/runs/score_a/tags", json={"tags": ["kept"]}).raise_for_status().json()["tags"]
            client.get("/api/v1/comparisons/items.parquet", params={"run": ["score_a", "score_b"]}).raise_for_status()
            assert client.get("/").raise_for_status().text.startswith("<!doctype html>")
    finally:
        server.terminate()
        server.communicate()
    print("benchbook serve")


def main() -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for run_id in RUNS:
            shutil.copytree(GOLDEN / run_id, folder / "runs" / run_id)
        shutil.copytree(ROOT / "docs" / "examples" / "worked", folder / "worked")
        benchbook(folder, "--version", says="benchbook ")
        for run_id in RUNS:
            benchbook(folder, "rescore", run_id)
            benchbook(folder, "verify", run_id, says="verified")
        benchbook(folder, "compare", "score_a", "score_b", "--html", "compared.html")
        benchbook(folder, "show", "judged_gaps")
        benchbook(folder, "runs", says="score_a")
        served(folder)
        if os.name == "nt":
            run = ("run", "--evalset", "worked/items.jsonl", "--run-id", "new", *SCRIPTED)
            benchbook(folder, *run, ends=3, says="records are not written on Windows")
    print(f"all of it, in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
