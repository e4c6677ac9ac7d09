"""The headers of a Parquet file's pages, held against its footer before anybody makes room for what they say.

Polars does so for as many values as a header claims, and a process that gets no such room ends.
"""

from __future__ import annotations

from typing import BinaryIO

from benchbook.evalsets.parquet_footer import ColumnChunk, FooterError, Struct, decoded

_KIND, _UNPACKED, _PACKED = 1, 2, 3
_DATA, _DICTIONARY, _DATA_2 = 5, 7, 8  # which of these a header has
_VALUES, _NULLS, _ROWS, _LEVELS = 1, 2, 3, (5, 6)

_HEAD = 1 << 9  # bytes: enough for a header without statistics
_LONGEST_HEAD = 1 << 16
_UNSUSPICIOUS, _MOST_TIMES = 1 << 26, 1_000  # of a page, unpacked


def check_pages(file: BinaryIO, columns: list[ColumnChunk]) -> None:
    """Go from header to header through columns of a row group. Raises: FooterError."""
    for column in columns:
        at, end, n_values = column.start, column.start + column.n_packed, 0
        while n_values < column.n_values:
            header, length = _header(file, at, end)
            n_values += _checked(header, end - at - length)
            at += length + header[_PACKED][1]
        if n_values != column.n_values:
            raise FooterError(f"a column has pages of {n_values} values, and its footer says {column.n_values}")


def _header(file: BinaryIO, at: int, end: int) -> tuple[Struct, int]:
    """A page's header, and how long it is."""
    size = _HEAD
    while at < end:
        file.seek(at)
        head = file.read(min(size, end - at))
        try:
            return decoded(head)
        except FooterError:
            if size >= min(_LONGEST_HEAD, end - at):
                raise
            size *= 8
    raise FooterError("a column ends before its last value")


def _checked(header: Struct, n_left: int) -> int:
    """How many of the column's values a page has."""
    try:
        packed, unpacked = header[_PACKED][1], header[_UNPACKED][1]
        if not 0 <= packed <= n_left or not 0 <= unpacked <= max(_UNSUSPICIOUS, _MOST_TIMES * packed):
            raise FooterError(f"a page of {packed} bytes, unpacked {unpacked}, where {n_left} are left")
        kind = next(one for one in (_DATA, _DATA_2, _DICTIONARY) if one in header)
        about: Struct = header[kind][1]
        counts = [about[field][1] for field in (_VALUES, *((_NULLS, _ROWS, *_LEVELS) if kind == _DATA_2 else ()))]
        most = unpacked if kind == _DICTIONARY else None
        if min(counts) < 0 or (most is not None and counts[0] > most):
            raise FooterError(f"a page of {counts[0]} values")
        if kind == _DATA_2 and (max(counts[1:3]) > counts[0] or sum(counts[3:]) > min(packed, unpacked)):
            raise FooterError("a page whose parts are larger than the page")
    except (KeyError, StopIteration, TypeError, IndexError):
        raise FooterError("a page without a header") from None
    return 0 if kind == _DICTIONARY else int(counts[0])
