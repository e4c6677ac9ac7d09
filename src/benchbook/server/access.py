"""Access: on this machine alone, everybody may do everything; on any other address, a token says who may do what.

A browser's write must come from the server's own page: its Origin is the host that was asked, and, where a cookie says
who it is, it repeats the other cookie in a header. The host that was asked must be one of ours: a name that was pointed
at this machine afterwards (DNS rebinding) is not.

A token is `bb_ID_SECRET`. The secret has 256 random bits, so one SHA-256 is as safe as a slow hash would be: only that
is kept, in a file that its owner alone can read.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

from benchbook.canonical import canonical_json, ready
from benchbook.errors import ConfigError, RecordError, UsageError
from benchbook.labels.labels import labeller_name
from benchbook.locks import locked_folder
from benchbook.record.journal import utc_now
from benchbook.server.cookies import CSRF, SESSION_NAMES, read_cookies
from benchbook.server.problems import ProblemError
from benchbook.server.settings import Settings
from benchbook.writing import cant_be_written, make_folder, written_whole

_SCOPES = ("read", "label", "write")

_NO_HASH = hashlib.sha256(b"").hexdigest()


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A token as it is stored. `scopes` say what it may do; none of them includes another."""

    token_id: str
    name: str
    sha256: str
    scopes: tuple[str, ...]
    created_utc: str
    revoked_utc: str | None = None


def default_token_file(runs: str | Path) -> Path:
    """The file with the tokens of a folder of records, unless another is named."""
    return Path(runs) / ".server" / "tokens.json"


class TokenFile:
    """The tokens of a server. A change by another process is seen at the next request."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._seen: tuple[int, int, int] | None = None
        self._tokens: dict[str, Token] = {}

    def create(self, name: str, scopes: Sequence[str]) -> tuple[str, Token]:
        """Create a token. Return its text, which can't be asked for again, and what is stored of it.

        Raises: ConfigError for an unknown scope, or none at all.
        """
        wanted = tuple(scope for scope in _SCOPES if scope in scopes)
        if not wanted or set(scopes) - set(_SCOPES):
            raise ConfigError("scope", ", ".join(sorted(scopes)) or "nothing", "one or more of " + ", ".join(_SCOPES))
        token_id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        text = f"bb_{token_id}_{secret}"
        token = Token(
            token_id=token_id, name=labeller_name(name), sha256=_hash(text), scopes=wanted, created_utc=utc_now()
        )
        with self._changing() as tokens:
            tokens[token_id] = token
        return text, token

    def revoke(self, token_id: str) -> Token:
        """Refuse this token from now on. Raises: UsageError for an unknown id."""
        with self._changing() as tokens:
            found = tokens.get(token_id)
            if found is None:
                raise UsageError(f"{self.path}: there is no token {token_id!r}; `benchbook token list` shows them")
            if found.revoked_utc is None:
                tokens[token_id] = found = msgspec.structs.replace(found, revoked_utc=utc_now())
        return found

    def tokens(self) -> list[Token]:
        """All tokens, in the order in which they were made. Raises: UsageError for a file of anything else."""
        with self._lock:
            self._read()
            return list(self._tokens.values())

    def find(self, text: str) -> Token | None:
        """The token with this text, unless it was revoked. A wrong secret takes as long as an id that is not known."""
        parts = text.split("_", 2)
        found = self.by_id(parts[1]) if len(parts) == 3 else None
        expected = _NO_HASH if found is None else found.sha256
        return found if hmac.compare_digest(_hash(text), expected) else None

    def by_id(self, token_id: str) -> Token | None:
        """The token with this id, unless it was revoked."""
        with self._lock:
            self._read()
            found = self._tokens.get(token_id)
        return None if found is None or found.revoked_utc is not None else found

    def _read(self) -> None:
        try:
            state = self.path.stat()
        except FileNotFoundError:
            self._seen, self._tokens = None, {}
            return
        seen = state.st_mtime_ns, state.st_size, state.st_ino
        if seen == self._seen:
            return
        try:
            tokens = msgspec.json.decode(self.path.read_bytes(), type=ready(list[Token]))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            raise UsageError(f"{self.path}: not a file of tokens; make one with `benchbook token create`") from None
        self._seen, self._tokens = seen, {token.token_id: token for token in tokens}

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Token]]:
        """Lend the tokens to be changed, with other processes locked out; then replace the file as a whole."""
        try:
            make_folder(self.path.parent)
            with locked_folder(self.path.parent), self._lock:
                self._read()
                tokens = dict(self._tokens)
                yield tokens
                with written_whole(self.path, mode=0o600) as file:
                    file.write(canonical_json(list(tokens.values())) + b"\n")
                self._read()
        except OSError as error:
            raise RecordError(cant_be_written(self.path, error)) from None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_SESSION_S = 12 * 3600
_MOST_SESSIONS = 10_000
_MOST_ACCEPTED = 100
_OWN_NAMES = frozenset({"localhost"})


@dataclass(frozen=True, slots=True)
class Principal:
    """The sender of a request. `name` is the token's, or `local`."""

    name: str
    scopes: tuple[str, ...]
    via: Literal["local", "token", "cookie", "nobody"]

    @property
    def is_local(self) -> bool:
        return self.via == "local"


_LOCAL = Principal("local", _SCOPES, "local")

NOBODY = Principal("nobody", (), "nobody")


@dataclass(frozen=True, slots=True)
class _Session:
    token_id: str
    csrf: str
    cookie: str  # by whose name alone it is known: one that began by TLS needs the cookie that TLS protects
    ends: float  # monotonic


