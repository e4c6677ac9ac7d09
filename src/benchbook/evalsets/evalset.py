"""An eval set, opened once, checked line by line, then read by index in bounded memory; its composition."""

from __future__ import annotations

import hashlib
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from io import BufferedReader
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import jiter
import msgspec

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.findings import Fault
from benchbook.evalsets.items import (
    ALIASES,
    CRITERIA,
    MESSAGES,
    Item,
    decode_plain,
    decode_plain_lines,
    read_item,
)
from benchbook.evalsets.lines import (
    JSON_WHITE_SPACE,
    MAX_LINE_BYTES,
    Line,
    Stamp,
    encoding_fault,
    read_line_json,
    read_lines,
    stamp_of,
)
from benchbook.evalsets.set_contents import SetContents
from benchbook.evalsets.table_columns import is_missing
from benchbook.evalsets.tables import TABLE_ENDINGS, WORKBOOK_ENDINGS, TableForm, read_table, table_form
from benchbook.spilled import SpilledNumbers

# Tables often number their rows and answers; in other fields a number is as wrong as it is in JSON.
_NUMBERED = (*ALIASES["id"], "group")
_JSON_CELLS = (*ALIASES["context"], MESSAGES, CRITERIA)


def set_form(path: str | Path) -> TableForm:
    """The form of an eval set by its name: JSON lines, unless the name is a table's.

    Raises: UsageError for a workbook.
    """
    ending = Path(path).suffix.lower()
    return table_form(path) if ending in TABLE_ENDINGS or ending in WORKBOOK_ENDINGS else "jsonl"


def set_lines(path: str | Path, form: TableForm) -> Iterator[Line]:
    """Each line of a file of JSON lines; each row of a table as an equivalent line, with its number in the file.

    An empty cell, a null and NaN count as a missing field. Cells are texts, except that in the columns of contexts and
    messages a JSON list or object is read as such.

    Raises: InputError for a row that can't be read, or a file in another encoding; UsageError if there is no file.
    """
    path = Path(path)
    if form == "jsonl":
        if (fault := encoding_fault(path)) is not None:
            raise InputError(path, found=fault)
        yield from read_lines(path)
        return
    to_field = _of_cell if form == "csv" else _of_value
    for number, row in read_table(path, form):
        data = json_line({name: to_field(name, value) for name, value in row.items()}, path, number)
        yield Line(number, data if len(data) < MAX_LINE_BYTES else None, bom=False, crlf=False)


def json_line(row: Mapping[str, Any], path: str | Path, number: int) -> bytes:
    """A row as a line of JSON, without empty values. Raises: InputError for a value that JSON can't hold."""
    filled = {name: value for name, value in row.items() if not is_missing(value)}
    try:
        return msgspec.json.encode(filled, enc_hook=_of_numpy)
    except (TypeError, ValueError, UnicodeEncodeError, RecursionError) as error:
        raise InputError(path, line=number, found=f"what JSON has no form for ({error})") from None


