"""What `verify` says of a record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchbook.records.reading import read_journal

__all__ = ["Finding", "place_of_fact"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was written. `line` counts from 1 within the file; None: the file as a whole."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.what}"


def place_of_fact(journal: Path, seq: int) -> tuple[str, int | None]:
    """Segment and line of a fact, as a finding names them."""
    for line in read_journal(journal):
        if line.fact.seq == seq:
            return f"journal/{line.segment:06d}.jsonl", line.number
    return "journal", None
