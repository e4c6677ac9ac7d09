"""The format of records: which ones this version reads, and the refusal of a later one.

A record's first fact names its format. Whatever a version before did not know raises the number: other facts, other
fields with another meaning, other numbers that are derived. Formats that were once written are read by every later
version (docs/explanation/versions.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import decode_json, ready
from benchbook.errors import LaterRecordError
from benchbook.text import shorten

FORMAT = 5  # the newest that is known
SHARDS_OR_BATCHES = 5  # of the records that have either
DERIVATION = 4  # the newest by which numbers are derived: the format of most records


class _FirstFact(msgspec.Struct):
    """Where a first fact names its format: a run's as the derivation, people's labels as `format`.

    A run has a `format`, too, where its journal has what older versions can't read: it then is the higher number.
    """

    format: Any = 1
    identity: Any = None
    code_version: Any = None


_decoder = msgspec.json.Decoder(ready(_FirstFact))


def refuse_later(record: Path, first_line: bytes) -> None:
    """Refuse a record whose first line names a format that this version does not know. Any other line passes.

    Raises: LaterRecordError.
    """
    try:
        first = decode_json(first_line, _decoder)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    identity = first.identity if isinstance(first.identity, dict) else {}
    found = [one for one in (first.format, identity.get("derivation")) if type(one) is int]
    if (named := max(found, default=1)) > FORMAT:
        made_by = first.code_version.get("benchbook") if isinstance(first.code_version, dict) else None
        raise LaterRecordError(record, named, FORMAT, shorten(made_by, 40) if isinstance(made_by, str) else None)
