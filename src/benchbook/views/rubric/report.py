"""The report of a run under a rubric: its document and its files."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.document import (
    HTML,
    WRITTEN,
    Bar,
    Block,
    Document,
    Gates,
    Group,
    Lines,
    Listed,
    Opening,
    Paragraph,
    Part,
    Section,
)
from benchbook.evaluators.exact import RepeatSummary
from benchbook.evaluators.gates import Decision
from benchbook.evaluators.kept import items_of
from benchbook.evaluators.panels import PanelAnalysis
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.reading import rubric_of
from benchbook.evaluators.rubric.rows import (
    AggregatesFile,
    EarlyStop,
    Ledger,
    PairedStop,
)
from benchbook.record.folder import Record
from benchbook.text import one_line, plural
from benchbook.views import numbers
from benchbook.views.csv_files import samples_csv
from benchbook.views.gates import gates_table
from benchbook.views.names import set_name
from benchbook.views.rubric import tables
from benchbook.views.rubric.digest import RunReport, plots
from benchbook.views.rubric.junit import junit_report
from benchbook.views.rubric.panel import judges_agreement_table, judges_table, panel_lines, panel_notices, splits_table
from benchbook.views.rubric.samples import judged_words, shown_samples
from benchbook.views.rubric.words import decided_lines, settling_lines
from benchbook.views.views import (
    FOOT,
    Rows,
    View,
    end_sections,
    named_model,
    notices_around,
    run_facts,
    write_document,
    write_pieces,
)
from benchbook.views.words import aggregate_word, asked_items, decision_word, reason

_CONTENTS = {
    "gates": "Gates",
    "ledger": "Samples",
    "panel": "Panel",
    "distributions": "Distributions",
    "aggregates": "Aggregates",
    "repeats": "Repeats",
    "slices": "Slices",
    "costs": "What it took",
    "failed": "Did not pass",
    "reproducibility": "Reproducibility",
    "verify": "Check it",
}


def run_document(report: RunReport, *, in_full: bool = False) -> Document:
    """The document of a run: in full, or the summary, which needs none of its samples."""
    manifest = report.manifest
    above, below = notices_around(report, notices(report))
    blocks: list[Block] = [*above, _opening(report), _who(report), *below, _gates(report, in_full), _counted(report)]
    if in_full:
        blocks += [*_sections(report), *shown_samples(report), *end_sections(report)]
    shown = {block.id for block in blocks if isinstance(block, Section)}
    return Document(
        f"{decision_word(report.decision).headline}: {numbers.short_model(manifest.model_id)} on {manifest.dataset_id}",
        manifest.spec,
        blocks,
        FOOT,
        manifest.journal_sha256,
        tuple((place, words) for place, words in _CONTENTS.items() if place in shown),
        hatched=True,
    )


# ── the decision ─────────────────────────────────────────────────────────────────────────────────────────────


def _opening(report: RunReport) -> Opening:
    """The decision in words, why, and whose run this is."""
    manifest, decision = report.manifest, report.decision
    word = decision_word(decision)
    return Opening(
        word.headline,
        word.tone,
        "refused" if decision is None else decision.decision,
        (word.meaning, *([] if decision is None else decided_lines(decision))),
        tuple(_why(report, decision)),
        (
            named_model("Model", manifest.model_id, manifest.model_version),
            named_model("Judge", manifest.evaluator_model_id, manifest.evaluator_model_version),
            *run_facts(report, "benchmark" if manifest.benchmark else "not a benchmark"),
        ),
    )


def _why(report: RunReport, decision: Decision | None) -> Iterator[Listed]:
    if decision is None:
        yield Listed(tuple(report.manifest.missing_metadata), "Missing metadata:", code=True, sign="- missing:")
        return
    yield Listed(tuple(reason(one) for one in decision.reasons), "Why")
    yield Listed(tuple(settling_lines(decision)), "What would settle it", sign=">")


def _who(report: RunReport) -> Lines:
    """For a terminal: whose run this is, in two lines, and the sentences on its panel."""
    manifest = report.manifest
    repeats = f", {plural(manifest.repeats, 'repeat')}" if manifest.repeats > 1 else ""
    model, judge = numbers.short_model(manifest.model_id), numbers.short_model(manifest.evaluator_model_id)
    asked_set = set_name(manifest.dataset_id, manifest.dataset_version_or_hash)
    said = f"{asked_set}, {asked_items(manifest)}{repeats}; run {manifest.run_id}"
    panel = [] if report.panel is None else panel_lines(report.panel)
    return Lines((f"{model}, judged by {judge}", said, *panel))


def notices(report: RunReport) -> list[str]:
    """The notices that come before any number: how the run ended, then the record's own warnings."""
    manifest, ledger = report.manifest, report.aggregates.ledger
    found = []
    if manifest.state != "complete":
        detail = f" ({manifest.state_detail})" if manifest.state_detail else ""
        found.append(
            f"This run is not complete: it is {manifest.state}{detail}, with {ledger.n_attempted:,} of "
            f"{ledger.n_planned:,} samples. It can be resumed."
        )
    if isinstance(early := report.aggregates.early_stop, EarlyStop) and early.after_items is not None:
        what, error = "decided", "of another decision than all of them would give"
        if isinstance(early.against, PairedStop):
            what = f"shown {early.against.verdict} than {one_line(early.against.run_id)}"
            error = "of saying so where there is no difference"
        found.append(
            f"This run ended once it was {what}, after {early.after_items:,} of {early.n_items:,} items: the chance "
            f"{error} is at most {numbers.limit('rate', early.error)}. Intervals here take the number of samples as "
            "fixed before, which it was not: they are too sure."
        )
    return [*found, *report.aggregates.warnings]


