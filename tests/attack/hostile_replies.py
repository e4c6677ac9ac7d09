"""Replies of a server that is broken or means harm: bytes on the wire,
drawn at random from a healthy server's reply."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from outages import well
from scripted_server import in_a_thread

JUDGE_WORDS = b"You are a strict evaluation judge."
STATUSES = [100, 101, 103, 199, 201, 202, 203, 204, 205, 206, 226, 300, 301, 302, 303, 304, 305, 307, 308, 400, 401,
402, 403,
            404, 405, 406, 407, 408, 409, 410, 411, 413, 414, 415, 416, 418, 421, 422, 423, 424, 425, 426, 428, 429,
            431, 451,
            498, 499, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 521, 522, 524, 525, 529, 530, 598, 599, 600,
            999]  # fmt: skip
TYPES = ["text/html", "text/plain", "application/octet-stream", "image/png", "", "application/json; charset=utf-16",
"text/event-stream",
         "application/json;", ";;;", "multipart/mixed; boundary=x", "application/x-ndjson", "\xff\xfe"]  # fmt: skip
VALUES: list[Any] = [None, True, False, 0, -1, 1.5, 10**30, -(10**30), "", "x", "\u0000", "\ud800", "\udfff\ud800",
[], {}, [[]], [None],
          {"": ""}, "a" * 70_000, 1e308, "NaN", [1, "2", None], {"content": {"content": {}}},
          "\u202e\u2066\x1b[31m"]  # fmt: skip


@dataclass
class Wire:
    """What is sent: pieces one after the other, and what is done at the end."""

    pieces: list[bytes]
    then: str = "close"  # keep, close, reset, hang


def head(status: object = 200, headers: Mapping[str, object] | None = None, version: str = "HTTP/1.1") -> bytes:
    lines = [f"{version} {status} X", *(f"{name}: {value}" for name, value in (headers or {}).items())]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n"


def whole(body: bytes, status: object = 200, **headers: object) -> bytes:
    given = {"Content-Type": "application/json", "Content-Length": len(body)}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    return head(status, given) + body


def chunked(body: bytes, rng: random.Random, end: bytes = b"0\r\n\r\n") -> bytes:
    sent, at = [head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})], 0
    while at < len(body):
        size = rng.choice([1, 2, 7, 64, len(body)])
        piece = body[at : at + size]
        sent.append(b"%x%s\r\n%s\r\n" % (len(piece), rng.choice([b"", b"", b";ext=1", b"  "]), piece))
        at += size
    return b"".join(sent) + end


def flipped(data: bytes, rng: random.Random, times: int = 1) -> bytes:
    found = bytearray(data)
    for _ in range(times):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def mangled(value: Any, rng: random.Random) -> Any:
    """A JSON value with one of its parts replaced, removed or doubled."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        name = rng.choice(sorted(value))
        changed = dict(value)
        match rng.randrange(5):
            case 0:
                del changed[name]
            case 1:
                changed[name] = rng.choice(VALUES)
            case 2:
                changed[rng.choice(["error", "detail", "choices", "usage", "model", "object", "\ud800"])] = rng.choice(
                    VALUES
                )
            case _:
                changed[name] = mangled(value[name], rng)
        return changed
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = rng.randrange(len(value))
        return [*value[:place], mangled(value[place], rng), *value[place + 1 :], *(value if rng.random() < 0.1 else [])]
    return rng.choice(VALUES)


def dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True).encode()


def nested(rng: random.Random) -> bytes:
    depth = rng.choice([10, 500, 100_000])
    return b"[" * depth + b"]" * (depth if rng.random() < 0.5 else 0)


def text_of(value: Any, rng: random.Random) -> bytes:
    """A healthy reply with another text in it."""
    texts = ["", "\ud800", "\x00" * 9, "{" * 5_000, "[" * 100_000, "\u202e" * 50, "9" * 6_000,
    '{"accuracy_score": 2}', "</script>", "null",
             '{"accuracy_score": 1e400}', '{"accuracy_score": 2, "accuracy_score": 0}', "\ufeff{}",
             "```json\n{}\n```", "é" * 3_000]  # fmt: skip
    with suppress(KeyError, IndexError, TypeError):
        value["choices"][0]["message"]["content"] = rng.choice(texts)
    return dumped(value)


Attack = Callable[[bytes, random.Random], Wire]


def sent(make: Callable[[bytes, random.Random], bytes], then: str = "close") -> Attack:
    return lambda body, rng: Wire([make(body, rng)], then)


