"""The same table and scorecard for any number of items, of which only a slice is held at a time.

Predictions may come in any order, and the table is in that of the items. So first each prediction is put into a
temporary file, one for each slice of the items; then slice after slice is scored as a whole table would be. What is
held of all items is eight bytes each, by which the slice of an id is found.
"""

from __future__ import annotations

import io
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import polars as pl

from benchbook.errors import UsageError
from benchbook.evalsets.parquet import ParquetError
from benchbook.evalsets.predictions import PREDICTION_SCHEMA, Predictions, align_predictions, prediction_frames
from benchbook.evaluators.answers.scorecard import Scorecard, ScorecardTally
from benchbook.evaluators.correctness.columns import tally_rows, with_results
from benchbook.evaluators.correctness.item_tables import ItemTable
from benchbook.evaluators.correctness.scorecard import tally
from benchbook.record.tables import write_row_groups

MOST_ROWS, LEAST_ROWS = 1 << 16, 1 << 12  # of a slice, which is a row group of the table
SLICE_BYTES = 1 << 26  # of texts, for which a slice has fewer rows
_KEYS_AT_ONCE = 1 << 20  # that are compared
_SEEDS = 3  # of hashes


class _FaultError(Exception):
    """Something is wrong with the files, or with the folder for temporary ones."""


@contextmanager
def _noticing_faults() -> Iterator[None]:
    try:
        yield
    except (UsageError, ParquetError, pl.exceptions.PolarsError, OSError) as error:
        raise _FaultError from error


def score_in_slices(
    items: ItemTable, predictions: str | Path, target: Path, *, columns: Mapping[str, str] | None = None
) -> Scorecard | None:
    """Write the table to `target` and return its scorecard; None, with nothing written, if anything is wrong.

    What it is, and on which line, is told by whoever reads the files as a whole. Raises: RecordError where `target`
    can't be written.
    """
    counted = tally()
    try:
        with _noticing_faults(), tempfile.TemporaryDirectory(prefix="benchbook-score-") as folder:
            frames = prediction_frames(predictions, columns=columns)
            first = next(frames, PREDICTION_SCHEMA.to_frame())
            n_rows = _rows_of_a_slice(next(items.frames()), first)
            parted = _Parted(Path(folder))
            slice_of = _SliceOfId(items, n_rows)
            for frame in chain((first,), frames):
                _part(frame, slice_of, parted)
            del slice_of, first, frame
            slices = _scored(items, n_rows, parted, counted)  # there is one, at least
            write_row_groups(target, pl.Schema(), slices, synced=True, statistics=True)
    except _FaultError:
        return None
    return counted.scorecard()


def _rows_of_a_slice(*some: pl.DataFrame) -> int:
    """By the first items and predictions, whose texts are taken to be as long as those of others."""
    of_an_item = int(sum(frame.estimated_size() / max(len(frame), 1) for frame in some))
    return min(max(SLICE_BYTES // max(of_an_item, 1), LEAST_ROWS), MOST_ROWS)


class _SliceOfId:
    """Finds the slice that the item of an id is in, in which alone it may be.

    Of each item a key is held: the upper bits of its id's hash, and in the lower ones the number of its slice. That the
    id is the same is seen where the slice is scored. If two items have the same upper bits (ten million with ids of
    their own do once in a thousand files), ids are hashed in another way; if they still do, an id comes twice.
    """

    def __init__(self, items: ItemTable, n_rows: int) -> None:
        self._slice_bits = np.uint64((1 << ((items.n_rows - 1) // n_rows).bit_length()) - 1)
        self._keys = np.empty(items.n_rows, np.uint64)
        for self._seed in range(_SEEDS):
            self._fill(items, n_rows)
            if not self._have_twins():
                return
        raise _FaultError

    def _fill(self, items: ItemTable, n_rows: int) -> None:
        end = 0
        for ids in items.ids():
            start, end = end, end + len(ids)
            self._keys[start:end] = self._hashes(ids) | (np.arange(start, end, dtype=np.uint64) // np.uint64(n_rows))
        self._keys.sort()

    def _hashes(self, ids: pl.Series) -> np.ndarray:
        if ids.null_count():
            raise _FaultError
        return ids.hash(self._seed).to_numpy() & ~self._slice_bits

    def _have_twins(self) -> bool:
        for start in range(0, len(self._keys) - 1, _KEYS_AT_ONCE):
            keys = self._keys[start : start + _KEYS_AT_ONCE + 1]
            if ((keys[1:] ^ keys[:-1]) <= self._slice_bits).any():
                return True
        return False

    def __call__(self, ids: pl.Series) -> np.ndarray:
        """The number of each id's slice. Raises: _FaultError if there is an id that no item has."""
        wanted = self._hashes(ids)
        order = wanted.argsort()  # neighbours are found at a fifth of the cost
        wanted = wanted[order]
        found = self._keys[np.minimum(self._keys.searchsorted(wanted), len(self._keys) - 1)]
        if ((found ^ wanted) > self._slice_bits).any():
            raise _FaultError
        numbers = np.empty(len(ids), np.int64)
        numbers[order] = found & self._slice_bits
        return numbers


class _Parted:
    """Predictions by the slice of their items, each slice's in a temporary file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lengths: defaultdict[int, list[int]] = defaultdict(list)  # of the parts that follow each other

    def add(self, number: int, rows: pl.DataFrame) -> None:
        data = io.BytesIO()
        rows.write_ipc_stream(data, compression="lz4")
        with self._path(number).open("ab") as file:
            file.write(data.getbuffer())
        self._lengths[number].append(data.tell())

    def take(self, number: int) -> pl.DataFrame:
        """The predictions of a slice in the order in which they came; their file is removed."""
        frames = [PREDICTION_SCHEMA.to_frame()]
        if number in self._lengths:
            with self._path(number).open("rb") as file:
                lengths = self._lengths.pop(number)
                frames += [pl.read_ipc_stream(io.BytesIO(file.read(length))) for length in lengths]
            self._path(number).unlink()
        return pl.concat(frames)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.arrows"


def _part(predictions: pl.DataFrame, slice_of: _SliceOfId, parted: _Parted) -> None:
    numbers = slice_of(predictions["item_id"])
    order = numbers.argsort(kind="stable")
    rows, numbers = predictions[order], numbers[order]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    for start, end in pairwise([*starts, len(rows)]):
        parted.add(int(numbers[start]), rows[start:end])


def _scored(items: ItemTable, n_rows: int, parted: _Parted, counted: ScorecardTally) -> Iterator[pl.DataFrame]:
    """The table, slice by slice, whose rows are counted."""
    with _noticing_faults():
        for number, some in enumerate(_in_slices(items.frames(), n_rows)):
            predictions = Predictions(Path(), "parquet", {}, parted.take(number))  # of which only a fault would tell
            rows = with_results(align_predictions(predictions, some).drop("own_keys"))
            counted.merge(tally_rows(rows))
            yield rows


def _in_slices(frames: Iterable[pl.DataFrame], n_rows: int) -> Iterator[pl.DataFrame]:
    """The same rows, so many at a time; the last may be fewer."""
    held: list[pl.DataFrame] = []
    n_held = 0
    for frame in frames:
        held.append(frame)
        n_held += len(frame)
        if n_held >= n_rows:
            whole = pl.concat(held)
            n_held %= n_rows
            full, rest = whole[: len(whole) - n_held], whole[len(whole) - n_held :]
            held = [rest]
            yield from full.iter_slices(n_rows)
    if n_held:
        yield pl.concat(held)
