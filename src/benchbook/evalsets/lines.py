"""The lines of a file as they stand, each held in memory only up to a limit (SPEC A10)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from benchbook.errors import UsageError

__all__ = ["MAX_LINE_BYTES", "Line", "encoding_fault", "ends_a_line", "read_lines", "utf8_fault"]


MAX_LINE_BYTES = 16 * 1024**2  # with its line end

_BOM = b"\xef\xbb\xbf"
_WIDE = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"{\x00": "UTF-16",
    b"\x00{": "UTF-16",
}


class Line(NamedTuple):
    """`number` counts from 1. `data` has no line end and no byte-order mark of the file; None: it is over the limit."""

    number: int
    data: bytes | None
    bom: bool
    crlf: bool


def read_lines(path: str | Path) -> Iterator[Line]:
    """Lines end at LF alone: U+2028 and its kin may stand inside a JSON string.

    Raises: UsageError where the file can't be read.
    """
    try:
        with Path(path).open("rb") as file:
            number = 0
            while data := file.readline(MAX_LINE_BYTES):
                number += 1
                if len(data) == MAX_LINE_BYTES and not data.endswith(b"\n"):
                    yield Line(number, None, bom=False, crlf=_skip_rest(file))
                    continue
                bom = number == 1 and data.startswith(_BOM)
                body = data.removeprefix(_BOM) if bom else data
                crlf = body.endswith(b"\r\n")
                yield Line(number, body[:-2] if crlf else body.removesuffix(b"\n"), bom, crlf)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None


def _skip_rest(file: BinaryIO) -> bool:
    """Read past the end of a line; whether it ended in CR LF."""
    last = b""
    while part := file.readline(1024**2):
        last = (last + part)[-2:]
        if part.endswith(b"\n"):
            break
    return last == b"\r\n"


def encoding_fault(path: str | Path) -> str | None:
    """What is wrong with a file in an encoding of 16 or 32 bits, whose bytes have no lines of their own; else None.

    Raises: UsageError where the file can't be read.
    """
    try:
        with Path(path).open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror or error})") from None
    for mark, name in _WIDE.items():
        if start.startswith(mark):
            return f"the file is {name}, and was not read further; save it as UTF-8"
    return None


def ends_a_line(path: str | Path) -> bool:
    """Whether a file's last line is whole. One that is being written mostly ends in the middle of it.

    Raises: OSError.
    """
    with Path(path).open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 1, 0))
        return file.read(1) in (b"", b"\n", b"\r")


def utf8_fault(data: bytes) -> str | None:
    """Where a line is not UTF-8, its bytes counted from 1; None for one that is."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte {data[error.start]:#04x} at byte {error.start + 1} of the line; expected UTF-8"
    return None
