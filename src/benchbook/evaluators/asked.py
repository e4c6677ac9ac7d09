"""Rows of samples with what was asked: prompt, context and expected answer, out of the eval set that the record keeps.

samples.parquet has no text that stands in an input already: whoever shows rows, or writes them elsewhere, joins them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.kept import recorded_evalset
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs.folders import as_text
from benchbook.text import storable

if TYPE_CHECKING:
    import polars

ANSWERS = ("candidate_answer", "predicted")  # what was asked stands before
# Our names to those of a row that has it itself.
_ASKED: Mapping[str, tuple[str, ...]] = {
    "prompt": ("prompt",),
    "context": ("context",),
    "expected_answer": ("expected_answer", "expected"),
}


def asked_of(item: Item) -> dict[str, str | None]:
    """An item's prompt, context and expected answer as texts that can be stored; None for what it has not."""
    values = {name: getattr(item, name) for name in _ASKED}
    return {name: None if value is None else storable(as_text(value)) for name, value in values.items()}


def columns_with_asked(columns: Sequence[str], started: RunStarted) -> tuple[str, ...]:
    """The columns of a row with what was asked, before the answer; as they are where no eval set was asked."""
    if "evalset" not in started.inputs:
        return tuple(columns)
    added = [name for name, known in _ASKED.items() if not set(known) & set(columns)]
    place = next((columns.index(name) for name in ANSWERS if name in columns), len(columns))
    return (*columns[:place], *added, *columns[place:])


def rows_with_asked(
    record: Record, rows: Iterable[Mapping[str, Any]], columns: Sequence[str], evalset: EvalSet | None = None
) -> Iterator[dict[str, Any]]:
    """Each row with these columns, those of its item that it lacks out of the set: one row and one item at a time.

    `evalset` is the record's where the caller has it open. Raises: RecordError, InputError.
    """
    with _opened(record, evalset) as asked:
        for row in rows:
            if asked is not None:
                row = asked_of(asked[row["sample"] % len(asked)]) | dict(row)
            yield {name: row[name] for name in columns}


def frame_with_asked(
    rows: polars.DataFrame, columns: Sequence[str], started: RunStarted, evalset: EvalSet | None
) -> polars.DataFrame:
    """The same of a table, which has `sample`. `evalset` is the record's; None where no set was asked.

    Raises: RecordError, InputError.
    """
    import polars as pl

    lacking = [name for name in columns if name not in rows.columns]
    if lacking and evalset is not None and not _nobody_has(lacking, started):
        items = (asked_of(evalset[sample % len(evalset)]) for sample in rows["sample"])
        found = [[one[name] for name in lacking] for one in items]
        rows = rows.hstack(pl.DataFrame(found, dict.fromkeys(lacking, pl.String), orient="row"))
    else:
        rows = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in lacking)
    return rows.select(columns)


def _nobody_has(names: Sequence[str], started: RunStarted) -> bool:
    """True where the set's own count says that no item has any of these."""
    fields = (started.identity.get("evalset_contents") or {}).get("fields") or {}
    return all(fields.get(name) == 0 for name in names)


def _opened(record: Record, evalset: EvalSet | None) -> AbstractContextManager[EvalSet | None]:
    if evalset is not None:
        return nullcontext(evalset)
    started = record.started()
    return recorded_evalset(record, started) if "evalset" in started.inputs else nullcontext()


def asked_frame(record: Record) -> polars.DataFrame:
    """A row an item, `item_id` and what was asked, to be joined with samples. Raises: RecordError, InputError."""
    import polars as pl

    with recorded_evalset(record, record.started()) as evalset:
        rows = [(storable(item.id), *asked_of(item).values()) for item in evalset]
    return pl.DataFrame(rows, dict.fromkeys(("item_id", *_ASKED), pl.String), orient="row")