def _cut(body: bytes, rng: random.Random) -> bytes:
    reply = whole(body)
    return reply[: rng.randrange(len(reply))]


def _length(body: bytes, rng: random.Random) -> bytes:
    wrong = rng.choice(
        [
            0,
            1,
            len(body) - 1,
            len(body) + 1,
            len(body) + 999,
            -1,
            "+5",
            "0x10",
            "1,1",
            "",
            "x",
            10**25,
            f"{len(body)}, 3",
        ]
    )
    return head(200, {"Content-Type": "application/json", "Content-Length": wrong}) + body


def _two_lengths(body: bytes, rng: random.Random) -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n"
        % (len(body), 3)
        + body
    )


def _encoded(body: bytes, rng: random.Random) -> bytes:
    name = rng.choice(["gzip", "deflate", "br", "zstd", "identity", "gzip, gzip", "x-nothing"])
    packed = rng.choice(
        [gzip.compress(body), zlib.compress(body), body, gzip.compress(body)[:-9], flipped(gzip.compress(body), rng)]
    )
    return whole(packed, Content_Encoding=name)


def _bomb(body: bytes, rng: random.Random) -> bytes:
    return whole(gzip.compress(bytes(64 << 20), 9), Content_Encoding="gzip")


def _events(body: bytes, rng: random.Random) -> bytes:
    """A stream of events that says what the body would, some of it broken."""
    events = [b"data: " + dumped({"choices": [{"delta": {"content": "Sev"}}]}), b"data: " + body, b": comment",
    b"data: [DONE]",
              b"event: error\ndata: {}", b"data:", b"data: {", b"retry: x", b"id: \x00",
              b"data: " + dumped(mangled(json.loads(body), rng)),
              b"\xff\xfe\xfd", b"data: " + b"[" * 50_000, b"data: " + b"x" * 300_000, b"data: null", b"data: [1]",
              b"data: \"\\ud800\""]  # fmt: skip
    ends = [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n", b""]
    made = b"".join(rng.choice(events) + rng.choice(ends) for _ in range(rng.randrange(1, 12)))
    return head(200, {"Content-Type": "text/event-stream", "Connection": "close"}) + made


def _headers(body: bytes, rng: random.Random) -> bytes:
    odd = rng.choice([
        {"X": "a" * 70_000}, {f"X-{n}": n for n in range(2_000)}, {"Retry-After": rng.choice(["-5", "1e9",
        "99999999999999999999", "soon", "0",
        "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 99 Foo 0000 99:99:99 GMT", "\xff", ""])}, {"Connection": "upgrade",
        "Upgrade": "websocket"},
        {"X": "a\r\n folded"}, {"X": "\x00\x01\x7f"}, {"": "x"}, {"Set-Cookie": "a=b" * 900},
        {"x-ratelimit-remaining-requests": "-1",
        "x-ratelimit-reset-requests": "1e400s"}, {"x-ratelimit-limit-tokens": "NaN"},
        {"retry-after-ms": rng.choice(["x", "-1", "1", "1e400"])},
    ])  # fmt: skip
    return head(rng.choice([200, 200, 429, 503]), {"Content-Length": len(body), **odd}) + body


def _status(body: bytes, rng: random.Random) -> bytes:
    status = rng.choice([*STATUSES, "abc", "", "2 0 0", -1, 10**9, "200\x00"])
    place = rng.choice(
        ["http://127.0.0.1:1/", "//evil.example/", "/v1/chat/completions", "file:///etc/passwd", "\xff", ""]
    )
    return whole(
        rng.choice([body, b"", b"<html>", dumped({"error": mangled({"message": "no", "code": 1, "type": "x"}, rng)})]),
        status,
        Location=place,
    )


ATTACKS: Mapping[str, Attack] = {
    "healthy": lambda body, rng: Wire([whole(body)], "keep"),
    "in chunks": lambda body, rng: Wire([chunked(body, rng)], "keep"),
    "in chunks that are wrong": sent(lambda body, rng: chunked(body, rng, rng.choice([b"", b"0\r\n", b"-1\r\n",
    b"fffffffffffffffffff\r\n", b"zz\r\n\r\n"]))),
    "byte by byte": lambda body, rng: Wire([bytes([one]) for one in whole(body)], "keep"),
    "cut": sent(_cut),
    "cut, and reset": sent(_cut, "reset"),
    "cut, and kept open": sent(_cut, "hang"),
    "nothing": sent(lambda body, rng: b""),
    "nothing, and reset": sent(lambda body, rng: b"", "reset"),
    "a bit flipped": sent(lambda body, rng: flipped(whole(body), rng)),
    "many bits flipped": sent(lambda body, rng: flipped(whole(body), rng, 40)),
    "random bytes": sent(lambda body, rng: rng.randbytes(rng.choice([1, 10, 1_000]))),
    "random bytes in a whole reply": sent(lambda body, rng: whole(rng.randbytes(rng.choice([1, 10, 1_000])))),
    "another status": sent(_status),
    "another type": sent(lambda body, rng: whole(body, Content_Type=rng.choice(TYPES))),
    "another length": sent(_length),
    "two lengths": sent(_two_lengths),
    "other headers": sent(_headers),
    "compressed": sent(_encoded),
    "a bomb": sent(_bomb),
    "events": sent(_events),
    "another text": lambda body, rng: Wire([whole(text_of(json.loads(body), rng))], "keep"),
    "JSON of another shape": lambda body, rng: Wire([whole(dumped(mangled(json.loads(body), rng)))], "keep"),
    "JSON of quite another shape": lambda body, rng: Wire([whole(dumped(mangled(mangled(mangled(json.loads(body),
    rng), rng), rng)))], "keep"),
    "JSON that is none": sent(lambda body, rng: whole(rng.choice([b"", b"null", b"NaN", b"{", b'{"a":1}{',
    b"\xef\xbb\xbf" + body, body + b"x", body[:-1],
        b'"' + body, body.decode().encode("utf-16"), b"\xff" + body, body.replace(b":", b"=")]))),
    "nested": sent(lambda body, rng: whole(nested(rng))),
    "a flood": sent(lambda body, rng: whole(b" " * (17 << 20))),
    "a flood of headers": sent(lambda body, rng: b"HTTP/1.1 200 OK\r\n" + b"X: " + b"a" * (1 << 20)),
    "a hundred interim replies": lambda body, rng: Wire([head(rng.choice([100, 102, 103])) * 100 + whole(body)],
    "keep"),
    "two replies": sent(lambda body, rng: whole(body) * 2, "keep"),
    "a reply without a length": sent(lambda body, rng: head(200, {"Content-Type": "application/json"}) + body),
    "HTTP of another version": sent(lambda body, rng: head(200, {"Content-Length": len(body)},
    rng.choice(["HTTP/1.0", "HTTP/0.9", "HTTP/2", "ICY", ""])) + body),
}  # fmt: skip
RARE = {"a flood", "a bomb", "cut, and kept open", "a flood of headers"}  # each costs as much as hundreds of the others


@dataclass
class HostileServer:
    """Replies to a share of its requests as ATTACKS say, drawn by `rng`; to the others as a healthy server does."""

    rng: random.Random
    share: float
    sent: list[str] = field(default_factory=list)  # the name of what was replied to each request
    port: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def drawn(self) -> str:
        if self.rng.random() > self.share:
            return "healthy"
        name = self.rng.choice(sorted(ATTACKS))
        return name if name not in RARE or self.rng.random() < 0.1 else "healthy"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                asked = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in asked.lower().split(b"\r\n") if line.startswith(b"content-length:"))
                body = await reader.readexactly(int(length.partition(b":")[2]))
                role = "judge" if JUDGE_WORDS in body else "candidate"
                said = well(role, 0, json.loads(body))
                choice = {"message": {"role": "assistant", "content": said["content"]}, "finish_reason": "stop"}
                self.sent.append(self.drawn())
                wire = ATTACKS[self.sent[-1]](
                    dumped({"model": "m-2026-01-01", "choices": [choice], "usage": said["usage"]}), self.rng
                )
                for piece in wire.pieces:
                    writer.write(piece)
                    await writer.drain()
                if wire.then == "hang":
                    await reader.read()  # until who asked has had enough
                if wire.then == "reset":
                    writer.transport.abort()
                if wire.then != "keep":
                    break
        writer.close()


@contextmanager
def hostile(rng: random.Random, share: float) -> Iterator[HostileServer]:
    """The server, in a thread of its own while the block runs."""
    server = HostileServer(rng, share)

    def began(listening: asyncio.Server) -> None:
        server.port = listening.sockets[0].getsockname()[1]

    with in_a_thread(server.serve, began, limit=1 << 22):
        yield server
