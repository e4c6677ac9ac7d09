"""The rows of a samples file: one for each filter of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from benchbook.canonical import ready
from benchbook.errors import InputError
from benchbook.exchange.json_stream import JsonArray
from benchbook.exchange.json_text import check_values, decoded
from benchbook.text import quoted

_MOST_BYTES = 64 << 20  # of a row
_WHITE_SPACE = b" \t\r\n"
_ODD = re.compile(r'["\\\x00-\x1f]')
OF_EVERY_ROW = (
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
)  # fmt: skip

DocId = int | str


class RowStart(NamedTuple):
    """Where a row stands."""

    number: int  # of the line, from 1; of a list, of its element
    offset: int  # its first byte; 0 in a list, which is read from its beginning


_FIRST = RowStart(1, 0)


class Argument(msgspec.Struct, gc=False):
    """One request: mostly a text, and how to go on from it or the text to be weighed."""

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


class FileOfRows:
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

    def rows(self, begins: RowStart = _FIRST) -> Iterator[tuple[RowStart, bytes]]:
        """The bytes of each row, from one on. Raises: InputError."""
        return self._elements(begins) if self.is_list else self._lines(begins)

    def _elements(self, begins: RowStart) -> Iterator[tuple[RowStart, bytes]]:
        elements = JsonArray(self.path, most_bytes=_MOST_BYTES, is_all=True)
        for number, data in islice(enumerate(elements, 1), begins.number - 1, None):
            yield RowStart(number, 0), data

    def _lines(self, begins: RowStart) -> Iterator[tuple[RowStart, bytes]]:
        number, offset = begins
        with _opened(self.path) as file:
            file.seek(offset)
            while line := file.readline(_MOST_BYTES + 1):
                if len(line) > _MOST_BYTES:
                    raise InputError(self.path, line=number, found="a line of more than 64 MB", expected="one sample")
                if not line.isspace():
                    yield RowStart(number, offset), line
                number += 1
                offset += len(line)

    def named(self, place: RowStart) -> dict[str, Any]:
        """A row's place, as errors name it."""
        return {"within": f"[{place.number - 1}]"} if self.is_list else {"line": place.number}


class RowReader:
    """Reads rows with the metrics of one task."""

    def __init__(self, file: FileOfRows, metrics: Sequence[str], *, whole: bool) -> None:
        self.file = file
        self.metrics = [name for name in metrics if name not in OF_EVERY_ROW]
        odd = next((name for name in self.metrics if _ODD.search(name)), None)
        if odd is not None:
            raise InputError(
                file.path,
                found=f"a metric named {quoted(odd)}",
                expected="no quotes, backslashes or control characters",
            )
        fields = [
            (f"metric_{number}", Any, msgspec.field(name=name, default=msgspec.UNSET))
            for number, name in enumerate(self.metrics)
        ]
        base = WholeRow if whole else Row
        self._form = msgspec.defstruct("RowWithMetrics", fields, bases=(base,), kw_only=True, gc=False)
        self.fields = tuple(zip(self.metrics, (name for name, _, _ in fields), strict=True))
        self._decode = msgspec.json.Decoder(ready(self._form)).decode

    def row(self, place: RowStart, data: bytes) -> Any:
        """A `Row` or `WholeRow`, with the value of each metric. Raises: InputError."""
        check_values(data, self._form, self.file.path, **self.file.named(place))
        try:
            return self._decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return decoded(data, self._form, self.file.path, **self.file.named(place))

    def document_at(self, place: RowStart) -> str:
        """A row's document as JSON: what can be shown where the row does not say what was asked."""
        _, data = next(self.file.rows(place))
        fields = decoded(data, dict[str, msgspec.Raw], self.file.path, **self.file.named(place))
        return bytes(fields.get("doc", b"")).decode("utf-8", "replace")

    def rows(self, begins: RowStart, n: int) -> Iterator[tuple[RowStart, Any]]:
        """So many rows, from one on."""
        for place, data in islice(self.file.rows(begins), n):
            yield place, self.row(place, data)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(path, found=f"a file that can't be read ({error.strerror})") from None
