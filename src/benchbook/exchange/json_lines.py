"""A log that grows by a line of JSON at a time: its last line may be cut off, and then what stands before it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from benchbook.errors import InputError
from benchbook.evalsets.lines import MAX_LINE_BYTES, ends_a_line, read_lines
from benchbook.exchange.json_text import NO_WHOLE_JSON, decoded
from benchbook.exchange.log import LogNote

_Type = TypeVar("_Type")


class LoggedLine(NamedTuple):
    """A line that is not blank, by its number from 1."""

    number: int
    data: bytes


def logged_values(
    path: Path, form: type[_Type], on_cut: Callable[[LogNote], None]
) -> Iterator[tuple[LoggedLine, _Type]]:
    """Each line with its value. `on_cut` is called with a note where the last line is cut off, and left out.

    Raises: InputError naming the line that can't be read, or is of another form.
    """
    cut: InputError | None = None
    for line in read_lines(path):
        if cut is not None:
            raise cut
        if line.data is None:
            found = "a longer line than can be held"
            raise InputError(path, line=line.number, found=found, expected=f"at most {MAX_LINE_BYTES:,} bytes")
        if not line.data.strip():
            continue
        try:
            value = decoded(line.data, form, path, line=line.number)
        except InputError as error:
            cut = error
            continue
        yield LoggedLine(line.number, line.data), value
    if cut is not None:
        if not cut.found.startswith(NO_WHOLE_JSON) or ends_a_line(path):
            raise cut
        on_cut(LogNote(code="cut_line", words=f"line {cut.line}, the last, is cut off: it is left out"))
