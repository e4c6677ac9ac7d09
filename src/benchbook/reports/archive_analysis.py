"""`results_analysis.md`: what an archive's evaluations say, made from its files alone (SPEC P5, P6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from benchbook.derivations.evaluation_rows import CoverageGap
from benchbook.derivations.judge_analysis_results import Analysis
from benchbook.reports import numbers, protocol_tables
from benchbook.reports.archive_model import Archive, JudgeUsed, RunLog
from benchbook.reports.markdown import inline
from benchbook.reports.protocol_words import GAPS
from benchbook.reports.tables import Table
from benchbook.reports.words import plural

__all__ = ["results_analysis", "when"]

MAX_GAPS = 50  # listed; run_log.json has all


def results_analysis(archive: Archive) -> Iterator[str]:
    """The document, in pieces."""
    found, log = archive.analysis(), archive.run_log
    confidence = numbers.limit("rate", found.confidence)
    yield f"# Results: {inline(log.experiment)}\n\n"
    yield (
        f"Made from this archive's files alone. Scores are those of valid `cross_judge` evaluations, unless a section "
        f"says otherwise; intervals are two-sided at {confidence}, each for itself. Where there are too few outputs or "
        "questions for a statement, the value is what was seen, and it is said.\n\n"
    )
    if not isinstance(log.warnings, msgspec.UnsetType) and log.warnings:
        yield "## Read this first\n\n" + "".join(f"- {inline(warning)}\n" for warning in log.warnings) + "\n"
    yield from _run(log, len(archive.rows))
    yield from _section("What counts", protocol_tables.methods_table(found), protocol_tables.flags_table(found))
    yield from _gaps(log)
    yield from _section("Targets", protocol_tables.targets_table(found), protocol_tables.dimensions_table(found))
    yield from _section("Drift", protocol_tables.drift_table(found), empty="No target was judged under two variants.")
    yield from _judges(found)
    yield from _section(
        "Self-judging",
        protocol_tables.self_table(found),
        empty="No model judged an output of its own that others judged too.",
    )
    if found.probes:
        yield from _section("Probes", protocol_tables.probes_table(found))


def _run(log: RunLog, n_rows: int) -> Iterator[str]:
    yield "## Run\n\n"
    yield f"- {plural(log.n_samples, 'sample')}, {plural(n_rows, 'evaluation')}\n"
    yield f"- {inline(when(log))}\n"
    yield f"- Spec {inline(log.spec)} ({inline(log.spec_sha256)}), evidence rule {inline(log.evidence)}\n"
    for judge in log.judges:
        yield f"- Judge {inline(judge.judge_model)}: {inline(_judge(judge))}\n"
    yield "\n"


def when(log: RunLog) -> str:
    """The time range (P7); of judgements made elsewhere, that of the dates that they bear."""
    started, ended = log.started_utc or "not known", log.ended_utc or "not known"
    if isinstance(log.imported_utc, msgspec.UnsetType):
        return f"Began: {started}; ended: {ended}"
    return f"First evaluation: {started}; last: {ended}, by their own dates; imported: {log.imported_utc}"


def _judge(judge: JudgeUsed) -> str:
    known = None if judge.params is None else ", ".join(f"{name} {v}" for name, v in sorted(judge.params.items()))
    params = "parameters not known" if known is None else known or "no parameters"
    tools = "not known" if judge.tools is None else ", ".join(judge.tools) or "none"
    web = {None: "not known", True: "yes", False: "no"}[judge.web_access]
    return f"version {judge.version or 'not known'}; {params}; tools: {tools}; web access: {web}"


def _gaps(log: RunLog) -> Iterator[str]:
    omitted = [gap for gap in log.gaps if gap.flag is not None]
    waiting = [gap for gap in log.gaps if gap.flag is None]
    if omitted:
        yield f"## Not evaluated\n\n{plural(len(omitted), 'cell')} of the evaluation set, `INCOMPLETE_COVERAGE`:\n\n"
        yield from _gap_lines(omitted)
    if waiting:
        yield f"## Not there yet\n\n{plural(len(waiting), 'cell')}, by no fault of a judgement:\n\n"
        yield from _gap_lines(waiting)


def _gap_lines(gaps: Sequence[CoverageGap]) -> Iterator[str]:
    for gap in gaps[:MAX_GAPS]:
        cell = f"{gap.question_id} / {gap.prompt_variant} / {gap.target_model} / {gap.output_id}"
        why = "" if isinstance(gap.why, msgspec.UnsetType) else f": {GAPS[gap.why]}"
        yield f"- {inline(cell)}, by {inline(gap.judge_model or 'no judge')}{why}\n"
    if len(gaps) > MAX_GAPS:
        yield f"- and {len(gaps) - MAX_GAPS:,} more, in `run_log.json`\n"
    yield "\n"


def _judges(found: Analysis) -> Iterator[str]:
    yield from _section(
        "Judges",
        protocol_tables.judges_table(found),
        protocol_tables.evidence_table(found),
        protocol_tables.pairs_table(found),
        empty="Nobody judged anything.",
    )
    yield (
        "Severity is a judge's overall score minus that of the other judges on the same outputs: below 0 it is "
        "harsher. Agreement is the mean of Gwet's AC2 with each other judge.\n\n"
    )
    yield from _section("League", protocol_tables.league_table(found), empty="There is no judge.")
    yield "The rules:\n\n" + "".join(f"- {inline(rule)}\n" for rule in protocol_tables.league_notes(found)) + "\n"


def _section(title: str, *tables: Table, empty: str = "Nothing was judged.") -> Iterator[str]:
    yield f"## {title}\n\n"
    shown = [table for table in tables if table]
    if not shown:
        yield f"{empty}\n\n"
    for table in shown:
        yield f"{inline(table.caption)}:\n\n"
        yield _line([column.name for column in table.columns])
        yield "| " + " | ".join("---:" if column.number else "---" for column in table.columns) + " |\n"
        yield from map(_line, table.rows)
        yield "\n"


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(inline(cell) for cell in cells) + " |\n"
