"""Windows' rules on this system: what `system/windows.py` asks of it, and what it forbids.

The stand-in of `LockFileEx` holds to its contract: a lock belongs to a handle, is shared or exclusive, is refused or
waited for, holds between processes, and ends with the handle or its process. Beside it: no folder can be opened, and
nothing that is open or mapped can be renamed, replaced or removed; what Python lacks there is not there
(`without_posix`, of a whole process).
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import importlib
import json
import os
import select
import shutil
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from benchbook.system.windows import ERROR_LOCK_VIOLATION, EXCLUSIVE, FAIL_IMMEDIATELY, Windows

HERE = Path("/proc/self").exists()  # where it can be seen what is open

_NAMELESS = getattr(os, "O_TMPFILE", -1)

Patch = Callable[[Any, str, Any], None]


class KernelStandIn:
    """`LockFileEx` and `UnlockFileEx`, by a lock of POSIX that has the same life; ranges are checked, not kept."""

    def __init__(self) -> None:
        self._error = 0

    def handle_of(self, descriptor: int) -> int:
        os.fstat(descriptor)
        return descriptor

    def last_error(self) -> int:
        return self._error

    def lock_file_ex(self, handle: int, flags: int, reserved: int, low: int, high: int, where: Any) -> int:
        assert flags & ~(FAIL_IMMEDIATELY | EXCLUSIVE) == 0
        self._check(handle, reserved, low, high, where)
        how = fcntl.LOCK_EX if flags & EXCLUSIVE else fcntl.LOCK_SH
        try:
            fcntl.flock(handle, how | (fcntl.LOCK_NB if flags & FAIL_IMMEDIATELY else 0))
        except BlockingIOError:
            self._error = ERROR_LOCK_VIOLATION
            return 0
        return 1

    def unlock_file_ex(self, handle: int, reserved: int, low: int, high: int, where: Any) -> int:
        self._check(handle, reserved, low, high, where)
        fcntl.flock(handle, fcntl.LOCK_UN)
        return 1

    def _check(self, handle: int, reserved: int, low: int, high: int, where: Any) -> None:
        begin = where.contents.Offset | where.contents.OffsetHigh << 32
        assert (reserved, low, high) == (0, 1, 0)
        assert begin < 1 << 63, "no file has such a byte"
        assert begin >= 1 << 60, "who reads or writes there would be refused"
        assert stat.S_ISREG(os.fstat(handle).st_mode)


def _is_used(path: Path) -> bool:
    """True if this process has the file open or mapped, or one below the folder."""
    whole = os.path.realpath(path.parent) + os.sep + path.name
    named = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            named.append(str(entry.readlink()))
    with Path("/proc/self/maps").open(encoding="utf-8", errors="replace") as maps:
        named += [line.split(maxsplit=5)[5].rstrip("\n") for line in maps if line.count(" ") > 5 and "/" in line]
    return any(name == whole or name.startswith(whole + os.sep) for name in named)


def _forbid(path: Any) -> None:
    if _is_used(Path(os.fsdecode(path))):
        raise PermissionError(errno.EACCES, "used by a process", os.fsdecode(path))


def forbid_what_windows_forbids(patch: Patch) -> None:
    """Refuse what Windows refuses of names and of what is open."""
    opened, renamed, replaced, removed = os.open, os.rename, os.replace, os.unlink

    def open_(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        without_name = flags & _NAMELESS == _NAMELESS  # a temporary file, which Windows has as well
        if dir_fd is None and not without_name and Path(os.fsdecode(path)).is_dir():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fsdecode(path))
        return opened(path, flags, mode, dir_fd=dir_fd)

    def rename(one: Any, other: Any, **more: Any) -> None:
        if os.path.lexists(other):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fsdecode(other))
        _forbid(one)
        renamed(one, other, **more)

    def replace(one: Any, other: Any, **more: Any) -> None:
        _forbid(one)
        _forbid(other)
        replaced(one, other, **more)

    def unlink(path: Any, *, dir_fd: int | None = None) -> None:
        if dir_fd is None:
            _forbid(path)
        removed(path, dir_fd=dir_fd)

    for name, rule in {"open": open_, "rename": rename, "replace": replace, "unlink": unlink, "remove": unlink}.items():
        patch(os, name, rule)
    patch(shutil, "_use_fd_functions", False)  # there trees are removed by names


def take_over(patch: Patch = setattr) -> None:
    """Put Windows' layer in the place of this system's, wherever it is used, under Windows' rules."""
    system = Windows(KernelStandIn())
    patch(importlib.import_module("benchbook.system"), "SYSTEM", system)
    for module in list(sys.modules.values()):
        if module.__name__.startswith("benchbook.") and hasattr(module, "SYSTEM"):
            patch(module, "SYSTEM", system)
    forbid_what_windows_forbids(patch)


