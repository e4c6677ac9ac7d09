"""All shards of a run, asked elsewhere, so many at once: what an engine is, and what comes back of each shard.

A worker that was killed is started again by its engine. What stops by itself says why, and nobody tries it again: the
same call goes on with it, once that is put right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from benchbook.ask.limits import Stop, two_step_interrupt
from benchbook.ask.sharding import ShardResult
from benchbook.ask.shared_rates import Desk
from benchbook.errors import BenchbookError, UsageError
from benchbook.record.shards import ShardAsked
from benchbook.text import sentences

RESTARTS = 20  # of one shard; whatever kills its worker once more does so each time

# Why a shard is not whole. A person, or whoever ends a worker politely; a limit of the user's; something that a person
# must put right, in the settings or elsewhere; a worker that was killed too often, or can't work at all.
Fault: TypeAlias = Literal["interrupted", "limit", "usage", "failed", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardSaid:
    """How far a shard is, as its worker says: all that goes back to whoever began it."""

    number: int
    of: int
    path: str | None = None
    n_done: int = 0
    reason: str | None = None
    fault: Fault | None = None

    @property
    def is_whole(self) -> bool:
        return self.fault is None


class AskShard(Protocol):
    """The work of a worker, which is sent to it whole, so that it is picklable and holds nothing secret.

    It begins a shard, or goes on with it. A desk, if there is one, lends it the rates that others have, too.
    """

    def __call__(self, shard: ShardAsked, desk: Desk | None = None) -> ShardSaid: ...


class Engine(Protocol):
    """Asks shards in workers, each of which may be killed and is started again."""

    async def ask(self, shard: ShardAsked) -> ShardSaid:
        """Have a shard asked, and wait for what its worker says. When cancelled, its worker ends at once."""
        ...

    def interrupt(self) -> None:
        """Have all workers finish what is under way, and end."""
        ...


def said_of(result: ShardResult) -> ShardSaid:
    """The words of a worker for a shard after a sitting."""
    stop, shard = result.stop, result.shard
    fault: Fault | None = None
    if stop.reason is not None:
        fault = "interrupted" if stop.interrupted else "usage" if stop.usage else "failed" if stop.failed else "limit"
    path = str(result.record.path)
    return ShardSaid(number=shard.number, of=shard.of, path=path, n_done=result.n_done, reason=stop.reason, fault=fault)


def said_wrong(shard: ShardAsked, error: BenchbookError) -> ShardSaid:
    """The words of a worker for a shard that it could not begin, or go on with."""
    fault: Fault = "usage" if isinstance(error, UsageError) else "failed"
    return ShardSaid(number=shard.number, of=shard.of, reason=str(error), fault=fault)


def without_word(shard: ShardAsked, fault: Fault, reason: str) -> ShardSaid:
    """The words of an engine for a shard whose worker said nothing."""
    return ShardSaid(number=shard.number, of=shard.of, reason=reason, fault=fault)


@dataclass(slots=True)
class ShardsAsked:
    """The end of all shards. Where not all are whole, `stop.reason` says why."""

    stop: Stop = field(default_factory=Stop)
    said: dict[int, ShardSaid] = field(default_factory=dict)


async def ask_all(
    engine: Engine, shards: Iterable[ShardAsked], at_once: int, on_ended: Callable[[ShardSaid], None] = lambda _: None
) -> ShardsAsked:
    """Have all shards asked, at most so many at once; `on_ended` is told of each that ended.

    Once something is wrong that a person must put right, no other is begun, and those under way end by themselves. A
    first Ctrl-C has them finish what is under way; a second ends them at once.
    """
    asked = ShardsAsked()
    waiting = iter(shards)
    with two_step_interrupt(asked.stop, on_first=engine.interrupt):
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(_ask_in_turn(engine, waiting, asked, on_ended))
    for one in asked.said.values():
        if not one.is_whole:
            _stop_for(one, asked.stop)
    return asked


async def _ask_in_turn(
    engine: Engine, waiting: Iterator[ShardAsked], asked: ShardsAsked, on_ended: Callable[[ShardSaid], None]
) -> None:
    for shard in waiting:
        if asked.stop.reason is not None:
            return
        said = await _ask_until_it_ends(engine, shard, asked.stop)
        asked.said[said.number] = said
        if said.fault in ("usage", "failed", "lost"):
            _stop_for(said, asked.stop)
        on_ended(said)


async def _ask_until_it_ends(engine: Engine, shard: ShardAsked, stop: Stop) -> ShardSaid:
    """Have a shard asked. A worker that somebody else asked to end (a node that is drained) is no end of its shard."""
    for _ in range(RESTARTS):
        said = await engine.ask(shard)
        if said.fault != "interrupted" or stop.reason is not None:
            return said
    return without_word(shard, "lost", sentences(f"its worker was ended {RESTARTS} times", said.reason or ""))


def _stop_for(said: ShardSaid, stop: Stop) -> None:
    reason = f"shard {said.number}/{said.of}: {said.reason}"
    stop.because(reason, failed=said.fault in ("failed", "lost"), usage=said.fault == "usage")
