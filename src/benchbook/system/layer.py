"""The interface of the operating system: what locks and writes need of it, and what it lacks."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Protocol


class PathLock(Protocol):
    """A file or folder that was opened to be locked. Its lock ends with it, or with its process, however that ends."""

    def take(self, *, shared: bool = False, wait: bool = True) -> None:
        """Lock it, alone or along with others who share it.

        Raises: BlockingIOError where another has it and nobody waits; OSError on a file system without locks.
        """

    def is_of(self, path: Path) -> bool:
        """True if what is at `path` now is what is locked. Raises: OSError."""

    def close(self) -> None: ...


class Layer(Protocol):
    """One kind of operating system."""

    @property
    def no_records(self) -> str | None:
        """The reason why no records are written here; None where they are."""

    def to_lock(self, path: Path, *, only_look: bool = False, only_folder: bool = False) -> PathLock:
        """Open a file or folder to lock it; with `only_folder` no file, and no link. To `only_look` writes nothing.

        Raises: OSError.
        """

    def lock_open(self, descriptor: int, *, wait: bool = True) -> None:
        """Lock an open file, alone, until it is closed. Raises as `PathLock.take`."""

    def sync_folder(self, folder: Path) -> None:
        """Put a folder's names on the disk. Raises: OSError."""

    def read_at(self, descriptor: int, length: int, offset: int) -> bytes:
        """At most `length` bytes behind `offset`. Raises: OSError."""

    def open(self, path: Path, flags: int, mode: int = 0o666, *, follows_links: bool = True) -> int:
        """Open a file of bytes, as `os.open`. Raises: OSError."""

    def put(self, file: BinaryIO, temporary: Path, path: Path) -> None:
        """Give a written file, open as `file`, the name `path` in place of any other. Raises: OSError."""

    def drop(self, file: BinaryIO, temporary: Path) -> None:
        """Remove a file, open as `file`, if it is still there. Raises: OSError."""

    def put_new(self, file: BinaryIO, temporary: Path, path: Path) -> None:
        """As `put`, where the name is free. Raises: FileExistsError where it is not; OSError."""
