"""Opens eval sets of any form: each line is checked once, by the rules of `evalset validate --as rubric`.

Rows in memory are first written as JSON lines, which a record then keeps.
"""

from __future__ import annotations

import hashlib
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.evalset import EvalSet, Spool, json_line, set_form, set_lines
from benchbook.evalsets.findings import Fault
from benchbook.evalsets.items import (
    Item,
    all_filled,
    decode_plain_lines,
    is_plain,
    lacking_field,
    read_item,
    read_messages,
)
from benchbook.evalsets.lines import (
    JSON_WHITE_SPACE,
    MAX_LINE_BYTES,
    Stamp,
    encoding_fault,
    read_line_json,
    row_without_repeats,
    stamp_of,
    utf8_fault,
)
from benchbook.evalsets.set_contents import RepeatedTexts, SetTally
from benchbook.evalsets.tables import TableForm
from benchbook.spilled import SpilledNumbers
from benchbook.text import did_you_mean

_IN_MEMORY = "memory:"  # the prefix of such a set's name in settings

_LENT: dict[str, Path] = {}


@contextmanager
def as_file(evalset: Any, name: str = "items") -> Iterator[str]:
    """The name of an eval set in settings while the block runs: a path or `@NAME` unchanged, `memory:NAME` for rows.

    Rows are a list of mappings, a Polars or pandas frame, or a Hugging Face data set; `name` says what they are, if not
    an eval set's items. Raises: InputError.
    """
    if isinstance(evalset, str | Path):
        yield str(evalset)
        return
    with tempfile.TemporaryDirectory(prefix="benchbook-items-") as folder:
        path = Path(folder) / f"{name}.jsonl"
        with path.open("wb") as file:
            for number, row in enumerate(_rows(evalset, "evalset" if name == "items" else name), start=1):
                if not isinstance(row, Mapping):
                    found = type(row).__name__
                    raise InputError(name, line=number, found=found, expected="a mapping, such as {'id': …}")
                file.write(json_line(row, name, number) + b"\n")
        lent, number = f"{_IN_MEMORY}{name}", 1
        while _LENT.setdefault(lent, path) is not path:  # another run of this process has a set of that name
            number += 1
            lent = f"{_IN_MEMORY}{name}-{number}"
        try:
            yield lent
        finally:
            del _LENT[lent]


def path_in_memory(name: str) -> Path | None:
    """The file of a set that settings call `memory:NAME`; None if this process has none."""
    return _LENT.get(name)


def _rows(evalset: Any, called: str) -> Iterator[Any]:
    if hasattr(evalset, "iter_rows"):  # Polars
        yield from evalset.iter_rows(named=True)
    elif hasattr(evalset, "to_dict") and hasattr(evalset, "iloc"):  # pandas
        yield from evalset.to_dict("records")
    elif isinstance(evalset, Iterable) and not isinstance(evalset, Mapping):  # a Hugging Face data set gives mappings
        yield from evalset
    else:
        found = type(evalset).__name__
        raise InputError(called, found=found, expected="a path, a list of mappings, a frame, or a data set")


_BOM = b"\xef\xbb\xbf"


def open_evalset(
    path: str | Path,
    *,
    needs_expected_answer: bool = False,
    form: TableForm | None = None,
    is_recorded: bool = False,
    keeps_fields: bool = False,
    sha256: str | None = None,
) -> EvalSet:
    """Read an eval set (JSON lines, CSV, Parquet) once, checking every line. `form` follows from its name by default.

    Blank lines and a byte-order mark at the start are skipped; `evalset validate` reports them. `is_recorded`: the file
    is a record's and was checked when that began, maybe by older rules, so it is read as it was then. `keeps_fields`:
    all columns of a table's rows are kept, for `EvalSet.fields`. `sha256` is the file's hash, where that is known.

    Raises: InputError at the first fault: its line, field, and what would be right; UsageError for a workbook.
    """
    path = Path(path)
    form = form or set_form(path)
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputError(path, found=f"the eval set can't be read ({error.strerror})") from None
    gathered = _Gathered(path, needs_expected_answer=needs_expected_answer, is_recorded=is_recorded, sha256=sha256)
    opened = gathered.from_lines() if form == "jsonl" else gathered.from_table(form, keeps_fields=keeps_fields)
    if not len(opened):
        expected = "one JSON object a line" if form == "jsonl" else "a row each"
        raise InputError(path, found="no items", expected=expected)
    try:
        _refuse_duplicate_ids(opened, gathered.ids)
    except BaseException:
        opened.close()
        raise
    return opened


