"""Who changed what: a line of JSON for each write that was asked for, also for one that was refused."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock

import msgspec

from benchbook.canonical import canonical_json
from benchbook.records.journal import utc_now

__all__ = ["Audit"]


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    who: str
    via: str
    operation: str
    target: dict[str, str]
    status: int
    detail: str | None


class Audit:
    """Appends to a file that only its owner can read. Bodies and tokens are never in it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "audit.jsonl"
        self._lock = Lock()

    def note(self, who: str, via: str, operation: str, target: dict[str, str], status: int, detail: str | None) -> None:
        entry = _Entry(at=utc_now(), who=who, via=via, operation=operation, target=target, status=status, detail=detail)
        line = canonical_json(entry) + b"\n"
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
