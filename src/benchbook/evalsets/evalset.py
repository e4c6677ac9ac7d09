"""An eval set that is opened once, checked line by line, and then read by index in bounded memory."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Literal

import jiter
import msgspec

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.findings import Fault
from benchbook.evalsets.item_criteria import CRITERIA
from benchbook.evalsets.items import ALIASES, MESSAGES, Item, decode_plain, read_item
from benchbook.evalsets.lines import JSON_WHITE_SPACE, MAX_LINE_BYTES, Line, encoding_fault, read_line_json, read_lines
from benchbook.evalsets.set_contents import SetContents
from benchbook.evalsets.table_columns import is_missing
from benchbook.evalsets.tables import TABLE_ENDINGS, WORKBOOK_ENDINGS, read_table, table_form

__all__ = ["EvalSet", "SetForm", "Spool", "set_form", "set_lines"]


SetForm = Literal["jsonl", "csv", "parquet"]

# Tables often number what they hold; elsewhere a number is as wrong as it is in JSON.
_NUMBERED = (*ALIASES["id"], "group")
_JSON_CELLS = (*ALIASES["context"], MESSAGES, CRITERIA)


def set_form(path: str | Path) -> SetForm:
    """What an eval set's name says it is: JSON lines, where it says nothing of a table.

    Raises: UsageError for a workbook.
    """
    ending = Path(path).suffix.lower()
    return table_form(path) if ending in TABLE_ENDINGS or ending in WORKBOOK_ENDINGS else "jsonl"


def set_lines(path: str | Path, form: SetForm) -> Iterator[Line]:
    """Each line of a file of JSON lines; of a table, each row as the line that says the same, numbered as it stands.

    An empty cell, a null and NaN are a field that is not there. Cells are texts; in the columns of contexts and
    messages, a JSON list or object is one.

    Raises: InputError for a row that can't be read, or a file of another encoding; UsageError where there is no file.
    """
    path = Path(path)
    if form == "jsonl":
        if (fault := encoding_fault(path)) is not None:
            raise InputError(path, found=fault)
        yield from read_lines(path)
        return
    to_field = _of_cell if form == "csv" else _of_value
    for number, row in read_table(path, form):
        data = _as_line(path, number, {name: to_field(name, value) for name, value in row.items()})
        yield Line(number, data if len(data) < MAX_LINE_BYTES else None, bom=False, crlf=False)


def _as_line(path: Path, number: int, row: Mapping[str, Any]) -> bytes:
    filled = {name: value for name, value in row.items() if not is_missing(value)}
    try:
        return msgspec.json.encode(filled)
    except (TypeError, ValueError, UnicodeEncodeError, RecursionError) as error:
        raise InputError(path, line=number, found=f"what JSON has no form for ({error})") from None


def _of_cell(name: str, cell: str | None) -> Any:
    if cell is None or name not in _JSON_CELLS or cell.lstrip()[:1] not in ("[", "{"):
        return cell
    try:
        jiter.from_json(cell.encode(), allow_inf_nan=False)
    except ValueError:
        return cell  # a text that begins like JSON
    return msgspec.Raw(cell.encode())  # as it was written: a key that is there twice is told


def _of_value(name: str, value: Any) -> Any:
    if name in _NUMBERED and isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        return str(int(value))
    return value


_IN_MEMORY = 8 * 1024**2  # bytes


class Spool:
    """May be read from several threads at once; its file is gone with the last who holds it."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - lives as long as its sets do
        self._lock = Lock()
        self._end = 0

    def add(self, line: bytes) -> int:
        """Write a line, which holds no line end; its place. Raises: UsageError."""
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


class EvalSet:
    """An eval set's items, by index in the order of the file.

    Holds an offset an item and not the items: eight bytes each, whatever their length (of a table, as many again for
    the lines; its items are in a file without a name). `sha256` is that of the file's bytes; `grouped`: some item names
    a group, `has_messages`: some item is a conversation; `contents`: what it has and lacks, known where it was checked.
    """

    def __init__(
        self,
        path: Path,
        sha256: str,
        offsets: array[int],
        *,
        form: SetForm = "jsonl",
        grouped: bool,
        has_messages: bool = False,
        plain: bool,
        contents: SetContents | None = None,
        spool: Spool | None = None,
        lines: array[int] | None = None,
    ) -> None:
        self.path = path
        self.sha256 = sha256
        self.form: SetForm = form
        self.grouped = grouped
        self.has_messages = has_messages
        self.contents = contents
        self._plain = plain  # no field has another name
        self._offsets = offsets
        self._spool = spool
        self._lines = lines
        self._file: BinaryIO | None = None
        self._whole: EvalSet | None = None  # of which this is a part

    @property
    def name(self) -> str:
        """The file's name without its ending: `eval_v2`."""
        ending = ".jsonl" if self.form == "jsonl" else self.path.suffix
        return self.path.name.removesuffix(ending)

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Item]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> Item:
        data = self._data(index)
        return decode_plain(data) if self._plain else read_item(data.rstrip(b"\r\n"), self.path, self.line_of(index))

    def _data(self, index: int) -> bytes:
        if self._spool is not None:
            return self._spool.line_at(self._offsets[index])
        if self._file is None:
            self._file = self.path.open("rb")
        self._file.seek(self._offsets[index])
        return self._file.readline()

    def fields(self, index: int) -> dict[str, Any]:
        """All that stands on an item's line, by the line's own names; of a table, where it was opened to keep that."""
        data = self._data(index)
        read = read_line_json(data.strip(JSON_WHITE_SPACE))
        return {} if isinstance(read, Fault) else dict(read.value)

    def line_of(self, index: int) -> int:
        """The line in the file, counted from 1. Counts the lines before it: for messages only."""
        if self._lines is not None:
            return self._lines[index]
        with self.path.open("rb") as file:
            return file.read(self._offsets[index]).count(b"\n") + 1

    def part(self, ranges: Iterable[tuple[int, int]], contents: SetContents | None = None) -> EvalSet:
        """The items at these places of the set, each range up to its second; `contents` is what they have and lack."""
        places = [place for start, end in ranges for place in range(start, end)]
        grouped = self.grouped and any(self[place].group is not None for place in places)
        self.close()
        found = copy(self)
        found._offsets = array("Q", (self._offsets[place] for place in places))
        found._lines = None if self._lines is None else array("Q", (self._lines[place] for place in places))
        found.grouped, found.contents, found._whole = grouped, contents, self
        return found

    def left_out(self) -> frozenset[str]:
        """The ids of the items that are not in this part; none of a whole set."""
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
