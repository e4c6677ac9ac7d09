"""A server that follows a case reply by reply: statuses, bodies, events, hanging, cutting off, flooding, dying."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

JUDGE_WORDS = "You are a strict evaluation judge."
GOOD_VERDICT = {"accuracy_score": 2, "faithfulness_score": 2, "rationale": "The same number."}
OK_CANDIDATE = {"status": 200, "content": "Seven.", "usage": {"prompt_tokens": 20, "completion_tokens": 2}}
OK_JUDGE = {
    "status": 200,
    "content": json.dumps(GOOD_VERDICT),
    "usage": {"prompt_tokens": 200, "completion_tokens": 20},
}

NOTHING_HERE = {"status": 404, "body": {"detail": "Not Found"}}

Reply = dict[str, Any]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class ScriptedServer:
    """A server whose `replies(role, n, request)` gives the n-th reply (from 0) to a role. `asked` has requests by role.

    `only_at`: every other path is not found, and requests to it are not counted.
    """

    replies: Callable[[str, int, dict[str, Any]], Reply]
    only_at: str | None = None
    asked: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: {"candidate": [], "judge": []})
    headers: list[dict[str, str]] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)  # the hash of each request that was answered whole
    port: int = 0
    paths: list[str] = field(default_factory=list)
    _listening: asyncio.Server | None = None
    _open: set[asyncio.StreamWriter] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def wait_for_answers(self, n: int, still_running: Callable[[], bool]) -> bool:
        """Wait until `n` requests were answered, as long as `still_running`; return True if they were."""
        with self._changed:
            while len(self.answered) < n and still_running():
                self._changed.wait(0.05)
        return len(self.answered) >= n

    async def die(self) -> None:
        """Stop listening, and break every open connection."""
        if (listening := self._listening) is not None:
            self._listening = None
            for one in listening.sockets:
                asyncio.get_running_loop().remove_reader(one.fileno())
            for _ in range(5):  # accepted connections are handed over: closing now would leave them open for ever
                await asyncio.sleep(0)
            listening.close()
        for writer in self._open:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                headers = _headers_of(head)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                request = json.loads(body)
                self.paths.append(head.split(b" ", 2)[1].decode("latin-1"))
                if self.only_at not in (None, self.paths[-1].partition("?")[0]):
                    await _send(writer, NOTHING_HERE, request)
                    continue
                role = "judge" if JUDGE_WORDS in request["messages"][0]["content"] else "candidate"
                self.asked[role].append(request)
                self.headers.append(headers)
                reply = self.replies(role, len(self.asked[role]) - 1, request)
                if reply.get("behaviour") == "die":
                    await self.die()
                    break
                goes_on = await _send(writer, reply, request)
                with self._changed:
                    self.answered.append(hashlib.sha256(body).hexdigest())
                    self._changed.notify_all()
                if not goes_on:
                    break
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()


def _headers_of(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}


async def _send(writer: asyncio.StreamWriter, reply: Reply, request: dict[str, Any]) -> bool:
    """Send a reply, or do what it says; return True if the connection stays open."""
    match reply.get("behaviour"):
        case None:
            pass
        case "hang":
            await asyncio.sleep(60)
            return False
        case "drop":
            writer.transport.abort()
            return False
        case "cut_body":
            writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"choices"')
            await writer.drain()
            return False
        case "body_bytes":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % reply["bytes"])
            block = b" " * (1 << 20)
            for _ in range(reply["bytes"] // len(block)):
                writer.write(block)
                await writer.drain()
            return True
        case "events":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            for event in reply["events"]:
                writer.write(b"data: " + event.encode() + b"\n\n" if isinstance(event, str) else _event(event))
            await writer.drain()
            if reply.get("held_open"):
                await asyncio.sleep(60)
            return False
        case "stream_ends_without_done":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
            writer.write(_event({"choices": [{"delta": {"content": reply["content"]}}]}))
            await writer.drain()
            return False
        case other:
            raise AssertionError(f"the test's server does not know the behaviour {other!r}")
    if request.get("stream") and reply.get("status") == 200 and "content" in reply:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        writer.write(_event({"model": "m-2026-01-01", "choices": [{"delta": {"content": reply["content"]}}]}))
        writer.write(_event({"choices": [], "usage": reply.get("usage")}) + b"data: [DONE]\n\n")
        await writer.drain()
        return False
    body = _body_of(reply, request)
    head = [f"HTTP/1.1 {reply.get('status', 200)} X", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    head += [f"{name}: {value}" for name, value in reply.get("headers", {}).items()]
    writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + body)
    await writer.drain()
    return True


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _body_of(reply: Reply, request: dict[str, Any]) -> bytes:
    if "raw" in reply:
        raw = reply["raw"]
        return raw if isinstance(raw, bytes) else str(raw).encode("utf-8", "surrogatepass")
    if "body" in reply:
        return json.dumps(reply["body"]).encode()
    if "content" not in reply:
        return b""
    choice = {
        "message": {"role": "assistant", "content": reply["content"]},
        "finish_reason": reply.get("finish_reason", "stop"),
    }
    value = {"model": reply.get("model", f"{request['model']}-2026-01-01"), "choices": [choice]}
    if "usage" in reply:
        value["usage"] = reply["usage"]
    return json.dumps(value).encode()


@contextmanager
def in_a_thread(serve: Serve, began: Callable[[asyncio.Server], None], limit: int = 1 << 16) -> Iterator[None]:
    """Answer each connection by `serve`, in a thread of its own while the block runs; `began` gets the server first."""
    ready = threading.Event()
    running_in: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def main() -> None:
        stop = asyncio.Event()
        listening = await asyncio.start_server(serve, "127.0.0.1", 0, limit=limit)
        began(listening)
        running_in.append((asyncio.get_running_loop(), stop))
        ready.set()
        await stop.wait()
        listening.close()

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        loop, stop = running_in[0]
        loop.call_soon_threadsafe(stop.set)
        thread.join()


@contextmanager
def running(
    replies: Callable[[str, int, dict[str, Any]], Reply], only_at: str | None = None
) -> Iterator[ScriptedServer]:
    """Run the server in a thread of its own while the block runs."""
    server = ScriptedServer(replies, only_at)

    def began(listening: asyncio.Server) -> None:
        server._listening = listening
        server.port = listening.sockets[0].getsockname()[1]

    with in_a_thread(server.serve, began):
        yield server


def always_good(role: str, n: int, request: dict[str, Any]) -> Reply:
    del n, request
    return OK_JUDGE if role == "judge" else OK_CANDIDATE
