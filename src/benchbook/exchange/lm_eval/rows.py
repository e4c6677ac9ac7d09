"""The rows of a samples file: one for each filter of a document.

All documents of the first filter come first, then all of the second; where several processes worked, each one's so. A
first pass notes where each stretch of one filter begins, a second reads the stretches side by side: no row is held
that is not at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError
from benchbook.exchange.json_stream import JsonArray
from benchbook.exchange.json_text import decoded, unreadable

_MOST_BYTES = 64 << 20  # of a row
_MOST_HELD = 256 << 20  # of rows out of order
_WHITE_SPACE = b" \t\r\n"
_MOST_COUNTED = 1 << 24  # ids that are counted in a byte each
_OF_EVERY_ROW = (
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
)  # fmt: skip

DocId = int | str


class Place(NamedTuple):
    """Where a row stands."""

    number: int  # of the line, from 1; of a list, of its element
    offset: int  # its first byte; 0 in a list, which is read from its beginning


_FIRST = Place(1, 0)


class Argument(msgspec.Struct, gc=False):
    """What one request asked: mostly a text, and how to go on from it or the text to be weighed."""

    arg_0: Any = None
    arg_1: Any = msgspec.UNSET


class Row(msgspec.Struct, kw_only=True, gc=False):
    """A row, but for its metrics, whose names differ from task to task: `RowReader` adds them."""

    doc_id: DocId
    target: Any = None
    arguments: dict[str, Argument] | list[list[Any]] | None = None
    resps: list[Any] | None = None
    filtered_resps: list[Any] | None = None
    filter: str | None = None
    metrics: list[str] | None = None
    prompt_hash: str | None = None
    target_hash: str | None = None


class WholeRow(Row, kw_only=True, gc=False):
    """With the document, which may be large."""

    doc: Any = None
    doc_hash: str | None = None


class _Glance(msgspec.Struct, gc=False):
    """What the first pass reads of a row."""

    doc_id: DocId
    filter: str | None = None
    metrics: list[str] | None = None
    doc_hash: str | None = None
    prompt_hash: str | None = None
    target_hash: str | None = None


@dataclass
class Stretch:
    """Rows of one filter, one after the other; `filter` is None where neither they nor the results name one."""

    filter: str | None
    begins: Place
    n: int = 0
    is_sorted: bool = True  # its documents are numbers that rise
    last: DocId = -1

    def add(self, doc_id: DocId) -> None:
        """Count a row."""
        if not (isinstance(doc_id, int) and isinstance(self.last, int) and doc_id > self.last):
            self.is_sorted = False
        self.last = doc_id
        self.n += 1


@dataclass
class Stretches:
    """What the first pass found."""

    all: list[Stretch] = field(default_factory=list)
    metrics: dict[str, None] = field(default_factory=dict)  # in the order in which they came
    n_rows: int = 0
    task_hash: str | None = None  # of all rows, as the harness makes it; None where a row has none of its own

    def rounds(self) -> Iterator[list[Stretch]]:
        """The stretches that go side by side: until a filter comes again."""
        found: list[Stretch] = []
        for one in self.all:
            if any(one.filter == other.filter for other in found):
                yield found
                found = []
            found.append(one)
        if found:
            yield found


class Counted:
    """How often an id came: in a byte each, where it is a number as the harness counts documents."""

    def __init__(self) -> None:
        self._few = bytearray()
        self._others: dict[DocId, int] = {}

    def before(self, doc_id: DocId) -> int:
        """How often it came before; this time is counted."""
        if isinstance(doc_id, int) and 0 <= doc_id < _MOST_COUNTED:
            if doc_id >= len(self._few):
                self._few.extend(bytes(max(doc_id + 1 - len(self._few), len(self._few), 1024)))
            n = self._few[doc_id]
            if n < 255:
                self._few[doc_id] = n + 1
                return n
        n = self._others.get(doc_id, 255 if isinstance(doc_id, int) and 0 <= doc_id < _MOST_COUNTED else 0)
        self._others[doc_id] = n + 1
        return n


class SamplesFile:
    """A file of samples: a row a line, or, before 0.4.3, a list of rows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_list: bool | None = None

    @property
    def is_list(self) -> bool:
        """Raises: InputError where the file can't be read."""
        if self._is_list is None:
            with _opened(self.path) as file:
                self._is_list = file.read(4096).lstrip(b"\xef\xbb\xbf" + _WHITE_SPACE).startswith(b"[")
        return self._is_list

    def rows(self, begins: Place = _FIRST) -> Iterator[tuple[Place, bytes]]:
        """The bytes of each row, from one on. Raises: InputError."""
        return self._elements(begins) if self.is_list else self._lines(begins)

    def _elements(self, begins: Place) -> Iterator[tuple[Place, bytes]]:
        elements = JsonArray(self.path, most_bytes=_MOST_BYTES)
        for number, data in islice(enumerate(elements, 1), begins.number - 1, None):
            yield Place(number, 0), data

    def _lines(self, begins: Place) -> Iterator[tuple[Place, bytes]]:
        number, offset = begins
        with _opened(self.path) as file:
            file.seek(offset)
            while line := file.readline(_MOST_BYTES + 1):
                if len(line) > _MOST_BYTES:
                    raise InputError(self.path, line=number, found="a line of more than 64 MB", expected="one sample")
                if not line.isspace():
                    yield Place(number, offset), line
                number += 1
                offset += len(line)

    def error(self, error: Exception, place: Place) -> InputError:
        """The error for a row that makes no sense."""
        return unreadable(error, self.path, **self.named(place))

    def named(self, place: Place) -> dict[str, Any]:
        """A row's place, as errors name it."""
        return {"within": f"[{place.number - 1}]"} if self.is_list else {"line": place.number}


