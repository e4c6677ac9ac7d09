"""Runs that the server started, each in a process of its own: `python -m benchbook.server.child`, with its settings as
JSON on standard input."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import msgspec

from benchbook.ask.identity import storable_config
from benchbook.ask.starting import RunResult
from benchbook.ask.work import run_async
from benchbook.canonical import canonical_json, ready
from benchbook.errors import BenchbookError
from benchbook.evaluators.registry import resume_run, start_run
from benchbook.evaluators.settings import RunConfig, config_from_mapping
from benchbook.locks import is_locked, locked_folder
from benchbook.record.folder import RUN_ID, Record, is_record
from benchbook.record.journal import refuse_to_write
from benchbook.record.lines import STATE_FOLDER
from benchbook.server.problems import ProblemError, hidden, problem_bytes, problem_of
from benchbook.server.settings import Settings
from benchbook.server.spending import seen_environment
from benchbook.server.types import Problem
from benchbook.system import SYSTEM
from benchbook.text import visible

_MOST_AT_ONCE = 4
_MOST_BEGINNINGS = 1_000
_STOP_S, _LOOK_AGAIN_S = 20.0, 0.05
_SAYS = "benchbook: "


class Children:
    """The runs that were started over HTTP and still go on: by this server, or by one that was killed.

    Each holds a lock on a file of its own for as long as its process lives, and writes into it which process that is.
    """

    patience_s = 10.0  # for which a run's record is waited for

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = settings.runs / STATE_FOLDER / "started"
        self._lock = Lock()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._beginnings: dict[str, _Beginning] = {}
        self._left = self._left_by_another()

    @property
    def n_running(self) -> int:
        with self._lock:
            self._forget_ended()
            return len(self._running) + len(self._left)

    def has(self, run_id: str) -> bool:
        """True while a run of this id, started over HTTP, goes on."""
        with self._lock:
            self._forget_ended()
            return run_id in self._running or run_id in self._left

    def started(self, run_id: str) -> bool:
        """True for a run of this id that was started over HTTP, by this server or another over its folder."""
        return RUN_ID.fullmatch(run_id) is not None and (self._folder / f"{run_id}.log").is_file()

    def start(self, config: RunConfig, changes: Mapping[str, Any] | None = None) -> bool:
        """Begin the run, and wait a while for its record. True once it is there; False if it takes longer.

        With `changes`, go on with a record that is there, by these settings in the place of its own.
        Its output goes to a file beside the tags. Raises: ProblemError (503, 409), and for what the run itself refuses.
        """
        refuse_to_write(self._settings.runs / str(config.run_id))
        asked = {"config": storable_config(config)} if changes is None else {"resume": changes, "run_id": config.run_id}
        child, beginning = self._begin(config, canonical_json(asked | {"runs": str(self._settings.runs)}))
        told = beginning.told(self.patience_s)
        if isinstance(told, ProblemError):
            with suppress(subprocess.TimeoutExpired):  # it still holds the lock of its id
                child.wait(_STOP_S)
            raise told
        return told

    def beginning_of(self, run_id: str) -> bool | ProblemError | None:
        """As `start`, or the problem that it ended by; None for a run that was not started over HTTP.

        Of those that another server started, whose word was not heard, the output tells.
        """
        log = self._folder / f"{run_id}.log"
        if RUN_ID.fullmatch(run_id) is None or not log.is_file():
            return None
        if is_record(self._folder.parents[1] / run_id):
            return True
        with self._lock:
            beginning = self._beginnings.get(run_id)
        if beginning is not None:
            return beginning.told()
        if self.has(run_id):
            return False
        said = log.read_text("utf-8", "replace").splitlines()
        why = [line.removeprefix(_SAYS) for line in said if line.startswith(_SAYS)]
        return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, hidden(why[-1], self._settings) if why else _NO_WORD)

    def _begin(self, config: RunConfig, asked: bytes) -> tuple[subprocess.Popen[bytes], _Beginning]:
        run_id = str(config.run_id)
        with self._lock:
            self._forget_ended()
            if run_id in self._running or run_id in self._left:
                raise _there_already(run_id)
            if len(self._running) + len(self._left) >= _MOST_AT_ONCE:
                raise ProblemError(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    f"{_MOST_AT_ONCE} runs are going on; try again",
                    {"retry-after": "30"},
                )
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = self._locked(run_id)
            reader, writer = os.pipe()
            beginning = _Beginning(reader, self._settings)
            try:
                with (self._folder / f"{run_id}.log").open("wb") as log:
                    child = subprocess.Popen(
                        [sys.executable, "-m", "benchbook.server.child", str(lock), str(writer)],
                        stdin=subprocess.PIPE,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,  # a Ctrl-C at the server's terminal is for the server to pass on
                        env=seen_environment(_keys(config)),
                        pass_fds=(lock, writer),
                    )
            except BaseException:
                beginning.close()
                raise
            finally:
                os.close(lock)  # the child has it now, and with it the lock
                os.close(writer)
            if child.stdin is not None:
                with suppress(BrokenPipeError), child.stdin as pipe:  # its log says why it ended
                    pipe.write(asked)
            self._running[run_id] = child
            self._beginnings[run_id] = beginning
            for known in list(self._beginnings)[:-_MOST_BEGINNINGS]:
                self._beginnings.pop(known).close()
        return child, beginning

    def stop(self, run_id: str) -> bool:
        """Ask a run to end. True if it was going on."""
        with self._lock:
            self._forget_ended()
            if (child := self._running.get(run_id)) is not None:
                child.terminate()
                return True
            left = self._left.get(run_id)
            return left is not None and left.send(signal.SIGTERM)

    def close(self) -> None:
        """Ask all runs to end, and wait; those that don't are killed, and their records resume all the same."""
        with self._lock:
            self._forget_ended()
            children, others = list(self._running.values()), list(self._left.values())
            for beginning in self._beginnings.values():
                beginning.close()
        for child in children:
            child.terminate()
        for other in others:
            other.send(signal.SIGTERM)
        ends = time.monotonic() + _STOP_S
        for child in children:
            try:
                child.wait(max(0.0, ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for other in others:
            while other.goes_on and time.monotonic() < ends:
                time.sleep(_LOOK_AGAIN_S)
            other.send(signal.SIGKILL)

    def _forget_ended(self) -> None:
        self._running = {run_id: child for run_id, child in self._running.items() if child.poll() is None}
        self._left = {run_id: other for run_id, other in self._left.items() if other.goes_on}

    def _locked(self, run_id: str) -> int:
        """The descriptor of a run's file, empty and locked. Raises: ProblemError (409) if another process has it."""
        with locked_folder(self._folder):
            descriptor = SYSTEM.open(self._folder / f"{run_id}{_LOCK}", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                SYSTEM.lock_open(descriptor, wait=False)
            except BlockingIOError:
                os.close(descriptor)
                raise _there_already(run_id) from None
            os.ftruncate(descriptor, 0)
            return descriptor

    def _left_by_another(self) -> dict[str, _Left]:
        """The runs that go on already. The files of those that have ended are removed."""
        if not self._folder.is_dir():
            return {}
        with locked_folder(self._folder):
            found = {path.name.removesuffix(_LOCK): _Left(path) for path in self._folder.glob(f"*{_LOCK}")}
            for other in found.values():
                if not other.goes_on:
                    other.path.unlink(missing_ok=True)
        return {run_id: other for run_id, other in found.items() if other.path.exists()}


class _Beginning:
    """The word of a run's process on how it began, by a pipe: that its record is there, or why there will be none."""

    def __init__(self, reader: int, settings: Settings) -> None:
        self._settings = settings
        self._pipe = os.fdopen(reader, "rb")
        self._lock = Lock()
        self._told: bool | ProblemError = False

    def told(self, patience_s: float = 0.0) -> bool | ProblemError:
        """True once the record is there; False while nothing is known."""
        with self._lock:
            if self._told is False and not self._pipe.closed:
                waiting = select.poll()
                waiting.register(self._pipe, select.POLLIN)
                if waiting.poll(patience_s * 1000):
                    with self._pipe:
                        self._told = _word(self._pipe.readline(), self._settings)
            return self._told

    def close(self) -> None:
        with self._lock:
            self._pipe.close()


def _word(line: bytes, settings: Settings) -> bool | ProblemError:
    if line == _BEGUN:
        return True
    try:
        found = msgspec.json.decode(line, type=ready(Problem))
    except msgspec.DecodeError:  # nothing: the process was killed
        return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, _NO_WORD)
    return ProblemError(found.status, hidden(found.detail or found.title, settings))


_BEGUN = b"begun\n"
_NO_WORD = "the run's process ended before its record was there, and did not say why"


def _there_already(run_id: str) -> ProblemError:
    return ProblemError(HTTPStatus.CONFLICT, f"there is a run {run_id!r} already")


_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class _Left:
    """A run that another server started, by the file that its process holds locked."""

    path: Path

    @property
    def goes_on(self) -> bool:
        return is_locked(self.path)

    def send(self, number: signal.Signals) -> bool:
        """Send its process a signal. False if it has ended; a number that another process has by now gets none."""
        try:
            pid, began = self.path.read_text("ascii").split(" ")
            process = _Process(int(pid))
        except (OSError, ValueError, OverflowError):
            return False
        with process:
            # In this order: it lives now, so it is the process that was taken hold of before.
            if not self.goes_on or _beginning_of(pid) != began:
                return False
            return process.send(number)


class _Process:
    """A process that is taken hold of, so that its number can't become another's: as far as the system can do it."""

    def __init__(self, pid: int) -> None:
        """Raises: OSError, ValueError, OverflowError for a number that is no process's; to 0 and below many listen."""
        if pid <= 1:
            raise ValueError(pid)
        self._pid = pid
        self._handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None

    def send(self, number: signal.Signals) -> bool:
        try:
            if self._handle is None:
                os.kill(self._pid, number)
            else:
                signal.pidfd_send_signal(self._handle, number)
        except ProcessLookupError:
            return False
        return True

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)


def _beginning_of(pid: str) -> str:
    """When a process began, in the system's own count; `-` where the system does not tell (it does on Linux)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "-"


# ── in the run's process ─────────────────────────────────────────────────────────────────────────────────────


def _keys(config: RunConfig) -> list[str]:
    """The variables whose keys a run needs."""
    named = [config.model_api_key_env, *(judge.api_key_env for _, _, judge in config.all_judges)]
    return [name for name in named if name is not None]


def main() -> int:
    """Carry out a run in this process, and end as `benchbook run` does.

    The lock on the one descriptor ends with it; to the other it says how it began.
    """
    lock, word = int(sys.argv[1]), os.fdopen(int(sys.argv[2]), "wb", buffering=0)
    for descriptor in (lock, word.fileno()):
        os.set_inheritable(descriptor, False)
    os.write(lock, f"{os.getpid()} {_beginning_of('self')}".encode("ascii"))
    try:
        asked = msgspec.json.decode(sys.stdin.buffer.read(), type=dict)
        stop = run_async(_asked_for(asked, lambda _: _say(word, _BEGUN))).stop
    except msgspec.DecodeError:
        sys.stderr.write("benchbook: the server ended before it had said what to run\n")
        return 3
    except BenchbookError as error:
        sys.stderr.write(f"{_SAYS}{visible(str(error))}\n")
        problem = problem_of(error)
        _say(word, problem_bytes(problem.status, problem.detail) + b"\n")
        return error.exit_code
    if stop.reason is not None:
        sys.stderr.write(f"stopped: {visible(stop.reason)}\n")
        return 3
    return 0


def _asked_for(asked: Mapping[str, Any], on_begun: Callable[[Record], None]) -> Coroutine[Any, Any, RunResult[Any]]:
    """The run that the server asked for: a new one, or one to go on with."""
    if "resume" in asked:
        return resume_run(Record(Path(asked["runs"]) / asked["run_id"]), asked["resume"], on_begun=on_begun)
    return start_run(config_from_mapping(asked["config"], "config"), on_begun=on_begun)


def _say(word: BinaryIO, line: bytes) -> None:
    if not word.closed:  # it was told before
        with suppress(OSError), word:  # the server has ended
            word.write(line)


if __name__ == "__main__":
    sys.exit(main())
