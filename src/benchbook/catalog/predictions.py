"""Per-item predictions: appended as they come, read by pages (SPEC A5, A6).

A row's key is its run and its position in the plan. The same row again is no change; another row under the key of one
that is there is refused, and so is whatever came with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection, Row, insert, select

from benchbook.canonical import decode_json, ready
from benchbook.catalog.database import Catalog, predictions, runs
from benchbook.catalog.queries import checked_limit, cursor_of, position_of
from benchbook.errors import UsageError
from benchbook.evaluators.answers.scorecard import Unavailable
from benchbook.text import shorten

__all__ = ["Appended", "Prediction", "PredictionsPage", "append_predictions", "iterate_predictions", "predictions_page"]


_CHUNK = 500  # keys in one statement: SQLite takes no more than 32,766 parameters
_SHOWN = 80
_GROWING = ("running", "interrupted", "stopped")
_INT64 = msgspec.Meta(ge=0, le=(1 << 63) - 1)
_own_keys = msgspec.json.Decoder(dict[str, Any])


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """One row of `tunix_run_predictions`, under source 004's names. `predicted` is None where there is none (A3)."""

    position: Annotated[int, _INT64]  # the sample's place in the plan, from 0
    item_id: str
    expected: str
    predicted: str | None
    correctness: float
    eval_time_ms: Annotated[int, _INT64] | None = None
    own: str | None = None  # the run's own keys: a JSON object


class Appended(msgspec.Struct, frozen=True, kw_only=True):
    """`unchanged` rows were there already, exactly so."""

    added: int
    unchanged: int


class PredictionsPage(msgspec.Struct, frozen=True, kw_only=True):
    """Rows in the plan's order. `next_cursor` is None on the last page."""

    run_id: str
    rows: tuple[Prediction, ...]
    next_cursor: str | None


class _Place(msgspec.Struct, frozen=True):
    position: Annotated[int, _INT64]


_COLUMNS = tuple(predictions.c[name] for name in Prediction.__struct_fields__)


# ── appending ────────────────────────────────────────────────────────────────────────────────────────────────


def append_predictions(catalog: Catalog, run_id: str, rows: Iterable[Prediction]) -> Appended:
    """Add `rows` to a run that is going on, all of them or none.

    Raises: UsageError for a run that is not in the catalog, has no per-item table or is complete, for a value that no
    prediction can have, and for another row under a key that is taken, with both shown.
    """
    added = unchanged = 0
    with catalog.write() as connection:
        state = _lock_run(connection, run_id)
        source = iter(rows)
        while chunk := list(islice(source, _CHUNK)):
            new = _new_rows(connection, run_id, chunk)
            if new and state not in _GROWING:
                raise UsageError(
                    f"run {shorten(run_id, _SHOWN)} is {state}: its predictions are those of its record, and "
                    f"position {new[0].position} is none of them"
                )
            if new:
                values = [{"run_id": run_id, **msgspec.structs.asdict(row)} for row in new]
                connection.execute(insert(predictions), values)
            added += len(new)
            unchanged += len(chunk) - len(new)
    return Appended(added=added, unchanged=unchanged)


def _lock_run(connection: Connection, run_id: str) -> str:
    """The run's state. Other writers of the run wait until this transaction ends (in SQLite all writers do)."""
    columns = select(runs.c.state, runs.c.predictions_unavailable).where(runs.c.run_id == run_id)
    found = connection.execute(columns.with_for_update()).one_or_none()
    if found is None:
        raise _unknown(run_id)
    if found.predictions_unavailable is not None:
        raise UsageError(f"run {shorten(run_id, _SHOWN)} takes no predictions: {found.predictions_unavailable}")
    return str(found.state)


