"""Benchbook without anything of POSIX, under Windows' rules: reading works, and writing says what is missing.

No proof for Windows itself, which `.github/workflows/ci.yml` has a machine for: but each path that is taken there runs.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import windows_rules
from server.test_live import wait_until_ready

pytestmark = [
    pytest.mark.slow,  # it starts programs
    pytest.mark.skipif(not windows_rules.HERE, reason="needs /proc, to see what is open"),
]

TESTS = Path(__file__).parents[1]
RECORDS = {"rubric_faults": "INCONCLUSIVE", "score_a": "pass", "score_b": "pass", "judged_gaps": None}
REFUSED = "can't be written (records are not written on Windows: "


def started(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "POLARS_MAX_THREADS": "1"}
    command = [sys.executable, windows_rules.__file__, *words]
    return subprocess.Popen(
        command, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


class Process:
    """A process of Windows that calls one command after another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = started(folder, "each")

    def said(self, *words: str) -> tuple[int, str, str]:
        """How `benchbook WORDS` ends, and what it prints."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(words).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, self._process.communicate()
        code, out, err = json.loads(line)
        return code, out, err

    def close(self) -> None:
        assert self._process.communicate()[1] == b""


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """It stands in a folder with four records, of three evaluators, whose derived files are made there."""
    made = tmp_path_factory.mktemp("windows")
    for name in RECORDS:
        for part in ("journal", "inputs"):
            shutil.copytree(TESTS / "golden" / "records" / name / part, made / "runs" / name / part)
    shutil.copytree(TESTS.parent / "docs" / "examples" / "worked", made / "worked")
    process = Process(made)
    for name in RECORDS:
        code, _, err = process.said("rescore", name, "--reports", "reports")
        assert (code in (0, 1), err) == (True, ""), name
    yield process
    process.close()


def test_every_module_can_be_imported(tmp_path: Path) -> None:
    process = started(tmp_path, "import")
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert int(out) > 400


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_verifies(there: Process, name: str) -> None:
    code, out, err = there.said("verify", name)
    assert (code, err, "verified" in out) == (0, "", True), out


READING = {
    "compare": ("compare", "score_a", "score_b", "--html", "c.html"),
    "show": ("show", "rubric_faults"),
    "runs": ("runs",),
    "export": ("export", "score_a", "--to", "csv", "--out", "a.csv"),
}


@pytest.mark.parametrize("words", READING.values(), ids=READING)
def test_what_only_reads_works(there: Process, words: tuple[str, ...]) -> None:
    code, _, err = there.said(*words)
    assert (code in (0, 1), err.startswith("benchbook:")) == (True, False), err


SCRIPTED = ("--model", "scripted/a@1", "--model-path", "worked/script.json", "--judge", "scripted/b@1", "--judge-path")
WRITING = {
    "run": ("run", "--evalset", "worked/items.jsonl", "--quiet", "--run-id", "new", *SCRIPTED, "worked/script.json"),
    "resume": ("run", "--resume", "rubric_faults", "--quiet"),
    "label": ("label", "sample", "rubric_faults", "--n", "2", "--out", "runs/labels"),
}


@pytest.mark.parametrize("words", WRITING.values(), ids=WRITING)
def test_what_writes_says_what_is_missing(there: Process, words: tuple[str, ...]) -> None:
    before = sorted(there.folder.rglob("*"))
    code, _, err = there.said(*words)
    assert (code, err.count(REFUSED), err.count("\n")) == (3, 1, 1), err
    assert sorted(there.folder.rglob("*")) == before


@pytest.fixture(scope="module")
def address(there: Process) -> Iterator[str]:
    server = started(there.folder, "serve", "--runs", "runs", "--port", "0", "--quiet")
    assert server.stdout is not None
    line = server.stdout.readline().decode()
    assert line.startswith("http://"), (line, server.communicate())
    address = line.split()[0].rstrip("/")
    wait_until_ready(address)  # whichever test comes first
    yield address
    server.send_signal(signal.SIGINT)
    assert (server.communicate()[1], server.returncode) == (b"", 0)


def test_a_server_shows_records(address: str) -> None:
    with httpx.Client(base_url=address, trust_env=False) as client:
        assert client.get("/").status_code == 200
        listed = client.get("/api/v1/runs").raise_for_status().json()
        assert {run["run_id"]: run["decision"] for run in listed["runs"]} == RECORDS
        for name in RECORDS:
            client.get(f"/api/v1/runs/{name}").raise_for_status()
            assert client.post(f"/api/v1/runs/{name}/verify").raise_for_status().json()["holds"]
        compared = {"run": ["score_a", "score_b"]}
        client.get("/api/v1/comparisons", params=compared).raise_for_status()
        found = client.get("/api/v1/comparisons/items.parquet", params=compared)
        assert (found.status_code, found.content[:4]) == (200, b"PAR1"), found.text


def test_a_server_keeps_what_is_no_record_and_says_what_is_missing_for_one(address: str, there: Process) -> None:
    with httpx.Client(base_url=address, trust_env=False) as client:
        for tags in (["kept"], ["best", "kept"]):
            assert client.put("/api/v1/runs/score_a/tags", json={"tags": tags}).json()["tags"] == tags
        drawn = client.post("/api/v1/labels", json={"run": "rubric_faults", "book": "labels", "n": 2})
    assert (drawn.status_code, REFUSED in drawn.json()["detail"]) == (409, True), drawn.text
    assert not (there.folder / "runs" / "labels").exists()
