"""Per-item predictions in source 004's form (SPEC A5, A6): the hot path of the API.

A page of a complete run is a slice of a block of its table, which is made into JSON once and kept. Any other page is
read by key from the catalog; whoever asks for the one behind the last that was read pages through the run: ever more
are read ahead, and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec
from sqlalchemy import BigInteger, Text, bindparam, select, type_coerce

from benchbook.canonical import canonical_json, decode_json
from benchbook.catalog.database import from_stored, predictions
from benchbook.catalog.indexing import is_as_indexed
from benchbook.catalog.queries import cursor_of, position_of
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.folder import Record
from benchbook.server.operations import Bytes, Call, Stream
from benchbook.server.prediction_blocks import Block, PredictionTable, joined
from benchbook.server.problems import ProblemError
from benchbook.server.services import FoundRun, Services
from benchbook.server.types import PredictionsUnavailable

__all__ = ["kept_predictions", "prediction_lines", "tunix_predictions"]


_MOST_AHEAD = 16  # pages
_AT_ONCE = 1_000  # rows of a stream
# As the database has them: texts are read back by hand, and only where the mark of `stored_text` is in them.
_COLUMNS = (
    predictions.c.position,
    *(type_coerce(predictions.c[name], Text) for name in ("item_id", "expected", "predicted", "own")),
    predictions.c.correctness,
    predictions.c.eval_time_ms,
)
# Built once: SQLAlchemy then knows its compiled form without looking at every part of it again.
_QUERY = (
    select(*_COLUMNS)
    .where(predictions.c.run_id == bindparam("run"), predictions.c.position > bindparam("after"))
    .order_by(predictions.c.position)
    .limit(bindparam("most", type_=BigInteger))
)
_QUERY_OF = _QUERY.where(predictions.c.correctness == bindparam("correctness"))
_own = msgspec.json.Decoder(dict[str, Any])


class _Place(msgspec.Struct, frozen=True):
    position: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class _Read(NamedTuple):
    """A page, the position after which it begins, and the last one in it."""

    after: int
    data: bytes
    end: int


class _Row(msgspec.Struct):
    item_id: str
    expected: str
    predicted: str | None
    correctness: float
    eval_time_ms: int | None


class _Page(msgspec.Struct, tag_field="status", tag="available"):
    run_id: str
    predictions: Sequence[Any]
    next_cursor: str | None


def kept_predictions(call: Call) -> bytes | None:
    """A page that is at hand; None where something has to be looked up."""
    found = call.services.known(call.path["run_id"])
    if found is None or found.row.predictions_unavailable is not None:
        return None
    key, kept = _key(call, found), call.services.kept
    table = kept.peek(("table", *key[1:3])) if call.query.correctness is None else None
    data: bytes | None = kept.peek(key) if table is None else _slice(key, table, lambda name, _: kept.peek(name))
    if data is not None:
        call.is_of(found.state_id, "predictions")
    return data


def tunix_predictions(call: Call) -> Bytes | PredictionsUnavailable:
    services = call.services
    found = services.run(call.path["run_id"])
    if found.row.predictions_unavailable is not None:
        return PredictionsUnavailable(run_id=found.row.run_id, reason=found.row.predictions_unavailable)
    call.is_of(found.state_id, "predictions")
    key = _key(call, found)
    if call.query.correctness is None and (table := _table(services, found)) is not None:
        return Bytes(_slice(key, table, lambda name, number: _block(services, table, name, number)) or b"")
    n_ahead = services.kept.peek(("ahead", *key)) or 1
    pages = _read_pages(services, found, key, n_ahead if found.row.state == "complete" else 1)
    for after, data, _ in pages:
        services.kept.put((*key[:-1], after), data, len(data))
    services.kept.put(("ahead", *key[:-1], pages[-1].end), min(2 * n_ahead, _MOST_AHEAD), 200)
    return Bytes(pages[0][1])


def _key(call: Call, found: FoundRun) -> tuple[Any, ...]:
    """Names a page; the position after which it begins is last."""
    question = call.query
    after = -1 if question.cursor is None else position_of(question.cursor, _Place).position
    return "predictions", found.row.run_id, found.state_id, question.limit, question.correctness, after


# ── all rows of a complete run ───────────────────────────────────────────────────────────────────────────────


def _table(services: Services, found: FoundRun) -> PredictionTable | None:
    """The run's table; None where it is not there yet, or is not the one that the catalog has read."""
    key = ("table", found.row.run_id, found.state_id)
    known: PredictionTable | None = services.kept.peek(key)
    if known is not None and known.is_current():
        return known
    services.kept.drop(key)
    if found.row.state != "complete":
        return None
    opened = PredictionTable(found.record.samples, _score_column(found.record))
    if not is_as_indexed(services.catalog, found.record):
        return None
    services.kept.put(key, opened, opened.n_bytes)
    return opened


