"""Lets a child's system calls go on, but for the one at which something is to go wrong."""

from __future__ import annotations

import errno
import os
import select
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import seccomp

KINDS = {
    "kill": "killed before the operation",
    "torn": "killed after the first half of the write",
    "short": "this write and all that follow write half of what they should",
    "full": "the disk is full from here on, after the first half of a write",
    "io": "the operation fails with EIO, once; what a failed fsync did not write is lost in the end",
    "power": "the power goes before the operation: no bytes are there but those that an fsync put on the disk",
}
ACKNOWLEDGED = "acknowledge"  # the operation by which a child says that something is done
_CONSUMES = {"write", "create", "mkdir", "link"}
_PATIENCE_S = 120  # longer than any writer takes; one that hangs would hang for ever

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
class Watcher:
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
        if verb == "write" and files[0].startswith(f"/memfd:{ACKNOWLEDGED}"):
            verb, files = ACKNOWLEDGED, []
        elif not all(file.startswith(f"{self.case}{os.sep}") for file in files):
            return seccomp.answer(self.listener, call)
        elif verb == "open" and not os.path.lexists(files[0]):
            verb = "create"
        names = [os.path.relpath(file, self.case / "in") for file in files]
        self.operations.append(" ".join([verb, *names]))
        is_due = len(self.operations) > self.at and self.kind and fits(self.kind, verb)
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


def fits(kind: str, verb: str) -> bool:
    match kind:
        case "torn" | "short":
            return verb == "write"
        case "full":
            return verb in _CONSUMES
        case "io":
            return verb != ACKNOWLEDGED
        case _:
            return True
