"""Which rows of a samples file are of one sample: found in one pass, and kept in a table on disk.

A sample that several metrics scored has a row of each, side by side or a whole metric apart; asked several times, it
has several rows of the same metric. Which results are of the same samples no aggregate says: those with a sample in
common are one log. Memory grows with results, of which there are few, and not with rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import groupby
from typing import NamedTuple

from benchbook.errors import InputError
from benchbook.exchange.on_disk import temporary_table

_MOST_RESULTS = 10_000

# A cross join keeps the order of the tables: places are gone through by their index, and none is sorted.
_PLACES = """
    SELECT item, repeat, places.result, start, size FROM places CROSS JOIN tops ON tops.result = places.result
    WHERE top = ? ORDER BY item, repeat, start
"""
_SIZES = """
    SELECT count(*), count(DISTINCT item), max(repeat) FROM (
        SELECT DISTINCT item, repeat FROM places JOIN tops ON tops.result = places.result WHERE top = ?
    )
"""
_TWINS = "SELECT count(*) FROM items JOIN tops ON tops.result = items.result WHERE id = ? AND top = ?"


class RowPlace(NamedTuple):
    """Where a row lies in its file, and of which result it is."""

    result: int
    start: int
    size: int


class FoundSample(NamedTuple):
    """The rows of one sample; `twin` is a word that tells its item from others of the same id, empty without them."""

    repeat: int
    places: list[RowPlace]
    twin: str


class RowIndex:
    """The rows of one file by samples, for as many logs as there are in it."""

    def __init__(self) -> None:
        self.names: list[str] = []  # of results, by their numbers
        self._numbers: dict[str, int] = {}
        self._root: list[int] = []  # of each result: one with which it has samples in common
        self._users = 0
        self._has_twins = False
        self._table = temporary_table(
            "CREATE TABLE items (n INTEGER PRIMARY KEY, id BLOB, content BLOB, result INT, UNIQUE (id, content))",
            "CREATE TABLE places (item INT, repeat INT, result INT, start INT, size INT)",
            "CREATE UNIQUE INDEX once ON places (item, result, repeat)",
        )

    # ── the pass ─────────────────────────────────────────────────────────────────────────────────────────────

    def number_of(self, name: str) -> int:
        """A result's number, by its name. Raises: InputError where there are too many."""
        number = self._numbers.setdefault(name, len(self._numbers))
        if number == len(self.names):
            if number == _MOST_RESULTS:
                raise InputError("the rows", found=f"more than {_MOST_RESULTS:,} results", expected="fewer in one file")
            self.names.append(name)
            self._root.append(number)
        return number

    def add(self, sample_id: str, content: bytes, repeat: int | None, place: RowPlace) -> None:
        """One row: of the sample with this id and content, and of which repeat, where it says so itself."""
        key = _digest(sample_id.encode("utf-8", "surrogatepass")), _digest(content)
        run = self._table.execute
        run("INSERT OR IGNORE INTO items (id, content, result) VALUES (?, ?, ?)", (*key, place.result))
        item, first = run("SELECT n, result FROM items WHERE id = ? AND content = ?", key).fetchone()
        self._root[self._top(place.result)] = self._top(first)
        if repeat is not None and self._put(item, repeat, place):
            return
        (last,) = run("SELECT max(repeat) FROM places WHERE item = ? AND result = ?", (item, place.result)).fetchone()
        self._put(item, 0 if last is None else last + 1, place)

    def _put(self, item: int, repeat: int, place: RowPlace) -> bool:
        """False where the result has such a repeat of the item already."""
        done = self._table.execute("INSERT OR IGNORE INTO places VALUES (?, ?, ?, ?, ?)", (item, repeat, *place))
        return done.rowcount == 1

    def join(self) -> None:
        """All results are of one log, whichever samples they have."""
        self._root = [0] * len(self._root)

    def finish(self) -> None:
        """All rows are in."""
        run = self._table.execute
        run("CREATE INDEX in_order ON places (item, repeat, start)")
        run("CREATE TABLE tops (result INTEGER PRIMARY KEY, top INT)")
        self._table.executemany(
            "INSERT INTO tops VALUES (?, ?)", [(one, self._top(one)) for one in range(len(self.names))]
        )
        self._has_twins = run("SELECT 1 FROM items GROUP BY id HAVING count(*) > 1 LIMIT 1").fetchone() is not None

    def _top(self, result: int) -> int:
        while self._root[result] != result:
            self._root[result] = result = self._root[self._root[result]]
        return result

    # ── afterwards ───────────────────────────────────────────────────────────────────────────────────────────

    def logs(self) -> list[list[int]]:
        """The results of each log, in the order in which they were met first."""
        found: dict[int, list[int]] = {}
        for result in range(len(self.names)):
            found.setdefault(self._top(result), []).append(result)
        return list(found.values())

    def sizes_of(self, log: list[int]) -> tuple[int, int, int]:
        """`(samples, items, repeats)` of a log."""
        samples, items, last = self._table.execute(_SIZES, (self._top(log[0]),)).fetchone()
        return samples, items, 0 if last is None else last + 1

    def samples_of(self, log: list[int]) -> Iterator[FoundSample]:
        """The samples of a log, in the order in which their items were met first."""
        rows = self._table.execute(_PLACES, (self._top(log[0]),))
        for (item, repeat), places in groupby(rows, key=lambda row: row[:2]):
            yield FoundSample(
                repeat, [RowPlace(*place[2:]) for place in places], self._twin(item, log) if self._has_twins else ""
            )

    def _twin(self, item: int, log: list[int]) -> str:
        run = self._table.execute
        sample_id, content = run("SELECT id, content FROM items WHERE n = ?", (item,)).fetchone()
        (n,) = run(_TWINS, (sample_id, self._top(log[0]))).fetchone()
        return content.hex()[:8] if n > 1 else ""

    # ── its users ────────────────────────────────────────────────────────────────────────────────────────────

    def share(self) -> RowIndex:
        """One more log uses it."""
        self._users += 1
        return self

    def close(self) -> None:
        """A log that used it no longer does; the last takes it away."""
        self._users -= 1
        if self._users <= 0:
            self._table.close()


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
