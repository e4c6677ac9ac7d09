"""The parts of the HTML report above its samples: decision, gates, ledger, tables, plots, how to verify."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from benchbook.evaluators.gates import Gate
from benchbook.evaluators.rubric.release import Decision
from benchbook.text import shorten
from benchbook.views import numbers, panel_tables, tables
from benchbook.views.digest import Digest
from benchbook.views.gates import Tone, decided_lines, gate_rule, gate_state, gate_value, settling_lines
from benchbook.views.markup import Html, el, join, text
from benchbook.views.model import AnyReport, RunReport
from benchbook.views.plots import Plot, plot_table, plots
from benchbook.views.svg import Segment, gate_scale, histogram, legend, parts_bar
from benchbook.views.tables import Column, Table
from benchbook.views.words import aggregate_word, asked_items, decision_word, first_warnings, plural, reason

__all__ = [
    "costs_part",
    "decision_part",
    "distributions_part",
    "gates_part",
    "identity_list",
    "ledger_part",
    "named_evalset",
    "named_model",
    "notices_part",
    "numbers_part",
    "opening",
    "panel_part",
    "render_table",
    "repeats_part",
    "reproducibility_part",
    "said_name",
    "section",
    "short_digest",
    "slices_part",
    "verify_part",
    "when",
]


_NAME = 120  # characters of a name; the whole of it is under Reproducibility
_MARKS = {"good": "✓", "bad": "✕", "doubt": "?", "none": "–"}


def section(name: str, title: str, *content: Html) -> Html:
    heading = el("h2", text(title), id=f"{name}-heading")
    return el("section", heading, *content, id=name, aria_labelledby=f"{name}-heading")


def render_table(table: Table, *, hide_caption: bool = False) -> Html:
    """A table with caption and scopes, in a box of its own that scrolls sideways on a narrow screen."""
    if not table:
        return join()
    caption = el("caption", text(table.caption), class_="unseen" if hide_caption else None)
    head = el("tr", *(el("th", text(one.name), scope="col", class_=_align(one)) for one in table.columns))
    body = [
        el(
            "tr",
            el("th", text(row[0]), scope="row", dir="auto"),
            *(
                el("td", text(cell), class_=_align(column, cell), dir=None if column.number else "auto")
                for column, cell in zip(table.columns[1:], row[1:], strict=True)
            ),
        )
        for row in table.rows
    ]
    whole = el("table", caption, el("thead", head), el("tbody", *body))
    return el("div", whole, class_="table", tabindex=0, role="region", aria_label=table.caption)


def _align(column: Column, cell: str = "") -> str | None:
    """A cell that says why it has no number may be broken into lines; a number may not."""
    if not column.number:
        return None
    return "number words" if cell.startswith(f"{numbers.DASH} (") else "number"


def decision_part(report: RunReport) -> Html:
    """The first thing to be read: the decision in words, why, whose run this is, and what to be warned of."""
    decision = report.decision
    word = decision_word(decision)
    code = "refused" if decision is None else decision.decision
    meaning = el("p", text(word.meaning), class_="meaning")
    says = opening(word.headline, code, word.tone, meaning, *_why(report, decision))
    decided = el(
        "section",
        says,
        identity_list(_identity(report)),
        id="decision",
        class_=f"tone-{word.tone}",
        aria_labelledby="decision-heading",
    )
    notices = notices_part(tables.notices(report))
    # What made the numbers stands before them (R1.3a, R1.4).
    return join(notices, decided) if first_warnings(report.aggregates) else join(decided, notices)


def opening(headline: str, code: str | None, tone: Tone, *content: Html) -> Html:
    """The headline of a page: what it says in large, the name that programs know it by, if any, and what follows."""
    heading = el(
        "h1",
        el("span", text(_MARKS[tone]), class_="mark", aria_hidden="true"),
        el("span", text(headline)),
        *([] if code is None else [el("code", text(code))]),
        id="decision-heading",
    )
    return el("div", heading, *content, class_="says")


def _why(report: RunReport, decision: Decision | None) -> list[Html]:
    if decision is None:
        missing = [el("li", el("code", text(name))) for name in report.manifest.missing_metadata]
        return [el("p", text("Missing metadata:"), class_="why"), el("ul", *missing)]
    asked = [el("p", text(one), class_="meaning") for one in decided_lines(decision)]
    reasons = [el("li", text(reason(one)), dir="auto") for one in decision.reasons]
    settling = [el("li", text(one), dir="auto") for one in settling_lines(decision)]
    would = [el("p", text("What would settle it"), class_="why"), el("ul", *settling)] if settling else []
    return [*asked, el("p", text("Why"), class_="why"), el("ul", *reasons), *would]


def identity_list(entries: Sequence[tuple[str, Html]]) -> Html:
    """Whose run it is, beside the headline."""
    items = [el("div", el("dt", text(name)), el("dd", value)) for name, value in entries]
    return el("dl", *items, class_="identity", aria_label="Identity of the run")


def _identity(report: RunReport) -> list[tuple[str, Html]]:
    manifest = report.manifest
    kind = "benchmark" if manifest.benchmark else "not a benchmark"
    return [
        ("Model", named_model(manifest.model_id, manifest.model_version)),
        ("Judge", named_model(manifest.evaluator_model_id, manifest.evaluator_model_version)),
        ("Eval set", named_evalset(report)),
        ("Run", join(said_name(manifest.run_id), el("small", text(kind)))),
        ("When", el("span", text(when(report)))),
        ("Record", short_digest(manifest.journal_sha256)),
    ]


def named_evalset(report: AnyReport) -> Html:
    """The eval set, how many items it has, how often it was asked, and its hash."""
    manifest = report.manifest
    repeats = f" × {plural(manifest.repeats, 'repeat')}" if manifest.repeats > 1 else ""
    size = text(f"{asked_items(manifest)}{repeats}, ")
    digest = short_digest(manifest.dataset_version_or_hash)
    return join(said_name(manifest.dataset_id), el("small", size, digest))


def when(report: AnyReport) -> str:
    """When the run began, and whether it ended."""
    ended = report.manifest.ended_utc
    began: str = report.manifest.timestamp_utc
    return began.replace("T", " ") + ("" if ended else ", not ended")


def named_model(model_id: str, version: str | None) -> Html:
    """A model, and the snapshot that its provider named, where that says more."""
    if version is None:
        return join(said_name(model_id), el("small", text("version not known")))
    if model_id.endswith(version):
        return said_name(model_id)
    return join(said_name(model_id), el("small", text(numbers.short_model(version)), title=version))


def said_name(words: str) -> Html:
    """A name that others chose: isolated, and no longer than a name should be."""
    short = shorten(numbers.short_model(words), _NAME)
    return el("bdi", text(short), dir="auto", title=words if short != words else None)


def short_digest(digest: str) -> Html:
    """The beginning of a hash; all of it is its title."""
    return el("code", text(numbers.short_hash(digest)), title=digest)


def notices_part(found: Sequence[str]) -> Html:
    """What a reader must know before any number."""
    if not found:
        return join()
    heading = el(
        "h2", text("Read this first" if len(found) == 1 else f"Read these {len(found)} first"), id="warnings-heading"
    )
    items = [el("li", text(one), dir="auto") for one in found]
    return el("section", heading, el("ul", *items), id="warnings", aria_labelledby="warnings-heading")


def gates_part(report: RunReport, digest: Digest) -> Html:
    """The four gates, each on its scale."""
    decision = report.decision
    if decision is None:
        return section(
            "gates",
            "Gates",
            el("p", text("Not judged: a decision is refused (see above). The values are under Aggregates.")),
        )
    items = [_gate(gate, report, digest) for gate in decision.gates]
    shown = legend(
        [
            ("s-value", "value"),
            ("s-interval", "confidence interval"),
            ("s-range", "worst to best case, by what unscored samples could be"),
            ("s-limit", "limit"),
            ("s-zone", "where the gate holds"),
        ]
    )
    return section(
        "gates",
        "Gates",
        el("ul", *items, class_="gates"),
        shown,
        _more("The gates as a table", render_table(tables.gates_table(decision), hide_caption=True)),
    )


def _gate(gate: Gate, report: RunReport, digest: Digest) -> Html:
    word, state = aggregate_word(gate.aggregate), gate_state(gate)
    n = tables.counted_over(word.base, report.aggregates, digest)
    name = el(
        "div",
        el("h3", text(word.label)),
        el("p", text(gate_rule(gate)), class_="unseen"),
        el(
            "p",
            el("span", text(_MARKS[state.tone]), class_="mark", aria_hidden="true"),
            el("strong", text(state.text)),
            text(f", {state.detail}" if state.detail else ""),
            class_=f"state tone-{state.tone}",
        ),
    )
    value = el(
        "div",
        el("p", text(numbers.DASH if gate.value is None else gate_value(gate, gate.value)), class_="figure"),
        el("p", text(numbers.interval(word.kind, gate.interval, bare=True)), class_="beside"),
        el("p", text(", ".join(_about_interval(gate, n))), class_="beside"),
    )
    return el("li", name, gate_scale(gate), value, class_="gate")


def _about_interval(gate: Gate, n: int | None) -> Iterator[str]:
    found = gate.interval
    if found is not None and (found.low, found.high) != (None, None):
        yield f"{numbers.limit('rate', found.confidence)} interval"
    if n is not None:
        yield f"n = {n:,}"


def _more(summary: str, *content: Html) -> Html:
    return el("details", el("summary", text(summary)), *content, class_="more")


def ledger_part(report: RunReport, digest: Digest) -> Html:
    """Where every planned sample went."""
    ledger = report.aggregates.ledger
    failed = max(ledger.n_scored - ledger.n_no_answer - digest.n_passed, 0)
    segments = [
        Segment("passed", digest.n_passed, "passed"),
        Segment("did not pass", failed, "failed"),
        Segment("not answered", ledger.n_no_answer, "silent"),
        Segment("unscored", ledger.n_unscored, "unscored"),
        Segment("not attempted", max(ledger.n_planned - ledger.n_attempted, 0), "absent"),
    ]
    shown = [(f"s-{one.role}", f"{one.name} {one.size:,}") for one in segments if one.size]
    return section(
        "ledger",
        "Samples",
        el(
            "div",
            parts_bar("ledger-bar", "Where every planned sample went", segments),
            legend(shown),
            class_="figure-box",
        ),
        el(
            "div",
            render_table(tables.ledger_table(ledger)),
            render_table(tables.fail_reasons_table(report.aggregates)),
            render_table(tables.scores_table(report.aggregates)),
            class_="pair",
        ),
        render_table(tables.early_stop_table(report.aggregates)),
    )


def panel_part(report: RunReport) -> Html:
    """Several judges: each alone, how they agree, what they split on. Nothing where one judge judged."""
    panel = report.panel
    if panel is None:
        return join()
    said = [*panel_tables.panel_lines(panel), *panel_tables.panel_notices(panel)]
    return section(
        "panel",
        "Panel",
        el("ul", *(el("li", text(one)) for one in said)),
        render_table(panel_tables.judges_table(panel, report.aggregates)),
        render_table(panel_tables.agreement_table(panel)),
        render_table(panel_tables.splits_table(panel)),
    )


def numbers_part(report: RunReport, digest: Digest) -> Html:
    return section(
        "aggregates",
        "Aggregates",
        render_table(tables.aggregates_table(report.aggregates, digest), hide_caption=True),
    )


def costs_part(report: RunReport) -> Html:
    file = report.aggregates
    retried = (
        f"{plural(file.transport_retries, 'request')} sent again after a transport fault; "
        f"{plural(file.cached, 'answer')} from the cache."
    )
    return section(
        "costs",
        "What it took",
        render_table(tables.costs_table(file), hide_caption=True),
        el("p", text(retried), class_="quiet"),
    )


def repeats_part(report: RunReport) -> Html:
    """R7.3; nothing but a sentence for a single repeat."""
    file = report.aggregates
    found = [
        one for one in (tables.repeats_table(file), tables.agreement_table(file), tables.variance_table(file)) if one
    ]
    if not found:
        alone = "The set was run once, so nothing can be said about how much another run would differ."
        return section("repeats", "Repeats", el("p", text(alone)))
    return section("repeats", "Repeats", *(render_table(one) for one in found))


def slices_part(report: RunReport) -> Html:
    table = tables.slices_table(report.aggregates)
    if not table:
        return section("slices", "Slices", el("p", text("No item names a section, a category or a difficulty.")))
    return section("slices", "Slices", render_table(table, hide_caption=True))


def distributions_part(report: RunReport, digest: Digest) -> Html:
    return section(
        "distributions", "Distributions", el("div", *(_figure(plot) for plot in plots(report, digest)), class_="plots")
    )


def _figure(plot: Plot) -> Html:
    heading = el("h3", text(plot.title))
    caption = el("figcaption", heading, el("p", text(plot.description), class_="quiet"))
    if not plot.n:
        return el("figure", caption, el("p", text(numbers.nothing("no data"))))
    names = {"passed": "s-passed", "did not pass": "s-failed"}
    shown = [legend([(names[name], name) for name in plot.series])] if len(plot.series) > 1 else []
    return el("figure", caption, histogram(plot), *shown, _more("The figures", render_table(plot_table(plot))))


def reproducibility_part(report: AnyReport) -> Html:
    config = json.dumps(report.manifest.config, ensure_ascii=False, indent=2, sort_keys=True)
    return section(
        "reproducibility",
        "Reproducibility",
        render_table(tables.reproducibility(report), hide_caption=True),
        _more("The run's configuration", el("pre", text(config), class_="said", dir="auto")),
    )


def verify_part(report: AnyReport) -> Html:
    manifest = report.manifest
    command = f"benchbook verify {manifest.run_id} --expect {manifest.journal_sha256}"
    return section(
        "verify",
        "Check it yourself",
        el(
            "p",
            text(
                "Every number on this page is computed from the record's journal. This does it again, offline, and "
                "holds the record against the hash that this report was made from:"
            ),
        ),
        el("pre", el("code", text(command)), class_="command"),
    )
