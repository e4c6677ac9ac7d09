"""The folders in which chunks of predictions wait for the end of their submission.

    submissions/RUN_ID/about.json      for which eval set, of which model
    submissions/RUN_ID/items.parquet   the items' ids and expected answers, which each chunk is held against
    submissions/RUN_ID/chunks/KEY.jsonl

A folder is there whole or not at all, and so is a chunk. Whoever sends holds the folder along with others; whoever
ends a submission holds it alone, so that a chunk is in what is ended, or refused. The locks end with their process.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from threading import Lock

from benchbook.locks import locked_folder
from benchbook.record.folder import RUN_ID, Record
from benchbook.record.lines import STATE_FOLDER
from benchbook.server.problems import ProblemError
from benchbook.server.settings import Settings
from benchbook.system import SYSTEM
from benchbook.text import shorten
from benchbook.writing import make_folder, sync_folder, write_file

_ABOUT = "about.json"


class Submitted:
    """One submission's folder, while it is held."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_id = path.name
        self.about, self.items = path / _ABOUT, path / "items.parquet"
        self._chunks = path / "chunks"

    def chunk(self, key: str) -> Path:
        return self._chunks / f"{key}.jsonl"

    def chunks(self) -> dict[str, Path]:
        """The chunks by their keys, in the order of these."""
        return {path.name.removesuffix(".jsonl"): path for path in sorted(self._chunks.glob("[!.]*.jsonl"))}

    def add(self, key: str, data: bytes, check: Callable[[Path], None]) -> bool:
        """Put a chunk on the disk, unless it is there; True if it was not. `check` reads it before it counts.

        Raises: ProblemError (409) where another is there under this key; whatever `check` raises; OSError.
        """
        chunk = self.chunk(key)
        if not chunk.exists():
            temporary = chunk.with_name(f".{chunk.name}.{secrets.token_hex(8)}")
            try:
                with temporary.open("xb") as file:
                    file.write(data)
                    file.flush()
                    check(temporary)
                    os.fsync(file.fileno())
                with suppress(FileExistsError):  # of two senders at once one is first
                    os.link(temporary, chunk)
                    sync_folder(self._chunks)
                    return True
            finally:
                temporary.unlink(missing_ok=True)
        if chunk.read_bytes() != data:
            what = f"another chunk is there under the key {key!r}; take it back first, by DELETE"
            raise ProblemError(HTTPStatus.CONFLICT, what)
        sync_folder(self._chunks)  # the one who was first may not have come so far
        return False

    def take_back(self, key: str) -> None:
        """Remove a chunk. Raises: ProblemError (404) where there is none; OSError."""
        try:
            self.chunk(key).unlink()
        except FileNotFoundError:
            raise ProblemError(HTTPStatus.NOT_FOUND, f"there is no chunk under the key {key!r}") from None
        sync_folder(self._chunks)

    @contextmanager
    def together(self) -> Iterator[tuple[Path, str]]:
        """All chunks as one file, for as long as the block lasts, and its SHA-256. Raises: OSError."""
        path, digest = self.path / "predictions.jsonl", hashlib.sha256()
        try:
            with path.open("wb") as file:
                for chunk in self.chunks().values():
                    data = chunk.read_bytes().rstrip(b"\n") + b"\n"
                    digest.update(data)
                    file.write(data)
            yield path, digest.hexdigest()
        finally:
            path.unlink(missing_ok=True)

    def clean(self) -> None:
        """Remove what killed senders left. Raises: OSError."""
        for path in (*self._chunks.glob(".*"), self.path / "predictions.jsonl"):
            path.unlink(missing_ok=True)


