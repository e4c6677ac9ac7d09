"""The page of one judged experiment: league, grid of verdicts, and each judged text with its quotes.

One file that needs nothing but itself, without a script. Model text is only ever text. The page is bounded: what does
not fit is left out, which is said, and the archive's files have it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby

from msgspec import UnsetType

from benchbook.evaluators.document import Block, Document, Paragraph, Section, Table
from benchbook.evaluators.protocol.evaluation_rows import CellId, CoverageGap, EvaluationRow, cell_of
from benchbook.evaluators.protocol.rows import Analysis
from benchbook.evaluators.protocol.spec import Protocol
from benchbook.text import one_line, plural, shorten
from benchbook.views import numbers
from benchbook.views.html import blocks_html, html_page, section_html
from benchbook.views.markup import Html, el, join, style_sheet, text
from benchbook.views.protocol import tables
from benchbook.views.protocol.archive_model import Archive, ArchiveNames, RunLog
from benchbook.views.protocol.evaluation import EvaluationView, evaluation_html, outcome

_GRID_NAME = 48


def grid_html(
    rows: Sequence[EvaluationRow],
    gaps: Sequence[CoverageGap],
    n_opened: int,
    names: ArchiveNames,
) -> Html:
    """`rows` in their order; the first `n_opened` stand on the page, the others lead to the archive's files."""
    places: defaultdict[CellId, defaultdict[str, list[Html]]] = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(rows, 1):
        href = f"#evaluation-{number}" if number <= n_opened else f"archive/{names.path(row)}"
        places[row.cell][row.judge_model].append(_verdict(row, href))
    missing = {cell_of(gap): gap for gap in gaps}
    waiting = {(cell_of(gap), gap.judge_model): tables.GAPS[gap.why] for gap in gaps if isinstance(gap.why, str)}
    judges = sorted({row.judge_model for row in rows} | {gap.judge_model for gap in gaps if gap.judge_model})
    cells = sorted(places.keys() | missing.keys(), key=lambda cell: (cell.target_model, cell.prompt_variant, cell))
    head = el(
        "tr",
        el("th", text("Question and output"), scope="col"),
        *(el("th", el("bdi", text(shorten(judge, _GRID_NAME)), dir="auto"), scope="col") for judge in judges),
    )

    def judgements(cell: CellId) -> Iterator[Html]:
        for judge in judges:
            found, why = places[cell][judge], waiting.get((cell, judge), "not evaluated")
            yield el("td", *found) if found else el("td", text(numbers.DASH), class_="quiet", title=why)

    bodies = [
        el(
            "tbody",
            _body_head(target, variant, len(judges) + 1),
            *(el("tr", _cell_name(cell), *judgements(cell)) for cell in group),
        )
        for (target, variant), group in groupby(cells, lambda cell: (cell.target_model, cell.prompt_variant))
    ]
    caption = el("caption", text("Verdicts: target, variant and question by judge"), class_="unseen")
    table = el("table", caption, el("thead", head), *bodies)
    return el("div", table, class_="table grid-of-verdicts", tabindex=0, role="region", aria_label="Grid of verdicts")


def _body_head(target: str, variant: str, n_columns: int) -> Html:
    names = (el("bdi", text(shorten(one, _GRID_NAME)), dir="auto") for one in (target, variant))
    return el("tr", el("th", next(names), text(" under "), next(names), scope="rowgroup", colspan=n_columns))


def _cell_name(cell: CellId) -> Html:
    return el(
        "th",
        el("bdi", text(shorten(cell.question_id, _GRID_NAME)), dir="auto"),
        el("small", el("bdi", text(_with_its_end(cell.output_id)), dir="auto")),
        scope="row",
    )


def _with_its_end(output_id: str) -> str:
    """A long one loses its middle: it is often a path, and outputs of one folder differ in their ends."""
    line = one_line(output_id)
    return line if len(line) <= _GRID_NAME else f"{line[: _GRID_NAME // 3]}…{line[-(_GRID_NAME * 2 // 3 - 1) :]}"


