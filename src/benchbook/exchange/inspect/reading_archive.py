"""An `.eval` archive: which of its members are samples, and how a sample that lies in several is put together.

A name may be there twice, for a sample that was run again: the last counts. A log that is still being written has no
`header.json`, and says in `_journal/start.json` what is evaluated.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from benchbook.errors import InputError
from benchbook.exchange.inspect.reading_forms import InspectHeader, InspectSample, InspectSampleWhole
from benchbook.exchange.inspect.reading_log import InspectLog
from benchbook.exchange.inspect.reading_zip import Member, ZipArchive
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import LogNote
from benchbook.text import plural, shorten

_Type = TypeVar("_Type")

HEADER, START = "header.json", "_journal/start.json"
_SAMPLES = "samples/"
_AT_ONCE = 1 << 16  # names that are counted at once
# Of a sample that lies in several members: `sample.json` is the sample but for what stands in the others.
_PART = re.compile(
    r"(samples/.+_epoch_\d+)/"
    r"(?:(sample|metadata)\.json|skeleton\.json|(attachments)/(\d+)\.json|(?:messages|events|calls)/\w+\.json)",
    re.DOTALL,
)
_STRANGE = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\]|^[A-Za-z]:|\\|\0")


class InspectArchive(InspectLog):
    """A log that is an archive, open until `close`."""

    def __init__(self, path: Path) -> None:
        """Raises: InputError where it is no archive of Inspect's, or is damaged."""
        self._archive = ZipArchive(path)
        try:
            self._index = _Index(self._archive)
            super().__init__(path, self._header(), "eval")
            self._own_notes += self._archive_notes()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._archive.close()

    def _header(self) -> InspectHeader:
        if (member := self._index.found.get(HEADER)) is not None:
            return self._decoded(member, InspectHeader)
        if (member := self._index.found.get(START)) is None:
            found = f"an archive without {HEADER} and {START}"
            raise InputError(self._archive.path, found=found, expected="a log of Inspect")
        header = self._decoded(member, InspectHeader)
        header.status, header.results = "started", None
        return header

    def _held(self, form: type[InspectSample]) -> Iterator[tuple[InspectSample, str]]:
        left = dict(self._index.doubled)
        for member in self._archive.members():
            if not member.name.startswith(_SAMPLES) or not member.name.endswith(".json"):
                continue
            code = hash(member.name)
            if code in left:
                left[code] -= 1
                if left[code]:
                    continue
            part = _PART.fullmatch(member.name)
            if part is None:
                yield self._decoded(member, form), _where(member)
            elif part[2] == "sample":
                yield self._put_together(member, part[1], form), _where(member)

    def _put_together(self, shell: Member, prefix: str, form: type[InspectSample]) -> InspectSample:
        """A sample of several members: with its metadata and attachments, which are all that is read of the others."""
        sample = self._decoded(shell, form)
        pieces: dict[int, list[Any]] = {}
        for member in self._index.parts_of(prefix):
            part = _PART.fullmatch(member.name)
            if part is not None and part[3]:
                pieces[int(part[4])] = self._decoded(member, list[Any])
            elif part is not None and part[2] == "metadata" and isinstance(sample, InspectSampleWhole):
                sample.metadata = self._decoded(member, dict[str, Any])
        if pieces:
            sample.attach({str(first + n): one for first, some in pieces.items() for n, one in enumerate(some)})
        return sample

    def _decoded(self, member: Member, form: type[_Type]) -> _Type:
        return decoded(self._archive.read(member), form, self._archive.path, within=_where(member))

    def _archive_notes(self) -> Iterator[LogNote]:
        if HEADER not in self._index.found:
            words = "The log is still being written, or its writer was stopped: it claims no numbers yet."
            yield LogNote(code="being_written", words=words)
        if not self._archive.is_whole:
            words = "The archive has no directory: it is cut off, or not whole yet. Read is what is whole of it."
            yield LogNote(code="cut_off", words=words)
        if n := sum(times - 1 for times in self._index.doubled.values()):
            stand = "stands" if n == 1 else "stand"
            words = (
                f"{plural(n, 'member')} of the archive {stand} in it again later under the same name: the last counts."
            )
            yield LogNote(code="doubled_member", words=words, n=n)
        if n := self._index.n_strange:
            words = (
                f"{plural(n, 'name')} in the archive would lead elsewhere, were they names of files: none is written."
            )
            yield LogNote(code="strange_name", words=words, n=n)


class _Index:
    """All that one pass over the directory shows: the members of which there is one, names that are there again, and
    where the parts of samples in several members stand. Of a sample in one member nothing stays but a number."""

    def __init__(self, archive: ZipArchive) -> None:
        self._archive = archive
        self.found: dict[str, Member] = {}
        self.n_strange = 0
        self._parts: dict[str, array[int]] = {}  # by the sample's prefix: the members' places in the directory
        codes = array("q")
        for place, member in enumerate(archive.members()):
            name = member.name
            codes.append(hash(name))
            if name in (HEADER, START):
                self.found[name] = member
            if _STRANGE.search(name):
                self.n_strange += 1
            if name.startswith(_SAMPLES) and (part := _PART.fullmatch(name)) and (part[2] == "metadata" or part[3]):
                self._parts.setdefault(part[1], array("Q")).append(place)
        self.doubled = _doubled(codes)

    def parts_of(self, prefix: str) -> Iterator[Member]:
        """The members that hold more of a sample, the last of each name."""
        places = set(self._parts.get(prefix, ()))
        if not places:
            return
        last = max(places)
        found: dict[str, Member] = {}
        for place, member in enumerate(self._archive.members()):
            if place in places:
                found[member.name] = member
            if place == last:
                break
        yield from found.values()


def _doubled(codes: array[int]) -> dict[int, int]:
    """How often each name is there that is so more than once, by its hash; a share of them at a time."""
    doubled: dict[int, int] = {}
    shares = len(codes) // _AT_ONCE + 1
    for share in range(shares):
        some = [code for code in codes if code % shares == share] if shares > 1 else codes
        if len(set(some)) < len(some):
            doubled |= {code: times for code, times in Counter(some).items() if times > 1}
    return doubled


def _where(member: Member) -> str:
    return shorten(member.name, 200)
