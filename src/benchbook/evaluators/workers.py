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
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from benchbook.errors import ConfigError
from benchbook.evaluators.parts import SamplePart
from benchbook.system import SYSTEM
from benchbook.system.cores import usable_cores

SETTING = "BENCHBOOK_WORKERS"
_SAMPLES_A_WORKER = 100_000  # for fewer, starting one costs more than it saves
_AHEAD = 2  # tasks a worker that are done before their results are taken

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
    return done_in_order(job, parts, n_workers, here, SamplePart.alone)


def done_in_order(
    job: WorkerJob[_Task, _Result],
    tasks: Iterable[_Task],
    n_workers: int,
    here: Callable[[_Task], _Result],
    to_send: Callable[[_Task], _Task] = lambda task: task,
) -> Iterator[_Result]:
    """The result of each task, in their order. `here` does one in this process; `to_send` is one as workers get it."""
    if n_workers < 2:
        yield from map(here, tasks)
        return
    with _Workers(job, n_workers) as workers:
        waiting: deque[tuple[_Task, Future[_Result | None]]] = deque()
        for task in tasks:
            waiting.append((task, workers.submit(to_send(task))))
            if len(waiting) == n_workers * _AHEAD:
                yield _taken(*waiting.popleft(), here)
        while waiting:
            yield _taken(*waiting.popleft(), here)


def _taken(task: _Task, found: Future[_Result | None], here: Callable[[_Task], _Result]) -> _Result:
    result = found.result()
    return here(task) if result is None else result


class _Workers(Generic[_Task, _Result]):
    """Worker processes; each is spoken to by a thread of its own, which waits for it."""

    def __init__(self, job: WorkerJob[_Task, _Result], count: int) -> None:
        self._job = pickle.dumps(job)
        self._all: list[_Worker] = []
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="task")
        for _ in range(count):
            self._all.append(_Worker(self._job))
            self._free.put(self._all[-1])

    def submit(self, task: _Task) -> Future[_Result | None]:
        return self._threads.submit(self._do, task)

    def _do(self, task: _Task) -> _Result | None:
        worker = self._free.get()
        try:
            found: _Result | None = worker.do(task)
        finally:
            self._free.put(worker)
        return found

    def __enter__(self) -> _Workers[_Task, _Result]:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is not None:
            for one in self._all:
                one.kill()
        self._threads.shutdown(cancel_futures=True)
        for one in self._all:
            one.end()


class _Worker:
    """One process. After a fault it does nothing more."""

    def __init__(self, job: bytes) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"POLARS_MAX_THREADS": "1"},
        )
        self._job: bytes | None = job

    def do(self, task: Any) -> Any:
        """The result; None where the worker can't give it."""
        to, of = self._process.stdin, self._process.stdout
        assert to and of  # noqa: S101, PT018 - both are pipes
        try:
            if self._job is not None:
                to.write(self._job)
                self._job = None
            to.write(pickle.dumps(task))
            to.flush()
            return pickle.load(of)  # noqa: S301 - of our own process
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            self.kill()
            return None

    def kill(self) -> None:
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
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what else is printed goes nowhere
    messages: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(messages,), daemon=True).start()
    do = messages.get().begin()
    while True:
        task = messages.get()
        try:
            found = do(task)
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