class Submissions:
    """All submissions of a folder of records."""

    def __init__(self, settings: Settings) -> None:
        self._runs = settings.runs
        self._folder = settings.runs / STATE_FOLDER / "submissions"
        self._lock = Lock()
        self._ending: set[str] = set()
        with suppress(OSError):  # on a read-only disk nothing can be swept
            self._sweep()

    def is_open(self, run_id: str) -> bool:
        return bool(RUN_ID.fullmatch(run_id)) and (self._folder / run_id / _ABOUT).is_file()

    def begin(self, run_id: str, files: Mapping[str, bytes]) -> None:
        """Make the folder of a new submission; of several at once, one.

        Raises: ProblemError (409) where there is a submission or a record of this id; RecordError, OSError.
        """
        make_folder(self._folder)
        with locked_folder(self._folder):
            path = self._folder / run_id
            if (self._runs / run_id).exists():
                raise taken(run_id)
            if self.is_open(run_id):
                raise ProblemError(HTTPStatus.CONFLICT, f"predictions are being sent for {run_id!r} already")
            shutil.rmtree(path, ignore_errors=True)  # half made, by a version before this one
            made = self._folder / f".new-{secrets.token_hex(8)}"
            try:
                (made / "chunks").mkdir(parents=True)
                for name, data in files.items():
                    write_file(made / name, data)
                sync_folder(made)
                made.rename(path)
            except BaseException:
                shutil.rmtree(made, ignore_errors=True)
                raise
            sync_folder(self._folder)

    @contextmanager
    def sending(self, run_id: str) -> Iterator[Submitted]:
        """Hold a submission's folder along with others. Raises: ProblemError (404; 409 while it is ended)."""
        with self._lock:
            is_ending = run_id in self._ending
        if is_ending:
            raise _ending(run_id)
        with self._held(run_id, shared=True, wait=False) as found:
            yield found

    @contextmanager
    def ending(self, run_id: str) -> Iterator[Submitted]:
        """Hold a submission's folder alone, once chunks that are under way are there; no other comes from now on.

        Raises: ProblemError (404; 409 while another ends it).
        """
        with self._lock:
            if run_id in self._ending:
                raise _ending(run_id)
            self._ending.add(run_id)
        try:
            with self._held(run_id) as found:
                yield found
        finally:
            with self._lock:
                self._ending.discard(run_id)

    def remove(self, submitted: Submitted) -> None:
        """Remove a folder that is held alone, whole or not at all. Raises: OSError."""
        gone = self._folder / f".gone-{secrets.token_hex(8)}"
        submitted.path.rename(gone)
        sync_folder(self._folder)
        shutil.rmtree(gone, ignore_errors=True)

    def is_recorded(self, submitted: Submitted, digest: str) -> bool:
        """True if there is a record of these very predictions: the process ended before it removed the folder."""
        return Record(self._runs / submitted.run_id).input(digest).is_file()

    @contextmanager
    def _held(self, run_id: str, *, shared: bool = False, wait: bool = True) -> Iterator[Submitted]:
        path = self._folder / run_id
        if not self.is_open(run_id):
            raise _none(run_id)
        lock = SYSTEM.to_lock(path)
        try:
            try:
                lock.take(shared=shared, wait=wait)
            except BlockingIOError:
                raise _ending(run_id) from None
            if not self.is_open(run_id) or not lock.is_of(path):
                raise _none(run_id)  # ended meanwhile
            yield Submitted(path)
        finally:
            lock.close()

    def _sweep(self) -> None:
        """Remove what killed processes left: half-made folders and chunks, and folders whose record is there."""
        with locked_folder(self._folder):
            for path in list(self._folder.iterdir()):
                if path.name.startswith(".") or not (path / _ABOUT).is_file():
                    shutil.rmtree(path, ignore_errors=True)
                    continue
                with suppress(ProblemError, OSError), self._held(path.name, wait=False) as found:
                    found.clean()
                    if (self._runs / path.name).exists():
                        with found.together() as (_, digest):
                            is_recorded = self.is_recorded(found, digest)
                        if is_recorded:
                            self.remove(found)


def taken(run_id: str) -> ProblemError:
    return ProblemError(HTTPStatus.CONFLICT, f"there is a run {run_id!r} already")


def _none(run_id: str) -> ProblemError:
    return ProblemError(HTTPStatus.NOT_FOUND, f"no predictions are being sent for {shorten(run_id, 100)!r}")


def _ending(run_id: str) -> ProblemError:
    return ProblemError(HTTPStatus.CONFLICT, f"the predictions of {run_id!r} are being scored, or dropped, just now")
