"""The lines of files of results, by batch and sample, wherever in the files they stand: sixteen bytes a line."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from benchbook.ask.batches.form import id_in_result
from benchbook.ask.batches.request_ids import RequestId, read_request_id
from benchbook.errors import RecordError
from benchbook.record.batches import HeldBatch

MAX_RESULT_BYTES = 64 << 20  # of one line
_SAMPLE_SHIFT = 36  # below it, the number of the line: the first of a sample's comes first
_FILE_SHIFT = 48  # below it, the offset


class ResultLines:
    """The lines that answer one batch's requests."""

    def __init__(self, batch: HeldBatch) -> None:
        self.batch = batch
        self._keys = array("Q")
        self._places = array("Q")
        self.n_doubled = 0
        self.n_strange = 0

    def add(self, found: RequestId, place: int) -> None:
        """Note where a line stands; one that answers no request of the batch is counted alone."""
        prepared = self.batch.prepared
        if (found.role, found.judge) != (prepared.role, prepared.judge) or found.sample not in self.batch:
            self.n_strange += 1
            return
        self._keys.append(found.sample << _SAMPLE_SHIFT | len(self._places))
        self._places.append(place)

    def in_order(self) -> Iterator[tuple[int, int]]:
        """Each sample with the place of its first line, in the order of the plan."""
        import numpy as np

        keys = np.frombuffer(self._keys, dtype=np.uint64) if self._keys else np.empty(0, dtype=np.uint64)
        keys.sort()
        self.n_doubled = 0
        last = -1
        for key in self._keys:
            sample = key >> _SAMPLE_SHIFT
            if sample == last:
                self.n_doubled += 1
                continue
            last = sample
            yield sample, self._places[key & ((1 << _SAMPLE_SHIFT) - 1)]


class ResultFiles:
    """Files of results. `of` has the lines by batch, of those batches that are `known`; close it."""

    def __init__(self, paths: Sequence[Path], known: Mapping[str, HeldBatch]) -> None:
        self.of: dict[str, ResultLines] = {}
        self.n_strange = 0  # lines that are of none of them
        self._files: list[BinaryIO] = []
        try:
            for number, path in enumerate(paths):
                self._files.append(_opened(path))
                self._read(number, known)
        except BaseException:
            self.close()
            raise

    def _read(self, number: int, known: Mapping[str, HeldBatch]) -> None:
        file, offset = self._files[number], 0
        while line := file.readline(MAX_RESULT_BYTES):
            place, offset = number << _FILE_SHIFT | offset, offset + len(line)
            if not line.strip():
                continue
            named = id_in_result(line)
            found = None if named is None else read_request_id(named)
            batch = None if found is None else known.get(found.batch)
            if found is None or batch is None:
                self.n_strange += 1
                continue
            lines = self.of.get(found.batch)
            if lines is None:
                lines = self.of[found.batch] = ResultLines(batch)
            lines.add(found, place)

    def line_at(self, place: int) -> bytes:
        """The line that stands at a place."""
        file = self._files[place >> _FILE_SHIFT]
        file.seek(place & ((1 << _FILE_SHIFT) - 1))
        return file.readline(MAX_RESULT_BYTES)

    def close(self) -> None:
        for file in self._files:
            file.close()


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise RecordError(f"{path}: can't be read ({error.strerror})") from None
