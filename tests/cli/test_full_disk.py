"""A disk that is full: a clear message, exit code 3, and a record that resumes (issue: bad input).

`ulimit -f` makes every file end at so many KiB, as a full disk would: a write is cut, and the next one fails.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal
from running import benchbook_here, options, write_items
from scripted_server import always_good, running

SAMPLES = 300


def on_a_small_disk(kib: int, *words: str) -> subprocess.CompletedProcess[bytes]:
    """`benchbook WORDS` where no file can become larger than `kib` KiB."""
    line = f'ulimit -f {kib} && exec "$@"'
    return subprocess.run(
        ["bash", "-c", line, "bash", sys.executable, "-m", "benchbook", *words],
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_items(tmp_path / "items.jsonl", SAMPLES)  # 20 KiB
    return tmp_path


@pytest.mark.parametrize("kib", [40, 90, 200])
def test_a_run_stops_with_a_message_and_resumes_without_asking_twice(folder: Path, kib: int) -> None:
    record = Record(folder / "runs" / "run")
    with running(always_good) as server:
        found = on_a_small_disk(kib, "run", *options(folder, server, **{"max-connections": 4}), "--quiet")
        assert found.returncode == 3
        assert found.stderr.decode("utf-8") == (
            f"benchbook: {record.path}: can't be written (File too large); what was recorded is whole. "
            "Make room or mend the folder, then resume\n"
        )
        asked = {role: len(requests) for role, requests in server.asked.items()}
        kept = [line.fact for line in read_journal(record.journal) if isinstance(line.fact, Reply)]
        assert (record.journal / "000001.jsonl").read_bytes().endswith(b"}\n"), "the last line is cut"
        resumed = benchbook_here("run", "--resume", str(record.path), "--quiet", "--reports", "none")
        assert resumed.returncode == 0, resumed.stderr
        for role, before in asked.items():
            finished = sum(fact.role == role for fact in kept)
            assert len(server.asked[role]) - before == SAMPLES - finished
    assert verify(record).holds


@pytest.mark.parametrize("words", [["--help"], ["doctor", "--json"], ["parse", "rubric@v1", "replies.jsonl"]])
def test_standard_output_on_a_full_disk_is_told_in_one_line(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "replies.jsonl").write_text('{"id": "a", "reply": ""}\n' * 3, encoding="utf-8")
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with Path("/dev/full").open("wb") as full:
        found = subprocess.run(
            [sys.executable, "-m", "benchbook", *words], stdout=full, stderr=subprocess.PIPE, check=False, cwd=tmp_path
        )
    assert found.stderr == b"benchbook: standard output: can't be written (No space left on device)\n"
    assert found.returncode == 3


@pytest.mark.parametrize("kib", [1, 16], ids=["for-nothing", "for-the-inputs"])
def test_a_disk_too_full_for_the_record_leaves_nothing(folder: Path, kib: int) -> None:
    with running(always_good) as server:
        found = on_a_small_disk(kib, "run", *options(folder, server), "--quiet")
        assert server.asked == {"candidate": [], "judge": []}
    assert found.returncode == 3
    assert b"can't be written (File too large)" in found.stderr
    assert b"Traceback" not in found.stderr
    assert list((folder / "runs").iterdir()) == []


def test_a_disk_too_full_for_a_report_leaves_no_half_of_one(folder: Path) -> None:
    with running(always_good) as server:
        assert benchbook_here("run", *options(folder, server), "--quiet").returncode == 0
    reports = folder / "reports"
    words = ["rescore", "run", "--runs", str(folder / "runs"), "--reports", str(reports)]
    found = on_a_small_disk(64, *words)
    assert found.returncode == 3
    assert b"report.html: can't be written (File too large)" in found.stderr
    assert list((reports / "run").iterdir()) == []
    assert verify(Record(folder / "runs" / "run")).holds


def test_a_cache_on_a_full_disk_does_not_lose_the_run(folder: Path) -> None:
    with running(always_good) as server:
        words = [*options(folder, server, cache=folder / "cache.sqlite"), "--quiet"]
        found = on_a_small_disk(64, "run", *words)
    assert found.returncode in (0, 3)
    assert b"Traceback" not in found.stderr
    with running(always_good) as server:
        addresses = ["--model-base-url", server.base_url, "--judge-base-url", server.base_url]
        words = ["run", "--resume", str(folder / "runs" / "run"), "--quiet", "--reports", "none", *addresses]
        assert benchbook_here(*words).returncode == 0
    assert verify(Record(folder / "runs" / "run")).holds
