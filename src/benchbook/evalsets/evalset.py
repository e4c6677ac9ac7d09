"""An eval set that is opened once, checked line by line, and then read by index in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
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

    def copied_to(self, path: Path) -> EvalSet:
        """The same set, read from a copy of its file."""
        return EvalSet(
            path,
            self.sha256,
            self._offsets,
            form=self.form,
            grouped=self.grouped,
            plain=self._plain,
            contents=self.contents,
            spool=self._spool,
            lines=self._lines,
        )

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> EvalSet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
