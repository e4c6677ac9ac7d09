"""The grid of verdicts: target, variant and question by judge; each cell leads to its evaluation (issue 5, item 9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from benchbook.derivations.evaluation_rows import CellId, CoverageGap, EvaluationRow, cell_of
from benchbook.reports import numbers
from benchbook.reports.archive_names import ArchiveNames
from benchbook.reports.markup import Html, el, join, text
from benchbook.reports.protocol_evaluation import outcome
from benchbook.reports.protocol_words import GAPS
from benchbook.text import one_line, shorten

__all__ = ["grid_html"]

_NAME = 48


def grid_html(
    rows: Sequence[EvaluationRow],
    gaps: Sequence[CoverageGap],
    n_opened: int,
    names: ArchiveNames,
    archive_href: str | None,
) -> Html:
    """`rows` in their order; the first `n_opened` stand on the page, the others lead to the archive's files."""
    places: defaultdict[CellId, defaultdict[str, list[Html]]] = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(rows, 1):
        archived = None if archive_href is None else f"{archive_href}/{names.path(row)}"
        href = f"#evaluation-{number}" if number <= n_opened else archived
        places[row.cell][row.judge_model].append(_verdict(row, href))
    missing = {cell_of(gap): gap for gap in gaps}
    waiting = {(cell_of(gap), gap.judge_model): GAPS[gap.why] for gap in gaps if isinstance(gap.why, str)}
    judges = sorted({row.judge_model for row in rows} | {gap.judge_model for gap in gaps if gap.judge_model})
    cells = sorted(places.keys() | missing.keys(), key=lambda cell: (cell.target_model, cell.prompt_variant, cell))
    head = el(
        "tr",
        el("th", text("Question and output"), scope="col"),
        *(el("th", el("bdi", text(shorten(judge, _NAME)), dir="auto"), scope="col") for judge in judges),
    )
    bodies = [
        _body(target, variant, list(group), places, judges, waiting)
        for (target, variant), group in groupby(cells, lambda cell: (cell.target_model, cell.prompt_variant))
    ]
    caption = el("caption", text("Verdicts: target, variant and question by judge"), class_="unseen")
    table = el("table", caption, el("thead", head), *bodies)
    return el("div", table, class_="table grid-of-verdicts", tabindex=0, role="region", aria_label="Grid of verdicts")


def _body(
    target: str,
    variant: str,
    cells: Sequence[CellId],
    places: Mapping[CellId, Mapping[str, Sequence[Html]]],
    judges: Sequence[str],
    waiting: Mapping[tuple[CellId, str | None], str],
) -> Html:
    heading = el(
        "tr",
        el(
            "th",
            el("bdi", text(shorten(target, _NAME)), dir="auto"),
            text(" under "),
            el("bdi", text(shorten(variant, _NAME)), dir="auto"),
            scope="rowgroup",
            colspan=len(judges) + 1,
        ),
    )
    lines = [el("tr", _cell_name(cell), *_judgements(cell, places.get(cell, {}), judges, waiting)) for cell in cells]
    return el("tbody", heading, *lines)


def _cell_name(cell: CellId) -> Html:
    return el(
        "th",
        el("bdi", text(shorten(cell.question_id, _NAME)), dir="auto"),
        el("small", el("bdi", text(_with_its_end(cell.output_id)), dir="auto")),
        scope="row",
    )


def _with_its_end(output_id: str) -> str:
    """A long one loses its middle: it is often a path, and outputs of one folder differ in their ends."""
    line = one_line(output_id)
    return line if len(line) <= _NAME else f"{line[: _NAME // 3]}…{line[-(_NAME * 2 // 3 - 1) :]}"


def _judgements(
    cell: CellId,
    by_judge: Mapping[str, Sequence[Html]],
    judges: Sequence[str],
    waiting: Mapping[tuple[CellId, str | None], str],
) -> Iterator[Html]:
    for judge in judges:
        found = by_judge.get(judge)
        why = waiting.get((cell, judge), "not evaluated")
        yield el("td", *found) if found else el("td", text(numbers.DASH), class_="quiet", title=why)


def _verdict(row: EvaluationRow, href: str | None) -> Html:
    tone, mark, word = outcome(row)
    shown = join(el("span", text(mark), aria_hidden="true"), text(f" {word}"))
    own = el("small", text("self")) if row.method == "self_judge" else join()
    name = el("span", shown) if href is None else el("a", shown, href=href)
    return el("span", name, own, class_=f"verdict tone-{tone}")
