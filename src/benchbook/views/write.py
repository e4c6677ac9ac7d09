"""The reports of a run as files: the only place here that touches a disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchbook.errors import RecordError
from benchbook.evaluators.rubric.rows import CausedPanelRow, CausedRow, PanelRow, RubricRow
from benchbook.views.digest import digest_of
from benchbook.views.html import html_report
from benchbook.views.junit import junit_report
from benchbook.views.markdown import markdown_report
from benchbook.views.model import RunReport
from benchbook.views.table_csv import csv_report

__all__ = ["write_pieces", "write_reports"]


def write_reports(report: RunReport, folder: Path) -> list[Path]:
    """Write report.html, report.md, junit.xml and samples.csv; each appears whole, or stays as it was.

    UTF-8 and the same bytes whatever the locale and the platform. Raises: RecordError where a file can't be written.
    """
    found = digest_of(report)
    return [
        write_pieces(folder / "report.html", html_report(report, found)),
        write_pieces(folder / "report.md", markdown_report(report, found)),
        write_pieces(folder / "junit.xml", junit_report(report, found)),
        write_pieces(folder / "samples.csv", csv_report(report.rows(), _row_type(report))),
    ]


def _row_type(report: RunReport) -> type[RubricRow]:
    if report.aggregates.unanswered is msgspec.UNSET:
        return RubricRow if report.panel is None else PanelRow
    return CausedRow if report.panel is None else CausedPanelRow


def write_pieces(path: Path, pieces: Iterator[str]) -> Path:
    """A report's file, whole or as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.writelines(pieces)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RecordError(f"{path}: can't be written ({error.strerror})") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path
