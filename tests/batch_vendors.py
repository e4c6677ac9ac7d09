"""A stand-in for three vendors of batches, on loopback, that keeps to their documents: each rule names its section.

    with vendors(tmp_path) as server:  # its state is in the folder, and outlives it
        config = {"model_base_url": server.openai, …}

Batches end when they are looked at for the `looks_before_end`-th time. Results come shuffled; of the requests some
expire, some fail and of some the line comes twice, by `Fates`. Whoever is billed for a request is counted by the
request's bytes: `server.billed()`. `/chat/v1` answers the same requests one at a time, as `benchbook run` asks them.

It also runs by itself: `python tests/batch_vendors.py FOLDER PORT`.
"""

from __future__ import annotations

import argparse
import email.parser
import hashlib
import json
import random
import re
import sqlite3
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

# OpenAI, api-reference/batch/create, input_file_id: 50,000 requests, 200 MB.
# Anthropic, build-with-claude/batch-processing, "Batch limitations": 100,000 requests or 256 MB.
# Gemini, gemini-api/docs/batch-api, "Input file": 2 GB.
MOST = {"openai": (50_000, 200_000_000), "anthropic": (100_000, 256_000_000), "gemini": (10**9, 2_000_000_000)}
# Anthropic, api/creating-message-batches, requests.custom_id.
CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_WHEN = "2026-11-30T12:00:00Z"


@dataclass(frozen=True)
class Fates:
    """Of a thousand requests, how many expire, fail, and come back twice."""

    expired: int = 0
    failed: int = 0
    doubled: int = 0

    def of(self, custom_id: str) -> str:
        """What becomes of a request: the same however often it is asked, and another in another batch."""
        drawn = zlib.crc32(custom_id.encode()) % 1000
        if drawn < self.expired:
            return "expired"
        if drawn < self.expired + self.failed:
            return "failed"
        return "doubled" if drawn < self.expired + self.failed + self.doubled else "answered"


KIND = Fates()


def said(text: str, before: int = 0) -> str:
    """The answer to a prompt, which was answered `before` so often. A judge's is malformed now and then at first, and
    for some prompts always."""
    drawn = hashlib.sha256(text.encode()).digest()
    if "evaluation judge" not in text:
        return f"The answer is {drawn[0]}."
    if drawn[1] < 16 or (drawn[1] < 40 and not before):
        return "I would say: good."
    return json.dumps({"accuracy_score": drawn[2] % 3, "faithfulness_score": drawn[3] % 3, "rationale": "So it is."})


def _tokens(text: str) -> int:
    return len(text) // 4 + 1


def chat_answer(body: dict[str, Any], before: int = 0) -> dict[str, Any]:
    """A completion, by OpenAI's api-reference/chat/object."""
    asked = body["messages"][-1]["content"]
    text = said(asked, before)
    usage = {"prompt_tokens": _tokens(asked), "completion_tokens": _tokens(text)}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_795_000_000,
        "model": f"{body['model']}-2026-01-01",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": usage | {"total_tokens": sum(usage.values())},
    }  # fmt: skip


# ── the three forms ──────────────────────────────────────────────────────────────────────────────────────────


def _of_openai(line: dict[str, Any], before: int, fate: str) -> dict[str, Any]:
    """A line of output or of errors, by api-reference/batch/request-output."""
    result = {"id": f"batch_req_{line['custom_id'][:8]}", "custom_id": line["custom_id"]}
    if fate == "expired":  # guides/batch, "Batch expiration": the error file has a line for each
        error = {"code": "batch_expired", "message": "This request could not be executed before the window expired."}
        return result | {"response": None, "error": error}
    if fate == "failed":
        body = {"error": {"message": "The server had an error.", "type": "server_error"}}
        return result | {"response": {"status_code": 500, "request_id": "r", "body": body}, "error": None}
    body = chat_answer(line["body"], before)
    return result | {"response": {"status_code": 200, "request_id": "r", "body": body}, "error": None}


def _of_anthropic(line: dict[str, Any], before: int, fate: str) -> dict[str, Any]:
    """A line of results, by build-with-claude/batch-processing, "Retrieving batch results"."""
    if fate == "expired":
        return {"custom_id": line["custom_id"], "result": {"type": "expired"}}
    if fate == "failed":
        error = {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}
        return {"custom_id": line["custom_id"], "result": {"type": "errored", "error": error}}
    params = line["params"]
    asked = params["messages"][-1]["content"]
    text = said(asked, before)
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": f"{params['model']}-20260101",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": _tokens(asked), "output_tokens": _tokens(text)},
    }  # fmt: skip
    return {"custom_id": line["custom_id"], "result": {"type": "succeeded", "message": message}}


