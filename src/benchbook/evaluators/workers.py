"""Does work in worker processes, one a core, in order; in this process where that would cost more than it saves.

A worker is a new Python that knows its job and is sent tasks one after the other: parts of a run to derive, shards to
read. It ends when the pipe to it does, so that none is left behind, however its parent ends. What a worker can't do,
this process does: so errors are the same.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from benchbook.errors import ConfigError
from benchbook.evaluators.parts import SamplePart, alone
from benchbook.system import SYSTEM
from benchbook.system.cores import usable_cores
from benchbook.system.pythons import answer_stream, python_running

SETTING = "BENCHBOOK_WORKERS"
_SAMPLES_A_WORKER = 100_000  # for fewer, starting one costs more than it saves
_PARTS_AT_ONCE = 2  # that follow each other, and share what is read of the journal
_AHEAD = 2  # times as many tasks for each worker, that are done before their results are taken

_Result = TypeVar("_Result")
_Task = TypeVar("_Task")
_Of = TypeVar("_Of", covariant=True)
_On = TypeVar("_On", contravariant=True)


class WorkerJob(Protocol[_On, _Of]):
    """The work on each task, as it is sent to a worker."""

    def begin(self) -> Callable[[_On], _Of]:
        """Does one task after the other."""


def worker_count(n_samples: int) -> int:
    """How many workers a run is worth: at most the cores that this process may use, and `BENCHBOOK_WORKERS`.

    Raises: ConfigError.
    """
    if SYSTEM.no_records is not None or not sys.executable:
        return 1
    cores = usable_cores() or 1
    asked = os.environ.get(SETTING, "")
    if asked and (not asked.isascii() or not asked.isdigit() or int(asked) < 1):
        raise ConfigError(SETTING, repr(asked[:80]), "a whole number of at least 1")
    return max(1, min(cores, int(asked or cores), n_samples // _SAMPLES_A_WORKER))


def derived_parts(
    job: WorkerJob[SamplePart, _Result],
    parts: Iterable[SamplePart],
    n_workers: int,
    here: Callable[[SamplePart], _Result],
) -> Iterator[_Result]:
    """The result of each part, in their order. `here` derives one in this process."""
    return done_in_order(job, parts, n_workers, here, at_once=_PARTS_AT_ONCE, to_send=alone)


def done_in_order(
    job: WorkerJob[_Task, _Result],
    tasks: Iterable[_Task],
    n_workers: int,
    here: Callable[[_Task], _Result],
    *,
    at_once: int = 1,
    to_send: Callable[[list[_Task]], list[_Task]] = lambda some: some,
) -> Iterator[_Result]:
    """The result of each task, in their order. `here` does one in this process. A worker gets `at_once` of them, as
    `to_send` makes them."""
    if n_workers < 2:
        yield from map(here, tasks)
        return
    following = iter(tasks)
    with _Workers(job, n_workers) as workers:
        waiting: deque[tuple[list[_Task], Future[list[_Result] | None]]] = deque()
        while some := list(islice(following, at_once)):
            waiting.append((some, workers.submit(to_send(some))))
            if len(waiting) == n_workers * _AHEAD:
                yield from _taken(*waiting.popleft(), here)
        while waiting:
            yield from _taken(*waiting.popleft(), here)


def _taken(
    some: list[_Task], found: Future[list[_Result] | None], here: Callable[[_Task], _Result]
) -> Iterable[_Result]:
    results = found.result()
    return map(here, some) if results is None else results


class _Workers(Generic[_Task, _Result]):
    """Worker processes; each is spoken to by a thread of its own, which waits for it."""

    def __init__(self, job: WorkerJob[_Task, _Result], count: int) -> None:
        self._job = pickle.dumps(job)
        self._is_closing = False
        self._all: list[_Worker] = []
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="task")
        for _ in range(count):
            self._all.append(_Worker(self._job))
            self._free.put(self._all[-1])

    def submit(self, some: list[_Task]) -> Future[list[_Result] | None]:
        return self._threads.submit(self._do, some)

    def _do(self, some: list[_Task]) -> list[_Result] | None:
        worker = self._free.get()
        try:
            found: list[_Result] | None = worker.do(some)
        finally:
            if worker.has_ended and not self._is_closing:
                # Another takes its place: it would be the first that is free, and do nothing.
                worker = _Worker(self._job)
                self._all.append(worker)
            self._free.put(worker)
        return found

    def __enter__(self) -> _Workers[_Task, _Result]:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        self._is_closing = True
        if error is not None:
            for one in self._all:
                one.kill()
        self._threads.shutdown(cancel_futures=True)
        for one in self._all:
            one.end()


class _Worker:
    """One process. After it was killed it does nothing more."""

    def __init__(self, job: bytes) -> None:
        self._process = subprocess.Popen(
            python_running(__name__),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"POLARS_MAX_THREADS": "1"},
        )
        self._job: bytes | None = job
        self.has_ended = False

    def do(self, some: list[Any]) -> Any:
        """The result of each task; None where the worker can't give them."""
        to, of = self._process.stdin, self._process.stdout
        assert to and of  # noqa: S101, PT018 - both are pipes
        try:
            if self._job is not None:
                to.write(self._job)
                self._job = None
            to.write(pickle.dumps(some))
            to.flush()
            return pickle.load(of)  # noqa: S301 - of our own process
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            self.kill()
            return None

    def kill(self) -> None:
        self.has_ended = True
        with suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert pipe  # noqa: S101 - both are pipes
                pipe.close()
        self._process.wait()


# ── the worker's own side ────────────────────────────────────────────────────────────────────────────────────


def main() -> None:
    """Do the tasks that come on standard input, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, whose end is ours
    out = answer_stream()
    messages: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(messages,), daemon=True).start()
    do = messages.get().begin()
    while True:
        some = messages.get()
        try:
            found = list(map(do, some))
        except Exception:
            found = None  # the parent meets the same fault, and says it
        pickle.dump(found, out, pickle.HIGHEST_PROTOCOL)
        out.flush()


def _receive(messages: SimpleQueue[Any]) -> None:
    try:
        while True:
            messages.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - of our own parent
    except BaseException:
        os._exit(0)
