"""Rows of one document, brought together.

All documents of the first filter come first, then all of the second; where several processes worked, each one's so. A
first pass notes where each stretch of one filter begins, a second reads the stretches side by side: no row is held
that is not at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import Any

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError
from benchbook.exchange.json_text import check_values, decoded
from benchbook.exchange.lm_eval.rows import OF_EVERY_ROW, DocId, FileOfRows, RowReader, RowStart

_MOST_STRETCHES = 200
_MOST_NAMES = 1000
_MOST_HELD = 256 << 20  # of rows out of order
_MOST_COUNTED = 1 << 24  # ids that are counted in a byte each


class _Glance(msgspec.Struct, gc=False):
    """The part of a row that the first pass reads."""

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
    begins: RowStart
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
    """The first pass's findings."""

    all: list[Stretch] = field(default_factory=list)
    is_mixed: bool = False  # there are too many: somebody sorted the rows by document
    filters: dict[str | None, None] = field(default_factory=dict)
    metrics: dict[str, None] = field(default_factory=dict)  # in the order in which they came
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

    def add(self, name: str | None, place: RowStart, doc_id: DocId) -> None:
        """Count a row."""
        if self.is_mixed:
            self.filters[name] = None
            return
        if not self.all or self.all[-1].filter != name:
            self.filters[name] = None
            if len(self.all) == _MOST_STRETCHES:
                self.is_mixed = True
                return
            self.all.append(Stretch(name, place))
        self.all[-1].add(doc_id)


class FilterNames:
    """The filter of each row: that which it names, or, before 0.4.3, by how often its document came before.

    `filters` are those that the results name, in their order.
    """

    def __init__(self, filters: Sequence[str]) -> None:
        self._filters = filters
        self._occurrences = Occurrences()

    def of(self, doc_id: DocId, named: str | None) -> str | None:
        """The filter of the next row."""
        if named is not None or not self._filters:
            return named
        if len(self._filters) == 1:
            return self._filters[0]
        return self._filters[self._occurrences.before(doc_id) % len(self._filters)]


class Occurrences:
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


def first_pass(file: FileOfRows, filters: Sequence[str], metrics: Sequence[str]) -> Stretches:
    """Read a file once: where the stretches of each filter begin, and the hash of all rows.

    `filters` and `metrics` are those that the results name, in their order.

    Raises: InputError.
    """
    found = Stretches(metrics=dict.fromkeys(metrics))
    names = FilterNames(filters)
    digest, has_hashes = sha256(), True
    decode = msgspec.json.Decoder(ready(_Glance)).decode
    said: list[str] | None = None
    for place, data in file.rows():
        check_values(data, _Glance, file.path, **file.named(place))
        try:
            row = decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            row = decoded(data, _Glance, file.path, **file.named(place))
        found.add(names.of(row.doc_id, row.filter), place, row.doc_id)
        if row.metrics != said:
            said = row.metrics
            found.metrics.update(dict.fromkeys(said or ()))
        if said is None and not found.metrics:
            found.metrics.update(dict.fromkeys(_other_fields(file, place, data)))
        if len(found.metrics) > _MOST_NAMES or len(found.filters) > _MOST_NAMES:
            raise InputError(
                file.path,
                **file.named(place),
                found=f"more than {_MOST_NAMES:,} names of metrics or filters",
                expected="the same few in every row",
            )
        if row.doc_hash is None or row.prompt_hash is None or row.target_hash is None:
            has_hashes = False
        elif has_hashes:
            digest.update(f"{row.doc_hash}{row.prompt_hash}{row.target_hash}".encode("utf-8", "surrogatepass"))
    if has_hashes and found.filters:
        found.task_hash = digest.hexdigest()
    return found


def _other_fields(file: FileOfRows, place: RowStart, data: bytes) -> list[str]:
    fields = decoded(data, dict[str, msgspec.Raw], file.path, **file.named(place))
    return [name for name in fields if name not in OF_EVERY_ROW]


class Follower:
    """A stretch that is read beside another: for each document there, its row here.

    Both are in the same order. Where somebody cut rows out, or sorted them, those that were passed over are held.
    """

    def __init__(self, reader: RowReader, stretch: Stretch) -> None:
        self.filter = stretch.filter
        self._reader = reader
        self._sorted = stretch.is_sorted
        self._rows = islice(reader.file.rows(stretch.begins), stretch.n)
        self._held: dict[DocId, list[tuple[RowStart, bytes]]] = {}
        self._n_bytes = 0
        self._next: tuple[RowStart, bytes, Any] | None = None
        self._advance()

    def row_of(self, doc_id: DocId) -> tuple[RowStart, Any] | None:
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

    def rest(self) -> Iterator[tuple[RowStart, Any]]:
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

    def _hold(self, place: RowStart, data: bytes, doc_id: DocId) -> None:
        self._n_bytes += len(data)
        if self._n_bytes > _MOST_HELD:
            raise InputError(
                self._reader.file.path,
                **self._reader.file.named(place),
                found="rows of one filter in another order than those of another",
                expected="the order in which the harness writes them",
            )
        self._held.setdefault(doc_id, []).append((place, data))


def rows_by_document(
    reader: RowReader, stretches: Stretches, filters: Sequence[str]
) -> Iterator[list[tuple[str | None, RowStart, Any]]]:
    """For each document its filters, and the place and row of each. Raises: InputError."""
    if stretches.is_mixed:
        yield from _neighbours(reader, FilterNames(filters))
        return
    for first, *others in stretches.rounds():
        followers = [Follower(reader, one) for one in others]
        for place, row in reader.rows(first.begins, first.n):
            rows = [(first.filter, place, row)]
            for one in followers:
                found = one.row_of(row.doc_id)
                if found is not None:
                    rows.append((one.filter, *found))
            yield rows
        for one in followers:
            for place, row in one.rest():
                yield [(one.filter, place, row)]


def _neighbours(reader: RowReader, names: FilterNames) -> Iterator[list[tuple[str | None, RowStart, Any]]]:
    """Rows of one document that stand together."""
    rows: list[tuple[str | None, RowStart, Any]] = []
    for place, data in reader.file.rows():
        row = reader.row(place, data)
        name = names.of(row.doc_id, row.filter)
        if rows and (rows[0][2].doc_id != row.doc_id or any(name == other for other, _, _ in rows)):
            yield rows
            rows = []
        rows.append((name, place, row))
    if rows:
        yield rows
