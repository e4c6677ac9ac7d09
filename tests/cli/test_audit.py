"""`benchbook audit`: exit codes, JSON of one log and of several, files, and what is no log."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import benchbook as bb
from exchange.every_eval_ever.made import laid, result, row
from running import benchbook_here

ROWS = [row("s1", 1.0), row("s2", 0.0), row("s3", 1.0), row("s4", 1.0)]


def test_a_number_that_follows(tmp_path: Path) -> None:
    log = laid(tmp_path, ROWS, result(0.75))
    done = benchbook_here("audit", str(log))
    assert done.returncode == 0, done.stderr.decode()
    assert "The number follows from the samples" in done.stdout.decode()


def test_a_number_that_does_not_ends_with_1(tmp_path: Path) -> None:
    log = laid(tmp_path, ROWS, result(0.5))
    done = benchbook_here("audit", str(log), "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["format"], found["n_claimed"], found["n_held"]) == ("benchbook-audit@1", 4, 4)
    (number,) = found["numbers"]
    assert (number["claimed"], number["computed"], number["verdict"]) == (0.5, 0.75, "does_not_follow")
    assert {"scorer", "metric", "reason", "reason_code", "where"} <= number.keys()


def test_several_logs_are_a_list(tmp_path: Path) -> None:
    laid(tmp_path / "a", ROWS, result(0.75))
    laid(tmp_path / "b", ROWS, result(0.5))
    done = benchbook_here("audit", str(tmp_path), "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["n_logs"], found["n_follow"], found["n_do_not_follow"]) == (2, 1, 1)
    assert [one["verdict"] for one in found["logs"]] == ["follows", "does_not_follow"]


def test_pages_are_written(tmp_path: Path) -> None:
    log = laid(tmp_path / "logs", ROWS, result(0.5))
    done = benchbook_here("audit", str(log), "--html", "a.html", "--markdown", "a.md", cwd=tmp_path)
    assert done.returncode == 1
    words = "1 of 1 number does not follow from the samples"
    assert words in (tmp_path / "a.html").read_text("utf-8")
    assert (tmp_path / "a.md").read_text("utf-8").startswith(f"# {words}")
    assert "a.html" in done.stdout.decode()


@pytest.mark.parametrize("content", [b"", b'{"a": 1}', b"PK\x05\x06" + bytes(18), b"dear diary"])
def test_what_is_no_log_ends_with_2(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    done = benchbook_here("audit", str(tmp_path / "x"))
    assert (done.returncode, done.stdout) == (2, b"")
    assert "expected a log of" in done.stderr.decode()


@pytest.mark.parametrize(("claimed", "code"), [(0.75, 2), (0.5, 1)])
def test_one_broken_log_leaves_the_others(tmp_path: Path, claimed: float, code: int) -> None:
    laid(tmp_path / "a", ROWS, result(claimed))
    broken = laid(tmp_path / "b", ROWS, result(0.75))
    (samples,) = broken.parent.glob("*.jsonl")
    samples.write_bytes(samples.read_bytes()[:-40])
    done = benchbook_here("audit", str(tmp_path), "--json")
    assert done.returncode == code
    found = json.loads(done.stdout)
    assert (found["n_logs"], len(found["broken"])) == (1, 1)
    assert samples.name in found["broken"][0]
    assert samples.name in done.stderr.decode()
    assert benchbook_here("audit", str(tmp_path / "b")).returncode == 2


def test_what_is_not_there_ends_with_2(tmp_path: Path) -> None:
    assert benchbook_here("audit", str(tmp_path / "x")).returncode == 2
    assert benchbook_here("audit", str(tmp_path), "--tool", "nobody").returncode == 2


def test_the_library_has_the_same(tmp_path: Path) -> None:
    found = bb.audit(laid(tmp_path, ROWS, result(0.5)))
    assert not found.holds
    assert found.numbers.select("claimed", "computed", "verdict").rows() == [(0.5, 0.75, "does_not_follow")]
    assert "does not follow" in str(found)
    assert found.to_markdown().startswith("# 1 of 1 number does not follow")
    assert found.to_html().startswith("<!doctype html>")
    assert repr(found) == "<LogAudits of 1 log: 1 of 1 number do not follow>"
    assert found.logs[0].n_held == 4


def test_shares_are_audited_without_anything_heavy(tmp_path: Path) -> None:
    """No array library, no event loop: an audit of 20,000 samples has two seconds and 80 MB."""
    log = laid(tmp_path, ROWS, result(0.75))
    code = "import sys; from benchbook.cli.main import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, "audit", str(log)], capture_output=True, check=True)
    loaded = {name.split(".")[0] for name in done.stderr.decode().split()}
    assert not loaded & {"numpy", "scipy", "polars", "pyarrow", "asyncio"}
