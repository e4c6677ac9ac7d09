"""Runs a writer again and again, in a process of its own: each time something goes wrong at another of its file
operations, and a test looks at what is there afterwards.

    for crash in crashes(act, tmp_path, prepare=prepare):  # `act(folder, say)` writes, and says what is acknowledged
        ...  # crash.folder, crash.acknowledged, crash.ended

`act` is a function at the top level of a module, or a `partial` of one with words. What goes wrong is one of KINDS.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import seccomp
from watching import ACKNOWLEDGED, KINDS, Watcher, fits

_IDLE = {"jemalloc_bg_thd", "polars-ooc-clea"}  # threads of Arrow and Polars, which hold no lock when all is quiet

Pick = Callable[[list[tuple[str, int]]], list[tuple[str, int]]]  # some of the kinds and operations
Say = Callable[[str], None]
Act = Callable[[Path, Say], Any]  # its result other than 0 and None is an exit code: it failed


@dataclass
class Crash:
    """What became of one disturbed go."""

    kind: str
    at: int  # counted from 0
    operation: str  # at which something went wrong; empty where the process did not come so far
    folder: Path  # as it was left
    whole: Path  # as an undisturbed go leaves it
    ended: str  # killed, done, refused (a BenchbookError), raised (any other), hung
    said: str  # by the error, or printed
    code: Any  # that `act` returned
    acknowledged: list[str]

    def fault(self, *, may_stay_silent: bool = False) -> str | None:
        """The words for an error that is not told as a sentence, and for a failed fsync that is told as a success."""
        if self.ended in ("raised", "hung"):
            return str(self)
        is_sync = self.kind == "io" and self.operation.startswith("sync ") and not may_stay_silent
        if is_sync and self.ended == "done" and not self.code:
            return f"{self}: a failed fsync that nobody was told of"
        return None

    def __str__(self) -> str:
        return f"{self.kind} at {self.at} ({self.operation}): {self.ended} {self.said}".rstrip()


def crashes(
    act: Act,
    room: Path,
    *,
    prepare: Callable[[Path], None] | None = None,
    kinds: Iterable[str] = tuple(KINDS),
    pick: Pick = list,
    strict: bool = True,
) -> Iterator[Crash]:
    """A go of `act` for each kind and each operation that it fits, each in a copy of the folder that `prepare` filled.
    `pick` takes some of all these. Unless `strict`, whoever calls asks each crash for its `fault`.

    Raises: AssertionError for a crash's fault.
    """
    before = room / "before"
    before.mkdir()
    if prepare is not None:
        prepare(before)
    whole = _go(act, before, room, "", 0)
    assert whole["ended"] == "done", whole
    operations: list[str] = whole["operations"]
    every = [(kind, at) for kind in kinds for at, one in enumerate(operations) if fits(kind, one.split()[0])]
    every += [(kind, len(operations)) for kind in ("power", "names") if kind in kinds]  # after all was acknowledged
    first_short = [one for one in every if one[0] == "short"][:1]
    for kind, at in pick([one for one in every if one[0] != "short"] + first_short):
        went = _go(act, before, room, kind, at)
        del went["operations"]
        crash = Crash(kind=kind, at=at, whole=room / "-0" / "in", folder=room / f"{kind}-{at}" / "in", **went)
        assert not strict or (fault := crash.fault()) is None, fault
        yield crash
        shutil.rmtree(crash.folder.parent)


def two_at_each(every: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Of the kinds that fit an operation one that ends the process and one that doesn't, another at each."""
    taken: list[tuple[str, int]] = []
    for at in sorted({at for _, at in every}):
        for group in (("kill", "torn", "power", "names"), ("full", "io", "short")):
            fitting = [kind for kind, place in every if place == at and kind in group]
            taken += [(fitting[at % len(fitting)], at)] if fitting else []
    return taken


@contextmanager
def room_in_memory() -> Iterator[Path]:
    """A folder in memory where there is such a place, which is quicker than a disk."""
    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if os.access(in_memory, os.W_OK) else None) as folder:
        yield Path(folder).resolve()


def leftovers(folder: Path) -> list[str]:
    """What writers leave half done: files and folders with temporary names."""
    marks = (".new-", ".archive-", ".copy")
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.name.endswith(".tmp") or path.name.startswith(marks)
    )


@cache
def why_not_here() -> str:
    """Why there can be no such test here; empty where it can."""
    if not sys.platform.startswith("linux") or os.uname().machine not in ("x86_64", "aarch64"):
        return "needs Linux on x86-64 or AArch64"
    child = os.posix_spawn(sys.executable, [sys.executable, __file__, "--try"], _environment())
    return "this kernel, or what confines it, lets nobody watch system calls" if os.waitpid(child, 0)[1] else ""