def _score_column(record: Record) -> str:
    columns = evaluator_of(record).compared
    return "correctness" if columns is None else columns.score


def _block(services: Services, table: PredictionTable, key: tuple[Any, ...], number: int) -> Block:
    return services.kept.get(key, lambda: table.block(number), lambda block: block.n_bytes)


def _slice(
    key: tuple[Any, ...], table: PredictionTable, block_of: Callable[[tuple[Any, ...], int], Block | None]
) -> bytes | None:
    """The page of that key; None where `block_of` has not all that is in it."""
    _, run_id, state_id, limit, _, after = key
    first = min(after + 1, table.n_rows)
    end = min(first + limit, table.n_rows)
    rows = []
    for number, start, stop in table.parts(first, end):
        block = block_of(("block", run_id, state_id, number), number)
        if block is None:
            return None
        rows.append(block.rows(start, stop))
    return joined(rows, run_id, cursor_of(_Place(end - 1)) if end < table.n_rows else None)


# ── rows from the catalog: of a run that goes on, or with one correctness ────────────────────────────────────


def _read_pages(services: Services, found: FoundRun, key: tuple[Any, ...], n_pages: int) -> list[_Read]:
    """The page that was asked for, and those behind it."""
    *_, limit, correctness, after = key
    rows = _rows(services, found.row.run_id, after, n_pages * limit + 1, correctness)
    pages = []
    for start in range(0, max(len(rows) - 1, 1), limit):
        part = rows[start : start + limit]
        end = part[-1][0] if part else after
        cursor = cursor_of(_Place(end)) if start + limit < len(rows) else None
        pages.append(_Read(after, _encoded(found.row.run_id, part, cursor), end))
        after = end
    return pages


def _rows(services: Services, run_id: str, after: int, limit: int, correctness: int | None) -> Sequence[Any]:
    values: dict[str, Any] = {"run": run_id, "after": after, "most": limit}
    if correctness is not None:
        values["correctness"] = float(correctness)
    with services.catalog.read() as connection:
        return connection.execute(_QUERY if correctness is None else _QUERY_OF, values).all()


def _encoded(run_id: str, rows: Sequence[Any], cursor: str | None) -> bytes:
    page = _Page(run_id, [_row(row) for row in rows], cursor)
    try:
        return msgspec.json.encode(page)
    except UnicodeEncodeError:  # a lone surrogate in somebody's text
        return canonical_json(page)


def _row(row: Any) -> Any:
    _, item_id, expected, predicted, own, correctness, eval_time_ms = row
    if "\x1a" in item_id or "\x1a" in expected or (predicted and "\x1a" in predicted):
        item_id, expected = from_stored(item_id), from_stored(expected)
        predicted = None if predicted is None else from_stored(predicted)
    found = _Row(item_id, expected, predicted, correctness, eval_time_ms)
    if own is None:
        return found
    # The run's own keys stand beside ours, and never in their place.
    return decode_json(from_stored(own).encode("utf-8", "surrogatepass"), _own) | msgspec.structs.asdict(found)


def prediction_lines(call: Call) -> Stream:
    """Every row, one JSON object a line."""
    services = call.services
    found = services.run(call.path["run_id"])
    if found.row.predictions_unavailable is not None:
        raise ProblemError(409, f"predictions are unavailable: {found.row.predictions_unavailable}")
    call.is_of(found.state_id, "predictions-ndjson")

    def lines() -> Iterator[bytes]:
        after = -1
        while rows := _rows(services, found.row.run_id, after, _AT_ONCE, None):
            yield b"".join(canonical_json(_row(row)) + b"\n" for row in rows)
            after = rows[-1][0]

    return Stream(lines(), f"{found.row.record_path}-predictions.ndjson")
