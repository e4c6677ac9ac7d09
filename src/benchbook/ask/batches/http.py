"""Calls to a vendor's batch addresses: JSON, a file up, a file down. There are few of them, and each may take long.

Nothing is tried again here: who calls knows whether that could send requests a second time.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

import msgspec

from benchbook.ask.providers.faults import STOPS_RUN, refusal
from benchbook.ask.providers.http_client import is_loopback
from benchbook.ask.providers.keys import NO_KEYS, Keys, Secret, redact
from benchbook.errors import RecordError, VendorError
from benchbook.record.facts import FailureCause
from benchbook.text import one_line
from benchbook.writing import cant_be_written

_MOST_ANSWER = 16 << 20  # bytes of an answer that is no file
_PIECE = 1 << 20
_SERVER_FAULT = 500

HttpBody = bytes | tuple[Callable[[], BinaryIO], int]  # a body, or what opens it and its length


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key goes where it was given for, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class VendorHttp:
    """The addresses below `base_url`. `headers` go with every call, the key among them."""

    def __init__(self, base_url: str, headers: Mapping[str, str], secret: Secret | None, timeout_s: float) -> None:
        self.base_url = base_url.rstrip("/")
        self.keys = NO_KEYS if secret is None else Keys(secret.reveal())
        self._headers = {"User-Agent": "benchbook", **headers}
        self._timeout_s = timeout_s
        parts = urlsplit(self.base_url)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        here = [urllib.request.ProxyHandler({})] if is_loopback(parts.hostname or "") else []
        self._opener = urllib.request.build_opener(_NoRedirect, *here)

    def get(self, path: str) -> dict[str, Any]:
        """The object at a path below the base address. Raises: VendorError."""
        return self.call("GET", f"{self.base_url}{path}")[0]

    def post(self, path: str, values: Any = None) -> dict[str, Any]:
        """Post a JSON value, and return the object that comes back. Raises: VendorError."""
        body = b"" if values is None else msgspec.json.encode(values)
        return self.call("POST", f"{self.base_url}{path}", body, {"Content-Type": "application/json"})[0]

    def call(
        self, method: str, url: str, body: HttpBody | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[dict[str, Any], Message]:
        """The object that a call brings, and its headers. Raises: VendorError."""
        with self._answer(method, url, body, headers or {}) as answer:
            data = answer.read(_MOST_ANSWER)
            try:
                values = msgspec.json.decode(data) if data.strip() else {}
            except msgspec.DecodeError as error:
                raise self._failed(f"status {answer.status}, but the body is no JSON ({error})") from None
            return values if isinstance(values, dict) else {"data": values}, answer.headers

    def download(self, path: str, target: BinaryIO, *, origin: bool = False) -> str:
        """Write a file's bytes, and return their SHA-256. Raises: VendorError; RecordError."""
        digest = hashlib.sha256()
        with self._answer("GET", f"{self.origin if origin else self.base_url}{path}", None, {}) as answer:
            expected = answer.headers.get("Content-Length")
            n = 0
            while piece := answer.read(_PIECE):
                _write(target, piece)
                digest.update(piece)
                n += len(piece)
            if expected is not None and expected.isdecimal() and int(expected) != n:
                raise self._failed(f"the file is cut: {n} of {expected} bytes came")
        return digest.hexdigest()

    def first_line(self, path: str) -> bytes:
        """How a file begins, up to its first line end. Raises: VendorError."""
        with self._answer("GET", f"{self.base_url}{path}", None, {}) as answer:
            return answer.readline(_MOST_ANSWER)

    @contextmanager
    def _answer(
        self, method: str, url: str, body: HttpBody | None, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        sent = {**self._headers, **headers}
        data: Any = body
        if isinstance(body, tuple):
            data, sent["Content-Length"] = body[0](), str(body[1])
        request = urllib.request.Request(url, data=data, headers=sent, method=method)  # noqa: S310 - checked_base_url
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                yield answer
        except urllib.error.HTTPError as error:
            raise self._refused(error) from None
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            stops = isinstance(reason, ssl.SSLCertVerificationError)
            raise self._failed(f"{type(reason).__name__}: {reason}", needs_a_person=stops) from None
        finally:
            if isinstance(body, tuple):
                data.close()

    def _refused(self, error: urllib.error.HTTPError) -> VendorError:
        with error:
            try:
                data = error.read(_MOST_ANSWER)
            except (OSError, http.client.HTTPException):
                data = b""
        told = {name.lower(): value for name, value in error.headers.items()}
        failed = refusal(error.code, told, self.keys.removed_from(data), b"{}", 0)
        # Below 500 the vendor looked at the call, and did not do it.
        definite = error.code < _SERVER_FAULT and error.code not in (408, 409)
        return self._failed(
            failed.detail,
            definite=definite,
            needs_a_person=definite and (failed.cause in STOPS_RUN or failed.cause == "request"),
            cause=failed.cause,
            wait_s=failed.retry_after_s,
        )

    def _failed(self, what: str, **told: Any) -> VendorError:
        said = self.keys.removed_from_text(one_line(redact(what))[:500])
        return VendorError(f"{self.origin}: {said}", **told)


def _write(file: BinaryIO, data: bytes) -> None:
    """Raises: RecordError, so that a full disk is not taken for the vendor's fault."""
    try:
        file.write(data)
    except OSError as error:
        raise RecordError(cant_be_written(Path(file.name), error)) from None


def file_body(path: Path) -> HttpBody:
    """A file as a body that is read while it is sent."""
    return (lambda: path.open("rb")), path.stat().st_size


class Framed:
    """A file between two pieces, as `multipart/form-data` has it, to be read once."""

    def __init__(self, before: bytes, path: Path, after: bytes) -> None:
        self._path = path
        self._parts: list[bytes] = [before]
        self._after = after
        self.length = len(before) + path.stat().st_size + len(after)
        self._file: BinaryIO | None = None

    def opened(self) -> BinaryIO:
        self._file = self._path.open("rb")
        return cast("BinaryIO", self)  # all that is asked of it is `read` and `close`

    def read(self, size: int = -1) -> bytes:
        del size
        if self._parts:
            return self._parts.pop()
        assert self._file is not None  # noqa: S101 - it is opened before it is read
        if piece := self._file.read(_PIECE):
            return piece
        after, self._after = self._after, b""
        return after

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def multipart(path: Path, filename: str, fields: Mapping[str, str]) -> tuple[HttpBody, str]:
    """A form with a file as its last part (RFC 7578), and its content type."""
    boundary = f"benchbook-{os.urandom(16).hex()}"
    lines = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    lines.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n'
        "Content-Type: application/jsonl\r\n\r\n"
    )
    framed = Framed("".join(lines).encode(), path, f"\r\n--{boundary}--\r\n".encode())
    return (framed.opened, framed.length), f"multipart/form-data; boundary={boundary}"


def is_unknown(error: VendorError, causes: tuple[FailureCause, ...] = ("not_found",)) -> bool:
    """True where the vendor says that there is no such thing."""
    return error.definite and error.cause in causes
