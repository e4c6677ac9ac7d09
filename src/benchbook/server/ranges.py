"""Parts of files: one range of bytes at a time (RFC 9110, 14)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from benchbook.server.problems import ProblemError

_BYTES = re.compile(r"bytes[ \t]*=[ \t]*(.*)", re.IGNORECASE | re.DOTALL)
_RANGE = re.compile(r"([0-9]{0,20})-([0-9]{0,20})")


class ByteRange(NamedTuple):
    """The bytes from `first` up to `end` of so many."""

    first: int
    end: int
    of: int

    @property
    def headers(self) -> dict[str, str]:
        return {
            "content-range": f"bytes {self.first}-{self.end - 1}/{self.of}",
            "content-length": str(self.end - self.first),
        }


def part_asked(headers: Mapping[str, str], etag: str | None, length: int) -> ByteRange | None:
    """The part of a file of `length` bytes that a GET asks for; None for all of it.

    `if-range` must name this very state, else all of it goes out. Raises: ProblemError (416) for several ranges, for
    none that can be read, and for one behind the end.
    """
    asked = _BYTES.fullmatch(headers.get("range", "").strip())
    if asked is None or headers.get("if-range", etag) != etag:
        return None
    ranges = [one.strip() for one in asked[1].split(",") if one.strip()]
    if len(ranges) != 1:
        raise _refused(f"{len(ranges)} ranges: expected one at a time", length)
    found = _RANGE.fullmatch(ranges[0])
    first, last = found.groups() if found else ("", "")
    if not first and not last:
        raise _refused("no range: expected bytes=FIRST-LAST, FIRST- or -N", length)
    if not first:
        begin, end = max(0, length - int(last)), length
    else:
        begin, end = int(first), min(length, int(last) + 1) if last else length
    if first and last and int(last) < int(first):
        raise _refused("the range ends before it begins", length)
    if begin >= end:
        raise _refused(f"the range is behind the end: there are {length} bytes", length)
    return ByteRange(begin, end, length)


def _refused(why: str, length: int) -> ProblemError:
    headers = {"content-range": f"bytes */{length}"}
    return ProblemError(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, f"range: {why}", headers)
