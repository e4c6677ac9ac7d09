"""An eval set that is opened once, checked line by line, and then read by index in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from copy import copy
from pathlib import Path
from typing import BinaryIO

from benchbook.evalsets.items import Item, decode_plain, read_item
from benchbook.evalsets.set_contents import SetContents
from benchbook.evalsets.set_lines import SetForm
from benchbook.evalsets.spool import Spool

__all__ = ["EvalSet"]


class EvalSet:
    """An eval set's items, by index in the order of the file.

    Holds an offset an item and not the items: eight bytes each, whatever their length (of a table, as many again for
    the lines; its items are in a file without a name). `sha256` is that of the file's bytes; `grouped`: some item names
    a group; `contents`: what it has and lacks, known where it was checked.
    """

    def __init__(
        self,
        path: Path,
        sha256: str,
        offsets: array[int],
        *,
        form: SetForm = "jsonl",
        grouped: bool,
        plain: bool,
        contents: SetContents | None = None,
        spool: Spool | None = None,
        lines: array[int] | None = None,
    ) -> None:
        self.path = path
        self.sha256 = sha256
        self.form: SetForm = form
        self.grouped = grouped
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
        if self._spool is not None:
            return decode_plain(self._spool.line_at(self._offsets[index]))
        if self._file is None:
            self._file = self.path.open("rb")
        self._file.seek(self._offsets[index])
        data = self._file.readline()
        return decode_plain(data) if self._plain else read_item(data.rstrip(b"\r\n"), self.path, self.line_of(index))

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
