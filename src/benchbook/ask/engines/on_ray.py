"""Shards asked by a Ray cluster: a task a shard, which Ray starts again where its worker or node was lost.

What goes through Ray is a task's settings and what came of it. Keys never do: each worker has those of its own
environment. Records go to a folder that all nodes share.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from benchbook.ask.engines.all_shards import RESTARTS, AskShard, ShardSaid, said_wrong, without_word
from benchbook.ask.engines.ray_desk import RayDesk, begin_desk
from benchbook.ask.identity import code_version
from benchbook.ask.shared_rates import SharedRates
from benchbook.errors import BenchbookError, UsageError
from benchbook.record.shards import ShardAsked
from benchbook.text import first_words_of, shorten

_OBJECT_STORE_BYTES = 80 * 1024 * 1024  # about the least that Ray takes; a shard's result has some hundred bytes
_ANSWERS_WITHIN_S = 10.0
_OURS = "local"  # as Ray calls a cluster of one's own, on this machine


def check_ray() -> None:
    """Raises: UsageError where Ray is not installed."""
    _ray()


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError("--engine ray needs an extra: pip install 'benchbook[ray]'") from None
    return ray


@dataclass(frozen=True, slots=True)
class SharedPlace:
    """Where a run is begun, and by which Benchbook: on every node it must be the same."""

    folder: str  # from which paths in settings are seen
    run: str  # the folder of the run, which is there before any shard
    version: str

    def enter(self) -> None:
        """Go there, in a worker. Raises: UsageError that names the node, and what it lacks."""
        node = f"node {socket.gethostname()}"
        if (found := _version()) != self.version:
            raise UsageError(f"{node}: has Benchbook {found}; expected {self.version}, as where the run was begun")
        for folder in (self.folder, self.run):
            if not Path(folder).is_dir():
                raise UsageError(f"{node}: does not see {folder}; expected a file system that all nodes share")
        os.chdir(self.folder)


def _version() -> str:
    return str(code_version()["benchbook"])


def place_here(run: Path) -> SharedPlace:
    """This folder, and the folder of a run, for workers elsewhere."""
    return SharedPlace(str(Path.cwd()), str(run.absolute()), _version())


def _ask_there(ask: AskShard, shard: ShardAsked, place: SharedPlace, lends: Any | None) -> ShardSaid:
    """One shard, in a worker of the cluster."""
    try:
        place.enter()
    except BenchbookError as error:
        return said_wrong(shard, error)
    return ask(shard, None if lends is None else RayDesk(_ray(), lends))


class OnRay:
    """An engine of Ray's tasks, in a process that is connected to a cluster."""

    def __init__(self, ray: Any, ask: AskShard, place: SharedPlace, rates: SharedRates | None) -> None:
        self._ray = ray
        self._ask = ask
        self._place = place
        self._lends = None if rates is None else begin_desk(ray, rates)
        self._at_work: set[Any] = set()
        self._task = ray.remote(num_cpus=1, max_retries=RESTARTS, retry_exceptions=False)(_ask_there)

    async def ask(self, shard: ShardAsked) -> ShardSaid:
        errors = self._ray.exceptions
        task = self._task.options(name=f"shard {shard}", scheduling_strategy="SPREAD")
        asked = task.remote(self._ask, shard, self._place, self._lends)
        self._at_work.add(asked)
        try:
            said: ShardSaid = await asked
        except asyncio.CancelledError:
            self._cancel(asked, force=True)
            raise
        except errors.TaskCancelledError:
            return without_word(shard, "interrupted", "interrupted before it had begun")
        except errors.RayError as error:
            return without_word(shard, "lost", f"Ray gave it up: {_first_line(error)}")
        finally:
            self._at_work.discard(asked)
        return said

    def interrupt(self) -> None:
        for asked in self._at_work:
            self._cancel(asked, force=False)

    def _cancel(self, asked: Any, *, force: bool) -> None:
        with suppress(self._ray.exceptions.RayError):
            self._ray.cancel(asked, force=force)


def _first_line(error: BaseException) -> str:
    """The words of an error of Ray's, without the worker's traceback."""
    cause = getattr(error, "cause", None) or error
    return shorten(first_words_of(cause).strip(), 300)


@contextmanager
def opened_on_ray(
    ask: AskShard, place: SharedPlace, address: str | None, rates: SharedRates | None = None
) -> Iterator[OnRay]:
    """An engine on the cluster at this address, else at RAY_ADDRESS; without either, on one of its own on this machine,
    which ends with the block. In a process that is connected to one already, it is that one. Workers share the `rates`,
    if there are any.

    Raises: UsageError where Ray is not installed, or no cluster is reached.
    """
    ray = _ray()
    if ray.is_initialized():
        yield OnRay(ray, ask, place, rates)
        return
    with _rays_words_on_stderr():
        _connect(ray, address or os.environ.get("RAY_ADDRESS") or _OURS)
        try:
            yield OnRay(ray, ask, place, rates)
        finally:
            with redirect_stdout(sys.stderr):  # what it kept back, it prints now
                ray.shutdown()


class _StdoutButRays:
    """Standard output, but for Ray's own threads, which print of each worker that died there: those are on standard
    error, so that an answer for a program (`--json`) stays one."""

    def __init__(self, real: TextIO) -> None:
        self._real = real

    def write(self, text: str) -> int:
        return self._stream().write(text)

    def flush(self) -> None:
        self._stream().flush()

    def _stream(self) -> TextIO:
        return sys.stderr if threading.current_thread().name.startswith("ray_") else self._real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@contextmanager
def _rays_words_on_stderr() -> Iterator[None]:
    real = sys.stdout
    split: Any = _StdoutButRays(real)
    sys.stdout = split
    try:
        yield
    finally:
        if sys.stdout is split:
            sys.stdout = real


def _connect(ray: Any, address: str) -> None:
    """Connect to a cluster, or start one. A worker's output is not shown here: what it has to say, it returns."""
    own: dict[str, Any] = {}
    if address == _OURS:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to Ray's makers
        own = {"include_dashboard": False, "object_store_memory": _OBJECT_STORE_BYTES}
    try:
        _check_answers(address)
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **own)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        expected = "the address of a Ray cluster, such as HOST:6379 or auto; or local, for one of its own"
        raise UsageError(f"Ray at {shorten(address, 200)}: {_first_line(error)}; expected {expected}") from None


def _check_answers(address: str) -> None:
    """Raises: OSError where nobody listens at HOST:PORT. Ray itself would try for minutes, without a word."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWERS_WITHIN_S).close()
