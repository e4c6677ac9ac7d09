"""The first answer to each item of a record, with its item: what is judged again, by itself or beside another's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import canonical_json, decode_json
from benchbook.errors import UsageError
from benchbook.evalsets import Item
from benchbook.evaluators.kept import recorded_evalset
from benchbook.exchange.answers import RecordAnswers, outputs_of
from benchbook.record.folder import Record

_row_decoder = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """Of each item's repeats the first, where it has a text. `rows` say what each took, by the item's id, as `items`.

    The files that `found` names are there while the block of `first_answers` runs.
    """

    found: RecordAnswers
    rows: Mapping[str, dict[str, Any]]
    items: Mapping[str, Item]


@contextmanager
def first_answers(record: Record) -> Iterator[FirstAnswers]:
    """Read them. Raises: UsageError for a record without texts of one model, and as `outputs_of`."""
    with outputs_of(record) as found:
        rows = {}
        for line in Path(found.answers).read_bytes().splitlines():
            row = decode_json(line, _row_decoder)
            if row["repeat"] == 0 and (row["output"] or "").strip():
                rows[row["item_id"]] = row
        if not rows:
            raise UsageError(f"{record.path}: no item's first answer has a text, so there is nothing to judge again")
        with recorded_evalset(record, record.started()) as evalset:
            items = {item.id: item for item in evalset if item.id in rows}
        yield FirstAnswers(found, rows, items)


def drawn_ids(ids: Iterable[str], n: int | None, salt: str) -> list[str]:
    """`n` of the items (all, where there are fewer, or `n` is None), in the order of the draw.

    Chance comes from hashes of the salt and the id: no library's next version changes the draw.
    """
    return sorted(ids, key=lambda one: hashlib.sha256(f"{salt}/{one}".encode("utf-8", "surrogatepass")).digest())[:n]


def written_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> str:
    """Write rows as JSON lines, and return the path."""
    path.write_bytes(b"".join(canonical_json(row) + b"\n" for row in rows))
    return str(path)
