"""Shards asked by processes of this machine, each by a new one, which is started again where it was killed."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
import threading
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from typing import Any

from benchbook.ask.engines.all_shards import RESTARTS, AskShard, ShardSaid, without_word
from benchbook.record.shards import ShardAsked
from benchbook.system.pythons import answer_stream, python_running


class Processes:
    """An engine of processes: their environment is this one's, and they end with it."""

    def __init__(self, ask: AskShard) -> None:
        self._ask = ask
        self._at_work: set[Process] = set()
        self._interrupted = False

    async def ask(self, shard: ShardAsked) -> ShardSaid:
        code = 0
        for _ in range(RESTARTS + 1):
            said, code = await self._ask_once(shard)
            if said is not None:
                return said
            if self._interrupted:
                return without_word(shard, "interrupted", "interrupted before it had begun")
            if code >= 0:
                return without_word(shard, "lost", f"its process ended with {code}, and said nothing")
        return without_word(shard, "lost", f"its process was killed {RESTARTS + 1} times, the last by signal {-code}")

    async def _ask_once(self, shard: ShardAsked) -> tuple[ShardSaid | None, int]:
        """The words of a process for the shard, None where it was killed before; and the code that it ended with."""
        # A session of its own: a terminal's Ctrl-C comes to this process alone, which passes it on once.
        process = await asyncio.create_subprocess_exec(
            *python_running(__name__), stdin=PIPE, stdout=PIPE, start_new_session=True
        )
        self._at_work.add(process)
        try:
            return await self._said_by(process, shard), await process.wait()
        except BaseException:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise
        finally:
            self._at_work.discard(process)
            assert process.stdin is not None  # noqa: S101 - a pipe
            process.stdin.close()

    async def _said_by(self, process: Process, shard: ShardAsked) -> ShardSaid | None:
        to, of = process.stdin, process.stdout
        assert to is not None and of is not None  # noqa: S101, PT018 - both are pipes
        with suppress(ConnectionError):
            to.write(pickle.dumps((self._ask, shard)))
            await to.drain()
        said: ShardSaid | None = None
        with suppress(EOFError, pickle.UnpicklingError):  # killed while it said it
            said = pickle.loads(await of.read())  # noqa: S301 - of our own process
        return said

    def interrupt(self) -> None:
        self._interrupted = True
        for process in self._at_work:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)


# ── the worker's own side ────────────────────────────────────────────────────────────────────────────────────


def main() -> None:
    """Ask the shard that comes on standard input, and say on standard output what came of it."""
    out = answer_stream()
    ask, shard = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own parent
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    said: Any = ask(shard)
    pickle.dump(said, out)
    out.close()


def _end_with_the_parent() -> None:
    """Wait until the pipe ends, as it does with the parent, however that ends; then finish what is under way."""
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)