def _of_gemini(line: dict[str, Any], before: int, fate: str) -> dict[str, Any]:
    """A line of the responses' file, by gemini-api/docs/batch-api, "Retrieving results"."""
    if fate == "expired":
        return {"key": line["key"], "error": {"code": 4, "message": "Deadline exceeded", "status": "DEADLINE_EXCEEDED"}}
    if fate == "failed":
        return {"key": line["key"], "error": {"code": 13, "message": "Internal error", "status": "INTERNAL"}}
    asked = line["request"]["contents"][-1]["parts"][0]["text"]
    text = said(asked, before)
    response = {
        "candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": _tokens(asked), "candidatesTokenCount": _tokens(text)},
        "modelVersion": "m-2026-01-01",
    }
    return {"key": line["key"], "response": response}


_RESULT = {"openai": _of_openai, "anthropic": _of_anthropic, "gemini": _of_gemini}
_ID = {"openai": "custom_id", "anthropic": "custom_id", "gemini": "key"}
_ASKED = {"openai": "body", "anthropic": "params", "gemini": "request"}


def _lines(vendor: str, path: Path) -> Iterator[dict[str, Any]]:
    """The requests of a file, a line each; Anthropic's are one document, which whoever writes may put on lines."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            text = line.strip()
            if vendor == "anthropic":
                text = text.removeprefix('{"requests":[').removesuffix("]}").removesuffix(",")
            if text:
                yield json.loads(text)


def why_refused(vendor: str, path: Path) -> str | None:
    """Why a vendor takes no file of requests, by its rules for each."""
    most, most_bytes = MOST[vendor]
    if path.stat().st_size > most_bytes:
        return "the file is too large"
    seen: set[int] = set()
    n = 0
    for line in _lines(vendor, path):
        n += 1
        id_ = line.get(_ID[vendor])
        if not isinstance(id_, str) or not id_:
            return "a request has no id"
        if (key := hash(id_)) in seen:  # guides/batch, "Preparing your batch file": a unique custom_id
            return f"duplicate id {id_}"
        seen.add(key)
        if (why := _why_refused(vendor, id_, line)) is not None:
            return why
    return "too many requests" if n > most else "no requests" if not n else None


def _why_refused(vendor: str, id_: str, line: dict[str, Any]) -> str | None:
    asked = line[_ASKED[vendor]]
    if vendor == "openai":
        # api-reference/batch/request-input: method POST, and the url that the batch was made for.
        if line["method"] != "POST" or line["url"] != "/v1/chat/completions":
            return f"method {line['method']}, url {line['url']}"
        return "stream" if asked.get("stream") else None
    if vendor == "anthropic":
        if not CUSTOM_ID.fullmatch(id_):
            return f"custom_id {id_}"
        # api/messages: max_tokens must be there; batch-processing: no stream; roles are user and assistant alone.
        if asked.get("max_tokens", 0) < 1 or asked.get("stream") or "seed" in asked:
            return "a parameter that messages in batches do not have"
        roles = {one["role"] for one in asked["messages"]}
        return None if roles <= {"user", "assistant"} else f"roles {sorted(roles)}"
    # api/generate-content: contents with parts, under the roles user and model.
    roles = {one["role"] for one in asked["contents"]}
    return None if roles <= {"user", "model"} and asked["contents"][0]["parts"] else f"roles {sorted(roles)}"


# ── their state ──────────────────────────────────────────────────────────────────────────────────────────────

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (id TEXT PRIMARY KEY, name TEXT);
CREATE TABLE IF NOT EXISTS batches (
    number INTEGER PRIMARY KEY, id TEXT, vendor TEXT, named TEXT, file TEXT, status TEXT, n INTEGER, looks INTEGER,
    created REAL, counts TEXT, errors TEXT);
CREATE TABLE IF NOT EXISTS answered (asked BLOB PRIMARY KEY, n INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS billed (request TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;
"""


