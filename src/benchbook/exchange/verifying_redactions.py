"""Holds a redacted copy of a record against itself, and against the hash that was published for the record."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import storable_json
from benchbook.errors import RecordDamagedError, RecordError
from benchbook.evaluators.attestation import statements_on
from benchbook.evaluators.journal_files import left_behind_in
from benchbook.evaluators.signing import check_statements
from benchbook.evaluators.verify import Verification, check_hash
from benchbook.exchange.redaction import AS_THEY_ARE, DERIVED, FILE, LINES, Redaction, files_in, read_redaction
from benchbook.record.derived_files import Discrepancy, sha256_of
from benchbook.record.facts import FIRST_PREV
from benchbook.record.reading import SHARDS, read_segment, segment_files
from benchbook.record.redacted_lines import RedactedLine, read_redacted
from benchbook.record.sets import RecordSet, newest_set
from benchbook.text import plural


class _Read:
    """The journals as far as they were read: facts, texts that are lacking, the hashes of lines, the first fact."""

    def __init__(self) -> None:
        self.n_facts = self.n_redacted = 0
        self.hashes: set[str] = set()
        self.first: dict[str, Any] = {}

    def add(self, line: RedactedLine) -> None:
        self.n_facts += 1
        self.n_redacted += line.is_redacted
        self.hashes.add(line.sha256)
        self.first = self.first or line.fact


def verify_redacted(path: Path, *, expect: str | None = None, facts: Path | None = None) -> Verification:
    """Check each file, the chain of each journal, and what the derived files say of them. With `facts`, a file of lines
    as the journal has them, each must be one of this record's.

    What can't be computed again is named, and so is every byte that was changed. Raises: RecordError where it is no
    redacted copy.
    """
    redaction, read = read_redaction(path), _Read()
    findings = list(_check_files(path, redaction))
    try:
        findings += findings or _check_content(path, redaction, read)
    except RecordDamagedError as error:
        where = Path(error.path)
        name = where.relative_to(path).as_posix() if where.is_relative_to(path) else error.path
        findings.append(Discrepancy(name, error.line, error.reason))
    except Exception as error:  # whatever hostile files provoke, it is a finding
        findings.append(Discrepancy(FILE, None, f"its files make no sense ({type(error).__name__}: {error})"))
    findings += [] if expect is None else check_hash(redaction.sha256, expect)
    findings += [] if facts is None else _check_disclosed(facts, read)
    left_out = ", ".join(sorted(redaction.left_out)) or "none"
    lacking = (
        f"Left out are the texts of {plural(read.n_redacted, 'fact')}, and these inputs: {left_out}. So scores, "
        "aggregates and the decision were not computed again; and that the numbers beside a text are those of the line "
        "with this hash is shown by whoever shows the line (--facts)"
    )
    return Verification(
        tuple(dict.fromkeys(findings)), redaction.sha256, read.n_facts, "complete", lacking, tuple(left_behind_in(path))
    )


def _check_content(path: Path, redaction: Redaction, read: _Read) -> list[Discrepancy]:
    return [
        *_check_chain(path, redaction, read),
        *_check_derived(path / DERIVED, redaction),
        *check_statements(path, redaction.sha256, statements_on(path / DERIVED)),
    ]


def _check_files(path: Path, redaction: Redaction) -> Iterator[Discrepancy]:
    there = set(files_in(path))
    for name, sha256 in redaction.files.items():
        if name not in there:
            yield Discrepancy(name, None, "is missing")
        elif (found := sha256_of(path / name)) != sha256:
            yield Discrepancy(name, None, f"was changed: its bytes hash to {found}")
        elif name.startswith("inputs/") and name != f"inputs/{sha256}":
            yield Discrepancy(name, None, "is called by another hash than it has")
    for name in sorted(there - set(redaction.files)):
        if not left_behind_in(path, name):
            yield Discrepancy(name, None, "does not belong to the record")


def _check_chain(path: Path, redaction: Redaction, read: _Read) -> Iterator[Discrepancy]:
    """Follow each journal to its end, which must be the record's hash, or what its set names."""
    lines = path / LINES
    joined = newest_set(lines) if (lines / SHARDS).is_dir() else None
    if joined is not None:
        yield from _check_shards(lines, joined, redaction, read)
    elif (found := _end_of(lines / "journal", read)) != redaction.sha256:
        yield Discrepancy(f"{LINES}/journal", None, f"ends with {found}, and the record's hash is {redaction.sha256}")
    started = read.first
    if started.get("run_id") != redaction.run_id:
        yield Discrepancy(FILE, None, "names another run than the first fact")
    inputs = started.get("inputs", {})
    lacking = {name: sha256 for name, sha256 in inputs.items() if f"inputs/{sha256}" not in redaction.files}
    if lacking != redaction.left_out:
        yield Discrepancy(FILE, None, "left_out is not what the first fact names, and is not here")


def _check_shards(lines: Path, joined: RecordSet, redaction: Redaction, read: _Read) -> Iterator[Discrepancy]:
    if joined.root != redaction.sha256:
        yield Discrepancy(
            f"{LINES}/sets", None, f"have the root {joined.root}, and the record's hash is {redaction.sha256}"
        )
    for one in joined.shards:
        name = f"{SHARDS}/{one.shard}/journal"
        if (found := _end_of(lines / name, read)) != one.sha256:
            yield Discrepancy(f"{LINES}/{name}", None, f"ends with {found}, and {one.sha256} was joined")


def _end_of(journal: Path, read: _Read) -> str:
    prev, seq = FIRST_PREV, 0
    for path in segment_files(journal):
        lines = read_segment(path).split(b"\n")
        if lines.pop():
            raise RecordDamagedError(path, len(lines) + 1, "the line is cut")
        for line in read_redacted(str(path), lines, prev, seq):
            read.add(line)
            prev, seq = line.sha256, seq + 1
    return prev


def _check_derived(folder: Path, redaction: Redaction) -> Iterator[Discrepancy]:
    manifest = msgspec.json.decode((folder / "manifest.json").read_bytes(), type=dict[str, Any])
    unsigned = hashlib.sha256(storable_json(manifest | {"manifest_sha256": ""})).hexdigest()
    if manifest.get("manifest_sha256") != unsigned:
        yield Discrepancy(f"{DERIVED}/manifest.json", None, "does not have the hash that stands in it")
    if manifest.get("journal_sha256") != redaction.sha256:
        yield Discrepancy(f"{DERIVED}/manifest.json", None, "is of another record")
    for name in AS_THEY_ARE[1:]:
        if manifest.get("derived", {}).get(name) != sha256_of(folder / name):
            yield Discrepancy(f"{DERIVED}/{name}", None, "does not have the hash that manifest.json names")


def _check_disclosed(facts: Path, read: _Read) -> Iterator[Discrepancy]:
    try:
        lines = facts.read_bytes().splitlines()
    except OSError as error:
        raise RecordError(f"{facts}: can't be read ({error.strerror})") from None
    for number, line in enumerate(lines, start=1):
        if hashlib.sha256(line).hexdigest() not in read.hashes:
            yield Discrepancy(str(facts), number, "is no line of this record")
