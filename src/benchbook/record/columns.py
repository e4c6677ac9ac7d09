"""Rows of a table that are made as columns: the same frame, and the same sizes, as of the rows one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from benchbook.record.tables import TablePart, table_schema

if TYPE_CHECKING:
    import numpy as np
    import polars

_encoder = msgspec.json.Encoder()
_sorted_encoder = msgspec.json.Encoder(order="sorted")


class Same(NamedTuple):
    """A column with one value in all rows."""

    value: Any


class MadeColumn(NamedTuple):
    """A column that is there already, with the length of each value's JSON."""

    series: polars.Series
    sizes: np.ndarray | int


Column = Sequence[Any] | Same | MadeColumn


def part_of_columns(
    row_type: type[msgspec.Struct], columns: Mapping[str, Column], n: int, known_sizes: Sequence[int] | None = None
) -> TablePart:
    """`n` rows, given by column: numbers, truths and texts, or nulls. `known_sizes` are those of the rows, if known.

    Raises: UnicodeEncodeError for a text with a lone surrogate, OverflowError for a number that no column holds; such
    rows are made one by one.
    """
    import numpy as np
    import polars as pl

    schema = table_schema(row_type)
    keys = sum(len(_encoder.encode(name)) + 1 for name in schema)
    sizes = np.full(n, len("{}\n") + keys + len(schema) - 1, np.int64)
    made = []
    for name, kind in schema.items():
        column = columns[name]
        if isinstance(column, MadeColumn):
            made.append(column.series.alias(name))
            sizes += column.sizes
        elif isinstance(column, Same) or column.count(None) == n:
            value = column.value if isinstance(column, Same) else None
            made.append(pl.Series(name, [value], kind).new_from_index(0, n))
            sizes += len(_encoder.encode(value))
        else:
            made.append(_series(name, column, kind))
            if known_sizes is None:
                sizes += sizes_of(column)
    return TablePart(pl.DataFrame(made), sizes if known_sizes is None else np.array(known_sizes, np.int64))


def canonical_rows(row_type: type[msgspec.Struct], columns: Mapping[str, Column], n: int) -> list[bytes]:
    """The canonical JSON of each row, a line with its end. Raises: UnicodeEncodeError for a lone surrogate."""
    pieces: list[Iterable[bytes]] = []
    literal = b"{"
    for name in sorted(table_schema(row_type)):
        column = columns[name]
        literal += _encoder.encode(name) + b":"
        if isinstance(column, Same) or (not isinstance(column, MadeColumn) and column.count(None) == n):
            literal += _encoder.encode(column.value if isinstance(column, Same) else None)
        else:
            values = _sorted_encoder.encode_lines(column.series.to_list() if isinstance(column, MadeColumn) else column)
            pieces += [repeat(literal, n), values.split(b"\n")[:-1]]
            literal = b""
        literal += b","
    pieces.append(repeat(literal[:-1] + b"}\n", n))
    return [b"".join(line) for line in zip(*pieces, strict=True)]


def _series(name: str, values: Any, kind: Any) -> polars.Series:
    import polars as pl

    try:
        return pl.Series(name, values, kind, strict=True)
    except TypeError as error:  # so Polars tells of a number beyond 64 bits
        raise OverflowError(str(error)) from None


def sizes_of(values: Sequence[Any]) -> np.ndarray:
    """The length of each value's JSON. Raises: UnicodeEncodeError."""
    import numpy as np

    lines = np.frombuffer(_encoder.encode_lines(values), np.uint8)
    return np.diff(np.flatnonzero(lines == ord("\n")), prepend=-1) - 1


def coded_lists(values: Sequence[Sequence[str]]) -> MadeColumn:
    """A column of lists of texts, few of them different."""
    import numpy as np
    import polars as pl

    numbers: dict[Sequence[str], int] = {}
    codes = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
    lists = [list(value) for value in numbers]
    return MadeColumn(pl.Series(lists, dtype=pl.List(pl.String)).gather(codes), sizes_of(lists)[codes])


def lists_of_one(fields: Mapping[str, Column], kind: Any, n: int) -> MadeColumn:
    """A column of lists of one struct each, given by its fields; `kind` is the type of the lists."""
    import numpy as np
    import polars as pl

    sizes = np.full(n, len("[{}]") + sum(len(_encoder.encode(name)) + 1 for name in fields) + len(fields) - 1, np.int64)
    made = []
    for field in kind.inner.fields:
        column = fields[field.name]
        if isinstance(column, Same):
            made.append(pl.Series(field.name, [column.value], field.dtype).new_from_index(0, n))
            sizes += len(_encoder.encode(column.value))
        else:
            made.append(_series(field.name, column, field.dtype))
            sizes += sizes_of(column)
    structs = pl.DataFrame(made).to_struct("")
    return MadeColumn(structs.reshape((-1, 1)).arr.to_list().cast(kind), sizes)
