"""The HTML report: one page that needs nothing but itself, without a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.reports import numbers
from benchbook.reports.digest import Digest, digest_of
from benchbook.reports.markup import Html, el, join, text
from benchbook.reports.model import AnyReport, RunReport
from benchbook.reports.page_frame import page_head
from benchbook.reports.page_parts import (
    costs_part,
    decision_part,
    distributions_part,
    gates_part,
    ledger_part,
    numbers_part,
    panel_part,
    repeats_part,
    reproducibility_part,
    slices_part,
    verify_part,
)
from benchbook.reports.page_samples import samples_part
from benchbook.reports.svg import hatching
from benchbook.reports.words import decision_word

__all__ = ["html_report", "masthead", "page_foot"]

_CONTENTS = (
    ("gates", "Gates"),
    ("ledger", "Samples"),
    ("panel", "Panel"),
    ("distributions", "Distributions"),
    ("aggregates", "Aggregates"),
    ("repeats", "Repeats"),
    ("slices", "Slices"),
    ("costs", "What it took"),
    ("failed", "Did not pass"),
    ("reproducibility", "Reproducibility"),
    ("verify", "Check it"),
)


def html_report(report: RunReport, found: Digest | None = None) -> Iterator[str]:
    """The page, in pieces. `found` is the digest of `report`, where the caller has it already."""
    found = digest_of(report) if found is None else found
    manifest = report.manifest
    yield '<!doctype html>\n<html lang="en">\n'
    model = numbers.short_model(manifest.model_id)
    yield page_head(f"{decision_word(report.decision).headline}: {model} on {manifest.dataset_id}")
    yield '\n<body>\n<a class="skip" href="#decision">Skip to the report</a>\n'
    contents = [one for one in _CONTENTS if one[0] != "panel" or report.panel is not None]
    yield join(hatching(), masthead(report, contents), Html('\n<main id="main">\n'))
    yield decision_part(report)
    yield gates_part(report, found)
    yield ledger_part(report, found)
    yield panel_part(report)
    yield distributions_part(report, found)
    yield numbers_part(report, found)
    yield repeats_part(report)
    yield slices_part(report)
    yield costs_part(report)
    yield from samples_part(manifest.run_id, found, manifest.repeats)
    yield reproducibility_part(report)
    yield verify_part(report)
    yield "\n</main>\n" + page_foot(report) + "\n</body>\n</html>\n"


def masthead(report: AnyReport, contents: Sequence[tuple[str, str]]) -> Html:
    """The name of the page, and links to its parts: (place, words)."""
    name = el("p", el("strong", text("Benchbook")), text(f" {report.manifest.spec}"), class_="name")
    links = [el("li", el("a", text(words), href=f"#{place}")) for place, words in contents]
    return el("header", name, el("nav", el("ul", *links), aria_label="Contents"), class_="masthead")


def page_foot(report: AnyReport) -> Html:
    manifest = report.manifest
    words = "Rates, means and percentiles are rounded here for reading; aggregates.json has them to nine decimals."
    return el("footer", el("p", text(words)), el("p", text("Record "), el("code", text(manifest.journal_sha256))))
