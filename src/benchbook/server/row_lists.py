"""Long lists of rows in memory: filtered, ordered, and read by pages, the last as fast as the first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from benchbook.canonical import canonical_json
from benchbook.catalog.queries import cursor_of, position_of, wrong_cursor
from benchbook.server.frames import frame_bytes
from benchbook.server.problems import ProblemError

if TYPE_CHECKING:
    import polars

_KEPT_ORDERS, _ORDERS_BYTES, _PLACE_BYTES = 16, 16 << 20, 4
_PAGING = ("limit", "offset", "cursor")
_ORDERING = ("sort", "order")


class _Place(msgspec.Struct, frozen=True):
    """The row at which a page begins, and the list that it is in."""

    offset: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
    list_id: str


class Page(msgspec.Struct, frozen=True):
    """The rows of a page, the number of all that fit, and the cursor of the next page."""

    rows: list[dict[str, Any]]
    n: int
    next_cursor: str | None


class RowList:
    """A table whose rows are shown. `name` tells it from all others, even from another state of the same record."""

    def __init__(self, frame: polars.DataFrame, name: str) -> None:
        self.frame = frame
        self._name = name
        self._lock = Lock()
        self._orders: OrderedDict[str, Any] = OrderedDict()

    @property
    def n_bytes(self) -> int:
        return frame_bytes(self.frame) + min(_ORDERS_BYTES, _KEPT_ORDERS * _PLACE_BYTES * len(self.frame))

    def containing(self, text: str, columns: Sequence[str]) -> polars.Series:
        """True for each row in which one of these columns contains `text`. They are searched side by side, and where a
        part of the text was looked for before, as whoever types it does, only the rows that contain that.
        """
        import polars as pl

        prefix, wanted = f"text of {' '.join(columns)}: ", _folded(text)

        def look() -> polars.Series:
            before = self._found_for_part(prefix, wanted)
            places = None if before is None else before.arg_true()
            rows = self.frame.select(columns) if places is None else self.frame.select(columns)[places]
            each = rows.select(contains(text, name).alias(name) for name in columns)
            found = each.select(pl.any_horizontal(pl.all())).to_series()
            if places is None:
                return found
            return pl.zeros(len(self.frame), dtype=pl.Boolean, eager=True).scatter(places.filter(found), values=True)

        found: polars.Series = self._once(prefix + wanted, look)
        return found

    def _found_for_part(self, prefix: str, text: str) -> polars.Series | None:
        """The rows that contain the longest part of a text that was looked for; None where no part was."""
        with self._lock:
            parts = (key for key in self._orders if key.startswith(prefix) and key.removeprefix(prefix) in text)
            found: polars.Series | None = self._orders.get(max(parts, key=len, default=""))
            return found

    def fitting(self, condition: polars.Expr | None) -> polars.DataFrame:
        """The rows that fit, as they are in the list."""
        return self.frame if condition is None else self.frame.filter(condition)

    def page(self, question: Any, condition: polars.Expr | None, sort: str | polars.Expr | None, columns: Any) -> Page:
        """The page that `question` asks for of the rows that fit `condition`, in the order of the column `sort`.

        `question` has limit, offset, cursor, and maybe order; the rest of it names the list that a cursor belongs to.
        """
        list_id = _list_id(self._name, question)
        offset = page_asked(question, list_id)
        rows = self._places(question, condition, sort, descending=getattr(question, "order", "asc") == "desc")
        n = len(self.frame) if rows is None else len(rows)

        def part(first: int, end: int) -> polars.DataFrame:
            return (self.frame[first:end] if rows is None else self.frame[rows[first:end]]).select(columns)

        return _page(list_id, question, offset, n, part)

    def _places(
        self, question: Any, condition: polars.Expr | None, sort: str | polars.Expr | None, *, descending: bool
    ) -> Any:
        """The places of the rows that are shown, in their order; None for all of them as they are.

        The rows that fit are looked up once, whatever they are sorted by.
        """
        if condition is None:
            fitting = None
        else:
            fitting = self._once(_list_id(self._name, question, _ORDERING), lambda: _fitting(self.frame, condition))
        if sort is None and not descending:
            return fitting
        list_id = _list_id(self._name, question)
        return self._once(f"{list_id} sorted", lambda: _sorted(self.frame, fitting, sort, descending=descending))

    def _once(self, key: str, make: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._orders:
                self._orders.move_to_end(key)
                return self._orders[key]
        found = make()
        with self._lock:
            self._orders[key] = found
            while len(self._orders) > _most_orders(len(self.frame)):
                self._orders.popitem(last=False)
        return found


def _most_orders(n_rows: int) -> int:
    """As many orders of so many rows as are kept: few of long lists, but the one by which pages are asked for."""
    return max(2, min(_KEPT_ORDERS, _ORDERS_BYTES // (_PLACE_BYTES * max(n_rows, 1))))


def page_of_parts(name: str, question: Any, n: int, part: Callable[[int, int], polars.DataFrame]) -> Page:
    """The page that an unfiltered `RowList` of that name and `n` rows gives; `part` reads some of its rows."""
    list_id = _list_id(name, question)
    return _page(list_id, question, page_asked(question, list_id), n, part)


def _page(list_id: str, question: Any, offset: int, n: int, part: Callable[[int, int], polars.DataFrame]) -> Page:
    end = min(offset + question.limit, n)
    more = cursor_of(_Place(end, list_id)) if end < n else None
    return Page(part(min(offset, end), end).to_dicts(), n, more)


def page_asked(question: Any, list_id: str) -> int:
    """The row at which the page begins. Raises: ProblemError, ConfigError for a cursor of another list."""
    if question.cursor is None:
        return int(question.offset)
    if question.offset:
        raise ProblemError(400, "query: cursor and offset: expected one of them")
    place = position_of(question.cursor, _Place)
    if place.list_id != list_id:
        raise wrong_cursor()
    return place.offset


def _list_id(name: str, question: Any, but: Sequence[str] = ()) -> str:
    """A digest of the question without the fields in `but`: cursors stay short by it."""
    import hashlib

    found = msgspec.to_builtins(question).items()
    asked = {key: value for key, value in found if key not in _PAGING and key not in but}
    return hashlib.sha256(canonical_json([name, asked])).hexdigest()[:16]


def _fitting(frame: polars.DataFrame, condition: polars.Expr) -> polars.Series:
    """The places of the rows that fit."""
    import polars as pl

    return frame.select(pl.int_range(pl.len(), dtype=pl.UInt32).filter(condition)).to_series()


def _sorted(
    frame: polars.DataFrame, fitting: polars.Series | None, sort: str | polars.Expr | None, *, descending: bool
) -> polars.Series:
    """Places in the order of a column, nulls last; without a column, backwards."""
    import polars as pl

    places = pl.int_range(len(frame), dtype=pl.UInt32, eager=True) if fitting is None else fitting
    if sort is None:
        return places.reverse()
    column = frame.select(sort).to_series()
    key = column if fitting is None else column.gather(fitting)
    rows = pl.DataFrame([key.alias("key"), places.alias("place")])
    return rows.sort("key", descending=descending, nulls_last=True, maintain_order=True)["place"]


SLICES = {"section": "section", "category": "category", "difficulty": "difficulty"}


def asked_for(wanted: Any, columns: Mapping[str, str]) -> list[polars.Expr]:
    """A condition for each column that a question has a value for, under the name that the column has there."""
    import polars as pl

    values = ((column, getattr(wanted, name)) for name, column in columns.items())
    return [pl.col(column) == value for column, value in values if value not in (None, "")]


def all_of(conditions: Sequence[polars.Expr]) -> polars.Expr | None:
    """The condition that all of these hold; None where there are none."""
    import polars as pl

    return pl.all_horizontal(*conditions) if conditions else None


def _folded(text: str) -> str:
    """The text with its ASCII letters in lower case: two that are alike by this are found in the same rows."""
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def contains(text: str, *columns: str) -> polars.Expr:
    """The condition that one of the columns contains `text`, ASCII letters in either case. It is never a pattern."""
    import polars as pl

    found = [
        pl.col(name).str.contains_any([text], ascii_case_insensitive=True).fill_null(value=False) for name in columns
    ]
    return pl.any_horizontal(*found)
