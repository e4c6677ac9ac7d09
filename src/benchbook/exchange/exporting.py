"""Writes a record in another form: another tool's log, or a table of its rows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchbook.errors import UsageError
from benchbook.exchange.log import LogHeader, Lost
from benchbook.exchange.tools import TOOLS, tool_named
from benchbook.text import shorten
from benchbook.writing import written_new

if TYPE_CHECKING:
    from benchbook.record.folder import Record

TABLE_FORMS = ("csv", "ndjson", "parquet")
SAMPLES = "samples"


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """All that was written, of which record, and what the form could not hold of it."""

    run_id: str
    record_sha256: str
    form: str
    path: str
    lost: list[Lost]


def export_forms() -> tuple[str, ...]:
    """The forms that a record can be written in: those of tools, and tables."""
    return (*(one.name for one in TOOLS if one.writes), *TABLE_FORMS)


def export_record(record: Record, form: str, target: str | Path, *, table: str = SAMPLES) -> Exported:
    """Write a record into a new file, or a new folder where the form has several files: all of it, or nothing.

    `table`, of a form of tables: which one, such as `training_metrics`.

    Raises: UsageError for a form that is not known, for a `target` that is there, and where the form can't hold the
    record at all; RecordError.
    """
    path = Path(target)
    if form not in export_forms():
        raise UsageError(f"{shorten(form, 60)}: no form that is known; expected one of {', '.join(export_forms())}")
    if form not in TABLE_FORMS and table != SAMPLES:
        raise UsageError(f"table: found {shorten(table, 60)!r}; a log is of samples, and tables are {_names()}")
    run_id, sha256 = _named(record)
    try:
        if os.path.lexists(path):
            with written_new(path):  # refuses it, and takes away what a killed writer left beside it
                pass
        lost = _write_table(record, form, path, table) if form in TABLE_FORMS else _write_log(record, form, path)
    except FileExistsError:
        raise _is_there(path) from None
    return Exported(run_id=run_id, record_sha256=sha256, form=form, path=str(path), lost=lost)


def _names() -> str:
    return f"{', '.join(TABLE_FORMS[:-1])} and {TABLE_FORMS[-1]}"


def _is_there(path: Path) -> UsageError:
    return UsageError(f"{path}: is there already; expected a name that is free")


def _named(record: Record) -> tuple[str, str]:
    """The record's id and its hash."""
    from benchbook.evaluators.registry import evaluator_of

    manifest = evaluator_of(record).read(record).manifest
    return manifest.run_id, manifest.journal_sha256


def _write_log(record: Record, form: str, path: Path) -> list[Lost]:
    from benchbook.exchange.of_record import log_of_record

    with log_of_record(record) as log:
        return [*tool_named(form).writing.written(log, path), *_told_otherwise(log.header)]


def _told_otherwise(header: LogHeader) -> Iterator[Lost]:
    """The record's own numbers of its score that whoever reads the log's samples will not find again, and why."""
    headline = header.scorers[0].name if header.scorers else ""
    whys: dict[str, list[str]] = {}
    for claim in header.claims:
        if claim.scorer == headline and claim.why_not and claim.value is not None:
            whys.setdefault(claim.why_not, []).append(f"`{claim.metric}`")
    for why, names in whys.items():
        yield Lost(what=f"{', '.join(names)} can't be had from the scores there: {why}", n=None)


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────


def _write_table(record: Record, form: str, path: Path, table: str) -> list[Lost]:
    source, row_type = _table(record, table)
    if form == "parquet":  # as it is: the same bytes, which the manifest names
        with source.open("rb") as file, written_new(path, refuse=UsageError) as new:
            shutil.copyfileobj(file, new, 1 << 20)
        return []
    with written_new(path, refuse=UsageError) as new:
        for line in _lines(record, source, row_type, form):
            new.write(line)
    return []


def _table(record: Record, name: str) -> tuple[Path, type[msgspec.Struct]]:
    """A table of a record, held against the manifest, and the type of its rows. Raises: UsageError, RecordError."""
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.record.derived_files import check_derived, check_whole

    check_whole(record)
    started = record.started()
    evaluator = evaluator_of(record)
    tables = {file.removesuffix(".parquet"): kind for file, kind in evaluator.tables(started).items()}
    there = [one for one in tables if f"{one}.parquet" in evaluator.files_of(started)]
    if name not in there:
        found = f"{record.path}: has no table {shorten(name, 60)!r}"
        raise UsageError(f"{found}; expected {' or '.join(there)}")
    if name == SAMPLES and (reason := evaluator.unavailable(started)) is not None:
        raise UsageError(f"{record.path}: its samples are unavailable: {reason}")
    file = f"{name}.parquet"
    check_derived(record, file)
    return record.path / file, tables[name]


def _lines(record: Record, source: Path, row_type: type[msgspec.Struct], form: str) -> Iterable[bytes]:
    """The rows as lines; those of samples with what was asked."""
    from benchbook.evaluators.asked import columns_with_asked, rows_with_asked
    from benchbook.record.tables import read_rows
    from benchbook.views.csv_files import csv_report

    columns: Sequence[str] = row_type.__struct_fields__
    rows: Iterable[dict[str, Any]] = map(msgspec.structs.asdict, read_rows(source, row_type))
    if source == record.samples:
        columns = columns_with_asked(columns, record.started())
        rows = rows_with_asked(record, rows, columns)
    if form == "ndjson":
        return (msgspec.json.encode(row) + b"\n" for row in rows)
    return (line.encode() for line in csv_report(rows, columns))
