"""A server with S3's API on the loopback (`ministack`), and a proxy in front of it that fails as it is told to."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BUCKET = "records"
# No server of these tests looks at keys; each client wants some.
KEYS = {"AWS_ACCESS_KEY_ID": "test-key-id", "AWS_SECRET_ACCESS_KEY": "test-secret-key", "AWS_REGION": "us-east-1"}
_RUNNING = re.compile(r"Running on http://127\.0\.0\.1:(\d+)")
_ERROR = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{}</Code><Message>{}</Message></Error>'


@dataclass
class S3Server:
    """A server that runs, and has an empty bucket."""

    port: int

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a client finds it."""
        return {**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}"}

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Ask it something by hand: the status, and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """A server of its own process, with an empty bucket."""
    command = [sys.executable, "-m", "hypercorn", "ministack.app:app", "--bind", "127.0.0.1:0"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHONWARN"))}
    environment = kept | {"SERVICES": "s3", "LOG_LEVEL": "WARNING"}
    running = subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, encoding="utf-8"
    )
    assert running.stderr is not None
    reading = threading.Thread(target=running.stderr.read, daemon=True)
    try:
        found = next((match for line in running.stderr if (match := _RUNNING.search(line))), None)
        assert found is not None, "the server has ended"
        reading.start()  # so that it never waits for a reader
        server = S3Server(int(found[1]))
        assert server.ask("PUT", f"/{BUCKET}")[0] == 200
        yield server
    finally:
        running.terminate()
        running.wait()
        if reading.ident is not None:
            reading.join()
        running.stderr.close()


# ── a proxy that fails ───────────────────────────────────────────────────────────────────────────────────────

Fault = Callable[[int, str, str], str | None]  # by number from 0, method and path; see `_Handler`


def whole(number: int, method: str, path: str) -> str | None:
    """Nothing fails."""
    del number, method, path


@dataclass
class Proxy(S3Server):
    """A proxy before a server. `fault` says what goes wrong with a request; `asked` has each, as `PUT /bucket/name`."""

    before: S3Server
    fault: Fault = whole
    asked: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, method: str, path: str) -> str | None:
        with self._lock:
            number = len(self.asked)
            self.asked.append(f"{method} {path}")
        return self.fault(number, method, path)

    @property
    def n_puts(self) -> int:
        return sum(one.startswith("PUT") for one in self.asked)


class _Handler(BaseHTTPRequestHandler):
    """Hands requests on. `503`, `SlowDown` and `409` are said instead; `cut` breaks the connection before the server
    has the request, `cut-answer` after it has; `forgets` hands it on without its condition."""

    protocol_version = "HTTP/1.1"
    proxy: Proxy

    def _hand_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.proxy.note(self.command, self.path.partition("?")[0])
        if fault == "cut":
            self.close_connection = True
            return
        if fault in ("503", "SlowDown"):
            self._say(503, _ERROR.format("SlowDown" if fault == "SlowDown" else "ServiceUnavailable", "later").encode())
            return
        if fault == "409":
            self._say(409, _ERROR.format("ConditionalRequestConflict", "again").encode())
            return
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        if fault == "forgets":
            headers = {name: value for name, value in headers.items() if name.lower() != "if-none-match"}
        status, found, said = self._asked(body, headers)
        if fault == "cut-answer":
            self.close_connection = True
            return
        self._say(status, found, said)

    def _asked(self, body: bytes, headers: dict[str, str]) -> tuple[int, bytes, list[tuple[str, str]]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.proxy.before.port, timeout=60)
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.getheaders()
        finally:
            connection.close()

    def _say(self, status: int, body: bytes, headers: list[tuple[str, str]] | None = None) -> None:
        self.send_response_only(status)
        for name, value in headers or []:
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        length = next((value for name, value in headers or [] if name.lower() == "content-length"), str(len(body)))
        self.send_header("Content-Length", length if self.command == "HEAD" else str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _hand_on  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def proxied(server: S3Server, fault: Fault = whole) -> Iterator[Proxy]:
    """A proxy before a server."""
    proxy = Proxy(0, server, fault)
    handler = type("Handler", (_Handler,), {"proxy": proxy})
    listening = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    listening.daemon_threads = True
    proxy.port = listening.server_port
    threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield proxy
    finally:
        listening.shutdown()
        listening.server_close()
