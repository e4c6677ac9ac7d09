"""Shards by processes of this machine: those that are killed are started again, and none outlives who began it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbook.ask.engines.all_shards import RESTARTS, AskShard, ShardsAsked, ask_all
from benchbook.ask.engines.processes import Processes
from benchbook.ask.work import run_async
from benchbook.record.shards import ShardAsked
from shard_workers import KilledFirst, UntilItIsEnded, ends_with_3, said_whole
from support import ROOT

_LONG_S = 60.0  # for what a busy machine may take


def asked(work: AskShard, of: int = 1) -> ShardsAsked:
    return run_async(ask_all(Processes(work), [ShardAsked(number, of, of) for number in range(1, of + 1)], of))


def until(found: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _LONG_S
    while not found():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_each_shard_has_a_process_of_its_own() -> None:
    said = asked(said_whole, 3).said
    assert {number: one.n_done for number, one in said.items()} == {1: 10, 2: 20, 3: 30}
    assert len({one.path for one in said.values()} | {str(os.getpid())}) == 4


def test_what_was_killed_is_started_again(tmp_path: Path) -> None:
    found = asked(KilledFirst(str(tmp_path), 3), 2)
    assert found.stop.reason is None
    assert [(tmp_path / number).read_text("utf-8") for number in ("1", "2")] == ["xxxx", "xxxx"]


def test_but_not_for_ever(tmp_path: Path) -> None:
    found = asked(KilledFirst(str(tmp_path), 1_000))
    assert found.stop.reason == "shard 1/1: its process was killed 21 times, the last by signal 9"
    assert (found.stop.failed, len((tmp_path / "1").read_text("utf-8"))) == (True, RESTARTS + 1)


def test_one_that_breaks_by_itself_is_not_started_again() -> None:
    assert asked(ends_with_3).stop.reason == "shard 1/1: its process ended with 3, and said nothing"


@pytest.mark.parametrize(("number", "words"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "a request to terminate")])
def test_an_interrupt_is_passed_on(tmp_path: Path, number: signal.Signals, words: str) -> None:
    begun = tmp_path / "begun"

    async def ask() -> ShardsAsked:
        engine = Processes(UntilItIsEnded(str(begun)))
        work = asyncio.ensure_future(ask_all(engine, [ShardAsked(1, 1, 1)], 1))
        while not begun.exists() or not begun.read_text("utf-8"):
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), number)
        return await work

    found = run_async(ask())
    assert (found.stop.reason, found.said[1].n_done) == (f"interrupted by {words}", 3)
    assert (tmp_path / "begun.ended").read_text("utf-8") == "SIGINT"


def test_a_worker_ends_with_whoever_began_it(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = (
        "from benchbook.ask.engines.all_shards import ask_all; from benchbook.ask.engines.processes import Processes; "
        "from benchbook.ask.work import run_async; from benchbook.record.shards import ShardAsked; "
        "from shard_workers import UntilItIsEnded; "
        f"run_async(ask_all(Processes(UntilItIsEnded({str(begun)!r})), [ShardAsked(1, 1, 1)], 1))"
    )
    paths = os.pathsep.join(str(ROOT / name) for name in ("src", "tests"))
    parent = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": paths})
    until(lambda: begun.exists() and bool(begun.read_text("utf-8")))
    parent.kill()
    parent.wait()
    until((tmp_path / "begun.ended").exists)
    until(lambda: (tmp_path / "begun.ended").read_text("utf-8") == "SIGTERM")
