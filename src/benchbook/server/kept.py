"""What was computed once and may be asked for again: by key, within a number of bytes, and made by one thread alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import msgspec

from benchbook.canonical import canonical_json, ready
from benchbook.record.journal import utc_now

__all__ = ["Kept", "TagStore"]


_Value = TypeVar("_Value")


class Kept:
    """The least recently used goes first. Whoever asks for what is being made waits for it; a failure is not kept."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, Future[Any]] = {}
        self.n_bytes = 0

    def get(self, key: Hashable, make: Callable[[], _Value], size_of: Callable[[_Value], int]) -> _Value:
        """The value of `key`. What is larger than all that may be kept is made and given, and not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                found: _Value = self._values[key][0]
                return found
            future = self._making.get(key)
            mine = future is None
            if future is None:
                future = self._making[key] = Future()
        if not mine:
            waited: _Value = future.result()
            return waited
        try:
            value = make()
            self._keep(key, value, size_of(value))
        except BaseException as error:
            future.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._making[key]
        future.set_result(value)
        return value

    def put(self, key: Hashable, value: Any, size: int) -> None:
        """Keep a value that was made along the way, unless there is one already."""
        with self._lock:
            known = key in self._values
        if not known:
            self._keep(key, value, size)

    def peek(self, key: Hashable) -> Any:
        """The value, if it is there; else None."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def drop(self, key: Hashable) -> None:
        """Keep the value no longer, if it is there."""
        with self._lock:
            self.n_bytes -= self._values.pop(key, (None, 0))[1]

    def _keep(self, key: Hashable, value: Any, size: int) -> None:
        if size > self._most_bytes:
            return
        with self._lock:
            self.n_bytes += size - self._values.pop(key, (None, 0))[1]
            self._values[key] = value, size
            while self.n_bytes > self._most_bytes:
                _, (_, freed) = self._values.popitem(last=False)
                self.n_bytes -= freed


class _Change(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    run_id: str
    tags: tuple[str, ...]


class TagStore:
    """The last line about a run holds. A torn last line, of a power cut, does not count."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "tags.jsonl"
        self._lock = Lock()
        self._tags: dict[str, tuple[str, ...]] = {}
        decoder = msgspec.json.Decoder(ready(_Change))
        if self._path.exists():
            for line in self._path.read_bytes().split(b"\n"):
                try:
                    change = decoder.decode(line)
                except msgspec.DecodeError:
                    continue
                self._tags[change.run_id] = change.tags

    def of(self, run_id: str) -> tuple[str, ...]:
        return self._tags.get(run_id, ())

    def runs_with(self, tag: str) -> set[str]:
        with self._lock:
            return {run_id for run_id, tags in self._tags.items() if tag in tags}

    def put(self, run_id: str, tags: Sequence[str]) -> tuple[str, ...]:
        """The tags of a run from now on, in the order of the alphabet."""
        wanted = tuple(sorted(set(tags)))
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(canonical_json(_Change(at=utc_now(), run_id=run_id, tags=wanted)) + b"\n")
            self._tags[run_id] = wanted
        return wanted
