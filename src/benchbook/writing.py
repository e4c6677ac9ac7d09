"""Writes so that a crash at any moment leaves what was there before, or all of what is new.

What is acknowledged is on the disk. A file that can be made again need not be (`synced=False`): after a power cut it
may be empty, and whoever reads it must see that.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO

from benchbook.errors import BenchbookError, RecordError
from benchbook.system import SYSTEM
from benchbook.system.layer import PathLock


def cant_be_written(path: Path, error: OSError) -> str:
    """The sentence for a file or folder that the system refuses to write."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    return f"{path}: can't be written ({reason})"


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`, of which the system may take a part at a time. Raises: OSError."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, memoryview(data)[written:])


def sync_folder(folder: Path) -> None:
    """Put a folder's names on the disk. Raises: OSError."""
    SYSTEM.sync_folder(folder)


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it, and put the names of those that are new on the disk. Raises: OSError."""
    missing = [folder, *folder.parents]
    missing = missing[: next(number for number, one in enumerate(missing) if one.is_dir())]
    folder.mkdir(parents=True, exist_ok=True)
    for made in reversed(missing):
        sync_folder(made.parent)


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────


def write_file(path: Path, data: bytes, *, synced: bool = True, refuse: type[BenchbookError] = RecordError) -> None:
    """Write `data` to `path`, whole, or leave what was there before."""
    with written_whole(path, synced=synced, refuse=refuse) as file:
        file.write(data)


@contextmanager
def written_whole(
    path: Path, *, synced: bool = True, mode: int = 0o666, refuse: type[BenchbookError] = RecordError
) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` when the block ends, and goes if it fails.

    `refuse` is raised where it can't be written; without `synced` the system may put it on the disk later.
    """
    try:
        with replacing(path, synced=synced, mode=mode) as file:
            yield file
    except OSError as error:
        raise refuse(cant_be_written(path, error)) from None


@contextmanager
def replacing(path: Path, *, synced: bool = True, mode: int = 0o666) -> Iterator[BinaryIO]:
    """As `written_whole`. Raises: OSError."""
    with _beside(path, mode) as (temporary, file):
        yield file
        file.flush()
        if synced:
            os.fsync(file.fileno())
        SYSTEM.put(file, temporary, path)
    if synced:
        sync_folder(path.parent)


@contextmanager
def written_new(
    path: Path, *, otherwise: Iterable[Path] = (), refuse: type[BenchbookError] = RecordError
) -> Iterator[BinaryIO]:
    """A new file to write, which appears as `path` when the block ends, or as the first of the names `otherwise` that
    is free. No other is overwritten: FileExistsError where `path` is there and there is no other name.
    """
    if otherwise == () and os.path.lexists(path):
        with suppress(OSError):  # a second name of it, left by a killed writer
            if (temporary := _temporary_name(path)).samefile(path):
                temporary.unlink()
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    try:
        with _beside(path, 0o666) as (temporary, file):
            yield file
            file.flush()
            os.fsync(file.fileno())
            _name(file, temporary, chain((path,), otherwise))
        sync_folder(path.parent)
    except FileExistsError:
        raise
    except OSError as error:
        raise refuse(cant_be_written(path, error)) from None


def _name(file: BinaryIO, temporary: Path, names: Iterable[Path]) -> None:
    """Move the file to the first name that is free; of two writers at once, one gets it."""
    for name in names:
        with suppress(FileExistsError):
            SYSTEM.put_new(file, temporary, name)
            return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(temporary))


@contextmanager
def _beside(path: Path, mode: int) -> Iterator[tuple[Path, BinaryIO]]:
    """A temporary file beside `path`, for this writer alone: it is locked as long as it is written, and what a killed
    writer left is written over."""
    temporary, file = _opened_beside(path, mode)
    try:
        yield temporary, file
    except BaseException:
        with suppress(OSError):  # where nothing could be written there may be nothing to take away
            SYSTEM.drop(file, temporary)
        raise
    finally:
        with suppress(OSError):  # of what was not taken before
            file.close()


def _temporary_name(path: Path, number: int = 0) -> Path:
    if not path.name:  # nothing, or `.`
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return path.with_name(f".{path.name}.{number}.tmp" if number else f".{path.name}.tmp")


def _opened_beside(path: Path, mode: int) -> tuple[Path, BinaryIO]:
    for number in count():
        temporary = _temporary_name(path, number)
        descriptor = SYSTEM.open(temporary, os.O_WRONLY | os.O_CREAT, mode, follows_links=False)
        try:
            if _is_ours(descriptor, temporary):
                os.ftruncate(descriptor, 0)
                return temporary, os.fdopen(descriptor, "wb")
        except BaseException:
            os.close(descriptor)
            with suppress(OSError):
                temporary.unlink()
            raise
        os.close(descriptor)
    raise AssertionError("numbers don't end")


def _is_ours(descriptor: int, temporary: Path) -> bool:
    """Lock the file. False where another writer has it, or has given it its name: that may have been killed before it
    took this one away."""
    if not _has_lock(partial(SYSTEM.lock_open, descriptor, wait=False)):
        return False
    found = os.fstat(descriptor)
    try:
        is_named = os.path.samestat(found, temporary.stat())
    except FileNotFoundError:
        return False
    if is_named and found.st_nlink > 1:
        with suppress(PermissionError):  # Windows lets nobody remove what is open: then it is left alone
            temporary.unlink()
    return is_named and found.st_nlink == 1


# ── folders ──────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def folder_made_whole(
    target: Path, *, replaces: bool = False, refuse: type[BenchbookError] = RecordError
) -> Iterator[Path]:
    """A folder to fill, which appears as `target` when the block ends, and goes if it fails. Its names are on the disk
    then; its files are if whoever fills it sees to that.

    It has the user's umask. Where it `replaces` one, a kill leaves the old one or the new one, or, between two renames,
    none.
    """
    try:
        make_folder(target.parent)
    except OSError as error:
        raise refuse(cant_be_written(target.parent, error)) from None
    try:
        with temporary_folder(target.parent) as begun:
            made = begun / "new"
            made.mkdir()
            yield made
            sync_folder(made)
            _put_in_place(made, target, begun / "old" if replaces and target.exists() else None)
            sync_folder(target.parent)
    except OSError as error:
        raise refuse(cant_be_written(target, error)) from None


def _put_in_place(made: Path, target: Path, old: Path | None) -> None:
    """`made` as `target`; what was there goes to `old`, and comes back where that fails."""
    if old is not None:
        target.rename(old)
    try:
        made.rename(target)
    except OSError:
        if old is not None:
            old.rename(target)
        raise


def copy_folder(source: Path, target: Path) -> None:
    """Copy all files below `source`, each whole and on the disk. Raises: RecordError, OSError."""
    for path in sorted(source.rglob("*")):
        if path.is_file():
            copy = target / path.relative_to(source)
            make_folder(copy.parent)
            with path.open("rb") as whole, written_whole(copy) as file:
                shutil.copyfileobj(whole, file, 1 << 20)


_TEMPORARY = re.compile(r"\.new-[a-z0-9_]{8}")  # as `tempfile` makes them


@contextmanager
def temporary_folder(beside: Path) -> Iterator[Path]:
    """A private folder in `beside`, which goes when the block ends. It is locked while its process lives: those
    that killed processes left are removed first. Raises: OSError.
    """
    sweep(beside)
    made, lock = _begin(beside)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        lock.close()


def _begin(folder: Path) -> tuple[Path, PathLock]:
    """A private folder, and its lock."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=folder))
        with suppress(FileNotFoundError):  # another's sweep was quicker than the lock
            lock = SYSTEM.to_lock(made)
            if _has_lock(partial(lock.take, wait=False)) and made.exists():
                return made, lock
            lock.close()


def sweep(folder: Path) -> None:
    """Remove the folders that killed processes left half made."""
    for path in folder.iterdir():
        if not _TEMPORARY.fullmatch(path.name):
            continue
        with suppress(OSError):
            lock = SYSTEM.to_lock(path, only_folder=True)
            try:
                lock.take(wait=False)  # refused while its maker lives
                shutil.rmtree(path)
            finally:
                lock.close()


def _has_lock(take: Callable[[], None]) -> bool:
    """Take a lock; False where another process has it."""
    try:
        take()
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: nobody else can have it, and nobody sweeps
        return True
    return True