# ── its numbers ──────────────────────────────────────────────────────────────────────────────────────────────


def _gates(report: RunReport, in_full: bool) -> Section:
    """The gates, in full each with its n. Where a decision is refused, there are none."""
    decision = report.decision
    if decision is None:
        why = "Not judged: a decision is refused (see above). The values are under Aggregates."
        return Section("gates", "Gates", (Paragraph(why),), only=WRITTEN)
    bases = [aggregate_word(gate.aggregate).base for gate in decision.gates]
    counted = [tables.counted_over(base, report) if in_full else None for base in bases]
    return Section("gates", "Gates", (Gates(tuple(zip(decision.gates, counted, strict=True)), gates_table(decision)),))


def _counted(report: RunReport) -> Lines:
    """For a terminal, the numbers that other sections have as tables and gates do not ask about (R4, R7.3)."""
    file = report.aggregates
    repeats = [_repeats_line(one) for one in file.repeats if len(one.per_repeat) > 1]
    return Lines((*_measured_lines(report), *repeats, _ledger_line(file.ledger)))


def _measured_lines(report: RunReport) -> Iterator[str]:
    """The means of the judge's scores, each with its n, and the tokens per correct answer, a line each."""
    file, spec = report.aggregates, report.spec
    n_of = {f"{one.name}_mean": sum(getattr(file, f"{one.name}_counts").values()) for one in spec.asked}
    for name in (name for name in (*n_of, "item_criteria_mean", "tokens_per_correct_answer") if name in table_of(spec)):
        word = aggregate_word(name)
        unknown = "not reported" if word.kind == "tokens" else "nothing was scored"
        found = numbers.reported(word.kind, getattr(file.aggregates, name))
        value = numbers.show(word.kind, found, n=n_of.get(name), unknown=unknown)
        yield f"{word.label}: {value}"
    yield from _taken_line(file)


def _taken_line(file: AggregatesFile) -> Iterator[str]:
    """`Tokens in all: 1,210 (1,100 in, 110 out); $0.0023, and the judge $0.0009`; nothing where none were reported."""
    found = file.aggregates
    if (total := numbers.reported("tokens", found.total_tokens)) is None:
        return
    parts = [numbers.show("tokens", one) for one in (found.total_input_tokens, found.total_output_tokens)]
    cost = ""
    if file.candidate_cost_usd is not None:
        cost = f"; {numbers.money(str(file.candidate_cost_usd))}"
        if file.evaluator_cost_usd is not None:
            cost += f", and the judge {numbers.money(str(file.evaluator_cost_usd))}"
    yield f"Tokens in all: {numbers.show('tokens', total)} ({parts[0]} in, {parts[1]} out){cost}"


def _repeats_line(one: RepeatSummary) -> str:
    word = aggregate_word(one.aggregate)
    missing = one.per_repeat.count(None)
    over = plural(len(one.per_repeat), "repeat") + (f", {missing:,} without a value" if missing else "")
    mean = numbers.show(word.kind, one.mean, unknown="nothing was counted")
    return f"{word.label}, over {over}: mean {mean}, SD {numbers.show(word.kind, one.sd, unknown='fewer than two')}"


