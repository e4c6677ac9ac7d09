"""Lists of runs and leaderboards, by SQLAlchemy expressions alone: nobody's text becomes part of a statement.

In every order a null is the smallest value, so that both databases agree.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Column, ColumnElement, Connection, Row, Select, func, literal, select, tuple_

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.catalog.database import Catalog, aggregates, runs
from benchbook.errors import ConfigError

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
}
_LONGEST_TEXT = 200
_INT64 = (1 << 63) - 1


class IndexedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as lists show it; the columns are those of `schema.runs`. A null is not known, and never zero."""

    run_id: str
    record_path: str  # from the folder of records
    spec: str | None
    samples_are: str | None  # answers, or evaluations by judges; null where the evaluator is not known here
    state: str  # running, complete, interrupted, stopped, damaged
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
    journal_sha256: str | None
    manifest_sha256: str | None
    tags: tuple[str, ...]
    predictions_unavailable: str | None  # why there is no per-item table (A6)


class IndexedRunsPage(msgspec.Struct, frozen=True, kw_only=True):
    """`next_cursor` is None on the last page."""

    runs: tuple[IndexedRun, ...]
    next_cursor: str | None


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs are listed: those that fit all that is given."""

    spec: str | None = None
    spec_sha256: str | None = None
    samples_are: str | None = None  # answers or evaluations
    model: str | None = None  # a model_id
    eval_set: str | None = None  # a dataset_id, or the SHA-256 of its bytes
    decision: str | None = None
    state: str | None = None
    text: str | None = None  # each of its words stands in the run's id, spec, model, judge, eval set or tags
    at_least: Mapping[str, int] = {}  # aggregate -> the least value in billionths


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
    limit: int = 50,
) -> IndexedRunsPage:
    """A page of runs in one of the orders of `SORTS`, runs that are alike in it by their id.

    Raises: ConfigError for an order, a limit, a cursor or a filter that is none.
    """
    checked_limit(limit)
    if sort not in SORTS:
        raise ConfigError("sort", repr(sort[:_LONGEST_TEXT]), ", ".join(SORTS))
    place = _checked_place(after, sort, descending) if after is not None else None
    query = select(*_COLUMNS).where(*_conditions(wanted or RunFilter()))
    with catalog.read() as connection:
        found = _in_order(connection, query, sort, descending, place, limit + 1)
    listed = tuple(_run(row) for row in found[:limit])
    more = None
    if len(found) > limit:
        last = found[limit - 1]
        more = cursor_of(_Place(sort, descending, last._mapping[SORTS[sort]], last.run_id))
    return IndexedRunsPage(runs=listed, next_cursor=more)


def _checked_place(cursor: str, sort: str, descending: bool) -> _Place:
    place = position_of(cursor, _Place)
    number = SORTS[sort] is runs.c.primary_nano
    fits = place.value is None or (isinstance(place.value, int) if number else isinstance(place.value, str))
    if (place.sort, place.descending) != (sort, descending) or not fits:
        raise wrong_cursor()
    if isinstance(place.value, int) and abs(place.value) > _INT64:
        raise wrong_cursor()
    return place


def _in_order(
    connection: Connection, query: Select[Any], sort: str, descending: bool, place: _Place | None, limit: int
) -> list[Row[Any]]:
    """Up to `limit` rows after `place`. Rows with a value and those with null are two stretches of the order, each
    read by its index; one condition over both would make the database walk past all that came before."""
    column = SORTS[sort]
    key = tuple_(column, runs.c.run_id)
    order = (column.desc(), runs.c.run_id.desc()) if descending else (column.asc(), runs.c.run_id.asc())
    found: list[Row[Any]] = []
    for nulls in (False, True) if descending else (True, False):
        if nulls and not column.nullable:
            continue
        part = query.where(column.is_(None) if nulls else column.is_not(None)).order_by(*order)
        if place is not None and nulls is (place.value is None):
            last = literal(place.run_id, runs.c.run_id.type)
            left, right = (runs.c.run_id, last) if nulls else (key, tuple_(literal(place.value, column.type), last))
            part = part.where(left < right if descending else left > right)
        elif place is not None and nulls is not descending:
            continue  # this stretch is over
        if len(found) < limit:
            found += connection.execute(part.limit(limit - len(found))).all()
    return found


def _conditions(wanted: RunFilter) -> Iterator[ColumnElement[bool]]:
    for column, value in (
        (runs.c.spec, wanted.spec),
        (runs.c.spec_sha256, wanted.spec_sha256),
        (runs.c.samples_are, wanted.samples_are),
        (runs.c.model_id, wanted.model),
        (runs.c.decision, wanted.decision),
        (runs.c.state, wanted.state),
    ):
        if value is not None:
            yield column == value
    if wanted.eval_set is not None:
        yield (runs.c.dataset_id == wanted.eval_set) | (runs.c.dataset_sha256 == wanted.eval_set)
    for word in _words(wanted.text or ""):
        yield runs.c.search.contains(word, autoescape=True)
    for name, nano in wanted.at_least.items():
        if abs(nano) > _INT64:
            raise ConfigError("at_least", "a number that 64 bits can't hold", "billionths")
        same = (aggregates.c.run_id == runs.c.run_id) & (aggregates.c.name == name)
        yield select(aggregates.c.run_id).where(same, aggregates.c.value_nano >= nano).exists()


def _words(text: str) -> list[str]:
    if len(text) > _LONGEST_TEXT:
        raise ConfigError("text", f"{len(text):,} characters", f"at most {_LONGEST_TEXT}")
    return text.casefold().split()


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
