"""The anchor of people's labels: where their journal ended when the last one was acknowledged.

In a chain each line is held by the next, and nothing holds the last. A run's manifest names it once the run has ended;
a label is final at once, so a small file names it, written after each label and before it is acknowledged.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import RecordDamagedError, RecordError
from benchbook.record.facts import Fact, Label, LabelsStarted
from benchbook.record.folder import Record
from benchbook.record.reading import CR_LF, JournalLine, read_journal, refuse_what_is_no_file, why_unreadable
from benchbook.writing import cant_be_written, replacing


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """The journal has at least `journal_facts` facts, and the last of these has the hash `journal_sha256`."""

    journal_facts: int
    journal_sha256: str


_decoder = msgspec.json.Decoder(ready(Anchor))
_MISSING = (
    "is missing: nothing shows that no label is missing from the journal's end. Put it back; where there is none, "
    "`benchbook rescore` writes it again for the labels that are there"
)


def read_anchor(record: Record) -> Anchor | None:
    """A record's anchor; None where it has none.

    Raises: RecordDamagedError for one that no writer of ours wrote; RecordError for what is no file.
    """
    try:
        refuse_what_is_no_file(record.anchor)
        data = record.anchor.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordDamagedError(record.anchor, None, f"can't be read ({error.strerror})") from None
    if data.endswith(b"\r\n"):
        raise RecordDamagedError(record.anchor, 1, f"the line {CR_LF}")
    try:
        anchor: Anchor = decode_json(data, _decoder)
    except msgspec.DecodeError as error:
        raise RecordDamagedError(record.anchor, 1, why_unreadable(record.anchor, f"not an anchor ({error})")) from None
    if data != _bytes(anchor) or anchor.journal_facts < 1:
        raise RecordDamagedError(record.anchor, 1, "was changed: not the one canonical line that Benchbook writes")
    return anchor


def write_anchor(record: Record, n_facts: int, sha256: str) -> None:
    """Name the last fact of a journal that is on the disk. The old anchor stays until the new one is there, too.

    Raises: RecordError.
    """
    try:
        with replacing(record.anchor) as file:
            file.write(_bytes(Anchor(journal_facts=n_facts, journal_sha256=sha256)))
    except OSError as error:
        raise RecordError(f"{cant_be_written(record.anchor, error)}; the label is recorded") from None


def write_missing_anchor(record: Record) -> None:
    """Write the anchor of a record that has none, or has lost it, for the facts that are there.

    Raises: RecordDamagedError where there is one, and the journal is not as it says.
    """
    n_facts, sha256 = 0, ""
    for line in (read_anchored if record.anchor.exists() else _standing)(record.journal):
        n_facts, sha256 = line.fact.seq + 1, line.sha256
    write_anchor(record, n_facts, sha256)


def _bytes(anchor: Anchor) -> bytes:
    return canonical_json(anchor) + b"\n"


def read_anchored(journal: Path) -> Iterator[JournalLine]:
    """The lines of a journal of labels that stand, held against its anchor on the way.

    At the end a line that is cut does not stand, nor does an import of which labels are missing: nobody was told that
    they are recorded, and the next writer cuts them off. A journal that has gone on after its anchor is whole: its
    writer was killed between the two.

    Raises: RecordDamagedError naming file and line.
    """
    record = Record(journal.parent)
    anchor = read_anchor(record)  # before the journal, which is written before it
    last: JournalLine | None = None
    for line in _standing(journal):
        if last is None and anchor is None:
            _refuse_lost(record, line.fact)
        if anchor is not None and line.fact.seq + 1 == anchor.journal_facts:
            _hold(line, anchor, journal)
        last = line
        yield line
    if anchor is not None and (last is None or last.fact.seq + 1 < anchor.journal_facts):
        raise _cut_short(last, anchor, journal)


def anchor_of(record: Record, first: Fact) -> Anchor | None:
    """The anchor of a journal that begins with `first`; None where it never had one.

    Raises: RecordDamagedError.
    """
    anchor = read_anchor(record)
    if anchor is None:
        _refuse_lost(record, first)
    return anchor


def _refuse_lost(record: Record, first: Fact) -> None:
    if isinstance(first, LabelsStarted) and first.anchored:
        raise RecordDamagedError(record.anchor, None, _MISSING)


def _standing(journal: Path) -> Iterator[JournalLine]:
    """The whole lines, without the labels of an import that is not whole."""
    held: list[JournalLine] = []
    for line in read_journal(journal):
        held.append(line)
        if not (isinstance(line.fact, Label) and line.fact.more):
            yield from held
            held.clear()


def _hold(line: JournalLine, anchor: Anchor, journal: Path) -> None:
    if line.sha256 != anchor.journal_sha256:
        found, named = line.sha256[:12], anchor.journal_sha256[:12]
        what = f"has the hash {found}…, and anchor.json names {named}…: one of the two was changed"
        raise RecordDamagedError(_file(line, journal), line.number, what)


def _cut_short(last: JournalLine | None, anchor: Anchor, journal: Path) -> RecordDamagedError:
    n_facts = 0 if last is None else last.fact.seq + 1
    what = f"the journal ends after {n_facts} facts, and anchor.json names {anchor.journal_facts}"
    path, number = (journal / "000001.jsonl", None) if last is None else (_file(last, journal), last.number)
    return RecordDamagedError(path, number, f"{what}: lines are missing from its end, or the anchor was changed")


def _file(line: JournalLine, journal: Path) -> Path:
    path = journal / f"{line.segment:06d}.jsonl"
    return path if path.exists() else path.with_name(f"{path.name}.zst")