def _ledger_line(ledger: Ledger) -> str:
    parts = [f"{ledger.n_attempted:,} of {ledger.n_planned:,} samples attempted", f"{ledger.n_scored:,} scored"]
    if ledger.n_no_answer:
        why = ", ".join(f"{name} {n:,}" for name, n in ledger.no_answer_by_reason.items())
        parts.append(f"of these {ledger.n_no_answer:,} not answered ({why})")
    unanswered = {} if ledger.unanswered_by_cause is msgspec.UNSET else ledger.unanswered_by_cause
    reasons = [*ledger.unscored_by_reason.items(), *((f"unanswered: {name}", n) for name, n in unanswered.items())]
    why = ", ".join(f"{name} {n:,}" for name, n in reasons)
    parts.append(f"{ledger.n_unscored:,} unscored" + (f" ({why})" if why else ""))
    return ", ".join(parts)


def _sections(report: RunReport) -> Iterator[Section]:
    file = report.aggregates
    yield Section("ledger", "Samples", _ledger(report))
    if report.panel is not None:
        yield Section("panel", "Panel", _panel(report.panel, file))
    yield Section("distributions", "Distributions", (Group(plots(report), "plots"),))
    yield Section("aggregates", "Aggregates", (tables.aggregates_table(report),))
    yield Section("repeats", "Repeats", _repeats(report))
    slices = tables.slices_table(file, report.spec)
    none = Paragraph("No item names a section, a category or a difficulty.", only=HTML)
    yield Section("slices", "Slices", (slices or none,))
    retried = (
        f"{plural(file.transport_retries, 'request')} sent again after a transport fault; "
        f"{plural(file.cached, 'answer')} from the cache."
    )
    yield Section("costs", "What it took", (tables.costs_table(file), Paragraph(retried, "quiet")))


def _ledger(report: RunReport) -> tuple[Block, ...]:
    """Where every planned sample went."""
    file, ledger, n_passed = report.aggregates, report.aggregates.ledger, report.digest.n_passed
    failed = max(ledger.n_scored - ledger.n_no_answer - n_passed, 0)
    parts = (
        Part("passed", n_passed, "passed"),
        Part("did not pass", failed, "failed"),
        Part("not answered", ledger.n_no_answer, "silent"),
        Part("unscored", ledger.n_unscored, "unscored"),
        Part("not attempted", max(ledger.n_planned - ledger.n_attempted, 0), "absent"),
    )
    found = (tables.ledger_table(ledger), tables.fail_reasons_table(file), tables.scores_table(file, report.spec))
    bar = Bar("ledger-bar", "Where every planned sample went", parts)
    return bar, Group(found, "pair"), tables.early_stop_table(file)


def _panel(panel: PanelAnalysis, file: AggregatesFile) -> tuple[Block, ...]:
    """Several judges: each alone, how they agree, what they split on."""
    said = Listed((*panel_lines(panel), *panel_notices(panel)))
    return said, judges_table(panel, file), judges_agreement_table(panel), splits_table(panel)


def _repeats(report: RunReport) -> tuple[Block, ...]:
    """The tables of repeats (R7.3); a sentence where there is a single repeat."""
    file = report.aggregates
    made = (tables.repeats_table(file), tables.agreement_table(file, report.spec), tables.variance_table(file))
    if found := tuple(one for one in made if one):
        return found
    return (Paragraph("The set was run once, so nothing can be said about how much another run would differ."),)


# ── its files ────────────────────────────────────────────────────────────────────────────────────────────────


def write_reports(report: RunReport, folder: Path) -> list[Path]:
    """Write report.html, report.md, junit.xml and samples.csv; each appears whole, or stays as it was.

    Raises: RecordError where a file can't be written.
    """
    return [
        *write_document(run_document(report, in_full=True), folder),
        write_pieces(folder / "junit.xml", junit_report(report)),
        write_pieces(folder / "samples.csv", report.csv(report.rows())),
    ]


def _report(record: Record, derived: DerivedFiles, rows: Rows) -> RunReport:
    known = (derived.manifest, derived.aggregates, derived.decision)
    panel = evaluator_of(record).panel(derived, rows())
    lines = partial(samples_csv, record)
    return RunReport(*known, rows, partial(items_of, record), panel, rubric_of(record), lines)


def _first_words(derived: DerivedFiles) -> Opening:
    return _opening(
        RunReport(derived.manifest, derived.aggregates, derived.decision, lambda: iter(()), lambda _: iter(()))
    )


VIEW = View(
    report=_report,
    summary=run_document,
    write=write_reports,
    opening=_first_words,
    fail_reasons=lambda row: row.fail_reasons,
    judged=judged_words,
)
