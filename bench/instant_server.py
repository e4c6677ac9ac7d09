"""An OpenAI-compatible server that answers at once, with as little CPU as a Python server can use.

    python bench/instant_server.py PORT_FILE [--log FILE]

It tells candidate from judge by the evaluator prompt's first words. `--log` appends the hash of each answered request.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
from pathlib import Path

_JUDGE = b"You are a strict evaluation judge."
_CANDIDATE_REPLY = "The refund is paid within fourteen days of the day on which the parcel arrives. " * 4
_JUDGE_REPLY = json.dumps(
    {
        "accuracy_score": 2,
        "faithfulness_score": 2,
        "rationale": "The answer names the fourteen days and the day from which they count, as the reference does.",
    }
)


def _response(text: str, model: str) -> bytes:
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 60, "total_tokens": 360},
        }
    ).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


CANDIDATE = _response(_CANDIDATE_REPLY, "instant-2026-01-01")
JUDGE = _response(_JUDGE_REPLY, "instant-2026-01-01")


class InstantProtocol(asyncio.Protocol):
    """Reads requests by their Content-Length; nothing else of HTTP is looked at."""

    log: Path | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._buffer) < end + 4 + length:
                return
            body = self._buffer[end + 4 : end + 4 + length]
            self._buffer = self._buffer[end + 4 + length :]
            self._transport.write(JUDGE if _JUDGE in body else CANDIDATE)
            if self.log is not None:
                with self.log.open("a", encoding="ascii") as file:
                    file.write(hashlib.sha256(body).hexdigest() + "\n")


async def serve(port_file: Path) -> None:
    server = await asyncio.get_running_loop().create_server(InstantProtocol, "127.0.0.1", 0)
    temporary = port_file.with_suffix(".tmp")
    temporary.write_text(str(server.sockets[0].getsockname()[1]), encoding="ascii")
    temporary.rename(port_file)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port_file", type=Path)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    InstantProtocol.log = options.log
    asyncio.run(serve(options.port_file))


if __name__ == "__main__":
    main()
