"""The Markdown report (CommonMark with GFM tables).

What others wrote appears in two places only: in table cells and lists, where every character with a meaning in
Markdown or HTML is taken out of its meaning, and in fenced blocks whose fence is longer than any in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from benchbook.evaluators.rubric.rows import JudgeReply, RubricRow, judge_of_reply
from benchbook.text import one_line, shorten, visible
from benchbook.views import numbers, panel_tables, tables
from benchbook.views.digest import MAX_CHARS, Asked, Digest, digest_of
from benchbook.views.gates import decided_lines, settling_lines
from benchbook.views.model import RunReport
from benchbook.views.plots import plot_table, plots
from benchbook.views.tables import Table
from benchbook.views.words import (
    asked_items,
    decision_word,
    fail_reason,
    first_warnings,
    plural,
    reason,
    unscored_because,
)

__all__ = ["bullets", "fenced", "inline", "markdown_report", "table_section"]


_BACKSLASHED = re.compile(r"([\\`*_{}\[\]()#+!~^$])")
# A reference, where a backslash would still be read as structure by some: in tables, HTML, and links of plain text.
_REFERENCED = re.compile(r"[&<>|@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_BACKTICKS = re.compile("`+")


def inline(words: str) -> str:
    """`words` on one line, as nothing but text."""
    return _REFERENCED.sub(lambda found: f"&#{ord(found.group())};", _BACKSLASHED.sub(r"\\\1", one_line(words)))


def fenced(words: str) -> str:
    """`words` as a code block that they can't close."""
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(words)), default=0))
    return f"{fence}text\n{visible(words)}\n{fence}\n"


def markdown_report(report: RunReport, found: Digest | None = None) -> Iterator[str]:
    """The report, in pieces. `found` is the digest of `report`, where the caller has it already."""
    found = digest_of(report) if found is None else found
    file = report.aggregates
    if first := first_warnings(file):
        yield bullets(first)
    yield from _decision(report)
    yield from _identity(report)
    yield from _gates(report)
    yield from table_section("Samples", tables.ledger_table(file.ledger), tables.fail_reasons_table(file))
    yield from _panel(report)
    yield from table_section("Until decided", tables.early_stop_table(file))
    yield from table_section("Aggregates", tables.aggregates_table(file, found), tables.scores_table(file))
    yield from _repeats(report)
    yield from table_section("Slices", tables.slices_table(file))
    yield "## Distributions\n\n"
    for plot in plots(report, found):
        marks = "; ".join(one.label for one in plot.marks)
        yield f"{inline(f'{plot.title}: {plot.description}. {marks}.')}\n\n"
        yield _table(plot_table(plot))
    yield from table_section("What it took", tables.costs_table(file))
    yield from _samples(report.manifest.run_id, found)
    yield from table_section("Reproducibility", tables.reproducibility(report))
    yield "## Check it yourself\n\n"
    yield "Every number here is computed from the record's journal. This does it again, offline:\n\n"
    yield fenced(f"benchbook verify {report.manifest.run_id} --expect {report.manifest.journal_sha256}")


def _decision(report: RunReport) -> Iterator[str]:
    decision = report.decision
    word = decision_word(decision)
    code = "refused" if decision is None else decision.decision
    yield f"# {word.headline} (`{code}`)\n\n{word.meaning}\n\n"
    if decision is None:
        yield "Missing metadata:\n\n"
        yield bullets(report.manifest.missing_metadata)
    else:
        for line in decided_lines(decision):
            yield f"{line}\n\n"
        yield "Why:\n\n"
        yield bullets([reason(one) for one in decision.reasons])
        if settling := settling_lines(decision):
            yield "What would settle it:\n\n"
            yield bullets(settling)
    first = first_warnings(report.aggregates)
    if warnings := [one for one in tables.notices(report) if one not in first]:
        yield "## Read this first\n\n"
        yield bullets(warnings)


def _identity(report: RunReport) -> Iterator[str]:
    manifest = report.manifest
    repeats = f" × {plural(manifest.repeats, 'repeat')}" if manifest.repeats > 1 else ""
    entries = (
        ("Model", _model(manifest.model_id, manifest.model_version)),
        ("Judge", _model(manifest.evaluator_model_id, manifest.evaluator_model_version)),
        ("Eval set", f"{inline(manifest.dataset_id)}, {asked_items(manifest)}{repeats}"),
        ("Run", f"{inline(manifest.run_id)}, {'benchmark' if manifest.benchmark else 'not a benchmark'}"),
        ("When", inline(manifest.timestamp_utc)),
        ("Record", f"`{manifest.journal_sha256}`"),
    )
    yield "## Run\n\n"
    yield "".join(f"- **{name}**: {value}\n" for name, value in entries) + "\n"


def _model(model_id: str, version: str | None) -> str:
    remark = "" if version and model_id.endswith(version) else f" ({version or 'version not known'})"
    return inline(numbers.short_model(model_id + remark))


