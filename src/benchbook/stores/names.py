"""Names of a record's objects. Whoever can write to a bucket can name one anything: only known forms are taken.

    inputs/<sha256>                     what was read
    journal/000001/000000000000.zst     whole lines of a journal's first segment, from this byte on
    journal/000001.jsonl.zst            the sealed segment
    shards/K/journal/…                  the same of a shard
    sets/000001.json                    what was joined
    signatures/…, manifest.json, …      everything else: signatures, and what is derived

Behind the address of the record, as its files lie in its folder, but for journals (`parts`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchbook.errors import StoreError
from benchbook.record.folder import is_left_behind
from benchbook.record.reading import MAX_SEGMENTS, SHARDS
from benchbook.record.sets import SETS

INPUTS, JOURNAL = "inputs", "journal"
_INPUT = re.compile(r"inputs/[0-9a-f]{64}", re.ASCII)
_OF_JOURNAL = re.compile(
    r"(?P<journal>(shards/[1-9][0-9]{0,8}/)?journal)/(?P<segment>[0-9]{6})(/(?P<offset>[0-9]{12})\.zst|\.jsonl\.zst)",
    re.ASCII,
)
_SET = re.compile(r"sets/[0-9]{6}\.json", re.ASCII)
_WORD = r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,149}"
_OTHER = re.compile(rf"({_WORD}/){{0,3}}{_WORD}", re.ASCII)
_OURS = frozenset({INPUTS, JOURNAL, SETS, SHARDS})


@dataclass(slots=True)
class PutSegment:
    """The objects of one segment: the offset of each part, and whether the sealed one is there."""

    parts: list[int] = field(default_factory=list)
    is_sealed: bool = False


@dataclass(slots=True)
class Listing:
    """The objects of one record, told apart by their names."""

    inputs: set[str] = field(default_factory=set)  # their hashes
    journals: dict[str, dict[int, PutSegment]] = field(default_factory=dict)  # by the journal's place in the record
    sets: list[str] = field(default_factory=list)
    others: dict[str, int] = field(default_factory=dict)  # and their sizes


def part_name(segment: int, offset: int) -> str:
    """The name of a part, within its journal."""
    return f"{segment:06d}/{offset:012d}.zst"


def sealed_name(segment: int) -> str:
    """The name of a sealed segment, within its journal: that of its file."""
    return f"{segment:06d}.jsonl.zst"


def is_other(name: str) -> bool:
    """True for the name of a file of a record that is neither an input, a journal's nor a set's."""
    return _OTHER.fullmatch(name) is not None and name.partition("/")[0] not in _OURS and not name.endswith(".")


def listed(objects: Mapping[str, int]) -> Listing:
    """The objects of a record. Raises: StoreError for a name that none has, and where parts have no place."""
    found = Listing()
    for name in sorted(objects):
        if _INPUT.fullmatch(name):
            found.inputs.add(name.rpartition("/")[2])
        elif (match := _OF_JOURNAL.fullmatch(name)) is not None:
            segments = found.journals.setdefault(match["journal"], {})
            segment = segments.setdefault(int(match["segment"]), PutSegment())
            if match["offset"] is None:
                segment.is_sealed = True
            else:
                segment.parts.append(int(match["offset"]))
        elif _SET.fullmatch(name):
            found.sets.append(name)
        elif not objects[name] and "." not in name.rpartition("/")[2]:
            pass  # a folder, as consoles show one
        elif is_other(name):
            found.others[name] = objects[name]
        elif not any(map(is_left_behind, name.split("/"))):
            raise StoreError(f"the object {name[:200]!r}: expected a name as records have them; nothing was pulled")
    for journal, segments in found.journals.items():
        _check_numbers(journal, segments)
    return found


def _check_numbers(journal: str, segments: Iterable[int]) -> None:
    numbers = sorted(segments)
    if numbers != list(range(1, len(numbers) + 1)) or len(numbers) > MAX_SEGMENTS:
        lacking = next((n for n, there in enumerate(numbers, start=1) if n != there), MAX_SEGMENTS)
        raise StoreError(f"{journal}: segment {lacking} is missing in the store")
