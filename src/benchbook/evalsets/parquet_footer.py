"""The footer of a Parquet file, which says where its row groups are: Polars does not tell, and joins no files.

It is a struct of Thrift in the compact form (`apache/parquet-format`, `parquet.thrift`). Here a struct is a dict of its
fields by number, each with the type that it was written as, so that what is not known comes out as it went in.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

MAGIC = b"PAR1"
Struct = dict[int, tuple[int, Any]]

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_MOST_BYTES = 1 << 24
_MOST_VALUES = 1_000_000  # each of which is an object of Python's
_MOST_DEPTH = 32
_UNSUSPICIOUS, _MOST_VALUES_A_BYTE = 1 << 24, 100

# Fields that are read here.
_FILE_SCHEMA, _FILE_ROWS, _FILE_GROUPS = 2, 3, 4
_ELEMENT_REPETITION, _ELEMENT_CHILDREN, _REPEATED = 3, 5, 2
_GROUP_COLUMNS, _GROUP_BYTES, _GROUP_ROWS, _GROUP_AT, _GROUP_ORDINAL = 1, 2, 3, 5, 7
_COLUMN_ABOUT, _COLUMN_PLACES = 3, (2, 4, 6)
_ABOUT_VALUES, _ABOUT_PACKED, _ABOUT_STARTS, _ABOUT_PLACES = 5, 7, (9, 11), (9, 10, 11, 14)


class FooterError(ValueError):
    """No Parquet file, or one whose parts contradict each other."""


class ColumnChunk(NamedTuple):
    """A column of a row group: where its pages begin, how many bytes these take, and how many values they have."""

    start: int
    n_packed: int
    n_values: int


class RowGroup(NamedTuple):
    """A row group; its bytes are those before they were compressed, as it says."""

    n_rows: int
    n_bytes: int
    columns: list[ColumnChunk]


class Footer:
    """A file's footer, held against the file's size: no part is beyond it, and all groups together have its rows."""

    def __init__(self, data: bytes, file_size: int) -> None:
        """Raises: FooterError."""
        self.fields, _ = decoded(data)
        try:
            self.leaves = _leaves([one for _, one in _listed(self.fields, _FILE_SCHEMA)])
            self.groups = [_group(one, self.leaves, file_size) for _, one in _listed(self.fields, _FILE_GROUPS)]
            n_rows = self.fields[_FILE_ROWS][1]
        except FooterError:
            raise
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise FooterError(f"its footer lacks what it must say ({error})") from None
        if n_rows != sum(group.n_rows for group in self.groups):
            raise FooterError("its footer says another number of rows than its row groups have")

    @classmethod
    def of(cls, path: Path) -> Footer:
        """Raises: FooterError, OSError."""
        with path.open("rb") as file:
            return cls(footer_bytes(file), os.fstat(file.fileno()).st_size)


def footer_bytes(file: BinaryIO) -> bytes:
    """The bytes of a file's footer. Raises: FooterError where it has none."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - 8, 0))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if size < 12 or tail[4:] != MAGIC:
        raise FooterError("it does not end as a Parquet file does")
    if not 0 < length <= min(size - 12, _MOST_BYTES):
        raise FooterError(f"its footer is of {length} bytes, as it says")
    file.seek(size - 8 - length)
    return file.read(length)


class JoinedFooter:
    """The footer of one file from those of several with the same columns, which now lie in it one after another."""

    def __init__(self) -> None:
        self._first: Struct | None = None
        self._groups: list[bytes] = []  # encoded: so a thousand groups take little
        self._n_rows = 0

    def add(self, data: bytes, shift: int) -> None:
        """Add the footer of a file that begins so many bytes later than it did."""
        part, _ = decoded(data)
        for _, group in _listed(part, _FILE_GROUPS):
            group = _moved(group, shift)
            if _GROUP_ORDINAL in group:
                group[_GROUP_ORDINAL] = (_I16, min(len(self._groups), (1 << 15) - 1))
            self._n_rows += group[_GROUP_ROWS][1]
            self._groups.append(encoded(group))
        self._first = self._first or part

    def __bytes__(self) -> bytes:
        groups = {_FILE_ROWS: (_I64, self._n_rows), _FILE_GROUPS: (_LIST, (_STRUCT, self._groups))}
        return encoded((self._first or {}) | groups)


def _listed(struct: Struct, field: int) -> list[tuple[int, Any]]:
    kind, (of, values) = struct[field]
    if kind != _LIST:
        raise ValueError(f"field {field} is no list")
    return [(of, value) for value in values]


def _leaves(schema: list[Struct]) -> list[bool]:
    """Of each column, whether it is in a list. The schema is a tree, whose elements come depth first."""
    leaves: list[bool] = []
    above = [(1, False)]  # how many more children there are, and whether they are in a list
    for element in schema:
        while above and not above[-1][0]:
            above.pop()
        left, in_list = above.pop()
        above.append((left - 1, in_list))
        in_list |= element.get(_ELEMENT_REPETITION, (0, 0))[1] == _REPEATED
        n_children = element.get(_ELEMENT_CHILDREN, (0, 0))[1]
        if n_children:
            above.append((n_children, in_list))
        else:
            leaves.append(in_list)
        if n_children < 0 or len(above) > _MOST_DEPTH:
            raise FooterError("its schema is no tree, or too deep a one")
    if any(left for left, _ in above):
        raise FooterError("its schema is cut")
    return leaves


