"""A connection, step by step, so that whoever gives up knows at which: the name, the way there, TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchbook.ask.providers.http_connection import Connection, HttpError
from benchbook.record.facts import FailureCause

__all__ = ["Phase", "open_connection"]


_WORDS: dict[FailureCause, str] = {
    "dns": "the name was not found",
    "connection": "the server did not take it",
    "tls": "TLS was not agreed upon",
    "proxy": "the proxy did not make it",
}


@dataclass(slots=True)
class Phase:
    """Which step is under way, and whether it is the proxy that it leads to."""

    cause: FailureCause = "connection"
    by_proxy: bool = False

    @property
    def blamed(self) -> FailureCause:
        return "proxy" if self.by_proxy else self.cause

    @property
    def words(self) -> str:
        return _WORDS[self.blamed]


async def open_connection(
    host: str, port: int, tls: ssl.SSLContext | None, phase: Phase
) -> tuple[asyncio.Transport, Connection]:
    """Raises: OSError, which an address that can't be found or reached gives; HttpError where the system gave up."""
    loop = asyncio.get_running_loop()
    phase.cause = "dns"
    addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    phase.cause = "connection"
    connected = await _connected(loop, addresses)
    phase.cause = "tls" if tls is not None else "connection"
    return await loop.create_connection(
        Connection, sock=connected, ssl=tls, server_hostname=host if tls is not None else None
    )


async def _connected(loop: asyncio.AbstractEventLoop, addresses: Sequence[tuple[Any, ...]]) -> socket.socket:
    """A socket to the first of the addresses that takes one."""
    failed: OSError | None = None
    for family, kind, protocol, _, address in addresses:
        try:
            one = socket.socket(family, kind, protocol)
        except OSError as error:
            failed = failed or error
            continue
        try:
            one.setblocking(False)
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(one, address)
        except OSError as error:
            one.close()
            failed = failed or error
        except BaseException:
            one.close()
            raise
        else:
            return one
    if isinstance(failed, TimeoutError):  # the system's own, and not our limit, which comes as a cancellation
        raise HttpError(f"no connection ({failed})")
    raise failed or OSError("the name has no address")
