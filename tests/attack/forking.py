"""Runs `benchbook` in children that can be killed: a process that has imported everything forks one for each command.

To start a program takes a second; to fork one, a hundredth of that.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

THREADS = Path("/proc/self/task")
# They start threads when they are imported, and a process with threads does not fork well: children import them.
_WITH_THREADS = ("polars", "pyarrow")


@dataclass
class Child:
    """One command, under way or ended."""

    pid: int
    code: int | None = None  # as a shell has it, or the negative number of the signal that ended it
    calls: int = 0  # the function calls that it made, if it came to its end
    said: str = ""
    killed: bool = field(default=False, init=False)

    def kill(self) -> None:
        self.killed = True
        os.kill(self.pid, signal.SIGKILL)


class Forking:
    """The process that forks. One command at a time."""

    def __init__(self, folder: Path) -> None:
        self._said = folder / "said"
        paths = os.pathsep.join(sys.path)
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
            env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"},
        )  # fmt: skip

    def run(
        self,
        words: list[str],
        cwd: Path,
        *,
        begun: Callable[[Child], None] = lambda child: None,
        kill_at: int = 0,
        segment_bytes: int = 0,
    ) -> Child:
        """Run a command to its end, or its death. `begun` gets the child; at its call number `kill_at` it kills itself.

        With `kill_at` -1 its calls are only counted. `segment_bytes`: a journal's segments are sealed at this size.
        """
        asked = {
            "words": words,
            "cwd": str(cwd),
            "said": str(self._said),
            "kill_at": kill_at,
            "segment_bytes": segment_bytes,
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        child = Child(self._answer()["pid"])
        begun(child)
        ended = self._answer()
        child.code, child.calls = ended["code"], ended["calls"]
        child.said = self._said.read_text("utf-8", "replace")
        return child

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()


@contextmanager
def forking(folder: Path) -> Iterator[Forking]:
    made = Forking(folder)
    try:
        yield made
    finally:
        made.end()


# ── in the process that forks ────────────────────────────────────────────────────────────────────────────────


def _serve(asked_by: IO[str], answers: IO[str]) -> None:
    _import_all()
    for line in asked_by:
        asked = json.loads(line)
        calls_from, calls_to = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(calls_from)
            _live(asked, calls_to)
        os.close(calls_to)
        answers.write(json.dumps({"pid": child}) + "\n")
        answers.flush()
        _, status = os.waitpid(child, 0)
        with os.fdopen(calls_from, "rb") as file:
            calls = int(file.read() or 0)
        answers.write(json.dumps({"code": os.waitstatus_to_exitcode(status), "calls": calls}) + "\n")
        answers.flush()


def _import_all() -> None:
    """Import all of Benchbook that can be imported without a thread."""
    import benchbook

    for name in _WITH_THREADS:
        sys.modules[name] = None  # type: ignore[assignment] - so that an import fails
    for module in pkgutil.walk_packages(benchbook.__path__, "benchbook."):
        if not module.name.endswith(("__main__", "_child")):
            with suppress(ImportError):
                importlib.import_module(module.name)
    for name in ("scipy.stats", "scipy.optimize", "uvloop", "rich.progress"):
        importlib.import_module(name)
    for name in _WITH_THREADS:
        del sys.modules[name]
    gc.freeze()
    if len(list(THREADS.iterdir())) != 1:
        raise RuntimeError("a module started a thread when it was imported")


def _live(asked: dict[str, Any], calls_to: int) -> None:
    """The life of a child: never comes back."""
    os.chdir(asked["cwd"])
    said = os.open(asked["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["benchbook", *asked["words"]]
    program = importlib.import_module("benchbook.cli.main")
    if asked["segment_bytes"]:
        vars(importlib.import_module("benchbook.record.journal"))["SEGMENT_BYTES"] = asked["segment_bytes"]
    os.environ["PATH"] = ""  # no git: to ask it for the code's commit would be most of what a child does
    calls = _Calls(asked["kill_at"])
    code = 70
    try:
        if asked["kill_at"]:
            with calls:
                program.main()
        else:
            program.main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.write(calls_to, str(calls.made).encode())
        os._exit(code)


class _Calls:
    """Counts the calls that Benchbook's own code makes and gets, and ends the process at one of them."""

    def __init__(self, kill_at: int) -> None:
        self.made = 0
        self._kill_at = kill_at

    def __enter__(self) -> None:
        threading.setprofile(self._count)
        sys.setprofile(self._count)

    def __exit__(self, *_: object) -> Literal[False]:
        sys.setprofile(None)
        return False

    def _count(self, frame: Any, event: str, arg: object) -> None:
        if "/benchbook/" in frame.f_code.co_filename:
            self.made += 1
            if self.made == self._kill_at:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    to_asker = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _serve(sys.stdin, to_asker)
