"""The response cache, off unless asked for: one SQLite file."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import suppress
from pathlib import Path

import msgspec

from benchbook.ask.providers.calls import Answer, is_fault
from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import ConfigError

__all__ = ["ResponseCache"]


_answer = msgspec.json.Decoder(ready(Answer))


class ResponseCache:
    """Whole answers by endpoint, model, role and the request's hash (which holds every parameter and the prompt).

    Only a first repeat's first attempt looks here: repeats would otherwise measure nothing, and a parse retry would
    read the rejected reply again (SPEC R3.5, R7.3). A hit keeps the latency of its first time.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, isolation_level=None, timeout=30)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer BLOB) WITHOUT ROWID"
            )
        except (sqlite3.Error, OSError) as error:
            raise ConfigError("cache", f"{path} ({error})", "a file that can be written") from None

    def get(self, scope: str, role: str, request_sha256: str) -> Answer | None:
        key = _key(scope, role, request_sha256)
        try:
            row = self._database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            answer: Answer | None = None if row is None else decode_json(row[0], _answer)
        except (sqlite3.Error, msgspec.DecodeError):
            return None  # a cache that can't be read is a cache that lacks it
        return answer if answer is not None and _is_answer(answer) else None

    def put(self, scope: str, role: str, request_sha256: str, answer: Answer) -> None:
        """Keep an answer with a text. Where that fails (a full disk), the run goes on without: the journal has it."""
        if not _is_answer(answer):
            return
        row = (_key(scope, role, request_sha256), canonical_json(answer))
        with suppress(sqlite3.Error):
            self._database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", row)

    def close(self) -> None:
        self._database.close()


def _is_answer(answer: Answer) -> bool:
    """Whether there is something to read again: an empty reply may well be a passing fault, and would stay for ever."""
    return bool(answer.text and answer.text.strip()) and not is_fault(answer.finish_reason)


def _key(scope: str, role: str, request_sha256: str) -> str:
    return hashlib.sha256(f"{scope}\0{role}\0{request_sha256}".encode()).hexdigest()
