"""Watches a process's system calls that change the disk (Linux's seccomp user notification): each waits until whoever
watches says whether it goes on, fails or is done in part. It sees what SQLite and Parquet's writers do, too."""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Numbers of system calls: x86-64, then AArch64, which lacks the older ones.
_NUMBERS = {
    "write": (1, 64), "pwrite64": (18, 68), "writev": (20, 66), "pwritev": (296, 70), "sendfile": (40, 71),
    "copy_file_range": (326, 285), "fsync": (74, 82), "fdatasync": (75, 83), "ftruncate": (77, 46),
    "truncate": (76, 45), "fallocate": (285, 47), "open": (2, None), "openat": (257, 56), "creat": (85, None),
    "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276), "link": (86, None), "linkat": (265, 37),
    "symlink": (88, None), "symlinkat": (266, 36), "unlink": (87, None), "unlinkat": (263, 35), "rmdir": (84, None),
    "mkdir": (83, None), "mkdirat": (258, 34), "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53),
    "seccomp": (317, 277), "pidfd_getfd": (438, 438),
}  # fmt: skip
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # the column above, and the kernel's name for it
_WATCHED = {name for name in _NUMBERS if name not in ("seccomp", "pidfd_getfd")}
_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC  # an opening without any of these changes nothing

_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_RECEIVE, _ANSWER = 0xC0502100, 0xC0182101
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NOTIFY, _ALLOW = 0x7FC00000, 0x7FFF0000

_libc = ctypes.CDLL(None, use_errno=True)


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


def number(name: str) -> int | None:
    """The number of a system call on this machine; None where it has no such call."""
    column, _ = _MACHINES[platform.machine()]
    return _NUMBERS[name][column]


@cache
def _names() -> dict[int | None, str]:
    return {number(name): name for name in _WATCHED}


def _filter() -> list[tuple[int, int, int, int]]:
    """Notify of the calls that are watched, and of openings by their flags; let everything else pass."""
    lines = [(_LOAD, 0, 0, 0)]  # the call's number
    for name in sorted(_WATCHED):
        if (wanted := number(name)) is None:
            continue
        if name in ("open", "openat"):
            flags = 24 if name == "open" else 32  # where the second or third argument lies
            changes = (
                (_LOAD, 0, 0, flags),
                (_ANY_BIT, 0, 1, _CHANGES),
                (_RETURN, 0, 0, _NOTIFY),
                (_RETURN, 0, 0, _ALLOW),
            )
            lines += [(_EQUAL, 0, len(changes), wanted), *changes]
        else:
            lines += [(_EQUAL, 0, 1, wanted), (_RETURN, 0, 0, _NOTIFY)]
    return [*lines, (_RETURN, 0, 0, _ALLOW)]


def watch_me() -> int:
    """From here on, this process's calls wait for an answer through the descriptor that comes back, for ever.

    Raises: OSError where the kernel can't do it.
    """
    lines = _filter()
    program = _Program(len(lines), (_Instruction * len(lines))(*lines))
    _libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, without which only root may
    return _checked(_libc.syscall(number("seccomp"), 1, 1 << 3, ctypes.byref(program)))  # 1 << 3: with a listener


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


@dataclass(frozen=True, slots=True)
class Call:
    """A system call that waits."""

    id: int
    thread: int
    name: str
    args: tuple[int, ...]

    def memory(self, address: int, length: int) -> bytes:
        with open(f"/proc/{self.thread}/mem", "rb", buffering=0) as memory:  # noqa: PTH123 - not a file
            memory.seek(address)
            return memory.read(length)

    def path(self, at: int, folder_at: int | None = None) -> str:
        """The path that argument `at` points at, from the folder that another names, or the process's own."""
        start = self.args[at]
        raw = self.memory(start, 4096 - start % 4096)
        if b"\0" not in raw:
            raw += self.memory(start + len(raw), 4096)
        name = os.fsdecode(raw[: raw.index(b"\0")])
        descriptor = None if folder_at is None else ctypes.c_int(self.args[folder_at]).value
        folder = f"/proc/{self.thread}/cwd" if descriptor in (None, -100) else f"/proc/{self.thread}/fd/{descriptor}"
        return os.path.normpath(Path(folder).readlink() / name)

    def file(self, at: int = 0) -> str:
        """The file that is open as the descriptor in argument `at`."""
        try:
            return str(Path(f"/proc/{self.thread}/fd/{ctypes.c_int(self.args[at]).value}").readlink())
        except OSError:
            return ""

    def data(self) -> bytes:
        """The bytes that are to be written."""
        if self.name in ("write", "pwrite64"):
            return self.memory(self.args[1], self.args[2])
        places = struct.iter_unpack("=QQ", self.memory(self.args[1], 16 * self.args[2]))
        return b"".join(self.memory(address, length) for address, length in places if length)

    def write(self, process: int, data: bytes) -> int:
        """Write `data` in the process's place, where it would have: its descriptor's place moves on, too."""
        pidfd = os.pidfd_open(process)
        try:
            descriptor = _checked(_libc.syscall(number("pidfd_getfd"), pidfd, ctypes.c_int(self.args[0]), 0))
        finally:
            os.close(pidfd)
        try:
            if self.name in ("pwrite64", "pwritev"):
                return os.pwrite(descriptor, data, self.args[3])
            return os.write(descriptor, data)
        finally:
            os.close(descriptor)


def next_call(listener: int) -> Call | None:
    """The next call that waits; None if its process has gone meanwhile."""
    notification = bytearray(_NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, notification)
    except FileNotFoundError:
        return None
    identifier, thread, _, found, _, _, *args = _NOTIFICATION.unpack(notification)
    return Call(identifier, thread, _names()[found], tuple(args))


def answer(listener: int, call: Call, *, value: int | None = None, error: int = 0) -> None:
    """Let the call go on; or have it give `value`, or fail with `error`, without being done."""
    goes_on = value is None and not error
    try:
        fcntl.ioctl(listener, _ANSWER, struct.pack("=QqiI", call.id, value or 0, -error, 1 if goes_on else 0))
    except FileNotFoundError:
        return  # the process has gone