def _group(group: Struct, leaves: list[bool], file_size: int) -> RowGroup:
    n_rows, n_bytes = group[_GROUP_ROWS][1], group[_GROUP_BYTES][1]
    columns = _listed(group, _GROUP_COLUMNS)
    if len(columns) != len(leaves):
        raise FooterError("a row group has other columns than its schema")
    n_all_packed, found = 0, []
    for (_, column), in_list in zip(columns, leaves, strict=True):
        about: Struct = column[_COLUMN_ABOUT][1]
        places = [about[field][1] for field in _ABOUT_STARTS if field in about and about[field][1]]
        n_packed, n_values = about[_ABOUT_PACKED][1], about[_ABOUT_VALUES][1]
        if min(places) < 0 or n_packed < 0 or max(*places, min(places) + n_packed) > file_size:
            raise FooterError("a column lies beyond the file")
        if (n_values != n_rows and not in_list) or n_values > _most_values(n_packed):
            raise FooterError(f"a column has {n_values} values in {n_rows} rows and {n_packed} bytes")
        n_all_packed += n_packed
        found.append(ColumnChunk(min(places), n_packed, n_values))
    if not 0 <= n_rows <= _most_values(n_all_packed) or n_bytes < 0:
        raise FooterError(f"a row group has {n_rows} rows in {n_all_packed} bytes")
    return RowGroup(n_rows, n_bytes, found)


def _most_values(n_packed: int) -> int:
    """How many values so many bytes may hold. Polars makes room for as many as are said to be there."""
    return max(_UNSUSPICIOUS, _MOST_VALUES_A_BYTE * n_packed)


def _moved(group: Struct, shift: int) -> Struct:
    columns = []
    for _, column in _listed(group, _GROUP_COLUMNS):
        about = _shifted(column[_COLUMN_ABOUT][1], _ABOUT_PLACES, shift)
        columns.append(_shifted(column, _COLUMN_PLACES, shift) | {_COLUMN_ABOUT: (_STRUCT, about)})
    return _shifted(group, (_GROUP_AT,), shift) | {_GROUP_COLUMNS: (_LIST, (_STRUCT, columns))}


def _shifted(struct: Struct, fields: tuple[int, ...], shift: int) -> Struct:
    """The struct with these places moved; 0 says that there is none."""
    return struct | {
        field: (struct[field][0], struct[field][1] + shift) for field in fields if field in struct and struct[field][1]
    }


# ── Thrift's compact form ────────────────────────────────────────────────────────────────────────────────────────


def decoded(data: bytes) -> tuple[Struct, int]:
    """The struct that these bytes begin with, and how long it is. Raises: FooterError."""
    reader = _Reader(data)
    try:
        return reader.struct(0), reader.at
    except IndexError:
        raise FooterError("its footer is cut") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self.at, self._left = data, 0, _MOST_VALUES

    def struct(self, depth: int) -> Struct:
        if depth > _MOST_DEPTH:
            raise FooterError("its footer is nested too deep")
        found: Struct = {}
        number = 0
        while head := self._byte():
            delta, kind = head >> 4, head & 15
            number = number + delta if delta else self._zigzag()
            self._count(1)
            if number in found:
                raise FooterError("its footer has a field twice")
            found[number] = (kind, kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth))
        return found

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 5 | 6 | 4:
                return self._zigzag()
            case 8:
                return self._bytes(self._varint())
            case 12:
                return self.struct(depth + 1)
            case 9 | 10:
                head = self._byte()
                length, of = head >> 4, head & 15
                length = self._varint() if length == 15 else length
                self._count(length)
                return of, [self._value(of, depth + 1) for _ in range(length)]
            case 7:
                return self._bytes(8)
            case 1 | 2 | 3:  # of a list: a field's own truth is its type
                return self._byte()
        raise FooterError(f"its footer has a value of type {kind}")

    def _count(self, more: int) -> None:
        self._left -= more
        if self._left < 0:
            raise FooterError("its footer is too long")

    def _byte(self) -> int:
        byte = self._data[self.at]
        self.at += 1
        return byte

    def _bytes(self, length: int) -> bytes:
        found = self._data[self.at : self.at + length]
        if len(found) < length:
            raise FooterError("its footer is cut")
        self.at += length
        return found

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise FooterError("its footer has a number of more than 64 bits")
        return value | byte << shift

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)


def encoded(struct: Struct) -> bytes:
    """The bytes of a struct."""
    out = bytearray()
    _put_struct(out, struct)
    return bytes(out)


def _put_struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for number, (kind, value) in sorted(struct.items()):
        if kind in (_TRUE, _FALSE):
            kind = _TRUE if value else _FALSE
        if 0 < number - before < 16:
            out.append(number - before << 4 | kind)
        else:
            out.append(kind)
            _put_varint(out, number << 1)
        before = number
        if kind not in (_TRUE, _FALSE):
            _put(out, kind, value)
    out.append(0)


def _put(out: bytearray, kind: int, value: Any) -> None:
    match kind:
        case 4 | 5 | 6:
            _put_varint(out, value << 1 ^ value >> 63)
        case 8:
            _put_varint(out, len(value))
            out += value
        case 12 if isinstance(value, bytes):  # encoded before
            out += value
        case 12:
            _put_struct(out, value)
        case 9 | 10:
            of, values = value
            if len(values) < 15:
                out.append(len(values) << 4 | of)
            else:
                out.append(0xF0 | of)
                _put_varint(out, len(values))
            for one in values:
                _put(out, of, one)
        case 7:
            out += value
        case _:
            out.append(value)


def _put_varint(out: bytearray, value: int) -> None:
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
