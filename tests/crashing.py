"""Runs a writer again and again, in a process of its own: each time something goes wrong at another of its file
operations, and a test looks at what is there afterwards.

    for crash in crashes(act, tmp_path, prepare=prepare):  # `act(folder, say)` writes, and says what is acknowledged
        ...  # crash.folder, crash.acknowledged, crash.ended

`act` is a function at the top level of a module, or a `partial` of one with words. What goes wrong is one of KINDS.
"""

from __future__ import annotations

import atexit
import errno
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import seccomp

KINDS = {
    "kill": "killed before the operation",
    "torn": "killed after the first half of the write",
    "short": "this write and all that follow write half of what they should",
    "full": "the disk is full from here on, after the first half of a write",
    "io": "the operation fails with EIO, once; what a failed fsync did not write is lost in the end",
    "power": "the power goes before the operation: no bytes are there but those that an fsync put on the disk",
}
_CONSUMES = {"write", "create", "mkdir", "link"}
_ACKNOWLEDGED = "acknowledge"
_IDLE = {"jemalloc_bg_thd", "polars-ooc-clea"}  # threads of Arrow and Polars, which hold no lock when all is quiet
_PATIENCE_S = 120  # longer than any writer takes; one that hangs would hang for ever

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

    def __str__(self) -> str:
        return f"{self.kind} at {self.at} ({self.operation}): {self.ended} {self.said}".rstrip()


def crashes(
    act: Act,
    room: Path,
    *,
    prepare: Callable[[Path], None] | None = None,
    kinds: Iterable[str] = tuple(KINDS),
    untold: Container[str] = (),
    pick: Callable[[list[tuple[str, int]]], list[tuple[str, int]]] = lambda every: every,
) -> Iterator[Crash]:
    """A go of `act` for each kind and each operation that it fits, each in a copy of the folder that `prepare` filled.
    `pick` takes some of all these; `untold` are syncs whose failure nobody need be told of.

    Raises: AssertionError for an error that is not told as a sentence, and a failed fsync that is told as a success.
    """
    before = room / "before"
    before.mkdir()
    if prepare is not None:
        prepare(before)
    whole = _go(act, before, room, "", 0)
    assert whole["ended"] == "done", whole
    operations: list[str] = whole["operations"]
    every = [(kind, at) for kind in kinds for at, one in enumerate(operations) if _fits(kind, one.split()[0])]
    every += [("power", len(operations))] if "power" in kinds else []  # after all was acknowledged
    first_short = [one for one in every if one[0] == "short"][:1]
    for kind, at in pick([one for one in every if one[0] != "short"] + first_short):
        went = _go(act, before, room, kind, at)
        del went["operations"]
        crash = Crash(kind=kind, at=at, whole=room / "-0" / "in", folder=room / f"{kind}-{at}" / "in", **went)
        assert crash.ended not in ("raised", "hung"), str(crash)
        is_sync = crash.operation.startswith("sync ") and crash.operation not in untold
        unseen = kind == "io" and is_sync and crash.ended == "done" and not crash.code
        assert not unseen, f"{crash}: a failed fsync that nobody was told of"
        yield crash
        shutil.rmtree(crash.folder.parent)


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


def _fits(kind: str, verb: str) -> bool:
    match kind:
        case "torn" | "short":
            return verb == "write"
        case "full":
            return verb in _CONSUMES
        case "io":
            return verb != _ACKNOWLEDGED
        case _:
            return True


# ── the process that forks ───────────────────────────────────────────────────────────────────────────────


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}


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
        answers.write(json.dumps(_forked(act, Path(asked["case"]), asked["kind"], asked["at"])).encode() + b"\n")
        answers.flush()


