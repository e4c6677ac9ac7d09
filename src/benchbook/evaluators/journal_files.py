"""Checks the files of a journal: sealed segments have the bytes that it names, and nothing else lies there."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from itertools import zip_longest
from pathlib import Path

import msgspec

from benchbook.canonical import decode_json
from benchbook.errors import RecordDamagedError
from benchbook.record.derived_files import Discrepancy
from benchbook.record.facts import Sealed, fact_decoder
from benchbook.record.folder import Record, is_left_behind
from benchbook.record.reading import first_line, read_segment, segment_files, segment_number


def left_behind(record: Record) -> Iterator[str]:
    """Words on each file that a desktop left in the record, or an editor."""
    for folder in (record.path, record.journal, record.inputs):
        for path in _entries(folder):
            if is_left_behind(path.name):
                yield f"{place_inside(record, str(path))}: no part of the record"


def left_behind_in(folder: Path, name: str | None = None) -> list[str]:
    """The same of any folder, with those below it; or whether one file there is such, as a list of its own words."""
    paths = [folder / name] if name is not None else sorted(folder.rglob("*"))
    return [f"{path.relative_to(folder)}: no part of the record" for path in paths if is_left_behind(path.name)]


def _entries(folder: Path) -> list[Path]:
    """The names in a folder, in order; none where it is no folder, or can't be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def foreign(folder: Path, known: Collection[str]) -> list[Path]:
    """The entries of a folder that don't belong to a record."""
    return [path for path in _entries(folder) if path.name not in known and not is_left_behind(path.name)]


def place_inside(record: Record, path: str) -> str:
    file = Path(path)
    return str(file.relative_to(record.path)) if file.is_relative_to(record.path) else file.name


def check_journal_files(
    record: Record, mending: str = "resume the run to mend it", *, seals: bool = True
) -> list[Discrepancy]:
    """Check that nothing else lies there, that the last line is whole (`mending` says what it needs if not), and with
    `seals` that sealed segments have the bytes that the journal names."""
    findings: list[Discrepancy] = []
    if not record.journal.is_dir():
        return [Discrepancy("journal", None, "is missing: without it nothing shows where the numbers are from")]
    try:
        known = set(segment_files(record.journal))
        last = max(known, default=None)
        for path in foreign(record.journal, {path.name for path in known}):
            findings.append(Discrepancy(place_inside(record, str(path)), None, "does not belong to the journal"))
        if last is not None and len(known) > 1 and not last.stat().st_size:
            findings.append(
                Discrepancy(
                    place_inside(record, str(last)), None, "is empty; a segment begins with the last one's seal"
                )
            )
        if last is not None and (torn := _torn_line(last)) is not None:
            findings.append(Discrepancy(place_inside(record, str(last)), torn, f"the last line is cut; {mending}"))
        return findings + (_check_seals(record, known) if seals else [])
    except RecordDamagedError as error:
        findings.append(Discrepancy(place_inside(record, error.path), error.line, error.reason))
    except OSError as error:
        where = place_inside(record, str(error.filename or record.journal))
        findings.append(Discrepancy(where, None, f"can't be read ({error.strerror})"))
    return findings


def _torn_line(path: Path) -> int | None:
    data = read_segment(path)
    return None if not data or data.endswith(b"\n") else data.count(b"\n") + 1


def _check_seals(record: Record, files: set[Path]) -> list[Discrepancy]:
    """Check each sealed segment against the hashes in the next one's first line, wherever else the chain is broken."""
    findings = []
    segments = sorted(files)
    for path, following in zip_longest(segments, segments[1:]):
        if path.suffix != ".zst":
            continue
        if following is None:
            missing = f"journal/{segment_number(path) + 1:06d}.jsonl"
            findings.append(Discrepancy(missing, None, f"is missing: it begins with the seal of {path.name}"))
        elif (seal := _seal_in(following)) is not None:
            if seal.sha256 != hashlib.sha256(path.read_bytes()).hexdigest():
                findings.append(
                    Discrepancy(place_inside(record, str(path)), None, "its bytes are not those that were sealed")
                )
            elif seal.lines_sha256 != hashlib.sha256(read_segment(path)).hexdigest():
                where = place_inside(record, str(following))
                findings.append(Discrepancy(where, 1, f"lines_sha256 is not the hash of the lines of {path.name}"))
    return findings


def _seal_in(segment: Path) -> Sealed | None:
    """The seal in a segment's first line; None where that can't be read, which is reported with its line."""
    try:
        fact = decode_json(first_line(segment).removesuffix(b"\n"), fact_decoder)
    except (RecordDamagedError, msgspec.DecodeError):
        return None
    return fact if isinstance(fact, Sealed) else None
