"""What a run says of itself while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest
from click.testing import CliRunner

from benchbook.ask.starting import RunResult
from benchbook.ask.work import Progress
from benchbook.cli.demo import demo
from benchbook.errors import RunStoppedError
from benchbook.evaluators.registry import start_run
from benchbook.evaluators.settings import RunConfig
from benchbook.views.progress import _Left, progress_words, verification_words
from running import benchbook, config
from scored import scored
from scripted_server import always_good, running


def test_the_time_left_is_by_all_that_was_done_here() -> None:
    """Four samples end at once after 4 s: 36 more in fours take 36 s, and not the blink between the last two."""
    left = _Left(started=100.0)
    assert [left.words(Progress(planned=40, done=done), 104.0) for done in (1, 2, 3, 4)][-1] == ", about 0:00:36 left"
    assert left.words(Progress(planned=40, done=40), 140.0) == ""


def test_what_earlier_sittings_did_is_not_this_ones_speed() -> None:
    left = _Left(started=0.0)
    assert left.words(Progress(planned=100, done=91), 2.0) == ", about 0:00:18 left"


@pytest.mark.parametrize("done", [0, 3])
def test_a_run_that_stops_has_no_time_left(done: int) -> None:
    left = _Left(started=0.0)
    assert left.words(Progress(planned=40, done=done, stopping="interrupted by Ctrl-C"), 5.0) == ""


@pytest.mark.parametrize(
    ("stopping", "words"),
    [
        (None, "3 of 40 samples"),
        ("the time limit", "3 of 40 samples (finishing what is under way)"),
        ("interrupted by Ctrl-C", "3 of 40 samples (finishing what is under way; Ctrl-C again ends at once)"),
    ],
)
def test_a_stop_is_told(stopping: str | None, words: str) -> None:
    assert progress_words(Progress(planned=40, done=3, stopping=stopping)) == words


def test_a_step_after_the_asking_is_told_with_a_speed_of_its_own() -> None:
    assert progress_words(Progress(planned=40, done=3, step="scored")) == "3 of 40 samples scored"
    left = _Left(started=0.0)
    assert left.words(Progress(planned=40, done=20), 100.0) == ", about 0:33:20 left"
    assert left.words(Progress(planned=40, done=1, step="scored"), 200.0) == ""
    assert left.words(Progress(planned=40, done=14, step="scored"), 201.0) == ", about 0:00:02 left"


def test_why_there_is_waiting_is_told() -> None:
    waiting = "the server asks to wait 1 s (429), 1 request at a time"
    assert progress_words(Progress(planned=40, done=3, waiting=waiting)) == f"3 of 40 samples; {waiting}"
    stopping = progress_words(Progress(planned=40, done=3, waiting=waiting, stopping="the time limit"))
    assert stopping == "3 of 40 samples (finishing what is under way)"


@pytest.mark.parametrize("repeats", ["0", "-1", "1001"])
def test_a_demo_of_no_repeats_is_refused_before_it_begins(tmp_path: Path, repeats: str) -> None:
    found = benchbook("demo", "--repeats", repeats, cwd=tmp_path)
    assert (found.returncode, found.stdout) == (2, b"")
    assert b"is not in the range 1<=x<=1000" in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_demo_that_is_interrupted_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a Ctrl-C leaves is no demonstration: it ends with 3, and shows nothing after the summary."""

    async def interrupted(*_: object) -> RunResult:
        with running(always_good) as server:
            return await stopped_run(config(tmp_path, server, 2))

    async def stopped_run(settings: RunConfig) -> RunResult:
        result = await start_run(settings)
        result.stop.because("interrupted by Ctrl-C")
        return result

    monkeypatch.setattr("benchbook.evaluators.registry.start_run", interrupted)
    found = CliRunner().invoke(demo, ["--reports", str(tmp_path / "reports")])
    assert isinstance(found.exception, RunStoppedError)
    assert str(found.exception).startswith("interrupted by Ctrl-C. Resume: benchbook run --resume ")
    assert "can't judge" not in found.output


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty on Windows")
def test_a_verification_has_a_bar_on_a_terminal_and_says_nothing_elsewhere(tmp_path: Path) -> None:
    record = str(scored(tmp_path).record.path)
    assert benchbook("verify", record).stderr == b""
    ours, theirs = os.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchbook", "verify", record], stdout=PIPE, stderr=theirs, check=True
        )
        said = os.read(ours, 65_536).decode("utf-8")
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"verified" in done.stdout
    assert "samples derived again" in said


def test_how_far_a_verification_is() -> None:
    assert verification_words("facts", 12_000, 90_000) == "12,000 of 90,000 facts read"
    assert verification_words("samples", 512, None) == "512 samples derived again"