def _verdict(row: EvaluationRow, href: str) -> Html:
    tone, mark, word = outcome(row)
    shown = join(el("span", text(mark), aria_hidden="true"), text(f" {word}"))
    own = el("small", text("self")) if row.method == "self_judge" else join()
    return el("span", el("a", shown, href=href), own, class_=f"verdict tone-{tone}")


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
    archive: Archive, text_of: Callable[[str], str | None], *, analysis: Analysis | None = None
) -> Iterator[str]:
    """The page, in pieces.

    `text_of` finds a judged text by its SHA-256, one at a time. `analysis` is `archive.analysis()`, where the caller
    has it already. The archive lies beside the page.
    """
    found = archive.analysis() if analysis is None else analysis
    log, names = archive.run_log, ArchiveNames(archive.rows)
    contents = (*_CONTENTS[:-1], ("probes", "Probes"), _CONTENTS[-1]) if found.probes else _CONTENTS
    document = Document(
        f"{log.experiment}: judging",
        log.spec,
        (),
        "Made from the archive of this experiment; numbers are rounded here for reading.",
        log.journal_sha256 or None,
        contents,
    )
    body = chain(
        [_summary(archive, found), _league(found, archive.protocol), _grid(archive, names)],
        blocks_html(_sections(found, archive.protocol)),
        _evaluations(archive, text_of, names),
    )
    css = style_sheet("protocol/page.css")
    return html_page(document, css=css, start=("summary", "Skip to the report"), body=body)


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


def _league(found: Analysis, protocol: Protocol) -> Html:
    rules = [el("li", text(rule)) for rule in tables.league_notes(found, protocol)]
    more = el("details", el("summary", text("The rules")), el("ul", *rules, class_="rules"), class_="more")
    league = _shown(tables.league_table(found, protocol))
    return section_html("league", "Which judges can be used", *blocks_html([league]), more)


def _grid(archive: Archive, names: ArchiveNames) -> Html:
    rows, gaps = archive.rows[:MAX_IN_GRID], archive.run_log.gaps[:MAX_GAPS]
    points = archive.protocol.highest
    key = f"✓ PASS, ◐ PARTIAL, ✕ FAIL, each with the overall score of {points}; ! does not count; – not evaluated."
    left_out = len(archive.rows) - len(rows)
    more = f" {left_out:,} more evaluations are left out here; results_analysis.md counts all." if left_out else ""
    grid = grid_html(rows, gaps, MAX_OPENED, names)
    return section_html("grid", "Verdicts", el("p", text(key + more), class_="quiet"), grid)


def _sections(found: Analysis, protocol: Protocol) -> Iterator[Section]:
    intervals = f"Intervals are two-sided at {numbers.limit('rate', found.confidence)}, each for itself."
    targets = (_shown(tables.targets_table(found, protocol)), _shown(tables.dimensions_table(found, protocol)))
    yield Section("targets", "Targets", (Paragraph(intervals, "quiet"), *targets))
    yield Section("drift", "Drift between variants", (_shown(tables.drift_table(found)),))
    severity = "Severity is against the other judges on the same outputs; below 0 is harsher."
    cards = (_shown(make(found)) for make in (tables.judges_table, tables.evidence_table, tables.flags_table))
    pairs = _shown(tables.pairs_table(found), "No two judges scored an output in common.")
    yield Section("judges", "Judges", (Paragraph(severity, "quiet"), *cards, pairs))
    none = "No model judged an output of its own that others judged too."
    yield Section("self", "Self-judging", (_shown(tables.self_table(found, protocol), none),))
    if found.probes:
        yield Section("probes", "Probes", (_shown(tables.probes_table(found)),))


def _shown(table: Table, empty: str = "Nothing to show.") -> Block:
    return table or Paragraph(empty, "quiet")


def _evaluations(archive: Archive, text_of: Callable[[str], str | None], names: ArchiveNames) -> Iterator[Html]:
    """The first evaluations in full; each gets an even share of the room that is left."""
    opened = archive.rows[:MAX_OPENED]
    left_out = len(archive.rows) - len(opened)
    more = f" Here are the first {len(opened):,}; {left_out:,} more are in the archive." if left_out else ""
    note = f"Quotes that were found are marked in the text; those that were not stand beside it in red.{more}"
    yield section_html("evaluations", "Evaluations", el("p", text(note), class_="quiet"))
    room, to_come = EVALUATIONS_BYTES, len(opened)
    for cell, group in groupby(enumerate(opened, 1), lambda numbered: numbered[1].cell):
        yield _cell_heading(cell)
        for number, row in group:
            view = EvaluationView(number, row, text_of(row.text_sha256), names, archive.protocol)
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
