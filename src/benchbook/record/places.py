"""Where a fact stands in a record's journals, as a discrepancy names it."""

from __future__ import annotations

from pathlib import Path

from benchbook.record.joined_state import read_state
from benchbook.record.reading import SHARDS, place_in, read_journal


def segment_name(journal: Path, segment: int) -> str:
    """A segment's file within the record, as a discrepancy names it."""
    if journal.name != SHARDS:
        return f"journal/{segment:06d}.jsonl"
    return place_in(journal, segment).relative_to(journal.parent).as_posix()


def place_of_fact(journal: Path, seq: int) -> tuple[str, int | None]:
    """The segment and line of a fact, as a discrepancy names them."""
    if journal.name == SHARDS:
        found, segment, number = read_state(journal).index.place_of(seq)
        return place_in(found, segment).relative_to(journal.parent).as_posix(), number
    for line in read_journal(journal):
        if line.fact.seq == seq:
            return segment_name(journal, line.segment), line.number
    return journal.name, None
