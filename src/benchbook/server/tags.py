"""People's tags of runs. They are in no record and no catalog: each change is a line of a file of the server's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import msgspec

from benchbook.canonical import canonical_json, ready
from benchbook.records.journal import utc_now

__all__ = ["TagStore"]


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
