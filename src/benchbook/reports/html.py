"""The HTML report: one page that needs nothing but itself, without a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from benchbook.reports import numbers
from benchbook.reports.digest import Digest, digest_of
from benchbook.reports.markup import Html, el, join, text
from benchbook.reports.model import AnyReport, RunReport
from benchbook.reports.page_parts import (
    costs_part,
    decision_part,
    distributions_part,
    gates_part,
    ledger_part,
    numbers_part,
    repeats_part,
    reproducibility_part,
    slices_part,
    verify_part,
)
from benchbook.reports.page_samples import samples_part
from benchbook.reports.palette import palette_css
from benchbook.reports.svg import hatching
from benchbook.reports.words import decision_word

__all__ = ["html_report", "masthead", "page_foot", "page_head"]

# No script, nothing from outside, no form, no base: whatever a model wrote, the browser may not act upon it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_CONTENTS = (
    ("gates", "Gates"),
    ("ledger", "Samples"),
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
    yield join(hatching(), masthead(report, _CONTENTS), Html('\n<main id="main">\n'))
    yield decision_part(report)
    yield gates_part(report, found)
    yield ledger_part(report, found)
    yield distributions_part(report, found)
    yield numbers_part(report, found)
    yield repeats_part(report)
    yield slices_part(report)
    yield costs_part(report)
    yield from samples_part(manifest.run_id, found, manifest.repeats)
    yield reproducibility_part(report)
    yield verify_part(report)
    yield "\n</main>\n" + page_foot(report) + "\n</body>\n</html>\n"


def page_head(title: str, more_css: str = "") -> Html:
    """The head of a page that asks for nothing from outside. `more_css` is ours, and holds nothing of a run."""
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", text(f"{title} – Benchbook")),
        el("link", rel="icon", href="data:,"),
        el("style", _style()),
        *((el("style", Html(more_css)),) if more_css else ()),
    )


@cache
def _style() -> Html:
    """The style sheet is ours and holds nothing of a run, so it is not escaped."""
    return Html("\n" + palette_css() + (files("benchbook.reports") / "page.css").read_text(encoding="utf-8"))


def masthead(report: AnyReport, contents: Sequence[tuple[str, str]]) -> Html:
    """The name of the page, and links to its parts: (place, words)."""
    name = el("p", el("strong", text("Benchbook")), text(f" {report.manifest.spec}"), class_="name")
    links = [el("li", el("a", text(words), href=f"#{place}")) for place, words in contents]
    return el("header", name, el("nav", el("ul", *links), aria_label="Contents"), class_="masthead")


def page_foot(report: AnyReport) -> Html:
    manifest = report.manifest
    words = "Rates, means and percentiles are rounded here for reading; aggregates.json has them to nine decimals."
    return el("footer", el("p", text(words)), el("p", text("Record "), el("code", text(manifest.journal_sha256))))