# ── the process that forks ───────────────────────────────────────────────────────────────────────────────


def _environment() -> dict[str, str]:
    own = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "ignore", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, **own}


@cache
def _forking() -> subprocess.Popen[bytes]:
    """A process without threads, which has imported everything: a fork of it takes a few milliseconds."""
    started = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()
    )

    def end() -> None:
        with started:
            started.kill()

    atexit.register(end)
    return started


def _go(act: Act, before: Path, room: Path, kind: str, at: int) -> dict[str, Any]:
    case = room / f"{kind}-{at}"
    shutil.copytree(before, case / "in", symlinks=True)
    (case / "tmp").mkdir()
    function, words = (act.func, act.args) if isinstance(act, partial) else (act, ())
    module = Path(function.__code__.co_filename).resolve().relative_to(Path(__file__).parent).with_suffix("")
    asked = {"module": ".".join(module.parts), "name": function.__name__, "words": words}
    asked |= {"case": str(case), "kind": kind, "at": at}
    forking = _forking()
    assert forking.stdin is not None
    assert forking.stdout is not None
    forking.stdin.write(json.dumps(asked).encode() + b"\n")
    forking.stdin.flush()
    line = forking.stdout.readline()
    assert line, "the process that forks has ended"
    answered: dict[str, Any] = json.loads(line)
    return answered


def _serve(answers: IO[bytes]) -> None:
    import gc

    for line in sys.stdin.buffer:
        asked = json.loads(line)
        act = partial(getattr(import_module(asked["module"]), asked["name"]), *asked["words"])
        gc.freeze()
        assert not (busy := _threads() - _IDLE), f"a module starts threads when it is imported: {busy}"
        told = _forked(act, Path(asked["case"]), asked["kind"], asked["at"])
        for name in told.pop("modules", ()):  # that an undisturbed go needed: the next one has them already
            with suppress(Exception):
                import_module(name)
        answers.write(json.dumps(told).encode() + b"\n")
        answers.flush()


def _threads() -> set[str]:
    """The names of this process's other threads."""
    tasks = [task for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    return {(task / "comm").read_text("utf-8").strip() for task in tasks}


def _forked(act: Act, case: Path, kind: str, at: int) -> dict[str, Any]:
    acknowledged, ended = os.memfd_create(ACKNOWLEDGED), os.memfd_create("ended")
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        _act(act, case / "in", theirs, acknowledged, ended, disturbed=bool(kind))
    theirs.close()
    _, (listener, *_), _, _ = socket.recv_fds(ours, 1, 1)
    ours.close()
    watcher = Watcher(listener, child, case, kind, at)
    hung = not watcher.watch()
    os.waitpid(child, 0)
    os.close(listener)
    watcher.lose()
    told = json.loads(_text_of(ended) or '{"ended": "killed", "said": "", "code": null}')
    if hung:
        told = {"ended": "hung", "said": "", "code": None}
    words = _text_of(acknowledged).splitlines()
    return {**told, "acknowledged": words, "operations": watcher.operations, "operation": watcher.struck}


def _text_of(descriptor: int) -> str:
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        return file.read().decode("utf-8", "replace")


def _act(act: Act, folder: Path, to_watcher: socket.socket, acknowledged: int, ended: int, *, disturbed: bool) -> None:
    """The life of the child: never comes back."""
    from benchbook.errors import BenchbookError

    os.chdir(folder)
    tempfile.tempdir = str(folder.parent / "tmp")
    printed = os.memfd_create("printed")
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    listener = seccomp.watch_me()
    socket.send_fds(to_watcher, [b"x"], [listener])
    os.close(listener)

    def say(word: str) -> None:
        os.write(acknowledged, word.encode() + b"\n")

    told: dict[str, Any] = {"ended": "done", "said": "", "code": None}
    try:
        told["code"] = act(folder, say)
    except SystemExit as error:
        told["code"] = error.code
    except BenchbookError as error:
        told |= {"ended": "refused", "said": str(error)}
    except BaseException:
        told |= {"ended": "raised", "said": traceback.format_exc()}
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    if told["ended"] == "done":
        told["said"] = _text_of(printed)
    modules = [] if disturbed else [name for name in sys.modules if name != "__main__"]
    os.write(ended, json.dumps(told | {"modules": modules}).encode())
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--try"]:
        seccomp.watch_me()
        os._exit(0)
    to_asker = os.dup(1)
    os.dup2(2, 1)
    _serve(os.fdopen(to_asker, "wb"))
