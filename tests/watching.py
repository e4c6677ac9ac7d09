"""Lets a child's system calls go on, but for the one at which something is to go wrong."""

from __future__ import annotations

import errno
import os
import select
import signal
from dataclasses import dataclass, field
from pathlib import Path

import seccomp
from power import Disk

KINDS = {
    "kill": "killed before the operation",
    "torn": "killed after the first half of the write",
    "short": "this write and all that follow write half of what they should",
    "full": "the disk is full from here on, after the first half of a write",
    "io": "the operation fails with EIO, once; what a failed fsync did not write is lost in the end",
    "power": "the power goes before the operation: no bytes are there but those that an fsync put on the disk",
    "names": "the same, and no names but those that an fsync of their folder put there",
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

    def __post_init__(self) -> None:
        self._disk = Disk(self.case / "in")

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
        if self.kind in ("kill", "power", "names"):
            return os.kill(self.child, signal.SIGKILL)
        if self.kind == "torn":
            call.write(self.child, data[: len(data) // 2])
            return os.kill(self.child, signal.SIGKILL)
        if self.kind == "io":
            if verb == "sync":
                self._disk.fails(files[0])
            return seccomp.answer(self.listener, call, error=errno.EIO)
        half = max(len(data) // 2, 1) if self.kind == "short" else len(data) // 2 if is_first else 0
        if not half:
            return seccomp.answer(self.listener, call, error=errno.ENOSPC)
        self._disk.writes(f"/proc/{call.thread}/fd/{call.args[0]}")
        return seccomp.answer(self.listener, call, value=call.write(self.child, data[:half]))

    def _let(self, call: seccomp.Call, verb: str, files: list[str]) -> None:
        """Let a call go on. An fsync is remembered alone: it would only take time."""
        match verb:
            case "write" | "copy" | "truncate" if call.name != "truncate":
                self._disk.writes(f"/proc/{call.thread}/fd/{call.args[2 if call.name == 'copy_file_range' else 0]}")
            case "open" | "truncate":
                self._disk.writes(files[0])
            case "create" | "mkdir" | "link" | "rename" | "unlink" | "rmdir":
                self._disk.names(files)
            case "sync":
                self._disk.syncs(files[0])
                return seccomp.answer(self.listener, call, value=0)
        return seccomp.answer(self.listener, call)

    def lose(self) -> None:
        """Take from the disk what never came to it."""
        match self.kind:
            case "power":
                self._disk.lose_bytes()
            case "names":
                self._disk.lose_all()
            case _:
                self._disk.lose_what_failed()


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
