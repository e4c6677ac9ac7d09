"""An eval set that is opened once, checked line by line, and then read by index in bounded memory."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from benchbook.errors import InputError
from benchbook.evalsets.items import Item, decode_plain, is_plain, read_item
from benchbook.evalsets.lines import MAX_LINE_BYTES

__all__ = ["EvalSet", "open_evalset"]

_BOM = b"\xef\xbb\xbf"


class EvalSet:
    """An eval set's items, by index in the order of the file.

    Holds an offset an item and not the items: eight bytes each, whatever their length.
    `sha256` is that of the file's bytes; `grouped`: some item names a group; `plain`: no field has another name.
    """

    def __init__(self, path: Path, sha256: str, offsets: array[int], *, grouped: bool, plain: bool) -> None:
        self.path = path
        self.sha256 = sha256
        self.grouped = grouped
        self._plain = plain
        self._offsets = offsets
        self._file: BinaryIO | None = None

    @property
    def name(self) -> str:
        """The file's name without its ending: `eval_v2`."""
        return self.path.name.removesuffix(".jsonl")

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[Item]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> Item:
        if self._file is None:
            self._file = self.path.open("rb")
        self._file.seek(self._offsets[index])
        data = self._file.readline()
        return decode_plain(data) if self._plain else read_item(data.rstrip(b"\r\n"), self.path, self.line_of(index))

    def line_of(self, index: int) -> int:
        """The line in the file, counted from 1. Counts the lines before it: for messages only."""
        with self.path.open("rb") as file:
            return file.read(self._offsets[index]).count(b"\n") + 1

    def copied_to(self, path: Path) -> EvalSet:
        """The same set, read from a copy of its file."""
        return EvalSet(path, self.sha256, self._offsets, grouped=self.grouped, plain=self._plain)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> EvalSet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_evalset(path: str | Path, *, needs_expected_answer: bool = False) -> EvalSet:
    """Read an eval set (JSONL, UTF-8) once, checking every line.

    Blank lines and a byte-order mark at the start are passed over; `evalset validate` says so.

    Raises: InputError at the first fault: its line, field, and what would be right.
    """
    path = Path(path)
    offsets, ids = array("Q"), array("q")
    grouped, plain = False, True
    digest = hashlib.sha256()
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(path, found=f"the eval set can't be read ({error.strerror})") from None
    with file:
        position = 0
        number = 0
        while data := file.readline(MAX_LINE_BYTES):
            number += 1
            if len(data) == MAX_LINE_BYTES and not data.endswith(b"\n"):
                raise InputError(path, line=number, found="a line of over 16 MiB", expected="one item a line")
            digest.update(data)
            start = len(_BOM) if number == 1 and data.startswith(_BOM) else 0
            body = data[start:].rstrip(b"\r\n")
            if body.strip():
                plain = plain and is_plain(body)
                item = read_item(body, path, number)
                if needs_expected_answer and item.expected_answer is None:
                    raise InputError(
                        path, line=number, field="expected_answer", found="nothing", expected="a non-empty string"
                    )
                offsets.append(position + start)
                ids.append(hash(item.id))
                grouped = grouped or item.group is not None
            position += len(data)
    if not offsets:
        raise InputError(path, found="no items", expected="one JSON object a line")
    evalset = EvalSet(path, digest.hexdigest(), offsets, grouped=grouped, plain=plain)
    try:
        _refuse_duplicate_ids(evalset, ids)
    except BaseException:
        evalset.close()
        raise
    return evalset


def _refuse_duplicate_ids(evalset: EvalSet, hashes: array[int]) -> None:
    """Two passes: equal hashes are few, and only those items are looked at again."""
    import numpy as np

    order = np.sort(np.frombuffer(hashes, dtype=np.int64))
    suspects = set(order[:-1][order[:-1] == order[1:]].tolist())
    if not suspects:
        return
    seen: dict[str, int] = {}
    for index, one in enumerate(hashes):
        if one in suspects:
            item_id = evalset[index].id
            if item_id in seen:
                raise InputError(
                    evalset.path,
                    line=evalset.line_of(index),
                    field="id",
                    found=f"{item_id!r} again (first on line {evalset.line_of(seen[item_id])})",
                    expected="an id of its own",
                )
            seen[item_id] = index
