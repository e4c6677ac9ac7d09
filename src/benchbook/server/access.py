"""Who may do what. On this machine alone: everybody, everything. On any other address: whoever has a token.

A browser's write must come from the server's own page: its Origin is the host that was asked, and, where a cookie says
who it is, it repeats the other cookie in a header. The host that was asked must be one of ours: a name that was pointed
at this machine afterwards (DNS rebinding) is none.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from threading import Lock
from typing import Literal

from benchbook.errors import ConfigError
from benchbook.server.operations import Operation
from benchbook.server.problems import ProblemError
from benchbook.server.services import Settings
from benchbook.server.tokens import SCOPES, Token, TokenFile, default_token_file

__all__ = ["CSRF_COOKIE", "SESSION_COOKIE", "Access", "Principal", "check_setup", "is_loopback"]


SESSION_COOKIE, CSRF_COOKIE = "benchbook_session", "benchbook_csrf"
_SESSION_S = 12 * 3600
_MOST_SESSIONS = 10_000
_MOST_ACCEPTED = 100
_OWN_NAMES = frozenset({"localhost"})


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. `name` is the token's, or `local`."""

    name: str
    scopes: tuple[str, ...]
    via: Literal["local", "token", "cookie", "nobody"]

    @property
    def is_local(self) -> bool:
        return self.via == "local"


_LOCAL = Principal("local", SCOPES, "local")
_NOBODY = Principal("nobody", (), "nobody")


@dataclass(frozen=True, slots=True)
class _Session:
    token_id: str
    csrf: str
    ends: float  # monotonic


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
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
    """The tokens, the sessions of browsers, and the names under which the server is asked."""

    def __init__(self, settings: Settings) -> None:
        self.needs_token = settings.token_file is not None or not is_loopback(settings.host)
        path: Path = settings.token_file or default_token_file(settings.runs)
        self._tokens = TokenFile(path) if self.needs_token else None
        self._hosts = _OWN_NAMES | {name.lower().rstrip(".") for name in (settings.host, *settings.hosts)}
        self._accepted: set[str] = set()  # headers that were looked at already
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._lock = Lock()

    # ── the host ─────────────────────────────────────────────────────────────────────────────────────────────

    def check_host(self, header: str | None) -> None:
        """Raises: ProblemError (421) for a name that is none of ours. An address in numbers is no name."""
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
        """Who asks. Raises: ProblemError (401) for a token that is not known or was revoked."""
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
        return _NOBODY if token is None else Principal(token.name, token.scopes, "cookie")

    def check(self, principal: Principal, operation: Operation, headers: Mapping[str, str]) -> None:
        """Raises: ProblemError (401, 403) where this may not be done by whoever asks."""
        if operation.writes:
            self._check_page(principal, headers)
        if operation.scope is None:
            return
        if principal.via == "nobody":
            raise _unauthorized("a token is needed: `benchbook token create`")
        if operation.scope not in principal.scopes:
            raise ProblemError(HTTPStatus.FORBIDDEN, f"this needs the scope {operation.scope}, which the token lacks")

    def _check_page(self, principal: Principal, headers: Mapping[str, str]) -> None:
        """A write that another site made a browser send is refused. Programs send neither header."""
        origin = headers.get("origin")
        same_site = headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
        if not same_site or (origin is not None and origin.partition("://")[2] != headers.get("host")):
            raise ProblemError(HTTPStatus.FORBIDDEN, "a write from another site")
        if principal.via == "cookie":
            session = self._session(_cookies(headers).get(SESSION_COOKIE, ""))
            given = headers.get("x-csrf-token", "")
            if session is None or not hmac.compare_digest(given.encode(), session.csrf.encode()):
                raise ProblemError(HTTPStatus.FORBIDDEN, f"x-csrf-token: expected what the cookie {CSRF_COOKIE} holds")

    # ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────

    def login(self, text: str) -> tuple[Principal, str, str]:
        """A session for a token: who it is, and the values of the two cookies. Raises: ProblemError (401, 409)."""
        if self._tokens is None:
            raise ProblemError(HTTPStatus.CONFLICT, "this server asks for no token")
        token = self._tokens.find(text)
        if token is None:
            raise _unauthorized("this token is not known here, or was revoked")
        name, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[name] = _Session(token.token_id, csrf, time.monotonic() + _SESSION_S)
            while len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
        return Principal(token.name, token.scopes, "cookie"), name, csrf

    def logout(self, headers: Mapping[str, str]) -> None:
        with self._lock:
            self._sessions.pop(_cookies(headers).get(SESSION_COOKIE, ""), None)

    def _session(self, name: str) -> _Session | None:
        with self._lock:
            found = self._sessions.get(name)
            if found is not None and found.ends < time.monotonic():
                del self._sessions[name]
                return None
        return found

    def _token_of_session(self, headers: Mapping[str, str]) -> Token | None:
        session = self._session(_cookies(headers).get(SESSION_COOKIE, ""))
        return None if session is None or self._tokens is None else self._tokens.by_id(session.token_id)


def _unauthorized(detail: str) -> ProblemError:
    return ProblemError(HTTPStatus.UNAUTHORIZED, detail, {"www-authenticate": 'Bearer realm="benchbook"'})


def _cookies(headers: Mapping[str, str]) -> dict[str, str]:
    try:
        found = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: one.value for name, one in found.items()}


def _host_name(header: str) -> str | None:
    """The host of a Host header without its port; None for what is none."""
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
