"""Outputs that were generated elsewhere, imported as facts (JSONL, CSV or Parquet)."""

from __future__ import annotations

from pathlib import Path

from benchbook.derivations.plan import Plan
from benchbook.evalsets import EvalSet
from benchbook.records import JournalWriter
from benchbook.runner.progress import Resume

__all__ = ["import_outputs"]


def import_outputs(
    path: Path, columns: dict[str, str], evalset: EvalSet, plan: Plan, resume: Resume, journal: JournalWriter
) -> None:
    raise NotImplementedError
