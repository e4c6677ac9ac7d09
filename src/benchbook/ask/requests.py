"""Requests by their plan, rendered alike while running and to verify; thoughts in replies; the response cache.

Thoughts before an answer are split from it (SPEC R3.7). The cache is used if the settings name one.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.providers.calls import Answer, is_fault
from benchbook.ask.providers.local import bounded
from benchbook.ask.providers.openai_wire import chat_body
from benchbook.canonical import StrictJsonError, canonical_json, decode_json, parse_strict, ready
from benchbook.errors import ConfigError
from benchbook.evalsets.conversations import Message
from benchbook.wal import into_wal


class RolePlan(msgspec.Struct, frozen=True, kw_only=True):
    """The way in which one model is asked. `provider` is its wire format; `recorded` was asked elsewhere."""

    model_id: str
    provider: str
    name: str  # as it is sent
    params: dict[str, Any]
    json_schema: bool = False  # the request asks for JSON of the spec's schema (R2.3)
    stream: bool = False
    reasoning_tags: tuple[str, ...] = ()  # R3.7

    @property
    def is_played_back(self) -> bool:
        """True of a script and of recorded outputs: nobody is asked, and what is asked in vain costs nothing."""
        return self.provider in ("recorded", "scripted")


def plan_sha256(plan: msgspec.Struct) -> str:
    return hashlib.sha256(canonical_json(plan)).hexdigest()


def request_sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def schema_asked(role: RolePlan, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema that a role's requests ask for, when its replies have `schema`; None if they ask for none."""
    if not role.json_schema:
        return None
    asked = {key: value for key, value in schema.items() if key not in ("$schema", "title")}
    return bounded(asked) if role.provider == "local" else asked


def body_of(role: RolePlan, asked: str | Sequence[Message], schema: Mapping[str, Any] | None = None) -> bytes:
    """The request's bytes for a prompt or the messages of a conversation; `schema` comes from `schema_asked`."""
    return chat_body(role.name, asked, role.params, schema, stream=role.stream)


def split_reasoning(reply: str, tags: Sequence[str], *, lone_closing: bool = False) -> tuple[str | None, str]:
    """Split a reply into `(reasoning, rest)` after one leading `<tag>…</tag>` of a declared tag (SPEC R3.7).

    `lone_closing` also splits off thoughts whose opening tag ended the prompt, as in some chat templates; before
    derivation 3 they stayed. Strict JSON has none: a tag in it is part of a string.
    """
    body = reply.lstrip(" \t\r\n")
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        end = body.find(closing)
        if end < 0:
            continue
        if body.startswith(opening):
            return body[len(opening) : end], body[end + len(closing) :]
        if lone_closing and opening not in body[:end] and not _is_json(body):
            return body[:end], body[end + len(closing) :]
    return None, reply


def _is_json(text: str) -> bool:
    try:
        parse_strict(text)
    except StrictJsonError:
        return False
    return True


_answer = msgspec.json.Decoder(ready(Answer))


class ResponseCache:
    """Whole answers by endpoint, model, role and the request's hash (which covers the prompt and all parameters).

    Only a first repeat's first attempt uses it: otherwise repeats would measure nothing, and a parse retry would
    read the rejected reply again (SPEC R3.5, R7.3). A hit keeps its original latency.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, isolation_level=None, timeout=30)
            into_wal(self._database)
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
            return None  # unreadable counts as missing
        return answer if answer is not None and _is_answer(answer) else None

    def put(self, scope: str, role: str, request_sha256: str, answer: Answer) -> None:
        """Keep an answer with a text. If that fails (a full disk), the run goes on: the journal has the answer."""
        if not _is_answer(answer):
            return
        row = (_key(scope, role, request_sha256), canonical_json(answer))
        with suppress(sqlite3.Error):
            self._database.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", row)

    def close(self) -> None:
        self._database.close()


def _is_answer(answer: Answer) -> bool:
    """True if the answer is worth keeping: an empty reply may be a passing fault, and would stay for ever."""
    return bool(answer.text and answer.text.strip()) and not is_fault(answer.finish_reason)


def _key(scope: str, role: str, request_sha256: str) -> str:
    return hashlib.sha256(f"{scope}\0{role}\0{request_sha256}".encode()).hexdigest()