def _new_rows(connection: Connection, run_id: str, chunk: Sequence[Prediction]) -> list[Prediction]:
    """Those of `chunk` that are not there yet, each once.

    Raises: UsageError for one that differs from what is there.
    """
    keys = [_checked(row).position for row in chunk]
    query = select(*_COLUMNS).where(predictions.c.run_id == run_id, predictions.c.position.in_(keys))
    known = {row.position: _prediction(row) for row in connection.execute(query)}
    new = []
    for row in chunk:
        if row.position not in known:
            known[row.position] = row
            new.append(row)
        elif known[row.position] != row:
            raise _conflict(run_id, known[row.position], row)
    return new


def _checked(row: Prediction) -> Prediction:
    """Raises: UsageError for a row that no record could hold."""
    try:
        msgspec.convert(msgspec.structs.asdict(row), ready(Prediction))
        if row.own is not None:
            decode_json(row.own.encode("utf-8", "surrogatepass"), _own_keys)
    except msgspec.DecodeError as error:
        raise UsageError(f"position {row.position}: {error}") from None
    if not row.item_id or not math.isfinite(row.correctness):
        raise UsageError(f"position {row.position}: expected an item_id, and a finite correctness")
    return row


def _conflict(run_id: str, known: Prediction, other: Prediction) -> UsageError:
    names = [name for name in Prediction.__struct_fields__ if getattr(known, name) != getattr(other, name)]
    both = "; ".join(f"{name} is {_said(getattr(known, name))}, not {_said(getattr(other, name))}" for name in names)
    where = f"run {shorten(run_id, _SHOWN)}, position {known.position} ({shorten(known.item_id, _SHOWN)})"
    return UsageError(f"{where}: is there already, and {both}. Predictions are never changed")


def _said(value: Any) -> str:
    return f'"{shorten(value, _SHOWN)}"' if isinstance(value, str) else "null" if value is None else str(value)


def _unknown(run_id: str) -> UsageError:
    return UsageError(f"run {shorten(run_id, _SHOWN)} is not in the catalog")


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────


def predictions_page(
    catalog: Catalog, run_id: str, *, after: str | None = None, limit: int = 100, correctness: float | None = None
) -> PredictionsPage | Unavailable:
    """The next `limit` rows of a run after the cursor `after`; with `correctness`, of those that scored it.

    Raises: UsageError for a run that is not in the catalog; ConfigError for a limit or a cursor that is none.
    """
    checked_limit(limit)
    place = position_of(after, _Place) if after is not None else None
    with catalog.read() as connection:
        reason = connection.execute(select(runs.c.predictions_unavailable).where(runs.c.run_id == run_id)).one_or_none()
        if reason is None:
            raise _unknown(run_id)
        if reason[0] is not None:
            return Unavailable(reason=reason[0])
        query = select(*_COLUMNS).where(predictions.c.run_id == run_id)
        if correctness is not None:
            query = query.where(predictions.c.correctness == correctness)
        if place is not None:
            query = query.where(predictions.c.position > place.position)
        found = connection.execute(query.order_by(predictions.c.position).limit(limit + 1)).all()
    rows = tuple(_prediction(row) for row in found[:limit])
    more = cursor_of(_Place(rows[-1].position)) if len(found) > limit else None
    return PredictionsPage(run_id=run_id, rows=rows, next_cursor=more)


def iterate_predictions(
    catalog: Catalog, run_id: str, *, correctness: float | None = None, page: int = 1_000
) -> Iterator[Prediction]:
    """Every row of a run, a page in memory at a time.

    Raises: UsageError also where there is no per-item table: rows are never made up (A6).
    """
    after: str | None = None
    while True:
        found = predictions_page(catalog, run_id, after=after, limit=page, correctness=correctness)
        if isinstance(found, Unavailable):
            raise UsageError(f"run {shorten(run_id, _SHOWN)}: predictions are unavailable: {found.reason}")
        yield from found.rows
        after = found.next_cursor
        if after is None:
            return


def _prediction(row: Row[Any]) -> Prediction:
    return Prediction(**row._mapping)
