"""Lists of runs and leaderboards, by SQLAlchemy expressions alone: nobody's text becomes part of a statement.

In every order a null is the smallest value, so that both databases agree.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec
from sqlalchemy import BigInteger, Column, Connection, Row, Select, func, literal, select, tuple_

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.catalog.database import Catalog, runs
from benchbook.catalog.run_filters import INT64, LONGEST_TEXT, RunFilter, conditions
from benchbook.errors import ConfigError
from benchbook.record.standing import RunState

MOST_ROWS = 1_000


class CursorError(ConfigError):
    """A cursor that is none, or of another list. Commands call it `after`, a query `cursor`."""

    def __init__(self, found: str) -> None:
        super().__init__("after", found, "a cursor that an earlier page gave, for the same order")


Position = TypeVar("Position", bound=msgspec.Struct)


def checked_limit(limit: int) -> int:
    """Raises: ConfigError for a page of no rows or of too many."""
    if not 1 <= limit <= MOST_ROWS:
        raise ConfigError("limit", str(limit), f"1 to {MOST_ROWS}")
    return limit


def cursor_of(position: msgspec.Struct) -> str:
    """A place in a list, as a text that fits into a URL."""
    return base64.urlsafe_b64encode(canonical_json(position)).decode("ascii").rstrip("=")


def position_of(cursor: str, kind: type[Position]) -> Position:
    """The place that `cursor_of` was given.

    Raises: CursorError for a text that is none.
    """
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        found: Position = decode_json(data, _decoder(kind))
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise CursorError("a text that is none") from None
    return found


@cache
def _decoder(kind: type[Position]) -> msgspec.json.Decoder[Position]:
    return msgspec.json.Decoder(ready(kind))


def wrong_cursor() -> CursorError:
    """The error for a cursor that can be read, but belongs to another list or order."""
    return CursorError("a cursor of another list")


SORTS: Mapping[str, Column[Any]] = {
    "started": runs.c.started_utc,
    "score": runs.c.primary_nano,
    "model": runs.c.model_id,
    "eval_set": runs.c.dataset_id,
    "run": runs.c.run_id,
    "ended": runs.c.ended_utc,
    "evaluator": runs.c.spec,
    "judge": runs.c.evaluator_model_id,
    "decision": runs.c.decision,
    "state": runs.c.state,
    "samples": runs.c.n_attempted,
    "tokens": runs.c.n_tokens,
    "cost": runs.c.cost_nano,
}


class IndexedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as lists show it; the columns are those of `schema.runs`. A null is not known, and never zero."""

    run_id: str
    record_path: str  # from the folder of records
    spec: str | None
    samples_are: str | None  # answers, or evaluations by judges; null where the evaluator is not known here
    state: RunState
    error: str | None  # why the record is damaged, or that it stands under another's name
    started_utc: str | None
    ended_utc: str | None
    dataset_id: str | None
    dataset_sha256: str | None
    model_id: str | None
    model_version: str | None
    evaluator_model_id: str | None
    judges: tuple[str, ...]  # by name
    decision: str | None
    primary_name: str | None
    primary_nano: int | None  # billionths
    primary_low_nano: int | None
    primary_high_nano: int | None
    n_items: int | None
    n_planned: int | None  # samples
    n_attempted: int | None
    n_scored: int | None
    n_unscored: int | None
    n_evaluations: int | None  # by judges, without probes; null for answers
    n_tokens: int | None  # of models and judges
    cost_nano: int | None  # dollars
    journal_sha256: str | None
    manifest_sha256: str | None
    tags: tuple[str, ...]
    predictions_unavailable: str | None  # why there is no per-item table (A6)


class IndexedRunsPage(msgspec.Struct, frozen=True, kw_only=True):
    """`n` runs fit in all; `next_cursor` is None on the last page."""

    runs: tuple[IndexedRun, ...]
    n: int
    next_cursor: str | None