def is_loopback(host: str) -> bool:
    """True where only this machine can reach an address."""
    if host.rstrip(".").lower() in _OWN_NAMES:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_setup(settings: Settings) -> None:
    """Raises: ConfigError for an address that others can reach, where there is no token."""
    if is_loopback(settings.host) and settings.token_file is None:
        return
    path = settings.token_file or default_token_file(settings.runs)
    if not any(token.revoked_utc is None for token in TokenFile(path).tokens()):
        why = f"{settings.host}, which other machines may reach" if not is_loopback(settings.host) else str(path)
        raise ConfigError("token", f"none, for {why}", "one: `benchbook token create --name NAME --scope read`")


class Access:
    """The tokens, the sessions of browsers, and the host names that the server answers to."""

    def __init__(self, settings: Settings) -> None:
        self.needs_token = settings.token_file is not None or not is_loopback(settings.host)
        path: Path = settings.token_file or default_token_file(settings.runs)
        self._tokens = TokenFile(path) if self.needs_token else None
        self._hosts = _OWN_NAMES | {name.lower().rstrip(".") for name in (settings.host, *settings.hosts)}
        self._accepted: set[str] = set()  # headers that passed before
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._lock = Lock()

    # ── the host ─────────────────────────────────────────────────────────────────────────────────────────────

    def check_host(self, header: str | None) -> None:
        """Raises: ProblemError (421) for a host name that is not ours. A numeric address is no name."""
        if header in self._accepted:
            return
        name = _host_name(header or "")
        if name is None or not (name in self._hosts or _is_address(name)):
            raise ProblemError(
                HTTPStatus.MISDIRECTED_REQUEST, "this server is not asked by this name; `benchbook serve --allow-host`"
            )
        if header is not None and len(self._accepted) < _MOST_ACCEPTED:
            self._accepted.add(header)

    # ── who it is ────────────────────────────────────────────────────────────────────────────────────────────

    def principal(self, headers: Mapping[str, str]) -> Principal:
        """The sender of a request. Raises: ProblemError (401) for a token that is unknown or was revoked."""
        if self._tokens is None:
            return _LOCAL
        given = headers.get("authorization")
        if given is not None:
            kind, _, text = given.partition(" ")
            token = self._tokens.find(text.strip()) if kind.lower() == "bearer" else None
            if token is None:
                raise _unauthorized("this token is not known here, or was revoked")
            return Principal(token.name, token.scopes, "token")
        token = self._token_of_session(headers)
        return NOBODY if token is None else Principal(token.name, token.scopes, "cookie")

    def check(self, principal: Principal, scope: str | None, headers: Mapping[str, str], *, writes: bool) -> None:
        """Raises: ProblemError (401, 403) where the sender may not do what needs this scope."""
        if writes:
            self._check_page(principal, headers)
        if scope is None:
            return
        if principal.via == "nobody":
            raise _unauthorized("a token is needed: `benchbook token create`")
        if scope not in principal.scopes:
            raise ProblemError(HTTPStatus.FORBIDDEN, f"this needs the scope {scope}, which the token lacks")

    def _check_page(self, principal: Principal, headers: Mapping[str, str]) -> None:
        """Refuse a write that another site made a browser send. Programs send neither header."""
        origin = headers.get("origin")
        same_site = headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
        if not same_site or (origin is not None and origin.partition("://")[2] != headers.get("host")):
            raise ProblemError(HTTPStatus.FORBIDDEN, "a write from another site")
        if principal.via == "cookie":
            session = self._session(headers)
            given = headers.get("x-csrf-token", "")
            if session is None or not hmac.compare_digest(given.encode(), session.csrf.encode()):
                raise ProblemError(HTTPStatus.FORBIDDEN, f"x-csrf-token: expected what the cookie {CSRF} holds")

    # ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────

    def login(self, text: str, cookie: str) -> tuple[Principal, str, str]:
        """Open a session for a token, known by the cookie of that name: who it is, and the values of the two cookies.

        Raises: ProblemError (401, 409).
        """
        if self._tokens is None:
            raise ProblemError(HTTPStatus.CONFLICT, "this server asks for no token")
        token = self._tokens.find(text)
        if token is None:
            raise _unauthorized("this token is not known here, or was revoked")
        name, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[name] = _Session(token.token_id, csrf, cookie, time.monotonic() + _SESSION_S)
            while len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
        return Principal(token.name, token.scopes, "cookie"), name, csrf

    def logout(self, headers: Mapping[str, str]) -> None:
        cookies = read_cookies(headers.get("cookie", ""))
        with self._lock:
            for name in SESSION_NAMES:
                self._sessions.pop(cookies.get(name, ""), None)

    def _session(self, headers: Mapping[str, str]) -> _Session | None:
        cookies = read_cookies(headers.get("cookie", ""))
        for name in SESSION_NAMES:
            with self._lock:
                value = cookies.get(name, "")
                found = self._sessions.get(value)
                if found is not None and found.ends < time.monotonic():
                    del self._sessions[value]
                    found = None
            if found is not None and found.cookie == name:
                return found
        return None

    def _token_of_session(self, headers: Mapping[str, str]) -> Token | None:
        session = self._session(headers)
        return None if session is None or self._tokens is None else self._tokens.by_id(session.token_id)


def _unauthorized(detail: str) -> ProblemError:
    return ProblemError(HTTPStatus.UNAUTHORIZED, detail, {"www-authenticate": 'Bearer realm="benchbook"'})


def _host_name(header: str) -> str | None:
    """The host of a Host header, without its port; None for a malformed one."""
    name, colon, port = header.strip().lower().rpartition(":")
    if not colon or "]" in port:  # no port at all
        name, port = header.strip().lower(), "0"
    if not port.isascii() or not port.isdigit() or not name or any(mark in name for mark in "/@\\ "):
        return None
    return name.rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