def _of_numpy(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's own."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"the type {type(value).__name__}")


def _of_cell(name: str, cell: str | None) -> Any:
    if cell is None or name not in _JSON_CELLS or cell.lstrip()[:1] not in ("[", "{"):
        return cell
    try:
        jiter.from_json(cell.encode(), allow_inf_nan=False)
    except ValueError:
        return cell  # a text that begins like JSON
    return msgspec.Raw(cell.encode())  # as it was written, so that a repeated key is reported


def _of_value(name: str, value: Any) -> Any:
    if name in _NUMBERED and isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        return str(int(value))
    return value


_IN_MEMORY = 8 * 1024**2  # bytes
_ITEMS_AT_ONCE, _BYTES_AT_ONCE = 256, 1 << 20  # of those that are gone through


class Spool:
    """Lines in memory, or in a temporary file that is removed with the object. Several threads may read at once."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - lives as long as its sets do
        self._lock = Lock()
        self._end = 0

    def add(self, line: bytes) -> int:
        """Write a line, given without a line end, and return its place. Raises: UsageError."""
        at = self._end
        try:
            self._end += self._file.write(line + b"\n")
        except OSError as error:
            where = tempfile.gettempdir()
            raise UsageError(f"{where}: there is no room for a table's items ({error.strerror or error})") from None
        return at

    def line_at(self, place: int) -> bytes:
        with self._lock:
            self._file.seek(place)
            return self._file.readline()

    def __del__(self) -> None:
        self._file.close()


class LinesHeld(NamedTuple):
    """A few lines, each by its number: what a part of a set takes along."""

    lines: list[bytes]

    def line_at(self, place: int) -> bytes:
        return self.lines[place]


class EvalSet:
    """An eval set's items, by index in the order of the file.

    It holds one offset per item and not the items: eight bytes each, whatever their length, on disk from half a million
    on (for a table, as many again for the line numbers; its items are in a `Spool`). `sha256` is the hash of the file's
    bytes; `grouped`: some item names a group; `has_messages`: some item is a conversation; `contents`: its contents, if
    it was checked.
    """

    def __init__(
        self,
        path: Path,
        sha256: str,
        offsets: array[int] | SpilledNumbers,
        *,
        form: TableForm = "jsonl",
        grouped: bool,
        has_messages: bool = False,
        plain: bool,
        contents: SetContents | None = None,
        spool: Spool | LinesHeld | None = None,
        lines: array[int] | None = None,
        stamp: Stamp | None = None,
    ) -> None:
        self.path = path
        self.sha256 = sha256
        self.form: TableForm = form
        self.grouped = grouped
        self.has_messages = has_messages
        self.contents = contents
        self._plain = plain  # no field has another name
        self._offsets = offsets
        self._spool = spool
        self._lines = lines
        self._stamp = stamp  # the file's, when these bytes were read
        self._file: BufferedReader | None = None
        self._whole: EvalSet | None = None  # the set that this is a part of

    @property
    def name(self) -> str:
        """The file's name without its ending: `eval_v2`."""
        ending = ".jsonl" if self.form == "jsonl" else self.path.suffix
        return self.path.name.removesuffix(ending)

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Item]:
        at_once = min(_ITEMS_AT_ONCE, max(_BYTES_AT_ONCE // max(self.mean_bytes, 1), 1))
        for start in range(0, len(self), at_once):
            yield from self.items_at(range(start, min(start + at_once, len(self))))

    def __getitem__(self, index: int) -> Item:
        data = self._data(index)
        return decode_plain(data) if self._plain else read_item(data.rstrip(b"\r\n"), self.path, self.line_of(index))

    def _data(self, index: int) -> bytes:
        if self._spool is not None:
            return self._spool.line_at(self._offsets[index])
        if self._file is None:
            self._file = self.path.open("rb")
        self._file.seek(self._offsets[index])
        data = self._file.readline()
        if stamp_of(self._file) != self._stamp:
            self._hold(self._file)
        return data

    def _hold(self, file: BufferedReader) -> None:
        """Hold the whole file against its hash again, once it looks otherwise than it did. Raises: InputError."""
        stamp = stamp_of(file)
        file.seek(0)
        found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.sha256:
            raise InputError(
                self.path,
                found=f"another content than before (its sha256 is {found})",
                expected=f"that it stays as it was read, {self.sha256}",
            )
        self._stamp = stamp

    @property
    def mean_bytes(self) -> int:
        """About how many bytes an item's line has."""
        return abs(self._offsets[-1] - self._offsets[0]) // len(self._offsets) if self._offsets else 0

    def items_at(self, places: Sequence[int]) -> list[Item]:
        """The items at these places. Those that follow each other are read and decoded together."""
        if self._plain and self._spool is None and len(places) > 1 and places[-1] - places[0] == len(places) - 1:
            data = self._data_between(places[0], places[-1])
            try:
                found = decode_plain_lines(data)
            except msgspec.DecodeError:  # blank lines in between, or another content than before
                found = []
            if len(found) == len(places):
                return found
        return [self[place] for place in places]

    def _data_between(self, first: int, last: int) -> bytes:
        """The lines of the items at these places, with what is between them."""
        if self._file is None:
            self._file = self.path.open("rb")
        self._file.seek(self._offsets[first])
        lines = self._file.read(self._offsets[last] - self._offsets[first])
        return lines + self._data(last)  # which looks whether the file is still what it was

    def alone(self, places: Sequence[int]) -> EvalSet:
        """The items at these places as a set that can be sent to another process, and be read there."""
        found = copy(self)
        found._file, found._whole, found.contents = None, None, None
        found._lines = None if self._lines is None else array("Q", (self._lines[place] for place in places))
        if self._spool is None:
            found._offsets = array("Q", (self._offsets[place] for place in places))
            return found
        lines = [self._spool.line_at(self._offsets[place]) for place in places]
        found._spool, found._offsets = LinesHeld(lines), array("Q", range(len(places)))
        return found

    def fields(self, index: int) -> dict[str, Any]:
        """All fields on an item's line, by the line's own names; for a table only if it was opened to keep them."""
        data = self._data(index)
        read = read_line_json(data.strip(JSON_WHITE_SPACE))
        return {} if isinstance(read, Fault) else dict(read.value)

    def line_of(self, index: int) -> int:
        """The number of an item's line in the file, from 1. It is counted anew each time: for messages only."""
        if self._lines is not None:
            return self._lines[index]
        with self.path.open("rb") as file:
            return file.read(self._offsets[index]).count(b"\n") + 1

    def part(self, ranges: Iterable[tuple[int, int]], contents: SetContents | None = None) -> EvalSet:
        """The part of the set at these places. Each range is `(start, end)`; `contents` describes the part."""
        places = [place for start, end in ranges for place in range(start, end)]
        grouped = self.grouped and any(self[place].group is not None for place in places)
        self.close()
        found = copy(self)
        found._offsets = array("Q", (self._offsets[place] for place in places))
        found._lines = None if self._lines is None else array("Q", (self._lines[place] for place in places))
        found.grouped, found.contents, found._whole = grouped, contents, self
        return found

    def left_out(self) -> frozenset[str]:
        """The ids of the items that are not in this part; empty for a whole set."""
        if self._whole is None:
            return frozenset()
        with self._whole as whole:
            return frozenset(item.id for item in whole) - {item.id for item in self}

    def copied_to(self, path: Path) -> EvalSet:
        """The same set, read from a copy of its file."""
        copied = copy(self)
        copied.path, copied._file = path, None
        copied._whole = None if self._whole is None else self._whole.copied_to(path)
        return copied

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> EvalSet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
