"""Tables that are kept in memory: how large they are, and columns that several have alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

    from benchbook.server.services import Kept

_VIEW_BYTES = 16  # of each text, which Polars' own estimate leaves out
_IN_VIEW = 12  # bytes of a text that needs no more than that


def frame_bytes(frame: polars.DataFrame) -> int:
    """The bytes that a table takes."""
    return sum(_column_bytes(column) for column in frame)


def _column_bytes(column: polars.Series) -> int:
    import polars as pl

    if column.dtype == pl.List(pl.String):
        return 8 * len(column) + _column_bytes(column.explode(empty_as_null=False))
    if column.dtype != pl.String:
        return int(column.estimated_size())
    if column.null_count() == len(column):
        return 0
    lengths = column.str.len_bytes()
    return _VIEW_BYTES * len(column) + int(lengths.filter(lengths > _IN_VIEW).sum())


def with_shared(kept: Kept, of: str, frame: polars.DataFrame, names: frozenset[str]) -> polars.DataFrame:
    """The table with its columns `names` as another one had them that is `of` the same, where they are equal: runs over
    one eval set then hold its prompts once."""
    frame = frame.rechunk()  # else whoever puts it beside another copies both
    own = frame.select(name for name in frame.columns if name in names)
    first: polars.DataFrame = kept.get(("columns", of), lambda: own, frame_bytes)
    alike = [
        first[name]
        for name in own.columns
        if name in first.columns and first[name].dtype == own[name].dtype and first[name].equals(own[name])
    ]
    return frame.with_columns(alike) if len(first) == len(frame) else frame
