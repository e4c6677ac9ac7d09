"""How `answer_correctness@v1` runs are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchbook.comparison.records import training_loss
from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.correctness.rows import CorrectnessRow
from benchbook.record.folder import Record
from benchbook.views import numbers
from benchbook.views.comparison_tables import training_table
from benchbook.views.correctness_model import (
    CorrectnessReport,
    counted_line,
    headline,
    missed_rows,
    missed_table,
    misses_table,
    n_missed,
    notices,
    scorecard_table,
    slice_tables,
    why_missed,
)
from benchbook.views.curves import CURVES_CSS, curves_figure
from benchbook.views.html import masthead, page_foot
from benchbook.views.markdown import bullets, fenced, inline, table_section
from benchbook.views.markup import Html, el, join, text
from benchbook.views.page_frame import page_head
from benchbook.views.page_parts import (
    identity_list,
    named_evalset,
    named_model,
    notices_part,
    opening,
    render_table,
    reproducibility_part,
    said_name,
    section,
    short_digest,
    verify_part,
    when,
)
from benchbook.views.tables import Table, reproducibility
from benchbook.views.terminal import COLOURS, first_lines, painted, table_lines, wrapped
from benchbook.views.views import Rows, View
from benchbook.views.words import asked_items, first_warnings, plural
from benchbook.views.write import write_pieces

__all__ = ["VIEW", "correctness_html", "correctness_lines", "correctness_markdown", "left_out"]


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


_CONTENTS = (
    ("scorecard", "Scorecard"),
    ("misses", "Why items missed"),
    ("missed", "Missed items"),
    ("training", "Training"),
    ("reproducibility", "Reproducibility"),
    ("verify", "Check it"),
)


def correctness_html(report: CorrectnessReport, missed: Sequence[CorrectnessRow]) -> Iterator[str]:
    """The page, in pieces. `missed` are the missed items that are shown."""
    manifest = report.manifest
    yield '<!doctype html>\n<html lang="en">\n'
    yield page_head(f"{headline(report).words}: {manifest.model_id} on {manifest.dataset_id}", CURVES_CSS)
    yield '\n<body>\n<a class="skip" href="#decision">Skip to the report</a>\n'
    yield join(masthead(report, _CONTENTS), Html('\n<main id="main">\n'))
    yield _opening(report)
    yield _scorecard(report)
    yield _misses(report)
    yield _missed(report, missed)
    yield _training(report)
    yield reproducibility_part(report)
    yield verify_part(report)
    yield "\n</main>\n" + page_foot(report) + "\n</body>\n</html>\n"


def _opening(report: CorrectnessReport) -> Html:
    manifest, top = report.manifest, headline(report)
    says = opening(top.words, None, top.tone, el("p", text(top.meaning), class_="meaning", dir="auto"))
    identity = identity_list(
        [
            ("Model", named_model(manifest.model_id, manifest.model_version)),
            ("Eval set", named_evalset(report)),
            ("Run", said_name(manifest.run_id)),
            ("When", el("span", text(when(report)))),
            ("Record", short_digest(manifest.journal_sha256)),
        ]
    )
    whole = el("section", says, identity, id="decision", class_=f"tone-{top.tone}", aria_labelledby="decision-heading")
    first = notices_part(notices(report))
    # What a fault of a server left open stands before any number (R1.3a).
    return join(first, whole) if first_warnings(report.aggregates) else join(whole, first)


def _scorecard(report: CorrectnessReport) -> Html:
    file = report.aggregates
    tables = (render_table(one) for one in slice_tables(file))
    return section("scorecard", "Scorecard", render_table(scorecard_table(file), hide_caption=True), *tables)


def _misses(report: CorrectnessReport) -> Html:
    table = misses_table(report.aggregates)
    what = render_table(table, hide_caption=True) if table else el("p", text("No item missed."))
    return section("misses", "Why items missed", what)


def _missed(report: CorrectnessReport, missed: Sequence[CorrectnessRow]) -> Html:
    if not missed:
        return section("missed", "Missed items", el("p", text("None.")))
    words = left_out(report, missed)
    note = [el("p", text(words), class_="quiet")] if words else []
    return section("missed", "Missed items", *note, render_table(missed_table(missed), hide_caption=True))


def _training(report: CorrectnessReport) -> Html:
    """What was logged on the way here, beside what came of it."""
    loss = report.loss()
    what = el("p", text("No training metrics.")) if loss is None else curves_figure({report.manifest.run_id: loss})
    return section("training", "Training", what)


def correctness_lines(
    report: CorrectnessReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()
) -> Iterator[str]:
    """The score, why items missed, the scorecard's slices, and where the reports are."""
    manifest, file = report.manifest, report.aggregates
    top = headline(report)
    first = first_warnings(file)
    yield from first_lines(first, width, colour)
    yield ""
    yield from (painted(line, f"1;{COLOURS[top.tone]}", colour) for line in wrapped(top.words, width, ""))
    yield from wrapped(top.meaning, width, "")
    yield ""
    yield from wrapped(numbers.short_model(manifest.model_id), width, "")
    yield from wrapped(f"{manifest.dataset_id}, {asked_items(manifest)}; run {manifest.run_id}", width, "")
    for warning in (one for one in notices(report) if one not in first):
        yield from (painted(line, COLOURS["doubt"], colour) for line in wrapped(warning, width, "  ! "))
    yield ""
    for table in (_by_name(misses_table(file)), *slice_tables(file)):
        yield from table_lines(table, width, wrap=True)
    yield from wrapped(counted_line(file), width, "")
    yield from wrapped(f"record {manifest.journal_sha256}", max(width, 80), "")
    for path in written:
        yield from wrapped(str(path), max(width, 10_000), "  ")
    yield ""


def _by_name(misses: Table) -> Table:
    """The reasons by the spec's names alone: a terminal is narrow."""
    return Table(misses.caption, misses.columns[1:], tuple(row[1:] for row in misses.rows))


def _report(record: Record, derived: DerivedFiles, rows: Rows) -> CorrectnessReport:
    return CorrectnessReport(
        derived.manifest, derived.aggregates, derived.decision, rows, partial(training_loss, record)
    )


def _write(report: CorrectnessReport, folder: Path) -> list[Path]:
    """Write report.html and report.md."""
    missed = missed_rows(report)
    return [
        write_pieces(folder / "report.html", correctness_html(report, missed)),
        write_pieces(folder / "report.md", correctness_markdown(report, missed)),
    ]


VIEW = View(report=_report, summary_lines=correctness_lines, write=_write, fail_reasons=why_missed)