def first_pass(file: SamplesFile, filters: Sequence[str], metrics: Sequence[str]) -> Stretches:
    """Read a file once: where the stretches of each filter begin, and the hash of all rows.

    `filters` are those that the results name, in their order. Before 0.4.3 a row named none: there a document's first
    row is of the first, and so on.

    Raises: InputError.
    """
    found = Stretches(metrics=dict.fromkeys(metrics))
    counted = Counted()
    digest, has_hashes = sha256(), True
    decode = msgspec.json.Decoder(ready(_Glance)).decode
    current: Stretch | None = None
    said: list[str] | None = None
    for place, data in file.rows():
        try:
            row = decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            row = decoded(data, _Glance, file.path, **file.named(place))
        name = row.filter
        if name is None and filters:
            name = filters[counted.before(row.doc_id) % len(filters)] if len(filters) > 1 else filters[0]
        if current is None or current.filter != name:
            current = Stretch(name, place)
            found.all.append(current)
        current.add(row.doc_id)
        if row.metrics != said:
            said = row.metrics
            found.metrics.update(dict.fromkeys(said or ()))
        if said is None and not found.metrics:
            found.metrics.update(dict.fromkeys(_other_fields(file, place, data)))
        if row.doc_hash is None or row.prompt_hash is None or row.target_hash is None:
            has_hashes = False
        elif has_hashes:
            digest.update(f"{row.doc_hash}{row.prompt_hash}{row.target_hash}".encode("utf-8", "surrogatepass"))
        found.n_rows += 1
    if has_hashes and found.n_rows:
        found.task_hash = digest.hexdigest()
    return found


def _other_fields(file: SamplesFile, place: Place, data: bytes) -> list[str]:
    fields = decoded(data, dict[str, msgspec.Raw], file.path, **file.named(place))
    return [name for name in fields if name not in _OF_EVERY_ROW]