@dataclass
class Vendors:
    """The state of all three, in a folder. `drops` are calls whose connection is broken off: `POST /batches` before it
    is looked at, `POST /batches after` once it was carried out."""

    folder: Path
    fates: Fates = KIND
    looks_before_end: int = 1
    drops: list[str] = field(default_factory=list)
    refuses: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)  # by the same names, once each
    calls: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    now: float = 1_795_000_000.0
    url: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)
    tenants: dict[str, Vendors] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / "files").mkdir(parents=True, exist_ok=True)
        with self.database() as database:
            database.executescript(_SCHEMA)

    @property
    def openai(self) -> str:
        return f"{self.url}/openai/v1"

    @property
    def anthropic(self) -> str:
        return f"{self.url}/anthropic/v1"

    @property
    def gemini(self) -> str:
        return f"{self.url}/v1beta"

    @property
    def chat(self) -> str:
        return f"{self.url}/chat/v1"

    def tenant(self, name: str) -> Vendors:
        """The same vendors for somebody else, who has nothing in common with others: at addresses below `/t/NAME`."""
        with self.lock:
            if name not in self.tenants:
                own = Vendors(self.folder / name, self.fates, self.looks_before_end, keys=self.keys)
                own.url = f"{self.url}/t/{name}"
                self.tenants[name] = own
            return self.tenants[name]

    @contextmanager
    def database(self) -> Iterator[sqlite3.Connection]:
        with self.lock, closing(sqlite3.connect(self.folder / "state.sqlite")) as database:
            database.row_factory = sqlite3.Row
            with database:
                yield database

    def billed(self) -> dict[str, int]:
        """How often each request was carried out, by its id without the batch's."""
        with self.database() as database:
            return {row["request"]: row["n"] for row in database.execute("SELECT * FROM billed")}

    def n_batches(self) -> int:
        with self.database() as database:
            return int(database.execute("SELECT count(*) FROM batches").fetchone()[0])

    def path(self, file_id: str) -> Path:
        return self.folder / "files" / re.sub(r"[^\w-]", "_", file_id)

    # ── batches ──────────────────────────────────────────────────────────────────────────────────────────

    def make(self, vendor: str, file_id: str, named: str) -> sqlite3.Row:
        """A batch of a file. One that OpenAI's rules refuse is made, and fails (guides/batch, "failed")."""
        why = why_refused(vendor, self.path(file_id))
        n = 0 if why else sum(1 for _ in _lines(vendor, self.path(file_id)))
        with self.database() as database:
            number = int(database.execute("SELECT coalesce(max(number), 0) + 1 FROM batches").fetchone()[0])
            id_ = {"openai": "batch_{}", "anthropic": "msgbatch_{}", "gemini": "batches/{}"}[vendor].format(number)
            created = time.time()
            row = (number, id_, vendor, named, file_id, "failed" if why else "going", n, 0, created, "{}", why)
            database.execute(f"INSERT INTO batches VALUES ({', '.join('?' * len(row))})", row)
        return self.batch(id_)

    def batch(self, id_: str) -> sqlite3.Row:
        with self.database() as database:
            found: sqlite3.Row = database.execute("SELECT * FROM batches WHERE id = ?", (id_,)).fetchone()
            return found

    def looked_at(self, id_: str) -> sqlite3.Row:
        """A batch; looking at it brings it nearer to its end."""
        with self.lock:
            batch = self.batch(id_)
            if batch is not None and batch["status"] in ("going", "cancelling"):
                with self.database() as database:
                    database.execute("UPDATE batches SET looks = looks + 1 WHERE id = ?", (id_,))
                if batch["looks"] + 1 >= self.looks_before_end:
                    self._carry_out(batch)
        return self.batch(id_)

    def _carry_out(self, batch: sqlite3.Row) -> None:
        """Carry a batch out: its results are on the disk before it is over, and it is billed with that, or not."""
        vendor, cancelled = batch["vendor"], batch["status"] == "cancelling"
        output, errors, counts = [], [], {"answered": 0, "expired": 0, "failed": 0, "cancelled": 0}
        with self.database() as database:
            for line in _lines(vendor, self.path(batch["file"])):
                fate = "cancelled" if cancelled else self.fates.of(line[_ID[vendor]])
                counts["answered" if fate == "doubled" else fate] += 1
                if fate == "cancelled":
                    continue  # the simplest that is allowed: nothing of it had begun
                before = self.bill(database, vendor, line) if fate in ("answered", "doubled") else 0
                result = json.dumps(_RESULT[vendor](line, before, fate))
                target = errors if vendor == "openai" and fate in ("expired", "failed") else output
                target += [result] * (2 if fate == "doubled" else 1)
            # guides/batch, "Retrieving the results": the order of output lines may differ from that of the input.
            random.Random(batch["number"]).shuffle(output)
            for name, lines in (("output", output), ("errors", errors)):
                text = "".join(f"{one}\n" for one in lines)
                self.path(f"{name}-{batch['number']}").write_text(text, encoding="utf-8")
            status = "cancelled" if cancelled else "expired" if counts["expired"] and vendor != "gemini" else "ended"
            told = (status, json.dumps(counts), batch["id"])
            database.execute("UPDATE batches SET status = ?, counts = ? WHERE id = ?", told)

    def bill(self, database: sqlite3.Connection, vendor: str, line: dict[str, Any]) -> int:
        """Count a request that is carried out; return how often the same was asked before."""
        request = str(line[_ID[vendor]]).partition("-")[2]
        more = "INSERT INTO billed VALUES (?, 1) ON CONFLICT (request) DO UPDATE SET n = n + 1"
        database.execute(more, (request,))
        return self.before(database, _prompt(vendor, line[_ASKED[vendor]]))

    def before(self, database: sqlite3.Connection, prompt: str) -> int:
        """How often a prompt was answered before this time."""
        asked = hashlib.sha256(prompt.encode()).digest()[:16]
        more = "INSERT INTO answered VALUES (?, 1) ON CONFLICT (asked) DO UPDATE SET n = n + 1 RETURNING n"
        return int(database.execute(more, (asked,)).fetchone()[0]) - 1


