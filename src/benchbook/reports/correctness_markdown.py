"""The Markdown report of an `answer_correctness@v1` run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.derivations.correctness_rows import CorrectnessRow
from benchbook.reports.comparison_tables import training_table
from benchbook.reports.correctness_model import CorrectnessReport, headline, n_missed, notices
from benchbook.reports.correctness_report_tables import missed_table, misses_table, scorecard_table, slice_tables
from benchbook.reports.markdown import bullets, fenced, inline, table_section
from benchbook.reports.tables import reproducibility
from benchbook.reports.unanswered import first_warnings
from benchbook.reports.words import asked_items, plural

__all__ = ["correctness_markdown", "left_out"]


def correctness_markdown(report: CorrectnessReport, missed: Sequence[CorrectnessRow]) -> Iterator[str]:
    """The report, in pieces. `missed` are the missed items that are shown."""
    manifest, file = report.manifest, report.aggregates
    top = headline(report)
    first = first_warnings(file)
    if first:
        yield bullets(first)
    yield f"# {inline(top.words)}\n\n{inline(top.meaning)}\n\n"
    if found := [one for one in notices(report) if one not in first]:
        yield "## Read this first\n\n"
        yield bullets(found)
    yield "## Run\n\n"
    yield bullets(
        [
            f"Model: {manifest.model_id} ({manifest.model_version or 'version not known'})",
            f"Eval set: {manifest.dataset_id}, {asked_items(manifest)}",
            f"Run: {manifest.run_id}",
            f"When: {manifest.timestamp_utc}",
            f"Record: {manifest.journal_sha256}",
        ]
    )
    yield from table_section("Scorecard", scorecard_table(file), *slice_tables(file))
    yield from table_section("Why items missed", misses_table(file))
    yield from table_section("Missed items", missed_table(missed))
    if words := left_out(report, missed):
        yield f"{inline(words)}\n\n"
    if (loss := report.loss()) is not None:
        yield from table_section("Training", training_table({manifest.run_id: loss}))
    yield from table_section("Reproducibility", reproducibility(report))
    yield "## Check it yourself\n\n"
    yield "Every number here is computed from the record's journal. This does it again, offline:\n\n"
    yield fenced(f"benchbook verify {manifest.run_id} --expect {manifest.journal_sha256}")


def left_out(report: CorrectnessReport, missed: Sequence[CorrectnessRow]) -> str | None:
    """How many missed items are not shown; None where all are."""
    n_all = n_missed(report.aggregates)
    if n_all <= len(missed):
        return None
    return (
        f"{plural(n_all, 'item')} missed; here are the first {len(missed):,}. samples.jsonl in the record has them "
        f"all, and `benchbook show {report.manifest.run_id} --sample N` shows one."
    )
