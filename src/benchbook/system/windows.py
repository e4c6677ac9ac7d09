"""Windows: locks on a byte of a file by `LockFileEx`, for folders of a file beside them; no `fsync` of folders.

Locks there are mandatory, and hold for a range of bytes: theirs lies behind all that a file can have, so that who reads
or writes is never refused. A file that is open can neither be renamed nor removed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

NO_RECORDS = (
    "records are not written on Windows: nothing shows yet that a killed process leaves them whole there. Reading, "
    "verifying, comparing and serving them works; write them under WSL, on Linux or on macOS"
)

FAIL_IMMEDIATELY, EXCLUSIVE = 1, 2
ERROR_LOCK_VIOLATION = 33
_LOCKED_BYTE = 1 << 62
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)


class Overlapped(ctypes.Structure):
    """Windows' OVERLAPPED: where in a file something is done."""

    _fields_ = (
        ("Internal", ctypes.c_size_t),
        ("InternalHigh", ctypes.c_size_t),
        ("Offset", ctypes.c_uint32),
        ("OffsetHigh", ctypes.c_uint32),
        ("hEvent", ctypes.c_void_p),
    )


class Kernel(Protocol):
    """The functions of Windows that are called, with their parameters in their order."""

    def lock_file_ex(self, handle: int, flags: int, reserved: int, low: int, high: int, where: Any) -> int: ...
    def unlock_file_ex(self, handle: int, reserved: int, low: int, high: int, where: Any) -> int: ...
    def last_error(self) -> int: ...
    def handle_of(self, descriptor: int) -> int: ...


def _place() -> Any:
    return ctypes.pointer(Overlapped(Offset=_LOCKED_BYTE & 0xFFFFFFFF, OffsetHigh=_LOCKED_BYTE >> 32))


class Windows:
    """A system whose folders can't be opened (docs/decisions/0044-two-systems.md)."""

    no_records = NO_RECORDS

    def __init__(self, kernel: Kernel | None = None) -> None:
        self._known = kernel

    @property
    def kernel(self) -> Kernel:
        if self._known is None:
            self._known = _this_kernel()
        return self._known

    def to_lock(self, path: Path, *, only_look: bool = False, only_folder: bool = False) -> WindowsLock:
        if only_folder and (path.is_symlink() or not path.is_dir()):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        if not path.is_dir():
            return WindowsLock(self, self.open(path, os.O_RDONLY), None)
        # Beside it: a folder with an open file in it could not be renamed.
        beside = path.with_name(f".{path.name.removeprefix('.')}.lock")
        how = os.O_RDONLY if only_look else os.O_RDWR | os.O_CREAT
        return WindowsLock(self, self.open(beside, how), beside)

    def lock_open(self, descriptor: int, *, wait: bool = True) -> None:
        self.lock(descriptor, EXCLUSIVE | (0 if wait else FAIL_IMMEDIATELY))

    def lock(self, descriptor: int, flags: int) -> None:
        """Raises: BlockingIOError, OSError."""
        if self.kernel.lock_file_ex(self.kernel.handle_of(descriptor), flags, 0, 1, 0, _place()):
            return
        if (why := self.kernel.last_error()) == ERROR_LOCK_VIOLATION:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        raise OSError(errno.ENOLCK, f"LockFileEx ended with error {why}")

    def unlock(self, descriptor: int) -> None:
        """Windows unlocks what is closed, but says not when."""
        self.kernel.unlock_file_ex(self.kernel.handle_of(descriptor), 0, 1, 0, _place())

    def sync_folder(self, folder: Path) -> None:
        """Nothing: NTFS logs its names by itself, and there is no call that waits for it."""

    def read_at(self, descriptor: int, length: int, offset: int) -> bytes:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.read(descriptor, length)
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)

    def open(self, path: Path, flags: int, mode: int = 0o666, *, follows_links: bool = True) -> int:
        if not follows_links and path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        return os.open(path, flags | _BINARY, mode)

    def put(self, file: BinaryIO, temporary: Path, path: Path) -> None:
        file.close()  # and unlocked: of two writers at this moment, one is refused
        temporary.replace(path)

    def drop(self, file: BinaryIO, temporary: Path) -> None:
        file.close()
        temporary.unlink(missing_ok=True)

    def put_new(self, file: BinaryIO, temporary: Path, path: Path) -> None:
        file.close()
        temporary.rename(path)  # refused there where the name is taken


class WindowsLock:
    """A lock on a byte of an open file: the file itself, or one `beside` a folder, which is removed behind it."""

    def __init__(self, system: Windows, descriptor: int, beside: Path | None) -> None:
        self._system = system
        self._descriptor = descriptor
        self._beside = beside
        self._is_taken = False

    def take(self, *, shared: bool = False, wait: bool = True) -> None:
        self._system.lock(self._descriptor, (0 if shared else EXCLUSIVE) | (0 if wait else FAIL_IMMEDIATELY))
        self._is_taken = True

    def is_of(self, path: Path) -> bool:
        path.stat()
        return True  # it goes by the folder's name

    def close(self) -> None:
        if self._is_taken:
            self._system.unlock(self._descriptor)
        os.close(self._descriptor)
        if self._beside is not None:
            with suppress(OSError):  # refused there while another has it open
                self._beside.unlink()


if sys.platform == "win32":
    import msvcrt
    from ctypes import wintypes

    class _Kernel32:
        def __init__(self) -> None:
            kernel = ctypes.WinDLL("kernel32", use_last_error=True)
            word, where = wintypes.DWORD, ctypes.POINTER(Overlapped)
            self.lock_file_ex, self.unlock_file_ex = kernel.LockFileEx, kernel.UnlockFileEx
            self.lock_file_ex.argtypes = [wintypes.HANDLE, word, word, word, word, where]
            self.unlock_file_ex.argtypes = [wintypes.HANDLE, word, word, word, where]
            self.lock_file_ex.restype = self.unlock_file_ex.restype = wintypes.BOOL

        def last_error(self) -> int:
            return ctypes.get_last_error()

        def handle_of(self, descriptor: int) -> int:
            return msvcrt.get_osfhandle(descriptor)

    def _this_kernel() -> Kernel:
        return _Kernel32()

else:

    def _this_kernel() -> Kernel:
        raise OSError(errno.ENOSYS, "neither fcntl nor LockFileEx is here")
