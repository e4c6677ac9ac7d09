"""Inspect's logs, known by their names and read whichever of the two kinds they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchbook.errors import InputError
from benchbook.exchange.inspect.reading_archive import InspectArchive
from benchbook.exchange.inspect.reading_forms import InspectHeader, InspectSample
from benchbook.exchange.inspect.reading_log import InspectLog
from benchbook.exchange.json_stream import JsonArray
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import ForeignLog
from benchbook.exchange.tools import Seen

_SUFFIX = ".eval"
_OWN_NAMES = (b"_journal/", b"header.json", b"samples/", b"summaries.json", b"reductions.json")
_HEADER_BYTES = 30  # of a member, before its name
_HELD_LATER = (("reductions",), ("results", "sample_reductions"))  # what was made of the samples, never read
_WRITTEN_BEFORE = {"version", "status", "eval", "plan", "results", "stats"}
_EVAL = re.compile(rb'"eval"\s*:\s*\{')
_BESIDE = re.compile(rb'"(?:plan|stats|status|version)"\s*:')
_IN_EVAL = re.compile(rb'"(?:task|task_id|run_id|model)"\s*:')
_SAMPLE = re.compile(rb'"samples"\s*:\s*\[\s*\{')
_IN_SAMPLE = re.compile(rb'"(?:epoch|target|scores)"\s*:')


def recognises(seen: Seen) -> bool:
    """True for an archive with members of Inspect's names, and for JSON with its header or samples in front."""
    head = seen.head
    if head.startswith(b"PK\3\4"):
        return seen.path.suffix == _SUFFIX or head[_HEADER_BYTES:].startswith(_OWN_NAMES)
    if seen.path.suffix == _SUFFIX:
        return b"PK\3\4" in head or b"PK\5\6" in head
    if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return False
    if _EVAL.search(head):
        return bool(_BESIDE.search(head) and _IN_EVAL.search(head))
    return bool(_SAMPLE.search(head) and len(set(_IN_SAMPLE.findall(head))) > 1)


def opened(path: Path) -> Sequence[ForeignLog]:
    """The one log that a file is. Raises: InputError."""
    try:
        with path.open("rb") as file:
            is_archive = path.suffix == _SUFFIX or file.read(4) == b"PK\3\4"
    except OSError as error:
        raise InputError(path, found=f"a file that can't be read ({error.strerror})") from None
    return [InspectArchive(path) if is_archive else InspectJson(path)]


class InspectJson(InspectLog):
    """A log that is one JSON file, whose samples are read one by one."""

    def __init__(self, path: Path) -> None:
        """Raises: InputError where it is no log of Inspect's, or no whole JSON."""
        self._array = JsonArray(path, ("samples",), without=_HELD_LATER, most_bytes=1 << 30)
        self._before = _header_before(self._array)
        rest = self._before
        if rest is None:
            for _ in self._array:  # the header stands behind the samples, or in part
                pass
            rest = self._array.rest
            _check_samples(self._array)
        super().__init__(path, decoded(rest, InspectHeader, path), "json")

    def _held(self, form: type[InspectSample]) -> Iterator[tuple[InspectSample, str]]:
        path = self._array.path
        for number, element in enumerate(self._array):
            where = f"samples[{number}]"
            yield decoded(element, form, path, within=where), where
        if self._before is not None:
            headers = [decoded(one, InspectHeader, path) for one in (self._before, self._array.rest)]
            if headers[0] != headers[1]:
                raise InputError(path, found="another header behind the samples than before them", expected="one")


def _check_samples(array: JsonArray) -> None:
    """Raises: InputError where samples are neither an array nor null."""
    held = decoded(array.rest, dict[str, msgspec.Raw], array.path).get("samples")
    if not array.found and held is not None and bytes(held) != b"null":
        raise InputError(array.path, field="samples", found="something else", expected="an array of samples, or null")


def _header_before(array: JsonArray) -> bytes | None:
    """The header, where all that Inspect writes of it stands before the samples, as it does in its own files."""
    for _ in array:
        before = array.before + b"]}"
        return before if decoded(before, dict[str, msgspec.Raw], array.path).keys() >= _WRITTEN_BEFORE else None
    return None