class RowReader:
    """Reads rows with the metrics of one task."""

    def __init__(self, file: SamplesFile, metrics: Sequence[str], *, whole: bool) -> None:
        self.file = file
        self.metrics = [name for name in metrics if name not in _OF_EVERY_ROW]
        fields = [
            (f"metric_{number}", Any, msgspec.field(name=name, default=msgspec.UNSET))
            for number, name in enumerate(self.metrics)
        ]
        base = WholeRow if whole else Row
        self._form = msgspec.defstruct("RowWithMetrics", fields, bases=(base,), kw_only=True, gc=False)
        self.fields = tuple(zip(self.metrics, (name for name, _, _ in fields), strict=True))
        self._decode = msgspec.json.Decoder(ready(self._form)).decode

    def row(self, place: Place, data: bytes) -> Any:
        """A `Row` or `WholeRow`, with the value of each metric. Raises: InputError."""
        try:
            return self._decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return decoded(data, self._form, self.file.path, **self.file.named(place))

    def document_at(self, place: Place) -> str:
        """A row's document as JSON: what can be shown where the row does not say what was asked."""
        _, data = next(self.file.rows(place))
        fields = decoded(data, dict[str, msgspec.Raw], self.file.path, **self.file.named(place))
        return bytes(fields.get("doc", b"")).decode("utf-8", "replace")

    def of(self, stretch: Stretch) -> Iterator[tuple[Place, Any]]:
        """The rows of a stretch."""
        for place, data in islice(self.file.rows(stretch.begins), stretch.n):
            yield place, self.row(place, data)


class Follower:
    """A stretch that is read beside another: for each document there, its row here.

    Both are in the same order. Where somebody cut rows out, or sorted them, those that were passed over are held.
    """

    def __init__(self, reader: RowReader, stretch: Stretch) -> None:
        self.filter = stretch.filter
        self._reader = reader
        self._sorted = stretch.is_sorted
        self._rows = islice(reader.file.rows(stretch.begins), stretch.n)
        self._held: dict[DocId, list[tuple[Place, bytes]]] = {}
        self._n_bytes = 0
        self._next: tuple[Place, bytes, Any] | None = None
        self._advance()

    def row_of(self, doc_id: DocId) -> tuple[Place, Any] | None:
        """The row of a document, each once; None where there is none."""
        while self._next is not None:
            place, data, row = self._next
            if row.doc_id == doc_id:
                self._advance()
                return place, row
            if self._sorted and isinstance(doc_id, int) and doc_id < row.doc_id:
                break
            self._hold(place, data, row.doc_id)
            self._advance()
        rows = self._held.get(doc_id)
        if not rows:
            return None
        place, data = rows.pop(0)
        return place, self._reader.row(place, data)

    def rest(self) -> Iterator[tuple[Place, Any]]:
        """The rows that no document asked for."""
        for rows in self._held.values():
            for place, data in rows:
                yield place, self._reader.row(place, data)
        while self._next is not None:
            place, _, row = self._next
            self._advance()
            yield place, row

    def _advance(self) -> None:
        found = next(self._rows, None)
        self._next = None if found is None else (*found, self._reader.row(*found))

    def _hold(self, place: Place, data: bytes, doc_id: DocId) -> None:
        self._n_bytes += len(data)
        if self._n_bytes > _MOST_HELD:
            raise InputError(
                self._reader.file.path,
                **self._reader.file.named(place),
                found="rows of one filter in another order than those of another",
                expected="the order in which the harness writes them",
            )
        self._held.setdefault(doc_id, []).append((place, data))


def rows_by_document(reader: RowReader, stretches: Stretches) -> Iterator[list[tuple[str | None, Place, Any]]]:
    """For each document its filters, and the place and row of each. Raises: InputError."""
    for first, *others in stretches.rounds():
        followers = [Follower(reader, one) for one in others]
        for place, row in reader.of(first):
            rows = [(first.filter, place, row)]
            for one in followers:
                found = one.row_of(row.doc_id)
                if found is not None:
                    rows.append((one.filter, *found))
            yield rows
        for one in followers:
            for place, row in one.rest():
                yield [(one.filter, place, row)]


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(path, found=f"a file that can't be read ({error.strerror})") from None
