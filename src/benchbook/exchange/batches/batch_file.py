"""A file of a batch: one request or result a line, or all of them in an array of one JSON document."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from benchbook.errors import InputError, UsageError
from benchbook.evalsets.lines import JSON_WHITE_SPACE, MAX_LINE_BYTES, read_lines
from benchbook.exchange.batches.form import AskedOfBatch, BatchForm, BatchResult, JsonPath
from benchbook.exchange.json_stream import JsonArray


@dataclass(frozen=True, slots=True)
class BatchFile:
    """A file of a form's requests or results. `array` is where they stand in a document; None: one a line."""

    form: BatchForm
    path: Path
    array: JsonPath | None = None

    @property
    def name(self) -> str:
        return self.path.name

    def entries(self) -> Iterator[tuple[int, bytes]]:
        """All requests or results, with their numbers from 1. Raises: InputError; UsageError."""
        return ((number, data) for _, number, data in self.placed())

    def placed(self) -> Iterator[tuple[int, int, bytes]]:
        """The same with the byte at which each begins in `opened`. Raises: InputError; UsageError."""
        at = 0
        if self.array is not None:
            for number, data in enumerate(self._elements(), start=1):
                yield at, number, data
                at += len(data) + 1
            return
        for line in read_lines(self.path):
            if line.data is None:
                found = f"a line of more than {MAX_LINE_BYTES >> 20} MB"
                raise InputError(self.path, line=line.number, found=found, expected="one request or result a line")
            if line.data.strip(JSON_WHITE_SPACE):
                yield at, line.number, line.data
            at += len(line.data) + 1 + line.crlf + 3 * line.bom

    def opened(self) -> BinaryIO:
        """The lines, to be read at any place; those of a document's array in a file that goes when it is closed."""
        try:
            if self.array is None:
                return self.path.open("rb")
            file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
            file.writelines(data + b"\n" for data in self._elements())
        except OSError as error:
            raise UsageError(f"{self.path}: can't be read ({error.strerror or error})") from None
        return cast("BinaryIO", file)

    def read_result(self, data: bytes, number: int, request: bytes | None = None) -> BatchResult:
        """Raises: InputError that says where it is."""
        with self._placing(number):
            return self.form.read_result(data, self.path, number, request)

    def read_request(self, data: bytes, number: int) -> AskedOfBatch:
        """Raises: InputError that says where it is."""
        with self._placing(number):
            return self.form.read_request(data, self.path, number)

    def where(self, number: int) -> str:
        """The place of a request or result, in words."""
        return f"line {number}" if self.array is None else f"{'.'.join(self.array)}[{number - 1}]"

    def _elements(self) -> Iterator[bytes]:
        # No text of JSON has a line end in it, so each element fits on a line.
        found = JsonArray(self.path, self.array or (), most_bytes=MAX_LINE_BYTES)
        return (self.form.as_line(one.replace(b"\r", b" ").replace(b"\n", b" ")) for one in found)

    @contextmanager
    def _placing(self, number: int) -> Iterator[None]:
        try:
            yield
        except InputError as error:
            if self.array is None:
                raise
            field = self.where(number) + (f".{error.field}" if error.field else "")
            raise InputError(self.path, field=field, found=error.found, expected=error.expected) from None


def names_array(head: bytes, arrays: tuple[JsonPath, ...]) -> bool:
    """True if a file that begins so is one JSON document, and has the name of one of these arrays there."""
    is_object = head.lstrip(JSON_WHITE_SPACE + b"\xef\xbb\xbf").startswith(b"{")
    return is_object and any(f'"{one[-1]}"'.encode() in head for one in arrays)


def array_in(path: Path, arrays: tuple[JsonPath, ...]) -> JsonPath | None:
    """The first of these arrays that a document has, and that is not empty. Raises: InputError."""
    return next((one for one in arrays for _ in JsonArray(path, one, most_bytes=MAX_LINE_BYTES)), None)