# ── a whole process ──────────────────────────────────────────────────────────────────────────────────────────

# `os.uname`, `os.WNOHANG` and `signal.SIGKILL` stay: NumPy and `subprocess` are this system's. tests/test_house.py
# finds who else uses them.

_NO_MODULES = {"fcntl", "grp", "pwd", "resource", "syslog", "termios", "tty", "pty", "uvloop"}
_NO_NAMES: dict[Any, tuple[str, ...]] = {
    os: (
        "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "fork", "forkpty", "getegid", "geteuid", "getgid",
        "getpgid", "getuid", "killpg", "mkfifo", "pidfd_open", "pread", "pwrite", "register_at_fork",
        "sched_getaffinity", "setsid", "statvfs", "sync",
    ),
    select: ("poll",),
    signal: ("SIGALRM", "SIGHUP", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGXCPU", "pidfd_send_signal"),
}  # fmt: skip
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))}


class _NotThere(MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        del path, target
        if name in _NO_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _names(words: tuple[Any, ...]) -> Iterator[str]:
    for word in words:
        if isinstance(word, str | bytes | os.PathLike):
            yield Path(os.fsdecode(word)).name


def _check_names(event: str, words: tuple[Any, ...]) -> None:
    """An audit hook: no name is made that Windows can't have."""
    if event == "open":
        path, mode, flags = words
        makes = flags & os.O_CREAT if isinstance(flags, int) else mode and not set(mode).isdisjoint("wxa+")
        words = (path,) if makes else ()
    elif event not in ("os.mkdir", "os.rename", "os.link", "os.symlink"):
        return
    for name in _names(words[:2]):
        if set(name) & set('<>:"|?*\\') or name.endswith((".", " ")) or name.split(".")[0].lower() in _RESERVED:
            raise OSError(errno.EINVAL, f"no name of a file on Windows: {name!r}")


def without_posix() -> None:
    """Make this process one of Windows, as far as Python can tell; before anything of Benchbook is used."""
    took = Windows(KernelStandIn())  # it needs fcntl itself
    for module in _NO_MODULES:
        sys.modules.pop(module, None)
    for name in [name for name in sys.modules if name.split(".")[0] == "benchbook"]:
        del sys.modules[name]
    sys.meta_path.insert(0, _NotThere())
    from benchbook.system import SYSTEM

    assert type(SYSTEM).__name__ == "Windows"
    SYSTEM._known = took.kernel  # type: ignore[attr-defined]

    def refuse(*_: Any) -> None:
        raise NotImplementedError

    for name in ("add_signal_handler", "remove_signal_handler"):
        setattr(asyncio.SelectorEventLoop, name, refuse)
    for module, names in _NO_NAMES.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    forbid_what_windows_forbids(setattr)
    sys.addaudithook(_check_names)


def main() -> None:
    """`python windows_rules.py WORDS…`: benchbook WORDS as on Windows.

    `import` imports all of its modules; `each` calls the words of each line of standard input, a JSON list, and answers
    `[exit code, standard output, standard error]`.
    """
    import concurrent.futures.thread  # noqa: F401 - these ask for what is taken away, and know Windows
    import platform
    import subprocess  # noqa: F401
    import tempfile  # noqa: F401

    platform.uname()
    without_posix()
    if sys.argv[1:] == ["import"]:
        import pkgutil

        import benchbook

        found = [module.name for module in pkgutil.walk_packages(benchbook.__path__, "benchbook.")]
        for name in found:
            if not name.endswith(("__main__", ".posix")):
                importlib.import_module(name)
        print(len(found))  # noqa: T201
        return
    if sys.argv[1:] == ["each"]:
        from running import benchbook_here

        for line in sys.stdin:
            done = benchbook_here(*json.loads(line))
            print(json.dumps([done.returncode, done.stdout.decode(), done.stderr.decode()]), flush=True)  # noqa: T201
        return
    from benchbook.cli import main as benchbook_main

    benchbook_main()


if __name__ == "__main__":
    main()
