"""The ids of a batch: where each request stands, and which line has the result that counts.

They are kept in a temporary database without a name, so that memory does not grow with the batch.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

_TABLES = """
CREATE TABLE asked(id BLOB PRIMARY KEY, at INTEGER, number INTEGER) WITHOUT ROWID;
CREATE TABLE held(id BLOB PRIMARY KEY, file INTEGER, number INTEGER, answered INTEGER) WITHOUT ROWID;
"""
_HOLD = """
INSERT INTO held VALUES (?, ?, ?, ?) ON CONFLICT(id) DO UPDATE
SET file = excluded.file, number = excluded.number, answered = 1 WHERE excluded.answered AND NOT answered
"""
_ASK = "INSERT INTO asked VALUES (?, ?, ?) ON CONFLICT(id) DO UPDATE SET at = NULL"


class BatchIds:
    """The requests and results of one batch, by their ids."""

    def __init__(self) -> None:
        self._known = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._known.executescript(_TABLES)
        self._known.execute("BEGIN")

    def hold(self, id_: str, file: int, number: int, *, answered: bool) -> None:
        """A result: of several with one id the first answer counts, or the first failure where there is no answer."""
        self._known.execute(_HOLD, (_key(id_), file, number, answered))

    def ask(self, id_: str, at: int, number: int) -> None:
        """A request that begins at this byte. Which one an id means that is there twice is not known."""
        self._known.execute(_ASK, (_key(id_), at, number))

    def forget_requests(self) -> None:
        self._known.execute("DELETE FROM asked")

    def counts(self, id_: str, file: int, number: int) -> bool:
        """True if this line is the one that counts for its id."""
        found = self._known.execute("SELECT file, number FROM held WHERE id = ?", (_key(id_),)).fetchone()
        return bool(found == (file, number))

    def file_of(self, id_: str) -> int | None:
        """The file that has a result of this id."""
        found = self._known.execute("SELECT file FROM held WHERE id = ?", (_key(id_),)).fetchone()
        return None if found is None else int(found[0])

    def request_of(self, id_: str) -> tuple[int, int] | None:
        """The byte and line of a request; None where it is not known."""
        found = self._known.execute("SELECT at, number FROM asked WHERE id = ?", (_key(id_),)).fetchone()
        return None if found is None or found[0] is None else (found[0], found[1])

    def n_held(self) -> int:
        return self._number("SELECT count(*) FROM held")

    def n_asked(self) -> int:
        return self._number("SELECT count(*) FROM asked")

    def n_asked_twice(self) -> int:
        return self._number("SELECT count(*) FROM asked WHERE at IS NULL")

    def n_without_request(self) -> int:
        return self._number("SELECT count(*) FROM held WHERE id NOT IN (SELECT id FROM asked)")

    def n_without_result(self) -> int:
        return self._number("SELECT count(*) FROM asked WHERE id NOT IN (SELECT id FROM held)")

    def places(self) -> Iterator[int | None]:
        """The places of the requests, in the order of the results."""
        asked = "SELECT asked.number FROM held LEFT JOIN asked USING (id) ORDER BY held.file, held.number"
        return (number for (number,) in self._known.execute(asked))

    def close(self) -> None:
        self._known.close()

    def _number(self, query: str) -> int:
        return int(self._known.execute(query).fetchone()[0])


def _key(id_: str) -> bytes:
    return id_.encode("utf-8", "surrogatepass")
