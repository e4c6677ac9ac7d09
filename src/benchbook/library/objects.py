"""A run as an object: typed results, Polars frames, and a summary when it is printed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchbook.decisions import Decision
from benchbook.derivations.rows import AggregatesFile, Manifest, RubricRow
from benchbook.derivations.rubric_tables import Derived, derive
from benchbook.derivations.verify import Verification, verify
from benchbook.errors import RecordError
from benchbook.records.folder import Record
from benchbook.records.tables import read_rows

if TYPE_CHECKING:
    import polars

    from benchbook.reports import RunReport

__all__ = ["Run", "derived_files"]


class Run:
    """One record. Nothing but the derived files is read until it is asked for.

    `stopped` says why a run that was made here ended early; it can be resumed.
    """

    def __init__(self, record: Record, derived: Derived, stopped: str | None = None) -> None:
        self.record = record
        self.stopped = stopped
        self._derived = derived

    @property
    def path(self) -> Path:
        return self.record.path

    @property
    def manifest(self) -> Manifest:
        """Who was asked what, with what, and the hash that names the record (SPEC R7.1)."""
        return self._derived.manifest

    @property
    def aggregates(self) -> AggregatesFile:
        """The aggregates of R4, the ledger, repeats, slices, warnings."""
        return self._derived.aggregates

    @property
    def decision(self) -> Decision | None:
        """READY, NOT_READY or INCONCLUSIVE with its gates (SPEC R6); None where it is refused for missing metadata."""
        return self._derived.decision

    @cached_property
    def samples(self) -> polars.DataFrame:
        """A row for each attempted sample, with the columns of `RubricRow`."""
        import polars as pl

        return pl.read_parquet(self.record.samples)

    def rows(self) -> Iterator[RubricRow]:
        """The same rows as typed objects, a row group at a time: for runs that do not fit into memory."""
        return read_rows(self.record.samples, RubricRow)

    def gate(self, *, confidence: float | None = None) -> Decision | None:
        """The decision, derived anew from the journal; with `confidence`, the gates' bounds must hold too (R6.4)."""
        with tempfile.TemporaryDirectory(prefix="benchbook-gate-") as folder:
            return derive(self.record, Path(folder), confidence=confidence).decision

    def verify(self, *, expect: str | None = None) -> Verification:
        """Everything derived again and compared; `holds` is true where no byte was changed."""
        return verify(self.record, expect=expect)

    def write_reports(self, folder: str | Path) -> list[Path]:
        """report.html, report.md, junit.xml and samples.csv in `folder`."""
        from benchbook.reports import write_reports

        Path(folder).mkdir(parents=True, exist_ok=True)
        return write_reports(self._report(), Path(folder))

    def _report(self) -> RunReport:
        from benchbook.reports import RunReport

        return RunReport(self.manifest, self.aggregates, self.decision, self.rows)

    def __str__(self) -> str:
        from benchbook.reports import summary_lines

        return "\n".join(summary_lines(self._report()))

    def __repr__(self) -> str:
        decision = self.decision.decision if self.decision is not None else "refused"
        return f"<Run {self.record.run_id}: {decision}, {self.aggregates.ledger.n_scored} samples scored>"


def derived_files(record: Record) -> Derived:
    """The derived files as they are on disk; `verify` tells whether they hold.

    Raises: RecordError where one is missing or can't be read.
    """
    try:
        manifest = msgspec.json.decode(record.manifest.read_bytes(), type=Manifest)
        aggregates = msgspec.json.decode(record.aggregates.read_bytes(), type=AggregatesFile)
        data = record.decision.read_bytes()
        refused = msgspec.json.decode(data)["decision"] is None
        return Derived(manifest, aggregates, None if refused else msgspec.json.decode(data, type=Decision))
    except FileNotFoundError as error:
        hint = "the run was not ended: resume it, or `benchbook rescore` it"
        raise RecordError(f"{error.filename}: not there; {hint}") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise RecordError(f"{record.path}: its derived files can't be read ({error}); `benchbook rescore` it") from None
