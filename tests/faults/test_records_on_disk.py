"""Records that something changed on their way: git's line ends, Git LFS's pointers, a file that is gone. What was done
is named, and a record that does not hold counts nowhere (SPEC C6)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from running import benchbook_here, run
from scripted_server import always_good, running

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4790\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    with running(always_good) as server:
        run(folder, server, 3)
    return folder / "runs" / "run"


@pytest.fixture
def record(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "runs" / "good")
    return Path(shutil.copytree(made, tmp_path / "runs" / "bad"))


def said(*words: str, cwd: Path) -> tuple[int, str]:
    done = benchbook_here(*words, cwd=cwd)
    return done.returncode, " ".join((done.stdout + done.stderr).decode().split())


CHANGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "crlf": (lambda data: data.replace(b"\n", b"\r\n"), "every line ends in CR LF"),
    "a-space-at-the-end": (lambda data: data.replace(b",\n", b", \n", 1), """found '"capped_by": [], '; the journal"""),
    "a-byte-order-mark": (lambda data: b"\xef\xbb\xbf" + data, "begins with a byte-order mark (EF BB BF)"),
    "a-tab": (lambda data: data.replace(b"  ", b"\t", 1), r"found '\t"),
    "an-empty-line-more": (lambda data: data + b"\n", "decision.json"),
    "cut": (lambda data: data[:-10], "decision.json"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_verify_shows_a_difference_that_nobody_sees(record: Path, case: str) -> None:
    """52-verify-message-hides-the-difference"""
    change, words = CHANGES[case]
    path = record / "decision.json"
    path.write_bytes(change(path.read_bytes()))
    code, told = said("verify", str(record), cwd=record.parent)
    assert (code, words in told) == (1, True), told


def pointer(record: Path) -> None:
    (record / "journal" / "000001.jsonl").write_text(POINTER, encoding="utf-8")


def gone(record: Path) -> None:
    shutil.rmtree(record / "journal")


def empty(record: Path) -> None:
    (record / "journal" / "000001.jsonl").write_bytes(b"")


def another_text(record: Path) -> None:
    (record / "journal" / "000001.jsonl").write_text("<html>Not Found</html>\n", encoding="utf-8")


@pytest.mark.parametrize("change", [pointer, gone, empty, another_text])
def test_a_record_without_its_journal_counts_nowhere(record: Path, change: Callable[[Path], None]) -> None:
    """54-record-without-its-journal-is-ready: derived files alone show nothing."""
    change(record)
    folder = record.parent.parent
    _, runs = said("runs", cwd=folder)
    assert "damaged" in runs or "bad" not in runs, runs
    _, board = said("leaderboard", cwd=folder)
    assert " bad openai/" not in board, board
    for words in (("compare", "good", "bad"), ("gate", "bad"), ("show", "bad"), ("verify", "bad")):
        code, told = said(*words, cwd=folder)
        assert code != 0, f"{words}: {told}"
        if change is pointer:
            assert "is a Git LFS pointer" in told, told
            assert "git lfs pull" in told
            assert told.count("git lfs pull") == 1, told  # once is enough