def recorded_lines(path: Path) -> EvalSet:
    """A record's set of JSON lines, whose items are read and checked when they are asked for: where they stand is found
    at a hundredth of the time.

    Raises: InputError where the file can't be read.
    """
    offsets, lines, position = array("Q"), array("Q"), 0
    try:
        with path.open("rb") as file:
            stamp = stamp_of(file)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            for number, data in enumerate(file, start=1):
                start = len(_BOM) if number == 1 and data.startswith(_BOM) else 0
                if data[start:].strip():
                    offsets.append(position + start)
                    lines.append(number)
                position += len(data)
    except OSError as error:
        raise InputError(path, found=f"the eval set can't be read ({error.strerror})") from None
    return EvalSet(path, sha256, offsets, grouped=False, plain=False, lines=lines, stamp=stamp)


class _Gathered:
    """The facts about a set, gathered while its lines are read."""

    def __init__(self, path: Path, *, needs_expected_answer: bool, is_recorded: bool, sha256: str | None) -> None:
        self._path = path
        self._sha256 = sha256
        self._needs_expected_answer = needs_expected_answer
        self._is_recorded = is_recorded
        self._n_items = 0
        self._offsets = SpilledNumbers()
        self._tally = SetTally(texts=not is_recorded)
        self._grouped = self._has_messages = False
        self._plain = True
        self.ids = RepeatedTexts()

    def from_lines(self) -> EvalSet:
        if not self._is_recorded and (fault := encoding_fault(self._path)) is not None:
            raise InputError(self._path, found=fault)
        digest: Any = hashlib.sha256() if self._sha256 is None else _Known(self._sha256)
        position = 0
        with self._path.open("rb") as file:
            n_read = 0
            while self._is_recorded and (n_plain := self._add_plain_lines(file, position, digest)):
                n_read, position = n_read + n_plain, file.tell()
            for number, data in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), start=n_read + 1):
                if len(data) == MAX_LINE_BYTES and not data.endswith(b"\n"):
                    raise self._too_long(number)
                digest.update(data)
                start = len(_BOM) if number == 1 and data.startswith(_BOM) else 0
                body = data[start:].rstrip(b"\r\n")
                if body.strip(None if self._is_recorded else JSON_WHITE_SPACE):
                    self._note(self._item(body, number), position + start)
                position += len(data)
            stamp = stamp_of(file)
        return self._opened(digest.hexdigest(), "jsonl", plain=self._plain, stamp=stamp)

    def _add_plain_lines(self, file: BinaryIO, position: int, digest: Any) -> int:
        """Read and note the next lines at once, and return their number; 0, with nothing read, where there are none, or
        one of them needs a closer look."""
        block = file.read(_LINES_BYTES)
        if block[-1:] not in (b"", b"\n"):
            block += file.readline(MAX_LINE_BYTES)
        lines = block.split(b"\n")
        items = _plain_items(block, lines) if lines.pop() == b"" and lines else []
        if not items or (self._needs_expected_answer and any(item.expected_answer is None for item in items)):
            file.seek(position)
            return 0
        digest.update(block)
        self._note_all(items, list(accumulate([len(line) + 1 for line in lines[:-1]], initial=position)))
        return len(lines)

    def from_table(self, form: TableForm, *, keeps_fields: bool) -> EvalSet:
        spool, lines = Spool(), array("Q")
        with self._path.open("rb") as file:
            stamp = stamp_of(file)
        for number, data, _, _ in set_lines(self._path, form):
            if data is None:
                raise self._too_long(number)
            item = self._item(data, number)
            kept = self._whole_line(data, number) | msgspec.structs.asdict(item) if keeps_fields else item
            self._note(item, spool.add(msgspec.json.encode(kept)))
            lines.append(number)
        with self._path.open("rb") as file:
            sha256 = self._sha256 or hashlib.file_digest(file, "sha256").hexdigest()
            if stamp_of(file) != stamp:
                raise InputError(self._path, found="a file that is being written", expected="one that stays as it is")
        return self._opened(sha256, form, plain=True, spool=spool, lines=lines)

    def _opened(
        self,
        sha256: str,
        form: TableForm,
        *,
        plain: bool,
        spool: Spool | None = None,
        lines: array[int] | None = None,
        stamp: Stamp | None = None,
    ) -> EvalSet:
        return EvalSet(
            self._path,
            sha256,
            self._offsets,
            form=form,
            grouped=self._grouped,
            has_messages=self._has_messages,
            plain=plain,
            contents=None if self._is_recorded else self._tally.contents(),
            spool=spool,
            lines=lines,
            stamp=stamp,
        )

    def _item(self, data: bytes, number: int) -> Item:
        read = row_without_repeats(data)
        plain = is_plain(read)
        self._plain = self._plain and plain
        item = read_item(data, self._path, number, plain=plain)
        if item.messages is not None and not self._is_recorded:
            read_messages(item.messages, self._path, number)
        row = {} if self._is_recorded else read if read is not None else self._whole_line(data, number)
        self._tally.add(row)
        if self._needs_expected_answer and item.expected_answer is None:
            raise lacking_field(self._path, number, "expected_answer", row)
        return item

    def _whole_line(self, data: bytes, number: int) -> dict[str, Any]:
        """All fields on a line. Faults in fields that nobody reads are refused, as `evalset validate` does."""
        read = read_line_json(data)
        if isinstance(read, Fault):
            raise InputError(self._path, line=number, found=read.reason)
        for field, found in read.repeated.items():
            raise InputError(self._path, line=number, field=field, found=found, expected="one of them")
        row: dict[str, Any] = read.value
        return row

    def _note(self, item: Item, place: int) -> None:
        self._note_all([item], [place])

    def _note_all(self, items: Sequence[Item], places: Sequence[int]) -> None:
        self.ids.note_all([item.id for item in items], self._n_items)
        self._n_items += len(items)
        self._offsets.extend(array("Q", places))
        self._grouped = self._grouped or any(item.group is not None for item in items)
        self._has_messages = self._has_messages or any(item.messages is not None for item in items)

    def _too_long(self, number: int) -> InputError:
        return InputError(self._path, line=number, found="a line of over 16 MiB", expected="one item a line")


