"""Per-item predictions in source 004's form (SPEC A5, A6): the hot path of the API.

A page of a complete run is a slice of a block of its table, which is made into JSON once and kept: after the first page
of a block, each costs a copy of its bytes. Any other page is read by key from the catalog. A client that asks for the
page after the last one pages through the run: ever more pages are read ahead, and kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, NamedTuple

import msgspec
from sqlalchemy import BigInteger, Text, bindparam, select, type_coerce

from benchbook.canonical import canonical_json, decode_json
from benchbook.catalog.database import from_stored, predictions
from benchbook.catalog.indexing import is_as_indexed
from benchbook.catalog.queries import cursor_of, position_of
from benchbook.errors import RecordError
from benchbook.evalsets.parquet_footer import Footer, FooterError
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.folder import Record
from benchbook.server.operations import Bytes, Request, Stream
from benchbook.server.problems import ProblemError
from benchbook.server.services import FoundRun, Services
from benchbook.server.types import PredictionsUnavailable, encoded

_FIELDS = ("item_id", "expected", "predicted", "correctness", "eval_time_ms")
_BLOCK_ROWS = 16_384  # each block costs a look at the file's footer, and the first page of it waits for all of it
_BLOCK_BYTES = 8 << 20  # of the file, before it was compressed
_own = msgspec.json.Decoder(dict[str, Any])


class Block(NamedTuple):
    """Rows of JSON, each followed by a comma; the n-th ends where `ends[n + 1]` says."""

    data: bytes
    ends: Sequence[int]

    @property
    def n_bytes(self) -> int:
        return len(self.data) + 8 * len(self.ends)

    def rows(self, first: int, end: int) -> bytes:
        """The rows from `first` up to `end`, with commas between them."""
        return self.data[self.ends[first] : self.ends[end] - 1]


class PredictionTable:
    """samples.parquet of a complete run: row n of it is the sample at position n of the plan (SPEC A5).

    `score` is the column that is served as `correctness`. The table is divided into blocks of whole row groups. Safe to
    share between threads.
    Raises: RecordError for a file that is no such table.
    """

    def __init__(self, path: Path, score: str = "correctness") -> None:
        import polars as pl

        self._path = path
        self._lock = Lock()  # one block is made at a time: so memory stays small
        try:
            self._stamp = _stamp(path)
            found = Footer.of(path)
        except (OSError, FooterError) as error:
            raise self._unreadable(error) from None
        self._starts = _starts(found)
        self._rows = pl.scan_parquet(path, cache=False, glob=False, parallel="none", use_statistics=False).select(
            pl.struct(
                pl.col(score).alias(name) if name == "correctness" else pl.col(name) for name in _FIELDS
            ).struct.json_encode()
            + ",",
            "own",
        )

    @property
    def n_rows(self) -> int:
        return self._starts[-1]

    @property
    def n_bytes(self) -> int:
        return 1_000 + 40 * len(self._starts)

    def is_current(self) -> bool:
        """True while the file is still the one that was opened."""
        try:
            return _stamp(self._path) == self._stamp
        except OSError:
            return False

    def parts(self, first: int, end: int) -> list[tuple[int, int, int]]:
        """The rows from `first` up to `end`, by block: its number, the first row in it, and the one after the last."""
        found = []
        number = bisect_right(self._starts, first) - 1
        while first < end:
            start, next_start = self._starts[number : number + 2]
            found.append((number, first - start, min(end, next_start) - start))
            first = next_start
            number += 1
        return found

    def block(self, number: int) -> Block:
        """Raises: RecordError where it can't be read, or where another file has taken the place of the one opened."""
        import polars as pl

        start, next_start = self._starts[number : number + 2]
        try:
            with self._lock:
                block = _block_of_rows(self._rows.slice(start, next_start - start).collect())
            if not self.is_current() or len(block.ends) != next_start - start + 1:
                raise RecordError(f"{self._path}: was written anew while it was read; ask again")
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException, msgspec.MsgspecError) as error:
            raise self._unreadable(error) from None
        return block

    def _unreadable(self, error: Exception) -> RecordError:
        return RecordError(f"{self._path}: not a readable table ({error})")


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _starts(footer: Footer) -> list[int]:
    """The first row of each block, and how many rows there are."""
    starts, n_bytes, n_rows = [0], 0, 0
    for group in footer.groups:
        n_bytes += group.n_bytes
        n_rows += group.n_rows
        if n_rows - starts[-1] >= _BLOCK_ROWS or n_bytes >= _BLOCK_BYTES:
            starts.append(n_rows)
            n_bytes = 0
    return starts if starts[-1] == n_rows else [*starts, n_rows]


