"""Reads and writes derived tables as Parquet, in row groups so that memory does not grow with the run.

The schema is the row's type: a msgspec Struct whose fields are the columns.
"""

from __future__ import annotations

import errno
import io
import re
import types
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from benchbook.canonical import ready
from benchbook.errors import RecordError
from benchbook.evalsets.parquet import ParquetError, ParquetFile, reading_parquet
from benchbook.evalsets.parquet_footer import MAGIC, JoinedFooter, footer_bytes
from benchbook.record.reading import why_unreadable
from benchbook.text import all_storable
from benchbook.writing import written_whole

if TYPE_CHECKING:
    import numpy as np
    import polars

BATCH = 512  # rows whose JSON is held at once
BATCH_BYTES = 1 << 20  # of it, at which a batch ends with fewer rows
ROW_GROUP = 4_096
ROW_GROUP_BYTES = 8 << 20  # of its rows' JSON, at which a group ends with fewer rows

_Row = TypeVar("_Row", bound=msgspec.Struct)
_encoder = msgspec.json.Encoder()


def writer_version() -> str:
    """The version of the writer, on which a table's bytes depend besides its rows."""
    from importlib.metadata import version  # loads much; Polars itself, still more

    return f"polars {version('polars')}"


def written_alike(by: str | None) -> bool:
    """True if two tables with the same rows must have the same bytes, where `by` made one and this writer the other."""
    return by == writer_version()


@cache
def table_schema(row_type: type[msgspec.Struct]) -> polars.Schema:
    """The columns of a row: Int64, Float64, Boolean, String, and lists and structs of these."""
    import polars as pl

    return pl.Schema({name: _column_type(hint) for name, hint in _fields(row_type)})


def _fields(struct: type[msgspec.Struct]) -> list[tuple[str, Any]]:
    hints = get_type_hints(struct)
    return [(name, hints[name]) for name in struct.__struct_fields__]


def _column_type(hint: Any) -> Any:
    import polars as pl

    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (one for one in get_args(hint) if one is not types.NoneType)
    if get_origin(hint) is list:
        return pl.List(_column_type(get_args(hint)[0]))
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return pl.Struct({name: _column_type(of) for name, of in _fields(hint)})
    return {int: pl.Int64, float: pl.Float64, bool: pl.Boolean, str: pl.String}[hint]


def write_table(path: Path, row_type: type[msgspec.Struct], rows: Iterable[msgspec.Struct]) -> None:
    """Write `rows` to `path`, whole or not at all. The same rows give the same bytes under one `writer_version`."""
    schema = table_schema(row_type)
    write_table_parts(path, schema, table_parts(schema, rows))


def write_table_parts(path: Path, schema: polars.Schema, parts: Iterable[TablePart]) -> None:
    """The same of rows in parts, whichever way they are cut."""
    write_row_groups(path, schema, row_groups(parts))


def write_row_groups(
    path: Path,
    schema: polars.Schema,
    frames: Iterable[polars.DataFrame],
    *,
    synced: bool = False,
    statistics: bool = False,
) -> None:
    """Write frames as the row groups of one table, whole or not at all."""
    with written_whole(path, synced=synced) as file:
        writer = _GroupWriter(file, statistics=statistics)
        for frame in frames:
            writer.add(frame)
            del frame  # before the next is made
        writer.end(schema)


def write_frame(path: Path, frame: polars.DataFrame, *, synced: bool = True, **how: Any) -> None:
    """Write a frame to `path`, whole or not at all. Raises: RecordError."""
    from polars.exceptions import ComputeError

    with written_whole(path, synced=synced) as file:
        try:
            frame.write_parquet(file, compression="zstd", **how)
        except ComputeError as error:  # so Polars tells of a full disk
            number = re.search(r"os error (\d+)", str(error))
            raise OSError(int(number[1]) if number else errno.EIO, str(error)) from None