class _Known:
    """A hash that is known before anything is read."""

    def __init__(self, sha256: str) -> None:
        self._sha256 = sha256

    def update(self, data: bytes) -> None:
        """Hash nothing."""

    def hexdigest(self) -> str:
        return self._sha256


_LINES_BYTES = 1 << 20  # of lines that are read at once


def _plain_items(block: bytes, lines: list[bytes]) -> list[Item]:
    """The items on some lines, of which each is plain and without a fault; else none."""
    if b"\r" in block or not (block.isascii() or utf8_fault(block) is None):
        return []
    if not all(map(is_plain, map(row_without_repeats, lines))):
        return []
    try:
        items = decode_plain_lines(block)
    except (msgspec.DecodeError, RecursionError):
        return []
    return items if len(items) == len(lines) and all(map(all_filled, items)) else []


def _refuse_duplicate_ids(evalset: EvalSet, ids: RepeatedTexts) -> None:
    for index in ids.suspects():
        item_id = evalset[index].id
        if (first := ids.earlier(item_id, index)) is not None:
            raise InputError(
                evalset.path,
                line=evalset.line_of(index),
                field="id",
                found=f"{item_id!r} again (first on line {evalset.line_of(first)})",
                expected="an id of its own",
            )


_FOLDER = Path(__file__).with_name("shipped")


def shipped_names() -> list[str]:
    """The names that `shipped_path` takes, in alphabetical order."""
    return sorted(path.stem for path in _FOLDER.glob("*.jsonl"))


def shipped_path(name: str) -> Path:
    """The file of the set called `name`; golden_v1 may be written golden-v1, as in SPEC A2.

    Raises: UsageError.
    """
    known = shipped_names()
    stem = name.replace("-", "_")
    if stem not in known:
        raise UsageError(f"Benchbook ships no eval set {name!r}; there are {', '.join(known)}")
    return _FOLDER / f"{stem}.jsonl"


def evalset_path(name: str) -> Path:
    """The path of a set by its name in settings: a file, `memory:NAME`, or with `@` a set that Benchbook ships.

    Raises: UsageError.
    """
    if name.startswith(_IN_MEMORY):
        if (path := path_in_memory(name)) is None:
            raise UsageError(f"evalset {name}: rows of a process that has ended; the record of its run keeps them")
        return path
    if not name.startswith("@"):
        return Path(name)
    if name[1:].replace("-", "_") not in shipped_names():
        near = did_you_mean(name, (f"@{one}" for one in shipped_names()))
        raise UsageError(f"evalset {name}: Benchbook ships no such set (`benchbook evalset list`){near}")
    return shipped_path(name[1:])
