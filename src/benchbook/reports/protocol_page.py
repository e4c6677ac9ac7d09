"""The page of one experiment of `judge_protocol@v1`: league, grid of verdicts, and each judged text with its quotes.

One file that needs nothing but itself, without a script. Model text is only ever text. The page is bounded: what does
not fit is left out, which is said, and the archive's files have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import UnsetType

from benchbook.derivations.evaluation_rows import CellId
from benchbook.derivations.judge_analysis_results import Analysis
from benchbook.reports import numbers, protocol_tables
from benchbook.reports.archive_model import Archive, RunLog
from benchbook.reports.archive_names import ArchiveNames
from benchbook.reports.markup import Html, el, join, text
from benchbook.reports.page_frame import page_head, style_sheet
from benchbook.reports.page_parts import render_table, section
from benchbook.reports.protocol_evaluation import EvaluationView, evaluation_html
from benchbook.reports.protocol_grid import grid_html
from benchbook.reports.tables import Table
from benchbook.reports.words import plural
from benchbook.text import shorten

__all__ = ["protocol_page"]

EVALUATIONS_BYTES = 14_000_000  # of the page, for evaluations; the rest of it stays below 5 MB
MAX_EVALUATION_BYTES = 400_000
MAX_OPENED = 1_000  # evaluations that stand on the page
MAX_IN_GRID = 5_000
MAX_GAPS = 1_000
_NAME = 80
_CONTENTS = (
    ("league", "League"),
    ("grid", "Verdicts"),
    ("targets", "Targets"),
    ("drift", "Drift"),
    ("judges", "Judges"),
    ("self", "Self-judging"),
    ("evaluations", "Evaluations"),
)


def protocol_page(
    archive: Archive,
    texts: Mapping[str, str],
    *,
    analysis: Analysis | None = None,
    archive_href: str | None = "archive",
) -> Iterator[str]:
    """The page, in pieces.

    `texts` are the judged texts by their SHA-256, looked up one at a time. `analysis` is `archive.analysis()`, where
    the caller has it already. `archive_href` is the archive's folder as seen from the page; None where there is none.
    """
    found = archive.analysis() if analysis is None else analysis
    log, names = archive.run_log, ArchiveNames(archive.rows)
    yield '<!doctype html>\n<html lang="en">\n'
    yield page_head(f"{log.experiment}: judging", style_sheet("protocol_page.css"))
    yield '\n<body>\n<a class="skip" href="#summary">Skip to the report</a>\n'
    yield join(_masthead(log, found), Html('\n<main id="main">\n'))
    yield _summary(archive, found)
    yield _league(found)
    yield _grid(archive, names, archive_href)
    yield from _tables(found)
    yield from _evaluations(archive, texts, names, archive_href)
    yield "\n</main>\n"
    yield _foot(log)
    yield "\n</body>\n</html>\n"


def _masthead(log: RunLog, found: Analysis) -> Html:
    name = el("p", el("strong", text("Benchbook")), text(f" {log.spec}"), class_="name")
    contents = (*_CONTENTS[:-1], ("probes", "Probes"), _CONTENTS[-1]) if found.probes else _CONTENTS
    links = [el("li", el("a", text(words), href=f"#{place}")) for place, words in contents]
    return el("header", name, el("nav", el("ul", *links), aria_label="Contents"), class_="masthead")


def _summary(archive: Archive, found: Analysis) -> Html:
    log = archive.run_log
    n, n_valid = len(archive.rows), sum(row.valid for row in archive.rows)
    counted = f"{plural(n, 'evaluation')}, of which {n_valid:,} count: the others break a rule of the protocol."
    primary = "Scores are those of valid cross-judging evaluations, unless a part says otherwise."
    rule = (
        "A quote that is not found is counted, and invalidates nothing: declared before the first call."
        if log.evidence == "report"
        else "A quote that does not stand in the judged text makes its evaluation invalid."
    )
    facts = [
        ("Samples", f"{log.n_samples:,}"),
        ("Judges", f"{len(found.judges):,}"),
        *_when(log),
        ("Record", numbers.short_hash(log.journal_sha256)),
    ]
    identity = [el("div", el("dt", text(name)), el("dd", text(value))) for name, value in facts]
    gaps = el("p", text(f"Not evaluated: {plural(found.n_gaps, 'cell')} of the evaluation set."), class_="why")
    warned = () if isinstance(log.warnings, UnsetType) else log.warnings
    return el(
        "section",
        el(
            "div",
            el("h1", el("bdi", text(shorten(log.experiment, _NAME)), dir="auto"), id="summary-heading"),
            *(el("p", text(warning), class_="why") for warning in warned),
            el("p", text(counted), class_="meaning"),
            *([gaps] if found.n_gaps else []),
            el("p", text(f"{primary} {rule}"), class_="meaning"),
            class_="says",
        ),
        el("dl", *identity, class_="identity", aria_label="The experiment"),
        id="summary",
        class_="tone-none",
        aria_labelledby="summary-heading",
    )


def _when(log: RunLog) -> Sequence[tuple[str, str]]:
    began, ended = (time or numbers.nothing("not known") for time in (log.started_utc, log.ended_utc))
    if isinstance(log.imported_utc, UnsetType):
        return ("Began", began), ("Ended", ended)
    return ("First evaluation", began), ("Last evaluation", ended), ("Imported", log.imported_utc)


def _league(found: Analysis) -> Html:
    rules = [el("li", text(rule)) for rule in protocol_tables.league_notes(found)]
    more = el("details", el("summary", text("The rules")), el("ul", *rules, class_="rules"), class_="more")
    return section("league", "Which judges can be used", _shown(protocol_tables.league_table(found)), more)


def _grid(archive: Archive, names: ArchiveNames, archive_href: str | None) -> Html:
    rows, gaps = archive.rows[:MAX_IN_GRID], archive.run_log.gaps[:MAX_GAPS]
    key = "✓ PASS, ◐ PARTIAL, ✕ FAIL, each with the overall score of 8; ! does not count; – not evaluated."
    left_out = len(archive.rows) - len(rows)
    more = f" {left_out:,} more evaluations are left out here; results_analysis.md counts all." if left_out else ""
    grid = grid_html(rows, gaps, MAX_OPENED, names, archive_href)
    return section("grid", "Verdicts", el("p", text(key + more), class_="quiet"), grid)


def _tables(found: Analysis) -> Iterator[Html]:
    confidence = numbers.limit("rate", found.confidence)
    intervals = f"Intervals are two-sided at {confidence}, each for itself."
    yield section(
        "targets",
        "Targets",
        el("p", text(intervals), class_="quiet"),
        _shown(protocol_tables.targets_table(found), hide_caption=True),
        _shown(protocol_tables.dimensions_table(found)),
    )
    yield section("drift", "Drift between variants", _shown(protocol_tables.drift_table(found)))
    yield section(
        "judges",
        "Judges",
        el("p", text("Severity is against the other judges on the same outputs; below 0 is harsher."), class_="quiet"),
        _shown(protocol_tables.judges_table(found), hide_caption=True),
        _shown(protocol_tables.evidence_table(found)),
        _shown(protocol_tables.flags_table(found)),
        _shown(protocol_tables.pairs_table(found), empty="No two judges scored an output in common."),
    )
    empty = "No model judged an output of its own that others judged too."
    yield section("self", "Self-judging", _shown(protocol_tables.self_table(found), empty=empty))
    if found.probes:
        yield section("probes", "Probes", _shown(protocol_tables.probes_table(found), hide_caption=True))


def _shown(table: Table, *, hide_caption: bool = False, empty: str = "Nothing to show.") -> Html:
    return render_table(table, hide_caption=hide_caption) if table else el("p", text(empty), class_="quiet")


def _evaluations(
    archive: Archive, texts: Mapping[str, str], names: ArchiveNames, archive_href: str | None
) -> Iterator[Html]:
    """The first evaluations in full; each gets an even share of the room that is left."""
    opened = archive.rows[:MAX_OPENED]
    left_out = len(archive.rows) - len(opened)
    more = f" Here are the first {len(opened):,}; {left_out:,} more are in the archive." if left_out else ""
    note = f"Quotes that were found are marked in the text; those that were not stand beside it in red.{more}"
    yield section("evaluations", "Evaluations", el("p", text(note), class_="quiet"))
    room, to_come = EVALUATIONS_BYTES, len(opened)
    for cell, group in groupby(enumerate(opened, 1), lambda numbered: numbered[1].cell):
        yield _cell_heading(cell)
        for number, row in group:
            view = EvaluationView(number, row, texts.get(row.text_sha256), names, archive_href)
            written = evaluation_html(view, min(room // to_come, MAX_EVALUATION_BYTES))
            room = max(room - len(written.encode()), 0)
            to_come -= 1
            yield written


def _cell_heading(cell: CellId) -> Html:
    parts: Sequence[tuple[str, str]] = (
        ("question", cell.question_id),
        ("variant", cell.prompt_variant),
        ("target", cell.target_model),
        ("output", cell.output_id),
    )
    shown = [
        join(text(f"{' · ' if at else ''}{name} "), el("bdi", text(shorten(words, _NAME)), dir="auto"))
        for at, (name, words) in enumerate(parts)
    ]
    return el("h3", *shown, class_="cell-heading")


def _foot(log: RunLog) -> Html:
    words = "Made from the archive of this experiment; numbers are rounded here for reading."
    record = [el("p", text("Record "), el("code", text(log.journal_sha256)))] if log.journal_sha256 else []
    return el("footer", el("p", text(words)), *record)
