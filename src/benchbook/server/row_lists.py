"""Long lists of rows in memory: filtered, ordered, and read by pages, the last as fast as the first."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from benchbook.canonical import canonical_json
from benchbook.catalog.pages import cursor_of, position_of, wrong_cursor
from benchbook.server.problems import ProblemError

if TYPE_CHECKING:
    import polars

__all__ = ["Page", "RowList", "contains", "page_asked"]

_KEPT_ORDERS = 16
_PAGING = ("limit", "offset", "cursor")


class _Place(msgspec.Struct, frozen=True):
    """Where a page begins, in which list."""

    offset: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
    list_id: str


class Page(msgspec.Struct, frozen=True):
    """The rows of a page, in how many that fit, and where the next page begins."""

    rows: list[dict[str, Any]]
    n: int
    next_cursor: str | None


class RowList:
    """A table whose rows are shown. `name` tells it from others, also of another state of the same record."""

    def __init__(self, frame: polars.DataFrame, name: str) -> None:
        self.frame = frame
        self._name = name
        self._lock = Lock()
        self._orders: OrderedDict[str, Any] = OrderedDict()

    @property
    def n_bytes(self) -> int:
        return int(self.frame.estimated_size())

    def page(self, question: Any, condition: polars.Expr | None, sort: str | None, columns: Any) -> Page:
        """The rows that fit `condition`, in the order of the column `sort`, as far as `question` says.

        `question` has limit, offset, cursor, and maybe order; the rest of it names the list that a cursor belongs to.
        """
        list_id = _list_id(self._name, question)
        offset = page_asked(question, list_id)
        rows = self._order(list_id, condition, sort, descending=getattr(question, "order", "asc") == "desc")
        n = len(self.frame) if rows is None else len(rows)
        end = min(offset + question.limit, n)
        part = self.frame[offset:end] if rows is None else self.frame[rows[offset:end]]
        more = cursor_of(_Place(end, list_id)) if end < n else None
        return Page(part.select(columns).to_dicts(), n, more)

    def _order(self, list_id: str, condition: polars.Expr | None, sort: str | None, *, descending: bool) -> Any:
        """The places of the rows that are shown, in their order; None for all of them as they are."""
        if condition is None and sort is None and not descending:
            return None
        with self._lock:
            if list_id in self._orders:
                self._orders.move_to_end(list_id)
                return self._orders[list_id]
        found = _places(self.frame, condition, sort, descending=descending)
        with self._lock:
            self._orders[list_id] = found
            while len(self._orders) > _KEPT_ORDERS:
                self._orders.popitem(last=False)
        return found


def page_asked(question: Any, list_id: str) -> int:
    """Where the page begins. Raises: ProblemError, ConfigError for a cursor of another list."""
    if question.cursor is None:
        return int(question.offset)
    if question.offset:
        raise ProblemError(400, "query: cursor and offset: expected one of them")
    place = position_of(question.cursor, _Place)
    if place.list_id != list_id:
        raise wrong_cursor()
    return place.offset


def _list_id(name: str, question: Any) -> str:
    """A digest, so that cursors stay short."""
    import hashlib

    asked = {key: value for key, value in msgspec.to_builtins(question).items() if key not in _PAGING}
    return hashlib.sha256(canonical_json([name, asked])).hexdigest()[:16]


def _places(frame: polars.DataFrame, condition: polars.Expr | None, sort: str | None, *, descending: bool) -> Any:
    import polars as pl

    rows = pl.int_range(pl.len(), dtype=pl.UInt32).alias("row")
    if sort is None:
        found = frame.select(rows if condition is None else rows.filter(condition))["row"]
        return found.reverse() if descending else found
    key = pl.col(sort).alias("key")
    chosen = frame.select(rows, key) if condition is None else frame.filter(condition).select(key)
    if condition is not None:
        chosen = chosen.with_columns(frame.select(rows.filter(condition))["row"])
    return chosen.sort("key", descending=descending, nulls_last=True, maintain_order=True)["row"]


def contains(text: str, *columns: str) -> polars.Expr:
    """Whether `text` stands in one of the columns; letters of ASCII in either case. It is never a pattern."""
    import polars as pl

    found = [
        pl.col(name).str.contains_any([text], ascii_case_insensitive=True).fill_null(value=False) for name in columns
    ]
    return pl.any_horizontal(*found)
