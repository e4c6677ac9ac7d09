"""Reads Parquet a part at a time, whoever wrote it: whatever is wrong with a file is one error.

Polars reads the pages, once the file's footer was looked at.
"""

from __future__ import annotations

import io
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from benchbook.evalsets.parquet_footer import Footer, FooterError
from benchbook.evalsets.parquet_pages import check_pages
from benchbook.system.panics import panics_hidden
from benchbook.text import shorten, storable

if TYPE_CHECKING:
    import polars

_MOST_ROWS = 1 << 16  # at once, of a row group that has more
_FEW_ROWS, _FEW_BYTES = 1 << 14, 1 << 23  # of row groups that have fewer


class ParquetError(ValueError):
    """A file that can't be read as Parquet, and why."""


class ParquetFile:
    """A Parquet file, read by row numbers. Raises ParquetError where that can't be done, and OSError."""

    def __init__(self, path: Path) -> None:
        import polars as pl

        self.path = path
        self._stamp = self._seen()
        try:
            self.groups = Footer.of(path).groups
        except FooterError as error:
            raise ParquetError(str(error)) from None
        *self._starts, self.n_rows = accumulate((group.n_rows for group in self.groups), initial=0)
        self._checked: set[int] = set()
        with reading_parquet():
            has_a_name = storable(str(path)) == str(path)  # Polars takes those in UTF-8 alone
            source = path if has_a_name else io.BytesIO(path.read_bytes())
            self._table = pl.scan_parquet(source, glob=False, use_statistics=False, cache=False)
            self.schema = self._table.collect_schema()

    def rows(self, start: int, n_rows: int, columns: Sequence[str | polars.Expr] | None = None) -> polars.DataFrame:
        """So many rows from that one on."""
        self._refuse_another()
        self._check(start, n_rows)
        with reading_parquet():
            table = self._table if columns is None else self._table.select(columns)
            found = table.slice(start, n_rows).collect()
        self._refuse_another()
        if len(found) != n_rows:
            raise ParquetError(f"it has {len(found)} rows from row {start} on, and its footer says {n_rows}")
        return found

    def frames(self, columns: Sequence[str | polars.Expr] | None = None) -> Iterator[polars.DataFrame]:
        """All rows in order, those of a few row groups at a time, or of a part of one."""
        start = 0
        for n_rows in self._parts():
            for n_before in range(0, n_rows, _MOST_ROWS):
                yield self.rows(start + n_before, min(_MOST_ROWS, n_rows - n_before), columns)
            start += n_rows

    def _parts(self) -> Iterator[int]:
        """How many rows are read at once: each time Polars goes through the whole footer."""
        n_rows = n_bytes = 0
        for group in self.groups:
            if n_rows and (n_rows + group.n_rows > _FEW_ROWS or n_bytes + group.n_bytes > _FEW_BYTES):
                yield n_rows
                n_rows = n_bytes = 0
            n_rows, n_bytes = n_rows + group.n_rows, n_bytes + group.n_bytes
        yield n_rows

    def _check(self, start: int, n_rows: int) -> None:
        """Look at the headers of pages in the row groups of these rows, once."""
        first, end = bisect_right(self._starts, start) - 1, bisect_left(self._starts, start + n_rows)
        unseen = [number for number in range(first, end) if number not in self._checked]
        if not unseen:
            return
        try:
            with self.path.open("rb") as file:
                for number in unseen:
                    check_pages(file, self.groups[number].columns)
        except FooterError as error:
            raise ParquetError(str(error)) from None
        self._checked.update(unseen)

    def _refuse_another(self) -> None:
        if self._seen() != self._stamp:
            raise ParquetError("it was written anew while it was read")

    def _seen(self) -> tuple[int, int, int]:
        found = self.path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def reading_parquet() -> Iterator[None]:
    """Let Polars read within the block. Raises: ParquetError for whatever it finds, also where it panics."""
    import polars as pl

    try:
        with panics_hidden():
            yield
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise ParquetError(shorten(str(error), 300)) from None
    except pl.exceptions.PanicException:  # its words are of Polars' own code
        raise ParquetError("its pages contradict each other, or its footer") from None