class EvaluatorRow(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluator that has runs. Two of one name, whose files differ, are two."""

    spec: str
    spec_sha256: str | None
    n_runs: int


class EvalSetRow(msgspec.Struct, frozen=True, kw_only=True):
    """An eval set that runs were made on, under one spec."""

    dataset_sha256: str
    dataset_id: str | None  # the last by name, where runs called the same bytes differently
    spec: str
    spec_sha256: str | None
    n_runs: int
    best_nano: int | None


class _Place(msgspec.Struct, frozen=True):
    """A row's place in an order."""

    sort: str
    descending: bool
    value: str | int | None
    run_id: str


_texts = msgspec.json.Decoder(tuple[str, ...])
_COLUMNS = tuple(runs.c[name] for name in IndexedRun.__struct_fields__)


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def find_run(catalog: Catalog, run_id: str) -> IndexedRun | None:
    """One run's row; None for a run that is not in the catalog."""
    with catalog.read() as connection:
        found = connection.execute(select(*_COLUMNS).where(runs.c.run_id == run_id)).one_or_none()
    return None if found is None else _run(found)


def list_runs(
    catalog: Catalog,
    wanted: RunFilter | None = None,
    *,
    sort: str = "started",
    descending: bool = True,
    after: str | None = None,
    offset: int = 0,
    limit: int = 50,
) -> IndexedRunsPage:
    """A page of runs in one of the orders of `SORTS`, runs that are alike in it by their id: behind the cursor `after`,
    or behind the first `offset`.

    Raises: ConfigError for an order, a limit, a cursor or a filter that is none.
    """
    checked_limit(limit)
    if sort not in SORTS:
        raise ConfigError("sort", repr(sort[:LONGEST_TEXT]), ", ".join(SORTS))
    place = _checked_place(after, sort, descending) if after is not None else None
    fitting = tuple(conditions(wanted or RunFilter()))
    query = select(runs.c.run_id, SORTS[sort].label("value")).where(*fitting)
    with catalog.read() as connection:
        found = _in_order(connection, query, sort, descending, place, offset, limit + 1)
        listed = _rows(connection, [row.run_id for row in found[:limit]])
        n = connection.scalar(select(func.count()).select_from(runs).where(*fitting)) or 0
    more = None
    if len(found) > limit:
        last = found[limit - 1]
        more = cursor_of(_Place(sort, descending, last.value, last.run_id))
    return IndexedRunsPage(runs=listed, n=n, next_cursor=more)


def _rows(connection: Connection, run_ids: list[str]) -> tuple[IndexedRun, ...]:
    """The rows of these runs, in this order."""
    rows = connection.execute(select(*_COLUMNS).where(runs.c.run_id.in_(run_ids))) if run_ids else ()
    found = {row.run_id: _run(row) for row in rows}
    return tuple(found[run_id] for run_id in run_ids if run_id in found)


def _checked_place(cursor: str, sort: str, descending: bool) -> _Place:
    place = position_of(cursor, _Place)
    number = isinstance(SORTS[sort].type, BigInteger)
    fits = place.value is None or (isinstance(place.value, int) if number else isinstance(place.value, str))
    if (place.sort, place.descending) != (sort, descending) or not fits:
        raise wrong_cursor()
    if isinstance(place.value, int) and abs(place.value) > INT64:
        raise wrong_cursor()
    return place


def _in_order(
    connection: Connection,
    query: Select[Any],
    sort: str,
    descending: bool,
    place: _Place | None,
    offset: int,
    limit: int,
) -> list[Row[Any]]:
    """Up to `limit` rows behind `place` and `offset` more. Rows with a value and those with null are two stretches of
    the order, each read by its index; one condition over both would make the database walk past all that came before.
    Only what stands in that index is read of rows that are passed over."""
    column = SORTS[sort]
    key = tuple_(column, runs.c.run_id)
    order = (column.desc(), runs.c.run_id.desc()) if descending else (column.asc(), runs.c.run_id.asc())
    found: list[Row[Any]] = []
    for nulls in (False, True) if descending else (True, False):
        if nulls and not column.nullable:
            continue
        part = query.where(column.is_(None) if nulls else column.is_not(None))
        if place is not None and nulls is (place.value is None):
            last = literal(place.run_id, runs.c.run_id.type)
            left, right = (runs.c.run_id, last) if nulls else (key, tuple_(literal(place.value, column.type), last))
            part = part.where(left < right if descending else left > right)
        elif place is not None and nulls is not descending:
            continue  # this stretch is over
        if len(found) < limit:
            rows = connection.execute(part.order_by(*order).limit(limit - len(found)).offset(offset)).all()
            found += rows
            if offset:
                passed = offset if rows else connection.scalar(select(func.count()).select_from(part.subquery())) or 0
                offset -= min(offset, passed)
    return found


def _run(row: Row[Any]) -> IndexedRun:
    values = dict(row._mapping)
    texts = {name: decode_json(values[name].encode("utf-8"), _texts) for name in ("judges", "tags")}
    return IndexedRun(**values | texts)


# ── leaderboards ─────────────────────────────────────────────────────────────────────────────────────────────


def eval_sets(catalog: Catalog) -> list[EvalSetRow]:
    """The eval sets that have runs, by the hash of their bytes and the spec: only those runs can be ranked together."""
    query = (
        select(
            runs.c.dataset_sha256,
            func.max(runs.c.dataset_id).label("dataset_id"),
            runs.c.spec,
            runs.c.spec_sha256,
            func.count().label("n_runs"),
            func.max(runs.c.primary_nano).label("best_nano"),
        )
        .where(runs.c.dataset_sha256.is_not(None), runs.c.spec.is_not(None))
        .group_by(runs.c.dataset_sha256, runs.c.spec, runs.c.spec_sha256)
    )
    with catalog.read() as connection:
        rows = connection.execute(query).all()
    found = [EvalSetRow(**row._mapping) for row in rows]
    return sorted(found, key=lambda row: (row.dataset_id or "", row.dataset_sha256, row.spec, row.spec_sha256 or ""))


def evaluators(catalog: Catalog) -> list[EvaluatorRow]:
    """The evaluators that have runs, by name and hash."""
    query = (
        select(runs.c.spec, runs.c.spec_sha256, func.count().label("n_runs"))
        .where(runs.c.spec.is_not(None))
        .group_by(runs.c.spec, runs.c.spec_sha256)
    )
    with catalog.read() as connection:
        rows = connection.execute(query).all()
    return sorted((EvaluatorRow(**row._mapping) for row in rows), key=lambda row: (row.spec, row.spec_sha256 or ""))


def runs_on(catalog: Catalog, dataset_sha256: str, spec: str, *, spec_sha256: str | None = None) -> list[IndexedRun]:
    """Every run on an eval set under a spec, those with the best primary number first; alike ones by their id.

    Of specs of one name the one of that hash, where it is given.
    """
    query = (
        select(*_COLUMNS)
        .where(runs.c.dataset_sha256 == dataset_sha256, runs.c.spec == spec)
        .order_by(runs.c.primary_nano.desc().nulls_last(), runs.c.run_id)
    )
    if spec_sha256 is not None:
        query = query.where(runs.c.spec_sha256 == spec_sha256)
    with catalog.read() as connection:
        return [_run(row) for row in connection.execute(query)]
