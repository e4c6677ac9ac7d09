"""All shards of a run, by an engine that is made here: who is begun when, and what stops the others."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

import pytest

from benchbook.ask.engines.all_shards import RESTARTS, Fault, ShardSaid, ShardsAsked, ask_all
from benchbook.ask.work import run_async
from benchbook.record.shards import ShardAsked

Says = Callable[[ShardAsked, int], tuple[Fault | None, str | None]]  # of a shard, and how often it was asked before


class Made:
    """An engine whose shards take a turn of the loop each, and say what they are told to."""

    def __init__(self, says: Says = lambda *_: (None, None)) -> None:
        self.says = says
        self.begun: list[int] = []
        self.at_once = self.most_at_once = self.interrupts = 0

    async def ask(self, shard: ShardAsked) -> ShardSaid:
        fault, reason = self.says(shard, self.begun.count(shard.number))
        self.begun.append(shard.number)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return ShardSaid(number=shard.number, of=shard.of, reason=reason, fault=fault)

    def interrupt(self) -> None:
        self.interrupts += 1


def shards(of: int) -> list[ShardAsked]:
    return [ShardAsked(number, of, 2) for number in range(1, of + 1)]


def asked(engine: Made, of: int = 6, at_once: int = 2) -> ShardsAsked:
    return run_async(ask_all(engine, shards(of), at_once))


@pytest.mark.parametrize(("at_once", "most"), [(1, 1), (2, 2), (6, 6), (9, 6)])
def test_no_more_are_asked_at_once(at_once: int, most: int) -> None:
    engine, ended = Made(), list[int]()
    found = run_async(ask_all(engine, shards(6), at_once, lambda said: ended.append(said.number)))
    assert (engine.begun, engine.most_at_once, found.stop.reason) == ([1, 2, 3, 4, 5, 6], most, None)
    assert sorted(ended) == sorted(found.said) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("fault", "begun", "failed", "usage"),
    [
        pytest.param("usage", [1, 2, 3], False, True, id="the settings are to blame"),
        pytest.param("failed", [1, 2, 3], True, False, id="a server is down"),
        pytest.param("lost", [1, 2, 3], True, False, id="a worker that can't work"),
        pytest.param("limit", [1, 2, 3, 4, 5, 6], False, False, id="a limit, of which each shard has its part"),
    ],
)
def test_what_a_person_must_put_right_stops_the_others(
    fault: Fault, begun: list[int], failed: bool, usage: bool
) -> None:
    """Two at once: as the second ends, the third has been begun in the place of the first."""
    engine = Made(lambda shard, _: (fault, "so it is") if shard.number == 2 else (None, None))
    stop = asked(engine).stop
    assert engine.begun == begun
    assert (stop.reason, stop.failed, stop.usage) == ("shard 2/6: so it is", failed, usage)


def test_a_worker_that_somebody_else_ended_is_begun_again() -> None:
    ended = ("interrupted", "interrupted by a request to terminate")
    found = asked(engine := Made(lambda shard, before: ended if before < 3 and shard.number == 1 else (None, None)))
    assert (engine.begun.count(1), found.stop.reason) == (4, None)
    stop = asked(engine := Made(lambda shard, _: ended if shard.number == 1 else (None, None))).stop
    assert engine.begun.count(1) == RESTARTS
    assert stop.reason == "shard 1/6: its worker was ended 20 times. interrupted by a request to terminate."


def test_a_first_interrupt_lets_those_under_way_end_and_begins_no_other() -> None:
    class Interrupted(Made):
        async def ask(self, shard: ShardAsked) -> ShardSaid:
            if shard.number == 3:
                signal.raise_signal(signal.SIGINT)
                while not self.interrupts:
                    await asyncio.sleep(0)
            return await super().ask(shard)

    engine = Interrupted()
    stop = asked(engine, at_once=1).stop
    assert engine.interrupts == 1
    assert engine.begun == [1, 2, 3]
    assert (stop.interrupted, stop.reason) == (True, "interrupted by Ctrl-C")


def test_a_second_interrupt_ends_all_at_once() -> None:
    class Endless(Made):
        ended = 0

        async def ask(self, shard: ShardAsked) -> ShardSaid:
            self.begun.append(shard.number)
            try:
                while True:
                    signal.raise_signal(signal.SIGINT)
                    await asyncio.sleep(0)
            finally:
                self.ended += 1

    engine = Endless()
    stop = asked(engine, at_once=1).stop
    assert (engine.begun, engine.ended, engine.interrupts, stop.interrupted) == ([1], 1, 1, True)