class _GroupWriter:
    """Writes row groups one by one into a file: Polars writes each as a file of its own, whose groups are put together.

    Its own writers take a whole frame, or cut row groups by their rows alone, however long these are.
    """

    def __init__(self, file: BinaryIO, *, statistics: bool) -> None:
        self._file, self._at = file, 0
        self._statistics = statistics
        self._footer = JoinedFooter()

    def add(self, frame: polars.DataFrame) -> None:
        whole = io.BytesIO()
        frame.write_parquet(whole, compression="zstd", statistics=self._statistics, row_group_size=max(len(frame), 1))
        footer = footer_bytes(whole)
        end = whole.tell() - len(footer)
        if not self._at:
            self._put(MAGIC)
        self._footer.add(footer, self._at - len(MAGIC))
        self._put(whole.getbuffer()[len(MAGIC) : end])

    def end(self, schema: polars.Schema) -> None:
        if not self._at:
            self.add(schema.to_frame())
        footer = bytes(self._footer)
        self._put(footer + len(footer).to_bytes(4, "little") + MAGIC)

    def _put(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self._at += len(data)


class TablePart(NamedTuple):
    """Rows of a table that follow each other, and the length of each one's line of JSON with its newline: by these a
    table is cut into row groups."""

    frame: polars.DataFrame
    sizes: np.ndarray

    def __reduce__(self) -> tuple[Any, ...]:
        """Itself as one block of bytes: columns that are sent one by one take four times as long."""
        data = io.BytesIO()
        self.frame.write_ipc(data, compression="uncompressed")
        return _sent_part, (data.getvalue(), self.sizes)


def _sent_part(data: bytes, sizes: np.ndarray) -> TablePart:
    import polars as pl

    return TablePart(pl.read_ipc(data), sizes)


def table_parts(schema: polars.Schema, rows: Iterable[msgspec.Struct]) -> Iterator[TablePart]:
    """Rows as parts of a table, of BATCH rows at most."""
    import numpy as np
    import polars as pl

    lines: list[bytes] = []
    n_bytes = 0

    def part() -> TablePart:
        frame = pl.read_ndjson(b"".join(lines), schema=schema, batch_size=len(lines))
        assert len(frame) == len(lines)  # noqa: S101 - a line a row
        return TablePart(frame, np.fromiter(map(len, lines), np.int64, len(lines)))

    for row in rows:
        lines.append(_line(row))
        n_bytes += len(lines[-1])
        if len(lines) == BATCH or n_bytes >= BATCH_BYTES:
            yield part()
            lines, n_bytes = [], 0
    if lines:
        yield part()


def in_order(parts: Sequence[TablePart], column: str) -> list[TablePart]:
    """The rows of several parts as one, in the order of a column of whole numbers; the parts, if there is but one."""
    import numpy as np
    import polars as pl

    if len(parts) < 2:
        return [*parts]
    whole = pl.concat([one.frame for one in parts])
    order = whole[column].arg_sort()
    return [TablePart(whole[order], np.concatenate([one.sizes for one in parts])[order.to_numpy()])]


def row_groups(parts: Iterable[TablePart]) -> Iterator[polars.DataFrame]:
    """Frames of ROW_GROUP rows, or of as many as come to ROW_GROUP_BYTES: the same however the rows are in parts.

    A group ends with a batch, which has BATCH rows, or as many as come to BATCH_BYTES.
    """
    import numpy as np
    import polars as pl

    group: list[polars.DataFrame] = []
    n_rows = n_bytes = 0  # of the group, to the end of its last whole batch
    of_batch = batch_bytes = 0
    for frame, sizes in parts:
        ends = np.cumsum(sizes)
        start = begun = 0  # the first row that is not in a batch, and that is not in a group
        while start < len(frame):
            before = int(ends[start - 1]) if start else 0
            full = int(np.searchsorted(ends, before + BATCH_BYTES - batch_bytes)) + 1
            end = min(full, start + BATCH - of_batch, len(frame))
            of_batch, batch_bytes = of_batch + end - start, batch_bytes + int(ends[end - 1]) - before
            start = end
            if of_batch < BATCH and batch_bytes < BATCH_BYTES:
                continue
            n_rows, n_bytes, of_batch, batch_bytes = n_rows + of_batch, n_bytes + batch_bytes, 0, 0
            if n_rows >= ROW_GROUP or n_bytes >= ROW_GROUP_BYTES:
                whole = pl.concat([*group, frame[begun:start]])
                group, n_rows, n_bytes, begun = [], 0, 0, start
                yield whole
                del whole
        if begun < len(frame):
            group.append(frame[begun:])
        del frame
    if group:
        yield pl.concat(group)


def _line(row: msgspec.Struct) -> bytes:
    try:
        return _encoder.encode(row) + b"\n"
    except UnicodeEncodeError:  # a lone surrogate in some text
        return _encoder.encode(all_storable(msgspec.to_builtins(row))) + b"\n"


@contextmanager
def reading_table(path: Path) -> Iterator[None]:
    """Report whatever is wrong with a table as RecordError."""
    try:
        yield
    except (OSError, ParquetError, MemoryError, msgspec.DecodeError) as error:
        raise RecordError(f"{path}: {why_unreadable(path, f'not a readable table ({error})')}") from None


def read_rows(path: Path, row_type: type[_Row]) -> Iterator[_Row]:
    """The rows of a table, a row group at a time.

    Raises: RecordError for a file that is not such a table.
    """
    decoder = msgspec.json.Decoder(ready(row_type))
    with reading_table(path):
        table = ParquetFile(path)
        columns = _known_columns(table.schema, row_type)
        for frame in table.frames(columns):
            for part in frame.iter_slices(BATCH):
                yield from decoder.decode_lines(_json_lines(part))


def _known_columns(schema: polars.Schema, row_type: type[msgspec.Struct]) -> list[str]:
    """The row's columns that a table has. Raises: ParquetError for one of a type that no row has."""
    columns = [name for name in row_type.__struct_fields__ if name in schema]
    for name in columns:
        if not _is_plain(schema[name]):
            raise ParquetError(f"its column {name} is of {schema[name]}")
    return columns


def _is_plain(dtype: Any) -> bool:
    """True for what JSON has; of others, Polars would end the process where it makes JSON of them."""
    import polars as pl

    if isinstance(dtype, pl.Struct):
        return all(_is_plain(field.dtype) for field in dtype.fields)
    if isinstance(dtype, pl.List):
        return _is_plain(dtype.inner)
    return dtype.is_integer() or dtype.is_float() or dtype in (pl.Boolean, pl.String, pl.Null)


def _json_lines(frame: polars.DataFrame) -> bytes:
    """Rows as JSON, which is decoded in half the time that Python's objects of them would take."""
    import polars as pl

    lines = frame.select(pl.struct(pl.all()).struct.json_encode().str.join("\n").cast(pl.Binary))
    found: bytes = lines.item()
    return found


def read_frames(path: Path) -> Iterator[polars.DataFrame]:
    """The same as frames, of a few row groups each, or of a part of one. Raises: RecordError for what is no table."""
    with reading_table(path):
        yield from ParquetFile(path).frames()


def row_of_sample(path: Path, row_type: type[_Row], sample: int) -> _Row | None:
    """The row of a sample; None if the table has none. Raises: RecordError for a file that is not such a table."""
    with reading_table(path):
        table = ParquetFile(path)
        if 0 <= sample < table.n_rows and table.rows(sample, 1, ["sample"])["sample"].to_list() == [sample]:
            rows = table.rows(sample, 1, _known_columns(table.schema, row_type))  # most runs have all, in their order
            return msgspec.json.decode(_json_lines(rows), type=ready(row_type))
    return next(rows_where(path, row_type, "sample", sample), None)


def rows_where(path: Path, row_type: type[_Row], column: str, value: int | str) -> Iterator[_Row]:
    """The rows that have `value` in a column. Of the others nothing but this column is read.

    Raises: RecordError for a file that is not such a table.
    """
    decoder = msgspec.json.Decoder(ready(row_type))
    with reading_table(path):
        table = ParquetFile(path)
        values = table.rows(0, table.n_rows, [column])[column]
        with reading_parquet():  # a column of another type is compared with nothing
            places = (values == value).arg_true()
        columns = _known_columns(table.schema, row_type)
        for place in places:
            yield decoder.decode(_json_lines(table.rows(place, 1, columns)))


def column_of(path: Path, column: str, most: int) -> list[Any]:
    """The first `most` values of a column. Raises: RecordError for a file that is not such a table."""
    with reading_table(path):
        table = ParquetFile(path)
        return table.rows(0, min(most, table.n_rows), [column])[column].to_list()
