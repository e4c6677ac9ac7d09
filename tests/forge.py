"""A forge of the test's own: the comments of one change over HTTP, as GitHub's API and GitLab's have them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from scripted_server import in_a_thread


@dataclass
class ForgeServer:
    """`comments` are the change's. `refusals` are the replies to come before any other: (status, headers, body).

    `me` is the user that the token is of; None where it has none, as an Action's.
    """

    comments: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[tuple[int, dict[str, str], Any]] = field(default_factory=list)
    me: dict[str, Any] | None = None
    asked: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            named = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in head[1:])}
            body = await reader.readexactly(int(named.get("content-length") or 0))
            method, target, _ = head[0].split(" ")
            self.asked.append((method, target.removeprefix("/api")))
            self.headers.append(named)
            status, headers, value = self._reply(method, target, json.loads(body or b"null"))
            data = json.dumps(value).encode()
            lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(data)}", "Connection: close"]
            lines += [f"{name}: {text}" for name, text in headers.items()]
            writer.write("\r\n".join([*lines, "", ""]).encode() + data)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _reply(self, method: str, target: str, body: Any) -> tuple[int, dict[str, str], Any]:
        if self.refusals:
            return self.refusals.pop(0)
        parts = urlsplit(target.removeprefix("/api"))
        if parts.path == "/user":
            return (403, {}, {"message": "Resource not accessible"}) if self.me is None else (200, {}, self.me)
        if method == "GET":
            asked = {name: int(values[0]) for name, values in parse_qs(parts.query).items() if values[0].isdigit()}
            end = asked["page"] * asked["per_page"]
            return 200, {}, self.comments[end - asked["per_page"] : end]
        if method == "POST":
            self.comments.append({"id": 1000 + len(self.comments), "html_url": f"{self.url}/c", **body})
            return 201, {}, self.comments[-1]
        number = int(parts.path.rpartition("/")[2])
        found = next(one for one in self.comments if one["id"] == number)
        found.update(body)
        return 200, {}, found


@contextmanager
def forge(**settings: Any) -> Iterator[ForgeServer]:
    """Run the forge in a thread of its own while the block runs."""
    server = ForgeServer(**settings)

    def began(listening: asyncio.Server) -> None:
        server.port = listening.sockets[0].getsockname()[1]

    with in_a_thread(server.serve, began):
        yield server
