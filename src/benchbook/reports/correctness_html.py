"""The HTML report of an `answer_correctness@v1` run: one compact page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.derivations.correctness_rows import CorrectnessRow
from benchbook.reports.correctness_markdown import left_out
from benchbook.reports.correctness_model import CorrectnessReport, headline, notices
from benchbook.reports.correctness_report_tables import missed_table, misses_table, scorecard_table, slice_tables
from benchbook.reports.curves_svg import CURVES_CSS, curves_figure
from benchbook.reports.html import masthead, page_foot
from benchbook.reports.markup import Html, el, join, text
from benchbook.reports.page_frame import page_head
from benchbook.reports.page_parts import (
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
from benchbook.reports.unanswered import first_warnings

__all__ = ["correctness_html"]

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