def joined(parts: Sequence[bytes], run_id: str, next_cursor: str | None) -> bytes:
    """A page as `PredictionsOfRun` has it, of rows that are JSON already."""
    head = b'{"status":"available","run_id":%b,"predictions":[' % canonical_json(run_id)
    return b'%b%b],"next_cursor":%b}' % (head, b",".join(parts), canonical_json(next_cursor))


def _block_of_rows(frame: Any) -> Block:
    """The block of a frame that has the rows as JSON, and their own keys."""
    import polars as pl

    rows = frame.to_series(0)
    if frame["own"].null_count() < len(frame):
        own = (
            text if text is None else _with_own_keys(row, text) for row, text in zip(rows, frame["own"], strict=True)
        )
        rows = pl.Series(own, dtype=pl.String).fill_null(rows)
    data: bytes = rows.str.join("").cast(pl.Binary).item()
    ends = pl.concat([pl.Series([0]), rows.str.len_bytes().cast(pl.Int64).cum_sum()])
    return Block(data, memoryview(ends.to_numpy().tobytes()).cast("q"))


def _with_own_keys(row: str, text: str) -> str:
    """A row with the run's own keys before ours, never in their place. `text` is the JSON object that holds them."""
    own = decode_json(text.encode("utf-8"), _own)
    kept = {name: value for name, value in own.items() if name not in _FIELDS}
    if not kept:
        return row
    written = text.rstrip() if len(kept) == len(own) else canonical_json(kept).decode("utf-8")
    return f"{written[:-1]},{row[1:]}"


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


class _Place(msgspec.Struct, frozen=True):
    position: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class _Read(NamedTuple):
    """A page, the position after which it begins, and the last one in it."""

    after: int
    data: bytes
    end: int


class _Row(msgspec.Struct):
    item_id: str
    expected: str | None
    predicted: str | None
    correctness: float
    eval_time_ms: int | None


class _Page(msgspec.Struct, tag_field="status", tag="available"):
    run_id: str
    predictions: Sequence[Any]
    next_cursor: str | None


def kept_predictions(call: Request) -> bytes | None:
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


def tunix_predictions(call: Request) -> Bytes | PredictionsUnavailable:
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


def _key(call: Request, found: FoundRun) -> tuple[Any, ...]:
    """The key of a page; its last part is the position after which the page begins."""
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
    """The page of that key; None where `block_of` lacks a part of it."""
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
    """The page that was asked for, and those after it."""
    *_, limit, correctness, after = key
    rows = _rows(services, found.row.run_id, after, n_pages * limit + 1, correctness)
    pages = []
    for start in range(0, max(len(rows) - 1, 1), limit):
        part = rows[start : start + limit]
        end = part[-1][0] if part else after
        cursor = cursor_of(_Place(end)) if start + limit < len(rows) else None
        pages.append(_Read(after, encoded(_Page(found.row.run_id, [_row(row) for row in part], cursor)), end))
        after = end
    return pages


def _rows(services: Services, run_id: str, after: int, limit: int, correctness: int | None) -> Sequence[Any]:
    values: dict[str, Any] = {"run": run_id, "after": after, "most": limit}
    if correctness is not None:
        values["correctness"] = float(correctness)
    with services.catalog.read() as connection:
        return connection.execute(_QUERY if correctness is None else _QUERY_OF, values).all()


def _row(row: Any) -> Any:
    _, item_id, expected, predicted, own, correctness, eval_time_ms = row
    if any(text and "\x1a" in text for text in (item_id, expected, predicted)):
        item_id = from_stored(item_id)
        expected, predicted = (None if text is None else from_stored(text) for text in (expected, predicted))
    found = _Row(item_id, expected, predicted, correctness, eval_time_ms)
    if own is None:
        return found
    # The run's own keys stand beside ours, and never in their place.
    return decode_json(from_stored(own).encode("utf-8", "surrogatepass"), _own) | msgspec.structs.asdict(found)


def prediction_lines(call: Request) -> Stream:
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
