"""SQLite files that several processes use at once: write-ahead logging, which a new file is switched to once."""

from __future__ import annotations

import sqlite3
from time import monotonic, sleep

_ASK_AGAIN_SECONDS = 0.01
_PRIMARY = 0xFF  # SQLite's codes carry the details in the bits above


def into_wal(connection: sqlite3.Connection) -> None:
    """Readers and the writer of this file don't wait for each other from here on.

    Of two processes that begin a file at once, SQLite refuses one at once, whatever the connection's time-out: each
    holds a lock that the other waits for. So it is asked again until that time is over. Raises:
    sqlite3.OperationalError then, or for anything else.
    """
    (time_out_ms,) = connection.execute("PRAGMA busy_timeout").fetchone()
    give_up = monotonic() + time_out_ms / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY != sqlite3.SQLITE_BUSY or monotonic() > give_up:
                raise
            sleep(_ASK_AGAIN_SECONDS)
        else:
            return
