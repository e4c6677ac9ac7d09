"""What a disk would hold if the power went: the bytes and the names that an fsync put there, and no others."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

_Inode: TypeAlias = tuple[int, int]
_Tree: TypeAlias = "dict[str, bytes | _Tree]"


class Disk:
    """The folder of a case, of which it is told what is done, before it is done.

    A file's bytes are on the disk once it was synced, a folder's names once that was: so strict is POSIX.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._bytes: dict[_Inode, bytes] = {}  # of files that were written since: what is on the disk
        self._names: dict[_Inode, dict[str, _Inode]] = {}  # of folders that changed since: the same
        self._kept = folder.parent / "kept"  # second names of files that lost theirs: no other gets their numbers
        self._kept.mkdir()
        self._lost: dict[_Inode, bytes] = {}  # what is on the disk of a file whose fsync failed

    def writes(self, file: str) -> None:
        with suppress(OSError), open(file, "rb") as reader:  # noqa: PTH123 - may be one of /proc
            self._bytes.setdefault(_inode(file), reader.read())

    def names(self, files: list[str]) -> None:
        """The files get names, or lose them; the last one may lose its place to another."""
        for file in files:
            folder = os.path.dirname(file)  # noqa: PTH120
            with suppress(OSError):
                self._names.setdefault(_inode(folder), _listed(folder))
        with suppress(OSError):
            os.link(files[-1], self._kept / str(len(os.listdir(self._kept))))  # noqa: PTH208

    def syncs(self, file: str) -> None:
        self._bytes.pop(_inode(file), None)
        self._names.pop(_inode(file), None)

    def fails(self, file: str) -> None:
        """An fsync fails: what it should have put on the disk never comes there."""
        if (inode := _inode(file)) in self._bytes:
            self._lost[inode] = self._bytes.pop(inode)

    def lose_what_failed(self) -> None:
        self._restore(self._lost)

    def lose_bytes(self) -> None:
        """The power goes; names are there, as on file systems that write them in order."""
        self._restore(self._bytes)

    def lose_all(self) -> None:
        """The power goes, and names that were not synced go with it."""
        places = {_inode(str(path)): path for path in (self._folder, *self._kept.iterdir(), *self._folder.rglob("*"))}
        tree = self._tree(_inode(str(self._folder)), places)
        shutil.rmtree(self._folder)
        _make(self._folder, tree)

    def _restore(self, kept: dict[_Inode, bytes]) -> None:
        for path in self._folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and (data := kept.get(_inode(str(path)))) is not None:
                path.write_bytes(data)

    def _tree(self, folder: _Inode, places: dict[_Inode, Path]) -> _Tree:
        names = self._names.get(folder)
        if names is None:
            names = _listed(str(places[folder])) if folder in places else {}
        found: _Tree = {}
        for name, inode in names.items():
            if inode in self._bytes:
                found[name] = self._bytes[inode]
            elif inode in places and not places[inode].is_dir():
                found[name] = places[inode].read_bytes()
            else:
                found[name] = self._tree(inode, places)
        return found


def _make(folder: Path, tree: _Tree) -> None:
    folder.mkdir()
    for name, content in tree.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            _make(folder / name, content)


def _listed(folder: str) -> dict[str, _Inode]:
    return {path.name: _inode(str(path)) for path in Path(folder).iterdir()}


def _inode(file: str) -> _Inode:
    found = os.stat(file)  # noqa: PTH116 - may be one of /proc
    return found.st_dev, found.st_ino