def _gates(report: RunReport) -> Iterator[str]:
    if report.decision is None:
        yield "## Gates\n\nNot judged: a decision is refused. The values are under Aggregates.\n\n"
        return
    yield from table_section("Gates", tables.gates_table(report.decision))


def _panel(report: RunReport) -> Iterator[str]:
    if report.panel is None:
        return
    yield "## Panel\n\n"
    yield bullets([*panel_tables.panel_lines(report.panel), *panel_tables.panel_notices(report.panel)])
    yield _table(panel_tables.judges_table(report.panel, report.aggregates))
    for table in (panel_tables.agreement_table(report.panel), panel_tables.splits_table(report.panel)):
        if table:
            yield f"{inline(table.caption)}:\n\n{_table(table)}"


def _repeats(report: RunReport) -> Iterator[str]:
    file = report.aggregates
    if not tables.repeats_table(file):
        yield "## Repeats\n\n"
        yield "The set was run once, so nothing can be said about how much another run would differ.\n\n"
        return
    yield from table_section(
        "Repeats", tables.repeats_table(file), tables.agreement_table(file), tables.variance_table(file)
    )


def table_section(title: str, *found: Table) -> Iterator[str]:
    """A heading with the tables below it that have rows."""
    shown = [one for one in found if one]
    if not shown:
        return
    yield f"## {title}\n\n"
    for index, one in enumerate(shown):
        if index:
            yield f"{inline(one.caption)}:\n\n"
        yield _table(one)


def _table(table: Table) -> str:
    if not table:
        return f"{numbers.nothing('no data')}\n\n"
    head = _line([column.name for column in table.columns])
    rule = "| " + " | ".join("---:" if column.number else "---" for column in table.columns) + " |\n"
    return head + rule + "".join(_line(row) for row in table.rows) + "\n"


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(inline(cell) for cell in cells) + " |\n"


def bullets(entries: Sequence[str]) -> str:
    """A list, each entry as nothing but text."""
    # A backslash before what would begin another block inside of the entry: "1.", "-", "=".
    return "".join(f"- {_unblocked(inline(entry))}\n" for entry in entries) + "\n"


def _unblocked(words: str) -> str:
    """`words` at the start of a block, without being read as a list, a rule or an underline."""
    return re.sub(r"^([-=]|\d+(?=[.)]))", lambda found: f"&#{ord(found.group()[0])};{found.group()[1:]}", words)


def _samples(run_id: str, found: Digest) -> Iterator[str]:
    for title, what, rows, n in (
        ("Samples that did not pass", "did not pass", found.failed, found.n_failed),
        ("Samples that passed", "passed", found.passed, found.n_passed),
    ):
        yield f"## {title}\n\n"
        if len(rows) < n:
            yield f"{plural(n, 'sample')} {what}; here are the first {len(rows):,}. samples.csv has them all, and "
            yield f"`benchbook show {run_id} --sample N` shows one.\n\n"
        else:
            yield f"{plural(n, 'sample')} {what}.\n\n"
        for row in rows:
            yield from _sample(row, found.asked.get(row.sample))


def _sample(row: RubricRow, asked: Asked | None) -> Iterator[str]:
    repeat = f", repeat {row.repeat + 1}" if row.repeat else ""
    yield f"### Sample {row.sample}: {inline(shorten(row.item_id, 80))}{repeat}\n\n"
    if (why := unscored_because(row)) is not None:
        yield f"{inline(why[1].capitalize())}.\n\n"
    elif row.fail_reasons:
        yield f"Did not pass: {inline(', '.join(fail_reason(name) for name in row.fail_reasons))}.\n\n"
    yield _table(tables.sample_facts(row))
    if asked is not None:
        yield _quoted("Prompt", asked.prompt)
        if asked.context is not None:
            yield _quoted("Context", asked.context)
    yield _quoted("Answer", row.candidate_answer)
    if asked is not None:
        yield _quoted("Reference", asked.reference)
    if row.reasoning:
        yield _quoted("Reasoning before the answer", row.reasoning)
    if row.error_detail:
        yield _quoted("What the failed call said", row.error_detail)
    yield _quoted("Judge's rationale", row.rationale)
    for reply in row.judge_replies:
        judge = judge_of_reply(row, reply)
        whose = "Judge's raw reply" if judge is None else f"Raw reply of judge {judge}"
        yield _quoted(f"{whose}, {_outcome(reply)}", reply.text)


def _outcome(reply: JudgeReply) -> str:
    detail = f" ({shorten(reply.detail, 200)})" if reply.detail else ""
    outcome = f"rejected: {reply.parse_error_reason}{detail}" if reply.parse_error_reason else "read"
    return f"attempt {reply.attempt}, journal fact {reply.seq}, {outcome}"


def _quoted(name: str, words: str | None) -> str:
    if words is None:
        return f"{inline(name)}: {numbers.nothing()}\n\n"
    cut = f"\nCut after {MAX_CHARS:,} characters.\n" if len(words) > MAX_CHARS else ""
    return f"{inline(name)}:\n\n{fenced(words[:MAX_CHARS])}{cut}\n"
