"""The server itself: who asks, logging in, events, health, counters, the document."""

from __future__ import annotations

import time
from functools import cache
from http import HTTPStatus
from typing import Any

import msgspec
from sqlalchemy import func, select

from benchbook.catalog.schema import runs
from benchbook.server.access import CSRF_COOKIE, SESSION_COOKIE
from benchbook.server.operations import Bytes, Call
from benchbook.server.problems import ProblemError
from benchbook.server.types import Live, LoginAnswer, Ready, WhoAmI

__all__ = [
    "get_health", "get_me", "get_metrics", "get_openapi", "get_readiness", "listen", "login", "logout",
]  # fmt: skip

_LOOKED_AT_LEAST_EVERY_S = 60.0


def get_me(call: Call) -> WhoAmI:
    principal = call.principal
    needed = call.services.access.needs_token and principal.via == "nobody"
    return WhoAmI(name=principal.name, scopes=principal.scopes, login_needed=needed, via=principal.via)


def login(call: Call) -> LoginAnswer:
    """Two cookies: one that no script can read, and one that the page repeats in a header with each write."""
    principal, session, csrf = call.services.access.login(call.body.token)
    call.cookies += [f"{SESSION_COOKIE}={session}; HttpOnly; SameSite=Strict; Path=/"]
    call.cookies += [f"{CSRF_COOKIE}={csrf}; SameSite=Strict; Path=/"]
    return LoginAnswer(name=principal.name, scopes=principal.scopes)


def logout(call: Call) -> WhoAmI:
    call.services.access.logout(call.request_headers)
    call.cookies += [f"{name}=; Max-Age=0; SameSite=Strict; Path=/" for name in (SESSION_COOKIE, CSRF_COOKIE)]
    return WhoAmI(name="nobody", scopes=(), login_needed=call.services.access.needs_token, via="nobody")


def listen(call: Call) -> Any:
    return call.services.events.listen()


def get_openapi(call: Call) -> Bytes:
    del call
    return Bytes(_document())


@cache
def _document() -> bytes:
    from benchbook.server.openapi import openapi_document
    from benchbook.server.operations_list import OPERATIONS

    return msgspec.json.encode(openapi_document(OPERATIONS))


def get_health(call: Call) -> Live:
    del call
    return Live()


def get_readiness(call: Call) -> Ready:
    """Raises: ProblemError (503) where the catalog can't be read, or the folder was not looked through lately."""
    watcher = call.services.watcher
    _count_by_state(call)
    since = None if watcher.last_look is None else time.monotonic() - watcher.last_look
    longest = max(_LOOKED_AT_LEAST_EVERY_S, 10 * call.services.settings.look_s)
    if since is None or watcher.error is not None or since > longest:
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "the folder of records was not looked through lately")
    return Ready(last_look_s=round(since, 3))


def get_metrics(call: Call) -> Bytes:
    services = call.services
    gauges = {f'benchbook_runs{{state="{state}"}}': n for state, n in sorted(_count_by_state(call).items())}
    lines = ["# HELP benchbook_runs Runs in the catalog by state.", "# TYPE benchbook_runs gauge"]
    lines += [f"{name} {n}" for name, n in gauges.items()]
    own = {
        "benchbook_listeners": ("Clients that listen to events.", float(services.events.n_listeners)),
        "benchbook_kept_bytes": ("Memory of what was computed and is kept.", float(services.kept.n_bytes)),
        "benchbook_started_runs": ("Runs that were started here and go on.", float(services.children.n_running)),
    }
    return Bytes((services.measures.text(own) + "\n".join(lines) + "\n").encode())


def _count_by_state(call: Call) -> dict[str, int]:
    with call.services.catalog.read() as connection:
        rows = connection.execute(select(runs.c.state, func.count()).group_by(runs.c.state)).all()
    return {str(state): int(n) for state, n in rows}
