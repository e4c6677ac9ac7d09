"""The socket of a server, before the server has begun to answer."""

from __future__ import annotations

import socket
from pathlib import Path

from benchbook.server.running import address_of, listening_socket
from benchbook.server.settings import Settings


def test_whoever_comes_once_the_address_is_known_waits_and_is_not_refused(tmp_path: Path) -> None:
    settings = Settings(runs=tmp_path, catalog=str(tmp_path / "c.sqlite"), port=0)
    with listening_socket(settings) as listening:
        port = int(address_of(listening, settings).rstrip("/").rpartition(":")[2])
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
