"""records: what happened, on disk.

fact      one journal line, bound to the one before by its hash. Not: event, entry.
journal   the facts of a record, in segments. Append-only.
record    a run's folder: journal, inputs, and what was derived from them. Not: log, run dir.
"""

from benchbook.canonical import canonical_json, decode_json
from benchbook.records.facts import (
    Fact,
    Failure,
    Interrupted,
    Reply,
    Resumed,
    RunEnded,
    RunStarted,
    Sealed,
)
from benchbook.records.folder import Record, create_record, open_record
from benchbook.records.journal import JournalWriter
from benchbook.records.reading import FactIndex, Line, read_journal

__all__ = [
    "Fact",
    "FactIndex",
    "Failure",
    "Interrupted",
    "JournalWriter",
    "Line",
    "Record",
    "Reply",
    "Resumed",
    "RunEnded",
    "RunStarted",
    "Sealed",
    "canonical_json",
    "create_record",
    "decode_json",
    "open_record",
    "read_journal",
]
