"""Reads Every Eval Ever: an aggregate with its samples, an aggregate alone, samples alone.

Results whose samples are the same are one log with a scorer for each, so that items can be compared by any metric;
others are logs of their own (`index`). A row is of the result that its `evaluation_result_id` names, else of the one
that has its `evaluation_name`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchbook.errors import InputError
from benchbook.exchange.every_eval_ever.about import header_of, header_of_rows
from benchbook.exchange.every_eval_ever.form import EvalAggregate, checked_version
from benchbook.exchange.every_eval_ever.index import RowIndex
from benchbook.exchange.every_eval_ever.rows import RowsRead, read_rows, row_at
from benchbook.exchange.every_eval_ever.samples_file import found_samples
from benchbook.exchange.every_eval_ever.scoring import sample_of
from benchbook.exchange.json_text import decoded
from benchbook.exchange.log import ForeignLog, LogHeader, LogNote, LogSample
from benchbook.exchange.on_disk import put_on_disk
from benchbook.exchange.tools import Seen

_MOST_BYTES = 256 << 20  # of an aggregate
_HEAD = 64 << 10
_BOM = b"\xef\xbb\xbf"


def recognises(seen: Seen) -> bool:
    """True for an aggregate, a samples file, or a folder in which all JSON is one of the two."""
    if not seen.is_folder:
        return _is_aggregate(seen.head) or _is_samples(seen.head)
    names = sorted(one for one in seen.names if one.endswith((".json", ".jsonl")) and not one.startswith("."))
    if not any(one.endswith(".json") for one in names):
        return False
    return all(_is_one_of_ours(seen.path / name) for name in names)


def opened(path: Path) -> Sequence[ForeignLog]:
    """The logs of an aggregate, of a samples file, or of all aggregates in a folder. Raises: InputError."""
    if path.is_dir():
        return _opened_folder(path)
    if _is_aggregate(_head(path)):
        return _opened_aggregate(path)
    return _opened_rows(path, None, [])


class EveryEvalLog(ForeignLog):
    """Results that are of the same samples."""

    def __init__(self, header: LogHeader, rows: RowsRead | None, results: list[int], notes: list[LogNote]) -> None:
        self.header = header
        self.files = {} if rows is None else {rows.path.name: rows.path}
        self._rows, self._results, self._notes = rows, results, notes
        self._index = None if rows is None else rows.index.share()

    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        if self._rows is None:
            return
        if self._index is None:
            raise ValueError("the log is closed")
        with self._rows.path.open("rb") as file:
            for found in self._index.samples_of(self._results):
                rows = [
                    (self._rows.results[place.result], row_at(file, place, self._rows.path)) for place in found.places
                ]
                yield sample_of(rows, found, whole=whole)

    def notes(self) -> list[LogNote]:
        return list(self._notes)

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────


def _opened_folder(path: Path) -> list[ForeignLog]:
    logs: list[ForeignLog] = []
    try:
        for place in sorted(filter(Path.is_file, path.glob("*.json"))):
            logs += _opened_aggregate(place)
        read = {file.resolve() for log in logs for file in log.files.values()}
        for place in sorted(filter(Path.is_file, path.glob("*.jsonl"))):
            if place.resolve() not in read:
                logs += _opened_rows(place, None, [])
    except BaseException:
        for log in logs:
            log.close()
        raise
    return logs


def _opened_aggregate(path: Path) -> list[ForeignLog]:
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(path, found=f"an aggregate of more than {_MOST_BYTES >> 20} MB", expected="a smaller one")
    aggregate = decoded(path.read_bytes(), EvalAggregate, path)
    checked_version(aggregate.schema_version, path)
    samples, notes = found_samples(path, aggregate)
    if samples is None:
        log = EveryEvalLog(header_of(path, aggregate, None, []), None, [], notes)
        log.files = {path.name: path}
        return [log]
    return _opened_rows(samples, (path, aggregate), notes)


def _opened_rows(samples: Path, claimed: tuple[Path, EvalAggregate] | None, notes: list[LogNote]) -> list[ForeignLog]:
    """The logs of a samples file, with what an aggregate, whose path is `claimed[0]`, says of them."""
    index = RowIndex()
    try:
        with put_on_disk(samples):
            rows = read_rows(samples, None if claimed is None else claimed[1], index)
        logs: list[ForeignLog] = []
        for number, results in enumerate(rows.logs):
            header = header_of_rows(rows, results) if claimed is None else header_of(*claimed, rows, results)
            log = EveryEvalLog(header, rows, results, [*notes, *rows.notes()] if number == 0 else [])
            if claimed is not None:
                log.files = {claimed[0].name: claimed[0], **log.files}
            logs.append(log)
    except BaseException:
        index.close()
        raise
    return logs


# ── recognising ──────────────────────────────────────────────────────────────────────────────────────────


def _is_aggregate(head: bytes) -> bool:
    start = head.removeprefix(_BOM).lstrip()
    if not start.startswith(b"{") or b'"interaction_type"' in head:
        return False
    named = (b'"schema_version"', b'"evaluation_id"', b'"model_info"', b'"source_metadata"', b'"evaluation_results"')
    return sum(one in head for one in named) >= 3


def _is_samples(head: bytes) -> bool:
    line = head.removeprefix(_BOM).lstrip().split(b"\n", 1)[0]
    named = (b'"schema_version"', b'"evaluation_id"', b'"evaluation_name"', b'"model_id"', b'"sample_id"',
             b'"interaction_type"')  # fmt: skip
    return line.startswith(b"{") and sum(one in line for one in named) >= 4


def _is_one_of_ours(path: Path) -> bool:
    head = _head(path)
    return _is_aggregate(head) or _is_samples(head)


def _head(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""