def _prompt(vendor: str, asked: dict[str, Any]) -> str:
    """The last turn, which is what the answer is made of: the same under each vendor."""
    last = asked["contents"][-1]["parts"][0]["text"] if vendor == "gemini" else asked["messages"][-1]["content"]
    return str(last)


# ── their calls ──────────────────────────────────────────────────────────────────────────────────────────────


class _Refusal(Exception):  # noqa: N818 - an answer like another
    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(status)
        self.status, self.body = status, body


def _not_found() -> _Refusal:
    return _Refusal(404, {"error": {"message": "No such thing.", "type": "not_found_error"}})


class _Dropped(Exception):  # noqa: N818 - it is no fault
    """The connection breaks off."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    root: Vendors
    vendors: Vendors

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        place = urlsplit(self.path)
        path, self.query = unquote(place.path), {name: one[0] for name, one in parse_qs(place.query).items()}
        self.vendors = self.root
        if (tenant := re.match(r"(?:/upload|/download)?/t/([\w-]+)", path)) is not None:
            self.vendors = self.root.tenant(tenant[1])
            path = path.replace(f"/t/{tenant[1]}", "", 1)
        body = self._body()
        name = f"{self.command} {_plain(path)}"
        state = self.vendors
        state.calls.append(name)
        try:
            self._disturb(name)
            self._check_key(path)
            answer = self._route(path, body)
            self._disturb(f"{name} after")
            headers = {}
            if isinstance(answer, tuple):
                answer, headers = answer
            self._send(200, answer, headers)
        except _Refusal as refusal:
            self._send(refusal.status, refusal.body)
        except (_Dropped, ConnectionError):
            self.close_connection = True

    def _disturb(self, name: str) -> None:
        """Do what a test wants at this call, once."""
        state = self.vendors
        if name in state.drops:
            state.drops.remove(name)
            raise _Dropped
        if name in state.refuses:
            raise _Refusal(*state.refuses.pop(name))

    def _body(self) -> Path:
        """The body, in a file: it may be large."""
        left = int(self.headers.get("Content-Length") or 0)
        path = self.vendors.folder / "files" / f"body-{threading.get_ident()}"
        with path.open("wb") as file:
            while left:
                piece = self.rfile.read(min(left, 1 << 20))
                if not piece:
                    break
                file.write(piece)
                left -= len(piece)
        return path

    def _send(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> None:
        if isinstance(answer, Path):
            with answer.open("rb") as file:
                self._head(status, answer.stat().st_size, "application/octet-stream", headers or {})
                while piece := file.read(1 << 20):
                    self.wfile.write(piece)
            return
        data = json.dumps(answer).encode()
        self._head(status, len(data), "application/json", headers or {})
        self.wfile.write(data)

    def _head(self, status: int, length: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(length), **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _check_key(self, path: str) -> None:
        """Each vendor reads its key from a header of its own, where keys are asked for."""
        keys = self.vendors.keys
        if "/anthropic/" in path:
            # api/versioning: the header anthropic-version must be there.
            if self.headers.get("anthropic-version") != "2023-06-01":
                raise _Refusal(400, {"type": "error", "error": {"type": "invalid_request_error", "message": "version"}})
            key = self.headers.get("x-api-key")
        elif "v1beta" in path:
            key = self.headers.get("x-goog-api-key")
        else:
            key = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if keys and key not in keys:
            raise _Refusal(401, {"error": {"message": f"Incorrect API key provided: {key}", "code": "invalid_api_key"}})

    def _route(self, path: str, body: Path) -> Any:
        if path.startswith("/openai/v1"):
            return self._openai(path.removeprefix("/openai/v1"), body)
        if path.startswith("/anthropic/v1"):
            return self._anthropic(path.removeprefix("/anthropic/v1"), body)
        if path == "/chat/v1/chat/completions":
            asked = json.loads(body.read_bytes())
            with self.vendors.database() as database:
                before = self.vendors.before(database, _prompt("openai", asked))
            return chat_answer(asked, before)
        return self._gemini(path, body)

    # ── OpenAI: api-reference/files, api-reference/batch ─────────────────────────────────────────────────

    def _openai(self, path: str, body: Path) -> Any:
        state = self.vendors
        match (self.command, *path.strip("/").split("/")):
            case ("POST", "files"):
                return self._openai_file(body)
            case ("GET", "files", id_):
                with state.database() as database:
                    found = database.execute("SELECT name FROM files WHERE id = ?", (id_,)).fetchone()
                if found is None:
                    raise _not_found()
                return {"id": id_, "object": "file", "filename": found[0], "purpose": "batch"}
            case ("GET", "files", id_, "content"):
                return state.path(id_)
            case ("POST", "batches"):
                asked = json.loads(body.read_bytes())
                # create: completion_window can only be 24h; metadata: at most 16 pairs of 64 and 512 characters.
                if asked["completion_window"] != "24h" or asked["endpoint"] != "/v1/chat/completions":
                    raise _Refusal(400, {"error": {"message": "window or endpoint", "type": "invalid_request_error"}})
                return self._openai_batch(
                    state.make("openai", asked["input_file_id"], json.dumps(asked.get("metadata")))
                )
            case ("GET", "batches"):
                # list: limit between 1 and 100; after is the id of the last one seen; the newest first.
                rows = self._listed("openai", self.query.get("after"), int(self.query.get("limit", 20)))
                page, more = rows
                return {"object": "list", "data": [self._openai_batch(one) for one in page], "has_more": more}
            case ("GET", "batches", id_):
                return self._openai_batch(state.looked_at(id_))
            case ("POST", "batches", id_, "cancel"):
                self._cancel(id_)
                return self._openai_batch(state.batch(id_))
            case _:
                raise _not_found()

    def _openai_file(self, body: Path) -> Any:
        """A form with `purpose` and `file` (files/create); the file is as it was sent."""
        kind = self.headers["Content-Type"]
        boundary = kind.partition("boundary=")[2].encode()
        data = body.read_bytes()
        fields: dict[str, tuple[str, bytes]] = {}
        for part in data.split(b"--" + boundary)[1:-1]:
            head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
            told = email.parser.BytesParser().parsebytes(head + b"\r\n\r\n")
            name = str(told.get_param("name", header="content-disposition"))
            fields[name] = (told.get_filename() or "", content.removesuffix(b"\r\n"))
        if fields["purpose"][1] != b"batch":
            raise _Refusal(400, {"error": {"message": "purpose", "type": "invalid_request_error"}})
        return self._kept(fields["file"][0], fields["file"][1])

    def _kept(self, name: str, content: bytes) -> dict[str, Any]:
        state = self.vendors
        with state.database() as database:
            number = int(database.execute("SELECT count(*) + 1 FROM files").fetchone()[0])
            id_ = f"file-{number}"
            state.path(id_).write_bytes(content)
            database.execute("INSERT INTO files VALUES (?, ?)", (id_, name))
        return {"id": id_, "object": "file", "filename": name, "bytes": len(content), "purpose": "batch"}

    def _openai_batch(self, row: sqlite3.Row | None) -> dict[str, Any]:
        """The batch object (api-reference/batch/object)."""
        if row is None:
            raise _not_found()
        counts = json.loads(row["counts"])
        said_status = {"ended": "completed", "going": "in_progress"}.get(row["status"], row["status"])
        over = row["status"] in ("ended", "expired", "cancelled")
        errors = {"object": "list", "data": [{"code": "invalid_file", "message": row["errors"]}]}
        return {
            "id": row["id"], "object": "batch", "endpoint": "/v1/chat/completions", "status": said_status,
            "input_file_id": row["file"], "completion_window": "24h", "created_at": int(row["created"]),
            "output_file_id": f"output-{row['number']}" if over else None,
            "error_file_id": f"errors-{row['number']}" if over else None,
            "errors": errors if row["errors"] else None, "metadata": json.loads(row["named"]),
            "request_counts": {
                "total": row["n"], "completed": counts.get("answered", 0), "failed": counts.get("failed", 0),
            },
        }  # fmt: skip

    def _listed(self, vendor: str, after: str | None, limit: int) -> tuple[list[sqlite3.Row], bool]:
        with self.vendors.database() as database:
            ids = database.execute("SELECT id FROM batches WHERE vendor = ? ORDER BY number DESC", (vendor,)).fetchall()
        rows = [self.vendors.looked_at(one["id"]) for one in ids]
        if after is not None:
            rows = rows[[row["id"] for row in rows].index(after) + 1 :]
        return rows[:limit], len(rows) > limit

    def _cancel(self, id_: str) -> None:
        with self.vendors.database() as database:
            if self.vendors.batch(id_) is None:
                raise _not_found()
            database.execute("UPDATE batches SET status = 'cancelling' WHERE id = ? AND status = 'going'", (id_,))

    # ── Anthropic: api/creating-message-batches and those beside it ──────────────────────────────────────

    def _anthropic(self, path: str, body: Path) -> Any:
        state = self.vendors
        match (self.command, *path.strip("/").split("/")):
            case ("POST", "messages", "batches"):
                kept = self._kept("requests", body.read_bytes())
                if (why := why_refused("anthropic", state.path(kept["id"]))) is not None:
                    error = {"type": "invalid_request_error", "message": why}
                    raise _Refusal(400, {"type": "error", "error": error})
                return self._anthropic_batch(state.make("anthropic", kept["id"], ""))
            case ("GET", "messages", "batches"):
                # listing-message-batches: limit 1 to 1000, after_id, the newest first; first_id, last_id, has_more.
                page, more = self._listed("anthropic", self.query.get("after_id"), int(self.query.get("limit", 20)))
                data = [self._anthropic_batch(one) for one in page]
                return {"data": data, "has_more": more, "last_id": data[-1]["id"] if data else None}
            case ("GET", "messages", "batches", id_):
                return self._anthropic_batch(state.looked_at(id_))
            case ("GET", "messages", "batches", id_, "results"):
                # retrieving-message-batch-results: there once processing has ended.
                row = state.batch(id_)
                if row is None or row["status"] in ("going", "cancelling"):
                    raise _not_found()
                return state.path(f"output-{row['number']}")
            case ("POST", "messages", "batches", id_, "cancel"):
                self._cancel(id_)
                return self._anthropic_batch(state.batch(id_))
            case _:
                raise _not_found()

    def _anthropic_batch(self, row: sqlite3.Row | None) -> dict[str, Any]:
        """The message batch (api/retrieving-message-batches): counts are zero while it goes on, but `processing`."""
        if row is None:
            raise _not_found()
        counts = json.loads(row["counts"])
        going = row["status"] in ("going", "cancelling")
        created = datetime.fromtimestamp(row["created"], UTC)
        return {
            "id": row["id"], "type": "message_batch", "created_at": created.isoformat().replace("+00:00", "Z"),
            "processing_status": {"going": "in_progress", "cancelling": "canceling"}.get(row["status"], "ended"),
            "cancel_initiated_at": _WHEN if row["status"] in ("cancelling", "cancelled") else None,
            "request_counts": {
                "processing": row["n"] if going else 0, "succeeded": counts.get("answered", 0),
                "errored": counts.get("failed", 0), "expired": counts.get("expired", 0),
                "canceled": counts.get("cancelled", 0),
            },
            "results_url": None if going else "https://elsewhere.invalid/results",
        }  # fmt: skip

    # ── Gemini: gemini-api/docs/batch-api, api/batch-mode, api/files ─────────────────────────────────────

    def _gemini(self, path: str, body: Path) -> Any:
        state = self.vendors
        if path == "/upload/v1beta/files":
            # api/files, media.upload: resumable, the address for the bytes in a header.
            if self.headers.get("X-Goog-Upload-Command") != "start":
                raise _Refusal(400, {"error": {"code": 400, "message": "command", "status": "INVALID_ARGUMENT"}})
            asked = json.loads(body.read_bytes())
            name = asked["file"]["display_name"]
            host, _, below = state.url.partition("/t/")
            target = f"{host}/upload{'/t/' if below else ''}{below}/v1beta/files/bytes"
            return {}, {"X-Goog-Upload-URL": f"{target}?name={name}"}
        if path == "/upload/v1beta/files/bytes":
            if self.headers.get("X-Goog-Upload-Command") != "upload, finalize":
                raise _Refusal(400, {"error": {"code": 400, "message": "command", "status": "INVALID_ARGUMENT"}})
            kept = self._kept(self.query["name"], body.read_bytes())
            return {"file": {"name": f"files/{kept['id']}", "displayName": self.query["name"]}}
        if (found := re.fullmatch(r"/download/v1beta/files/([\w-]+):download", path)) is not None:
            return state.path(found[1])
        if (found := re.fullmatch(r"/v1beta/models/([\w.-]+):batchGenerateContent", path)) is not None:
            asked = json.loads(body.read_bytes())["batch"]
            file_id = asked["inputConfig"]["fileName"].removeprefix("files/")
            return self._gemini_batch(state.make("gemini", file_id, asked["displayName"]))
        if path == "/v1beta/batches":
            # batches.list: pageSize, pageToken; in no order that is told.
            start = int(self.query.get("pageToken", 0))
            page, _ = self._listed("gemini", None, 10**9)
            size = int(self.query.get("pageSize", 50))
            told: dict[str, Any] = {"operations": [self._gemini_batch(one) for one in page[start : start + size]]}
            return told | ({"nextPageToken": str(start + size)} if len(page) > start + size else {})
        if (found := re.fullmatch(r"/v1beta/(batches/\d+)(:cancel)?", path)) is not None:
            if found[2]:
                self._cancel(found[1])
                return {}
            return self._gemini_batch(state.looked_at(found[1]))
        raise _not_found()

    def _gemini_batch(self, row: sqlite3.Row | None) -> dict[str, Any]:
        """The operation (api/batch-mode): the batch is its metadata; at the end the file's name is in its response."""
        if row is None:
            raise _not_found()
        said_state = {"ended": "SUCCEEDED", "going": "RUNNING", "cancelling": "RUNNING"}.get(
            row["status"], row["status"].upper()
        )
        over = row["status"] in ("ended", "expired", "cancelled")
        file = {"responsesFile": f"files/output-{row['number']}"}
        metadata = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "displayName": row["named"], "state": f"BATCH_STATE_{said_state}", "name": row["id"],
            "batchStats": {"requestCount": str(row["n"])}, **({"output": file} if over else {}),
        }  # fmt: skip
        told = {"name": row["id"], "metadata": metadata}
        if row["errors"]:
            return told | {"done": True, "error": {"code": 3, "message": row["errors"]}}
        return told | ({"done": True, "response": file} if over else {})


def _plain(path: str) -> str:
    """A call's name: its path without what differs from batch to batch."""
    plain = re.sub(r"(file|output|errors|batch|msgbatch)[-_]\d+|(?<=batches/)\d+|(?<=models/)[\w.-]+(?=:)", "ID", path)
    for prefix in ("/openai/v1", "/anthropic/v1", "/v1beta"):
        plain = plain.replace(prefix, "", 1) if plain.startswith(prefix) else plain
    return plain


@contextmanager
def vendors(folder: Path, fates: Fates = KIND, port: int = 0, **settings: Any) -> Iterator[Vendors]:
    """The three vendors, in threads of this process while the block runs; their state is in `folder`."""
    state = Vendors(folder, fates, **settings)
    handler = type("Handler", (_Handler,), {"root": state})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("--expired", type=int, default=30)
    parser.add_argument("--failed", type=int, default=10)
    parser.add_argument("--doubled", type=int, default=10)
    asked = parser.parse_args()
    fates = Fates(asked.expired, asked.failed, asked.doubled)
    with vendors(asked.folder, fates, asked.port) as state:
        sys.stdout.write(f"{state.url}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