def _threads() -> set[str]:
    """The names of this process's other threads."""
    tasks = [task for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    return {(task / "comm").read_text("utf-8").strip() for task in tasks}


def _forked(act: Act, case: Path, kind: str, at: int) -> dict[str, Any]:
    acknowledged, ended = os.memfd_create(_ACKNOWLEDGED), os.memfd_create("ended")
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        _act(act, case / "in", theirs, acknowledged, ended)
    theirs.close()
    _, (listener, *_), _, _ = socket.recv_fds(ours, 1, 1)
    ours.close()
    watcher = _Watcher(listener, child, case, kind, at)
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


def _act(act: Act, folder: Path, to_watcher: socket.socket, acknowledged: int, ended: int) -> None:
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
    os.write(ended, json.dumps(told).encode())
    os._exit(0)


# ── who watches it ───────────────────────────────────────────────────────────────────────────────────────

# What a call does, and which of its arguments name the files: a descriptor, or a path and the descriptor of its folder.
_CALLS: dict[str, tuple[str, tuple[tuple[int, int | None] | int, ...]]] = {
    "write": ("write", (0,)), "pwrite64": ("write", (0,)), "writev": ("write", (0,)), "pwritev": ("write", (0,)),
    "sendfile": ("copy", (0,)), "copy_file_range": ("copy", (2,)), "fallocate": ("copy", (0,)),
    "fsync": ("sync", (0,)), "fdatasync": ("sync", (0,)), "ftruncate": ("truncate", (0,)),
    "truncate": ("truncate", ((0, None),)), "open": ("open", ((0, None),)), "creat": ("open", ((0, None),)),
    "openat": ("open", ((1, 0),)), "rename": ("rename", ((0, None), (1, None))),
    "renameat": ("rename", ((1, 0), (3, 2))), "renameat2": ("rename", ((1, 0), (3, 2))),
    "link": ("link", ((0, None), (1, None))), "linkat": ("link", ((1, 0), (3, 2))),
    "symlink": ("link", ((1, None),)), "symlinkat": ("link", ((2, 1),)), "unlink": ("unlink", ((0, None),)),
    "unlinkat": ("unlink", ((1, 0),)), "rmdir": ("rmdir", ((0, None),)), "mkdir": ("mkdir", ((0, None),)),
    "mkdirat": ("mkdir", ((1, 0),)), "chmod": ("chmod", ((0, None),)), "fchmod": ("chmod", (0,)),
    "fchmodat": ("chmod", ((1, 0),)),
}  # fmt: skip


@dataclass
class _Watcher:
    """Lets a child's calls go on, but for the one that is to go wrong."""

    listener: int
    child: int
    case: Path
    kind: str
    at: int
    operations: list[str] = field(default_factory=list)
    struck: str = ""  # the operation that went wrong
    _unsynced: dict[tuple[int, int], bytes] = field(default_factory=dict)  # a file: what is on the disk of it
    _lost: dict[tuple[int, int], bytes] = field(default_factory=dict)  # the same, of one whose fsync failed

    def watch(self) -> bool:
        """Watch until the child ends; False where it hangs."""
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        while found := poll.poll(_PATIENCE_S * 1000):
            if not found[0][1] & select.POLLIN:
                return True
            if (call := seccomp.next_call(self.listener)) is not None:
                self._judge(call)
        os.kill(self.child, signal.SIGKILL)
        return False

    def _judge(self, call: seccomp.Call) -> None:
        verb, places = _CALLS[call.name]
        files = [call.path(*place) if isinstance(place, tuple) else call.file(place) for place in places]
        if verb == "write" and files[0].startswith(f"/memfd:{_ACKNOWLEDGED}"):
            verb, files = _ACKNOWLEDGED, []
        elif not all(file.startswith(f"{self.case}{os.sep}") for file in files):
            return seccomp.answer(self.listener, call)
        elif verb == "open" and not os.path.lexists(files[0]):
            verb = "create"
        names = [os.path.relpath(file, self.case / "in") for file in files]
        self.operations.append(" ".join([verb, *names]))
        is_due = len(self.operations) > self.at and self.kind and _fits(self.kind, verb)
        if is_due and (not self.struck or self.kind in ("short", "full")):
            is_first, self.struck = not self.struck, self.struck or self.operations[-1]
            return self._strike(call, verb, files, is_first=is_first)
        return self._let(call, verb, files)

    def _strike(self, call: seccomp.Call, verb: str, files: list[str], *, is_first: bool) -> None:
        data = call.data() if verb == "write" else b""
        if self.kind in ("kill", "power"):
            return os.kill(self.child, signal.SIGKILL)
        if self.kind == "torn":
            call.write(self.child, data[: len(data) // 2])
            return os.kill(self.child, signal.SIGKILL)
        if self.kind == "io":
            if verb == "sync" and (file := _inode(files[0])) in self._unsynced:
                self._lost[file] = self._unsynced.pop(file)
            return seccomp.answer(self.listener, call, error=errno.EIO)
        half = max(len(data) // 2, 1) if self.kind == "short" else len(data) // 2 if is_first else 0
        if not half:
            return seccomp.answer(self.listener, call, error=errno.ENOSPC)
        self._remember(f"/proc/{call.thread}/fd/{call.args[0]}")
        return seccomp.answer(self.listener, call, value=call.write(self.child, data[:half]))

    def _let(self, call: seccomp.Call, verb: str, files: list[str]) -> None:
        """Let a call go on, and remember what would be lost if the power went. An fsync is remembered alone."""
        match verb:
            case "write" | "copy" | "truncate" if call.name != "truncate":
                self._remember(f"/proc/{call.thread}/fd/{call.args[2 if call.name == 'copy_file_range' else 0]}")
            case "open" | "truncate":
                self._remember(files[0])
            case "unlink" | "rename":
                with suppress(OSError):
                    if os.stat(files[-1]).st_nlink == 1:  # noqa: PTH116 - its number may be another file's next
                        self._unsynced.pop(_inode(files[-1]), None)
            case "sync":
                self._unsynced.pop(_inode(files[0]), None)
                return seccomp.answer(self.listener, call, value=0)
        return seccomp.answer(self.listener, call)

    def _remember(self, file: str) -> None:
        with suppress(OSError), open(file, "rb") as reader:  # noqa: PTH123 - /proc
            self._unsynced.setdefault(_inode(file), reader.read())

    def lose(self) -> None:
        """Take from the disk what never came to it."""
        lost = self._unsynced if self.kind == "power" else self._lost
        for path in self.case.rglob("*"):
            if path.is_file() and not path.is_symlink() and (data := lost.get(_inode(str(path)))) is not None:
                path.write_bytes(data)


def _inode(file: str) -> tuple[int, int]:
    found = os.stat(file)  # noqa: PTH116 - /proc
    return found.st_dev, found.st_ino


if __name__ == "__main__":
    if sys.argv[1:] == ["--try"]:
        seccomp.watch_me()
        os._exit(0)
    to_asker = os.dup(1)
    os.dup2(2, 1)
    _serve(os.fdopen(to_asker, "wb"))
