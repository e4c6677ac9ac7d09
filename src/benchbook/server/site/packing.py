"""The form of a site's data: scripts, since a page that was opened from a folder may load those and nothing else.

Each calls `benchbook` with its name and its JSON, packed with gzip, in base64. Nothing of a record is code.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from benchbook.server.site.answering import Query

_T = TypeVar("_T")
_PART = 256 << 10  # bytes of JSON, or characters of texts, in a script: what opening one sample loads
_PAGING = ("limit", "offset", "cursor", "max_points")
_DEFAULTS = (("metric", "score"),)  # what is asked for by nothing, too
IDENTITY = ("run", "baseline", "by")  # which list is asked for; all else filters or sorts it


def script(name: str, data: bytes) -> bytes:
    """A script that brings JSON to the page under a name."""
    packed = base64.b64encode(gzip.compress(data, compresslevel=9, mtime=0)).decode("ascii")
    return f"benchbook({json.dumps(name)},{json.dumps(packed)})\n".encode("ascii")


def question_key(path: str, query: Query = ()) -> str:
    """A question by what counts of it, as ui/src/site/answers.ts makes it."""
    return _key(path, [one for one in query if one[0] not in _PAGING and one not in _DEFAULTS])


def list_key(path: str, query: Query) -> str:
    """A list by what counts of it, whatever it is filtered by."""
    return _key(path, [one for one in query if one[0] in IDENTITY])


def _key(path: str, query: Query) -> str:
    return "\n".join([path, *(f"{name}={value}" for name, value in sorted(query, key=lambda one: one[0]))])


def in_parts(sized: Iterable[tuple[_T, int]]) -> Iterator[list[_T]]:
    """Values in parts of some `_PART`, by the size that each comes with."""
    part: list[_T] = []
    size = 0
    for value, of_value in sized:
        part.append(value)
        size += of_value
        if size >= _PART:
            yield part
            part, size = [], 0
    if part:
        yield part


def json_object(values: Sequence[tuple[str, bytes]]) -> bytes:
    """JSON texts by their names, as one object."""
    return b"{" + b",".join(json.dumps(name).encode("ascii") + b":" + value for name, value in values) + b"}"
