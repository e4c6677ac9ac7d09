"""The predictions of a complete run as JSON that is ready: its table is read in blocks, and a page is a slice of one.

A page costs a copy of its bytes where its block was read already, by whoever asked for a page near it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import msgspec

from benchbook.canonical import canonical_json, decode_json
from benchbook.errors import RecordError

__all__ = ["Block", "PredictionTable", "joined"]


_FIELDS = ("item_id", "expected", "predicted", "correctness", "eval_time_ms")
_BLOCK_ROWS = 16_384  # each block costs a look at the file's footer, and the first page of it waits for all of it
_BLOCK_BYTES = 8 << 20  # of the file, before it was compressed
_own = msgspec.json.Decoder(dict[str, Any])


class Block(NamedTuple):
    """Rows of JSON, each with a comma behind it; the n-th ends where `ends[n + 1]` says."""

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
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._path = path
        self._lock = Lock()  # one block is made at a time: so memory stays small
        try:
            self._stamp = _stamp(path)
            found = pq.read_metadata(path)
        except (OSError, ValueError, pa.ArrowException) as error:
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
        """Whether the file is still the one that was opened."""
        try:
            return _stamp(self._path) == self._stamp
        except OSError:
            return False

    def parts(self, first: int, end: int) -> list[tuple[int, int, int]]:
        """Where the rows from `first` up to `end` are: a block, its first row of them, and the one behind its last."""
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
                block = _block(self._rows.slice(start, next_start - start).collect())
            if not self.is_current() or len(block.ends) != next_start - start + 1:
                raise RecordError(f"{self._path}: was written anew while it was read; ask again")
        except (OSError, pl.exceptions.PolarsError, msgspec.MsgspecError) as error:
            raise self._unreadable(error) from None
        return block

    def _unreadable(self, error: Exception) -> RecordError:
        return RecordError(f"{self._path}: not a readable table ({error})")


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _starts(metadata: Any) -> list[int]:
    """The first row of each block, and how many rows there are."""
    starts, n_bytes, n_rows = [0], 0, 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        n_bytes += group.total_byte_size
        n_rows += group.num_rows
        if n_rows - starts[-1] >= _BLOCK_ROWS or n_bytes >= _BLOCK_BYTES:
            starts.append(n_rows)
            n_bytes = 0
    return starts if starts[-1] == n_rows else [*starts, n_rows]


def joined(parts: Sequence[bytes], run_id: str, next_cursor: str | None) -> bytes:
    """A page as `PredictionsOfRun` has it, of rows that are JSON already."""
    head = b'{"status":"available","run_id":%b,"predictions":[' % canonical_json(run_id)
    return b'%b%b],"next_cursor":%b}' % (head, b",".join(parts), canonical_json(next_cursor))


def _block(frame: Any) -> Block:
    """Of a frame with the rows as JSON, and with their own keys."""
    import polars as pl

    rows = frame.to_series(0)
    if frame["own"].null_count() < len(frame):
        own = (
            text if text is None else _with_own_keys(row, text) for row, text in zip(rows, frame["own"], strict=True)
        )
        rows = pl.Series(own, dtype=pl.String).fill_null(rows)
    found = rows.to_arrow(compat_level=pl.CompatLevel.oldest())  # one buffer for all of the texts
    _, ends, texts = found.buffers()  # copied: either one, if kept, would keep both
    data = b"" if texts is None else bytes(texts.to_pybytes())
    return Block(data, memoryview(ends.to_pybytes()).cast("q")[: len(found) + 1])


def _with_own_keys(row: str, text: str) -> str:
    """The run's own keys stand before ours, and never in their place. `text` is the JSON object that holds them."""
    own = decode_json(text.encode("utf-8"), _own)
    kept = {name: value for name, value in own.items() if name not in _FIELDS}
    if not kept:
        return row
    written = text.rstrip() if len(kept) == len(own) else canonical_json(kept).decode("utf-8")
    return f"{written[:-1]},{row[1:]}"
