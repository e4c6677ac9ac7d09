"""A server on this machine that stands in for a tracker's: it keeps what it is sent, and says what it is told to."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class Asked(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


Said = tuple[int, str, bytes]  # status, content type, body


@contextmanager
def loopback(answer: Callable[[Asked], Said]) -> Iterator[str]:
    """The address of a server that gives each request's answer."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, kind, said = answer(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *words: Any) -> None:
            del words

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
