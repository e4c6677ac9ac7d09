"""The cookies of a browser's session: how they are named, set and read.

Where the browser's page came by TLS, they are sent over TLS alone, and their names' beginnings (`__Host-`, `__Secure-`)
have the browser refuse one that another host or a page without TLS would put in their place. TLS ends at the server in
front, so it is seen by the page's own origin, or by `x-forwarded-proto`. Either makes them stricter, so that nobody
gains by lying about it.
"""

from __future__ import annotations

from collections.abc import Mapping

SESSION, CSRF = "benchbook_session", "benchbook_csrf"
SESSION_NAMES = (f"__Host-{SESSION}", f"__Secure-{SESSION}", SESSION)


def session_name(headers: Mapping[str, str], below: str) -> str:
    """The name of the session's cookie for whoever sent these headers, where all addresses begin with `below`."""
    if not _came_by_tls(headers):
        return SESSION
    return f"__Host-{SESSION}" if _path(below) == "/" else f"__Secure-{SESSION}"


def session_cookies(session: str, csrf: str, headers: Mapping[str, str], below: str) -> list[str]:
    """The headers that set two cookies: one that no script can read, and one that the page repeats in a header."""
    ways = _ways(headers, below)
    return [f"{session_name(headers, below)}={session}; HttpOnly; {ways}", f"{CSRF}={csrf}; {ways}"]


def ended_cookies(headers: Mapping[str, str], below: str) -> list[str]:
    """The headers that remove the two cookies."""
    return [f"{name}=; Max-Age=0; {_ways(headers, below)}" for name in (session_name(headers, below), CSRF)]


def read_cookies(header: str) -> dict[str, str]:
    """The cookies of a request. Of two with one name the first counts: it is the one with the longer path."""
    found: dict[str, str] = {}
    for pair in header.split(";"):
        name, equals, value = pair.partition("=")
        if equals:
            found.setdefault(name.strip(" \t"), value.strip(" \t").strip('"'))
    return found


def _ways(headers: Mapping[str, str], below: str) -> str:
    secure = "; Secure" if _came_by_tls(headers) else ""
    return f"SameSite=Strict; Path={_path(below)}{secure}"


def _came_by_tls(headers: Mapping[str, str]) -> bool:
    forwarded = headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
    return forwarded == "https" or headers.get("origin", "").lower().startswith("https://")


def _path(below: str) -> str:
    """The path within which the cookies are sent: not to other servers that are found below other paths."""
    return f"{below}/" if ";" not in below and "," not in below else "/"
