"""Keeps a shard in an object store while it is asked: what came since the last time is pushed every so many seconds.

Asking does not wait for the store. One that can't be reached is tried again the next time, and what it lacks at the end
is said. Only another writer of the same shard ends the sitting: its facts and these would be of two journals.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchbook.ask.limits import Stop
from benchbook.errors import BenchbookError, ConfigError, StoreError, TakenError
from benchbook.record.folder import ShardRecord
from benchbook.record.shards import shard_path
from benchbook.stores.address import StoreAddress, store_address
from benchbook.stores.objects import Objects, open_objects
from benchbook.stores.parts import JournalPusher
from benchbook.stores.pulling import pull_shard
from benchbook.stores.pushing import shard_pusher

PUSH_SECONDS = 30.0
_LOOK_SECONDS = 1.0
_PATIENCE_SECONDS = 5.0  # with a push that is under way when nothing more is waited for


@dataclass(frozen=True, slots=True)
class Keep:
    """A store that shards are kept in: a machine that is lost costs what its journal got in the last `push_seconds`."""

    address: StoreAddress
    push_seconds: float = PUSH_SECONDS

    def of_run(self, run_id: str) -> Objects:
        """The objects of a run. Raises: UsageError, StoreError."""
        return open_objects(self.address / run_id)


def keep_in(store: str | None, push_seconds: float | None) -> Keep | None:
    """The store of this address; None where there is none. Raises: ConfigError."""
    if store is None:
        if push_seconds is not None:
            raise ConfigError("push_seconds", "no store", "it with a store alone")
        return None
    return Keep(store_address(store), PUSH_SECONDS if push_seconds is None else push_seconds)


class ShardKeeper:
    """Keeps one shard in a store."""

    def __init__(self, keep: Keep, runs: str | Path, run_id: str, number: int) -> None:
        self._keep = keep
        self._where = (runs, run_id, number)
        self._objects = keep.of_run(run_id)
        self._pusher: JournalPusher | None = None

    def pull(self) -> None:
        """Bring the shard here as far as the store has it, where this folder has less. Raises: as `pull_shard`."""
        pull_shard(self._objects, *self._where)

    def begin(self) -> None:
        """Push what there is of the shard. Raises: TakenError where another writer was quicker; StoreError."""
        self._pusher = shard_pusher(self._objects, ShardRecord(shard_path(*self._where)))
        self._pusher.push()

    @asynccontextmanager
    async def beside(self, stop: Stop) -> AsyncIterator[None]:
        """Push while the block runs, and all of it once it has ended. `stop` is told of another writer.

        Raises: TakenError; StoreError where something did not come to the store.
        """
        assert self._pusher is not None  # noqa: S101 - it was begun
        pushing = _Pushing(self._pusher, self._keep.push_seconds, stop)
        pushing.start()
        try:
            yield
        except BaseException:
            pushing.drop()
            raise
        await pushing.end()
        self._tell(pushing.failure)

    def _tell(self, failure: BenchbookError | None) -> None:
        if isinstance(failure, StoreError) and not isinstance(failure, TakenError):
            path = shard_path(*self._where)
            raise StoreError(f"{failure}. What was recorded is whole in {path}; the same command pushes it") from None
        if failure is not None:
            raise failure


class _Pushing(threading.Thread):
    """The thread that pushes, so that a store that is slow keeps nobody waiting."""

    def __init__(self, pusher: JournalPusher, every_s: float, stop: Stop) -> None:
        super().__init__(name="shard-push", daemon=True)
        self.failure: BenchbookError | None = None
        self._pusher = pusher
        self._every_s = every_s
        self._sitting = stop
        self._ending = threading.Event()
        self._is_dropped = False
        self._loop = asyncio.get_running_loop()
        self._done = asyncio.Event()

    def run(self) -> None:
        pushed_at = time.monotonic()
        while not self._ending.wait(min(_LOOK_SECONDS, self._every_s)):
            if time.monotonic() - pushed_at >= self._every_s or self._pusher.has_whole_segment:
                self._push()
                pushed_at = time.monotonic()
            if isinstance(self.failure, TakenError):
                self._loop.call_soon_threadsafe(self._say_taken, self.failure)
                break
        self._ending.wait()
        if not self._is_dropped:
            if not isinstance(self.failure, TakenError):
                self._push()
            self._loop.call_soon_threadsafe(self._done.set)

    def _push(self) -> None:
        try:
            self._pusher.push()
            self.failure = None
        except BenchbookError as error:
            self.failure = error

    def _say_taken(self, failure: TakenError) -> None:
        self._sitting.because(str(failure), failed=True)

    async def end(self) -> None:
        """Return once everything was pushed, or could not be."""
        self._ending.set()
        try:
            await self._done.wait()
        except BaseException:
            self.drop()
            raise

    def drop(self) -> None:
        """Push nothing more; what is under way may end."""
        self._is_dropped = True
        self._ending.set()
        self.join(_PATIENCE_SECONDS)


@contextmanager
def kept_shard(keep: Keep | None, runs: str | Path, run_id: str | None, number: int) -> Iterator[None]:
    """Keep a shard that nobody is asked for: it is pulled before the block, which may make it, and pushed after it."""
    if keep is None or run_id is None:
        yield
        return
    keeper = ShardKeeper(keep, runs, run_id, number)
    keeper.pull()
    yield
    keeper.begin()
