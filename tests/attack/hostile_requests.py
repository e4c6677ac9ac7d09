"""Requests of a client that means harm: bytes on the wire, drawn from the API's own document and then mangled."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Mapping
from typing import Any

from attack.hostile_replies import flipped, mangled
from benchbook.server.openapi import openapi_document
from benchbook.server.operations_list import OPERATIONS

DOCUMENT = openapi_document(OPERATIONS)
# The stream of events has no end; to stop the server is nobody's right, and no operation.
ASKED = [one for one in OPERATIONS if one.name != "listen"]
IDS = ["a", "b", "c", "rubric", "broken", "live", "experiment", "none", "labels"]
WORDS = ["", "0", "1", "-1", "9" * 40, "1e400", "NaN", "null", "true", "a" * 9_000, "\x00", "\n",
"\r\n\r\nGET / HTTP/1.1", "é", "\u202e", "\ud800",
         "../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%00", "%ff%fe", "%", "%zz", "%u0041",
         "'; DROP TABLE runs; --", "<script>", "=1+1",
         "{{7*7}}", "${jndi:ldap://x}", "*", "%", "_", ".", "..", "~", "con", "-", "--help", "\\",
         "\\\\host\\share", "a/b", "//", "?", "#", "&", ";",
         "[", "(" * 500, "(a+)+$", "\u0130", "ﬀ", "\U0001f4a9", "2026-02-30", "0x10", "１２", "1_000", " 1 ",
         "+1"]  # fmt: skip
METHODS = [
    "GET",
    "POST",
    "PUT",
    "DELETE",
    "HEAD",
    "OPTIONS",
    "PATCH",
    "TRACE",
    "CONNECT",
    "get",
    "PROPFIND",
    "X" * 300,
    "",
    "G ET",
    "PRI",
    "\x00",
]
HEADERS: list[tuple[str, str]] = [
    ("Host", "evil.example"), ("Host", ""), ("Host", "127.0.0.1:x"), ("Host", "[::1"), ("Host", "a" * 5_000),
    ("Origin", "https://evil.example"),
    ("Origin", "null"), ("Sec-Fetch-Site", "cross-site"), ("Cookie", "benchbook_session=" + "a" * 4_000), ("Cookie",
    "=;;;=\x01"), ("Range", "bytes=0-"),
    ("Range", "bytes=9-1,-5,x"), ("If-None-Match", "*"), ("If-None-Match", '"' * 99), ("If-Match", "W/\"x\""),
    ("If-Modified-Since", "yesterday"),
    ("Accept", "text/html;q=NaN"), ("Accept", "a" * 9_000), ("Accept-Encoding", "gzip;q=1e400, *;q=0"),
    ("Accept-Language", "\xff"),
    ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "gzip, chunked"), ("Transfer-Encoding", "\x0bchunked"),
    ("Content-Length", "-1"),
    ("Content-Length", "5, 5"), ("Content-Length", "99999999999999999999"), ("Content-Length", "0x1"),
    ("Content-Encoding", "gzip"),
    ("Content-Type", "application/xml"), ("Content-Type", "multipart/form-data; boundary="), ("Content-Type",
    "application/json; charset=utf-7"),
    ("Expect", "100-continue"), ("Expect", "x"), ("Upgrade", "websocket"), ("Upgrade", "h2c"), ("Connection",
    "close, upgrade, host"),
    ("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "evil.example"),
    ("Forwarded", "host=evil.example"),
    ("X-HTTP-Method-Override", "DELETE"), ("Authorization", "Bearer"), ("Authorization", "Bearer bb_" + "0" * 64),
    ("Authorization", "Basic OjpAOg=="),
    ("Authorization", "Bearer \xff\xfe"), ("Authorization", "Bearer " + "a" * 60_000), ("Traceparent", "00-x"),
    ("X", "a" * 70_000), ("", "x"),
    ("A B", "x"), ("X-Nul", "a\x00b"), ("X-Fold", "a\r\n b"), ("X-Cr", "a\rb"), ("Last-Event-ID", "9" * 99),
    ("Content-MD5", "x"), ("TE", "trailers"),
]  # fmt: skip


class Requests:
    """Draws requests. `headers` are those that let them in."""

    def __init__(self, rng: random.Random, host: str, headers: Mapping[str, str]) -> None:
        self._rng = rng
        self._host = host
        self._headers = headers

    def draw(self) -> tuple[str, bytes]:
        """The name of how it was made, and its bytes."""
        name = self._rng.choice(sorted(MANGLE))
        return name, MANGLE[name](self, self._rng)

    # ── as the document says, but for the values ─────────────────────────────────────────────────────────────

    def asked(self, *more: tuple[str, str], method: str | None = None, target: str | None = None) -> bytes:
        rng = self._rng
        operation = rng.choice(ASKED)
        described = DOCUMENT["paths"][operation.path][operation.method.lower()]
        path = operation.path
        query = []
        for one in described["parameters"]:
            value = self._value(one["schema"], one["name"])
            if one["in"] == "path":
                path = path.replace("{" + one["name"] + "}", value)
            elif rng.random() < 0.5:
                query += [f"{one['name']}={value}"] * rng.choice([1, 1, 1, 2, 30])
        if rng.random() < 0.1:
            query.append(f"{rng.choice(WORDS)}={rng.choice(WORDS)}")
        url = path + ("?" + "&".join(query) if query else "")
        body = self._body(described)
        headers = [("Host", self._host), ("Connection", "close"), *self._headers.items(), *more]
        if body:
            headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        lines = [f"{operation.method if method is None else method} {url if target is None else target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers]
        return "\r\n".join(lines).encode("utf-8", "surrogatepass") + b"\r\n\r\n" + body

    def _value(self, schema: Mapping[str, Any], name: str) -> str:
        rng = self._rng
        if rng.random() < 0.4:
            return rng.choice(WORDS) if rng.random() < 0.7 else _escaped(rng.choice(WORDS))
        if "enum" in schema:
            return str(rng.choice(schema["enum"]))
        if name in ("run", "run_id", "book"):
            return rng.choice(IDS)
        return str(rng.randrange(5))

    def _body(self, described: Mapping[str, Any]) -> bytes:
        rng = self._rng
        if "requestBody" not in described:
            return b"" if rng.random() < 0.9 else rng.choice([b"{}", b"x", rng.randbytes(20)])
        media = next(iter(described["requestBody"]["content"].values()))
        value = self._like(media.get("schema", {}), 0)
        for _ in range(rng.randrange(3)):
            value = mangled(value, rng)
        whole = json.dumps(value).encode()
        return rng.choice(
            [whole] * 6 + [whole[: len(whole) // 2], flipped(whole or b"{", rng), b"", b"[" * 5_000, rng.randbytes(99)]
        )

    def _like(self, schema: Mapping[str, Any], depth: int) -> Any:
        """A value that the schema allows, more or less."""
        rng = self._rng
        if "$ref" in schema:
            schema = DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        if depth > 5:
            return None
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return self._like(rng.choice(schema[choice]), depth + 1)
        match schema.get("type"):
            case "object":
                names = schema.get("properties", {})
                return {name: self._like(one, depth + 1) for name, one in names.items() if rng.random() < 0.9}
            case "array":
                return [self._like(schema.get("items", {}), depth + 1) for _ in range(rng.randrange(4))]
            case "integer" | "number":
                return rng.choice([0, 1, 2, 300, -1, 10**19, 0.5])
            case "boolean":
                return rng.random() < 0.5
            case "string":
                return (
                    rng.choice(schema["enum"])
                    if "enum" in schema
                    else rng.choice([*IDS, "rubric@v1", "answer_correctness@v1", "openai/m@1", *WORDS])
                )
        return rng.choice([None, 1, "x", {}, []])


def _escaped(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


# ── as no client would ───────────────────────────────────────────────────────────────────────────────────────


def _other_head(requests: Requests, rng: random.Random) -> bytes:
    return requests.asked(*rng.sample(HEADERS, rng.randrange(1, 5)))


def _other_target(requests: Requests, rng: random.Random) -> bytes:
    target = rng.choice(["*", "http://evil.example/api/v1/runs", "//evil.example", "/../../etc/passwd",
    "/api/v1/%2e%2e/%2e%2e/etc/passwd", "/a b", "",
                         "/\x00", "/" + "a" * 70_000, "/assets/../../app.py", "/assets/%2e%2e%2f%2e%2e%2fapp.py",
                         "/assets//etc/passwd", "/api//v1/runs",
                         "/API/V1/RUNS", "/api/v1/runs/", "/api/v1/runs?" + "run=a&" * 5_000,
                         "/api/v1/runs/" + "%61" * 3_000, "?", "#", "/é", "\\",
                         "/favicon.ico", "/robots.txt", "/.git/config", "/.server/tokens.json", "/runs/a/compare/b",
                         "/api/v1/runs/a;x=1", "/;/"])  # fmt: skip
    return requests.asked(target=target)


def _lines(requests: Requests, rng: random.Random) -> bytes:
    whole = requests.asked()
    return rng.choice([
        whole.replace(b"\r\n", b"\n"), whole.replace(b"\r\n", b"\r"), whole.replace(b"HTTP/1.1",
        rng.choice([b"HTTP/1.0", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/9", b"X"])),
        whole.replace(b" HTTP/1.1", b""), b"\r\n" * 9 + whole, whole.replace(b": ", b":\t ", 1), whole.replace(b":",
        b" :", 1), b" " + whole,
        whole.replace(b"Host", b"Hos t", 1), whole.replace(b"Host", b"Host: 127.0.0.1\r\nHost", 1),
        whole.replace(b"\r\n", b"\r\n\r\n", 1),
    ])  # fmt: skip


def _chunks(requests: Requests, rng: random.Random) -> bytes:
    head = requests.asked(("Transfer-Encoding", "chunked"), method="POST").split(b"\r\n\r\n", 1)[0]
    head = b"\r\n".join(line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length"))
    body = rng.choice([b"2\r\n{}\r\n0\r\n\r\n", b"2\r\n{}\r\n0\r\nX: y\r\n\r\n", b"ffffffffffffffff\r\n{}",
    b"-1\r\n", b"zz\r\n", b"0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
                       b"2;" + b"x" * 9_000 + b"\r\n{}\r\n0\r\n\r\n", b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
                       b"2\r\n{}0\r\n\r\n", b"", b"1\n{\n0\n\n", b"2 \r\n{}\r\n0\r\n\r\n"])  # fmt: skip
    return head + b"\r\n\r\n" + body


def _no_http(requests: Requests, rng: random.Random) -> bytes:
    return rng.choice([b"", b"\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(500),
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", rng.randbytes(300),
                       b"SSH-2.0-x\r\n", b"\x00" * 2_000, b"GET /\r\n", b"EHLO x\r\n", b"*1\r\n$4\r\nPING\r\n",
                       b"<policy-file-request/>\x00", b"A" * 100_000])  # fmt: skip


def _smuggled(requests: Requests, rng: random.Random) -> bytes:
    inner = requests.asked()
    outer = b"POST /api/v1/login HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    return outer + rng.choice([
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
        b"Content-Length: 0\r\nContent-Length: 9\r\n\r\n" + inner,
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner,
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + inner, b"\r\n" + inner + inner,
    ])  # fmt: skip


def _cut(requests: Requests, rng: random.Random) -> bytes:
    whole = requests.asked()
    return whole[: rng.randrange(len(whole))]


MANGLE: Mapping[str, Callable[[Requests, random.Random], bytes]] = {
    "other values": lambda requests, rng: requests.asked(),
    "other values again": lambda requests, rng: requests.asked(),
    "other headers": _other_head,
    "another method": lambda requests, rng: requests.asked(method=rng.choice(METHODS)),
    "another address": _other_target,
    "other lines": _lines,
    "chunks": _chunks,
    "no HTTP": _no_http,
    "two requests in one": _smuggled,
    "cut": _cut,
    "bits flipped": lambda requests, rng: flipped(requests.asked(), rng, rng.choice([1, 1, 5, 50])),
    "a piece twice": lambda requests, rng: (lambda whole, at: whole[:at] + whole[at // 2 :])(requests.asked(),
    rng.randrange(1, 200)),
    "random letters": lambda requests, rng: requests.asked(target="/" + "".join(rng.choices(string.printable,
    k=rng.choice([1, 30, 900])))),
}  # fmt: skip
