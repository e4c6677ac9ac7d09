"""Reads and writes derived tables as Parquet, in row groups so that memory does not grow with the run.

The schema is the row's type: a msgspec Struct whose fields are the columns.
"""

from __future__ import annotations

import errno
import re
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import pyarrow as pa
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from benchbook.canonical import ready
from benchbook.errors import RecordError
from benchbook.record.reading import why_unreadable
from benchbook.text import all_storable
from benchbook.writing import written_whole

if TYPE_CHECKING:
    import polars

BATCH = 256  # rows that exist as Python objects at once
BATCH_BYTES = 16 << 20  # of their JSON, at which a batch ends with fewer rows
ROW_GROUP = 4_096
ROW_GROUP_BYTES = 8 << 20

_Row = TypeVar("_Row", bound=msgspec.Struct)
_encoder = msgspec.json.Encoder()
_PLAIN = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}


def writer_version() -> str:
    """The version of the writer, on which a table's bytes depend besides its rows."""
    return f"pyarrow {pa.__version__}"


def written_alike(one: Path, other: Path, *, by: str | None) -> bool:
    """True if two tables with the same rows must have the same bytes: this writer made both, in the same row groups.

    `by` is the version that made `one`. Before texts ended a batch, BATCH rows went into a group, however long:
    such tables keep their bytes, and differ from those that are made today.
    """
    if by != writer_version():
        return False
    sizes, others = _group_sizes(one), _group_sizes(other)
    return sizes == others or any(size % BATCH for size in sizes[:-1])


def _group_sizes(path: Path) -> list[int]:
    with _reading(path) as file:
        return [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]


@cache
def arrow_schema(row_type: type[msgspec.Struct]) -> Any:
    """The Arrow schema of a row: int64, float64, bool, string, and lists and structs of these."""
    return pa.schema(_fields(row_type))


def _fields(struct: type[msgspec.Struct]) -> list[Any]:
    hints = get_type_hints(struct)
    return [pa.field(name, _arrow_type(hints[name])) for name in struct.__struct_fields__]


def _arrow_type(hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (one for one in get_args(hint) if one is not types.NoneType)
    if get_origin(hint) is list:
        return pa.list_(_arrow_type(get_args(hint)[0]))
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return pa.struct(_fields(hint))
    return _PLAIN[hint]


def write_table(path: Path, row_type: type[msgspec.Struct], rows: Iterable[msgspec.Struct]) -> None:
    """Write `rows` to `path`, whole or not at all. The same rows give the same bytes under one `writer_version`."""
    schema = arrow_schema(row_type)
    with (
        written_whole(path, synced=False) as file,
        pq.ParquetWriter(file, schema, compression="zstd", write_statistics=False) as writer,
    ):
        for table in _row_groups(iter(rows), schema):
            writer.write_table(table, row_group_size=table.num_rows)


def write_frame(path: Path, frame: polars.DataFrame, *, synced: bool = True, **how: Any) -> None:
    """Write a frame to `path`, whole or not at all. Raises: RecordError."""
    from polars.exceptions import ComputeError

    with written_whole(path, synced=synced) as file:
        try:
            frame.write_parquet(file, compression="zstd", **how)
        except ComputeError as error:  # so Polars tells of a full disk
            number = re.search(r"os error (\d+)", str(error))
            raise OSError(int(number[1]) if number else errno.EIO, str(error)) from None


def _row_groups(rows: Iterator[msgspec.Struct], schema: Any) -> Iterator[Any]:
    """Tables of at most ROW_GROUP rows, and hardly more than ROW_GROUP_BYTES: with long texts they have fewer rows."""
    batches: list[Any] = []
    for lines in _batches(rows):
        batches.append(_record_batch(lines, schema))
        if len(batches) * BATCH >= ROW_GROUP or sum(one.nbytes for one in batches) >= ROW_GROUP_BYTES:
            yield pa.Table.from_batches(batches, schema)
            batches = []
            pa.default_memory_pool().release_unused()  # else freed memory would pile up between row groups
    if batches:
        yield pa.Table.from_batches(batches, schema)


def _batches(rows: Iterator[msgspec.Struct]) -> Iterator[bytearray]:
    """The JSON lines of BATCH rows at a time, or of as many as come to BATCH_BYTES."""
    lines, n_rows = bytearray(), 0
    for row in rows:
        lines += _line(row)
        n_rows += 1
        if n_rows == BATCH or len(lines) >= BATCH_BYTES:
            yield lines
            lines, n_rows = bytearray(), 0
    if n_rows:
        yield lines


def _line(row: msgspec.Struct) -> bytes:
    try:
        return _encoder.encode(row) + b"\n"
    except UnicodeEncodeError:  # a lone surrogate in some text
        return _encoder.encode(all_storable(msgspec.to_builtins(row))) + b"\n"


def _record_batch(lines: bytearray, schema: Any) -> Any:
    """Rows as a batch, by way of JSON: `pa.array` would import pandas if that is installed (40 MB, 0.2 s)."""
    table = pa_json.read_json(
        pa.BufferReader(lines),
        read_options=pa_json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
        parse_options=pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    )
    return table.combine_chunks().to_batches()[0]


@contextmanager
def _reading(path: Path) -> Iterator[Any]:
    """Open a table; whatever is wrong with it is raised as RecordError."""
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (OSError, ValueError, MemoryError, pa.ArrowException, msgspec.ValidationError) as error:
        raise RecordError(f"{path}: {why_unreadable(path, f'not a readable table ({error})')}") from None


def read_rows(path: Path, row_type: type[_Row]) -> Iterator[_Row]:
    """The rows of a table, a row group at a time.

    Raises: RecordError for a file that is not such a table.
    """
    kind = ready(row_type)
    with _reading(path) as file:
        for group in range(file.num_row_groups):  # one batch never holds rows of two: each may be as large as may be
            for batch in file.iter_batches(batch_size=BATCH, row_groups=[group]):
                for row in batch.to_pylist():
                    yield msgspec.convert(row, kind)


def read_frames(path: Path) -> Iterator[polars.DataFrame]:
    """The same as frames, one a row group. Raises: RecordError for a file that is no table."""
    import polars as pl

    with _reading(path) as file:
        for group in range(file.num_row_groups):
            frame = pl.from_arrow(file.read_row_group(group))
            assert isinstance(frame, pl.DataFrame)  # noqa: S101 - of a table
            yield frame


def row_of_sample(path: Path, row_type: type[_Row], sample: int) -> _Row | None:
    """The row of a sample; None if the table has none. Raises: RecordError for a file that is not such a table."""
    return next(rows_where(path, row_type, "sample", sample), None)


def rows_where(path: Path, row_type: type[_Row], column: str, value: int | str) -> Iterator[_Row]:
    """The rows that have `value` in a column. Of the others nothing but this column is read.

    Raises: RecordError for a file that is not such a table.
    """
    with _reading(path) as file:
        for group in range(file.num_row_groups):
            values = file.read_row_group(group, columns=[column]).column(column).to_pylist()
            if places := [place for place, found in enumerate(values) if found == value]:
                rows = file.read_row_group(group)
                for place in places:
                    yield msgspec.convert(rows.slice(place, 1).to_pylist()[0], ready(row_type))


def column_of(path: Path, column: str, most: int) -> list[Any]:
    """The first `most` values of a column. Raises: RecordError for a file that is not such a table."""
    found: list[Any] = []
    with _reading(path) as file:
        for group in range(file.num_row_groups):
            if len(found) >= most:
                break
            found += file.read_row_group(group, columns=[column]).column(column).to_pylist()
    return found[:most]
