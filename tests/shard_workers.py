"""What workers do in tests of engines: each is sent to a process, so it is found by its name there."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from benchbook.ask.engines.all_shards import ShardSaid
from benchbook.ask.shared_rates import Desk
from benchbook.record.shards import ShardAsked


def said_whole(shard: ShardAsked, desk: Desk | None = None) -> ShardSaid:
    return ShardSaid(number=shard.number, of=shard.of, path=str(os.getpid()), n_done=10 * shard.number)


@dataclass(frozen=True)
class KilledFirst:
    """Is killed so many times, then says that its shard is whole."""

    folder: str
    times: int

    def __call__(self, shard: ShardAsked, desk: Desk | None = None) -> ShardSaid:
        with (Path(self.folder) / str(shard.number)).open("a", encoding="utf-8") as file:
            file.write("x")
            begun = file.tell()
        if begun <= self.times:
            os.kill(os.getpid(), signal.SIGKILL)
        return said_whole(shard)


def ends_with_3(shard: ShardAsked, desk: Desk | None = None) -> ShardSaid:
    sys.stdout.write("what a worker prints is no answer\n")
    sys.exit(3)


@dataclass(frozen=True)
class UntilItIsEnded:
    """Says that it has begun, and waits for a signal."""

    begun: str

    def __call__(self, shard: ShardAsked, desk: Desk | None = None) -> ShardSaid:
        ended: list[str] = []
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: ended.append(signal.Signals(number).name))
        Path(self.begun).write_text(str(os.getpid()), encoding="utf-8")
        while not ended:
            signal.pause()
        Path(f"{self.begun}.ended").write_text(ended[0], encoding="utf-8")
        return ShardSaid(number=shard.number, of=shard.of, n_done=3, reason=f"ended by {ended[0]}", fault="interrupted")
