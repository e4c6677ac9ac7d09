"""The summary of a run on a terminal, in a pipe, or in a log.

It is plain text: nothing is drawn that a narrow or an old terminal could not show, a character that the output's
encoding lacks is replaced by what comes next to it, and colours appear on a terminal alone.
"""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from benchbook.evaluators.gates import Gate
from benchbook.evaluators.rubric.rows import Ledger
from benchbook.text import one_line
from benchbook.views import numbers, tables
from benchbook.views.gates import decided_lines, gate_rule, gate_state, gate_value, settling_lines
from benchbook.views.model import RunReport
from benchbook.views.panel_tables import panel_lines
from benchbook.views.summary_numbers import measured_lines, repeats_lines
from benchbook.views.views import SummaryLines
from benchbook.views.words import aggregate_word, asked_items, decision_word, first_warnings, plural, reason

__all__ = ["COLOURS", "encodable", "first_lines", "painted", "print_summary", "summary_lines", "table_lines", "wrapped"]


COLOURS = {"good": "32", "bad": "31", "doubt": "33", "none": "2"}
_NEXT_BEST = {
    "–": "-", "—": "-", "−": "-", "…": "...", "≥": ">=", "≤": "<=", "×": "x", "’": "'", "‘": "'", "“": '"', "”": '"',
    "✓": "+", "✕": "x", "€": "EUR",
}  # fmt: skip
_SCALE_WIDTH = 24


def print_summary(
    report: Any, out: TextIO, *, written: Sequence[Path] = (), lines_of: SummaryLines | None = None
) -> None:
    """Write the summary to `out`, in its width, colours and encoding. `written` are the report's files.

    `lines_of` makes the lines, by default those of a `RunReport`.
    """
    on_terminal = out.isatty()
    width = min(shutil.get_terminal_size().columns, 110) if on_terminal else 100
    colour = on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    lines = (lines_of or summary_lines)(report, width=max(width, 40), colour=colour, written=written)
    out.writelines(encodable(line, out.encoding) + "\n" for line in lines)


def encodable(words: str, encoding: str | None) -> str:
    """`words` with what `encoding` can't hold replaced: by a character that comes near, else by its escape."""
    encoding = encoding or "utf-8"
    try:
        words.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_near(character, encoding) for character in words)
    return words


def _near(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return _NEXT_BEST.get(character) or character.encode("ascii", "backslashreplace").decode("ascii")
    return character


def summary_lines(
    report: RunReport, *, width: int = 100, colour: bool = False, written: Sequence[Path] = ()
) -> Iterator[str]:
    """The decision, why, warnings, gates, samples, and where the reports are."""
    manifest, decision = report.manifest, report.decision
    word = decision_word(decision)
    code = "refused" if decision is None else decision.decision
    first = first_warnings(report.aggregates)
    yield from first_lines(first, width, colour)
    yield ""
    yield painted(f"{word.headline} ({code})", f"1;{COLOURS[word.tone]}", colour)
    yield from wrapped(word.meaning, width, "")
    for one in [] if decision is None else decided_lines(decision):
        yield from wrapped(one, width, "")
    for one in manifest.missing_metadata if decision is None else decision.reasons:
        yield from wrapped(f"missing: {one}" if decision is None else reason(one), width, "  - ")
    for one in [] if decision is None else settling_lines(decision):
        yield from wrapped(one, width, "  > ")
    yield ""
    model, judge = numbers.short_model(manifest.model_id), numbers.short_model(manifest.evaluator_model_id)
    yield from wrapped(f"{model}, judged by {judge}", width, "")
    repeats = f", {plural(manifest.repeats, 'repeat')}" if manifest.repeats > 1 else ""
    yield from wrapped(f"{manifest.dataset_id}, {asked_items(manifest)}{repeats}; run {manifest.run_id}", width, "")
    for line in [] if report.panel is None else panel_lines(report.panel):
        yield from wrapped(line, width, "")
    for warning in (one for one in tables.notices(report) if one not in first):
        yield from (painted(line, COLOURS["doubt"], colour) for line in wrapped(warning, width, "  ! "))
    if decision is not None:
        yield ""
        for gate in decision.gates:
            yield from _gate(gate, width, colour)
    yield ""
    for line in (*measured_lines(report.aggregates), *repeats_lines(report.aggregates)):
        yield from wrapped(line, width, "")
    yield from wrapped(_ledger(report.aggregates.ledger), width, "")
    yield from wrapped(f"record {manifest.journal_sha256}", max(width, 80), "")
    for path in written:
        yield from wrapped(str(path), max(width, 10_000), "  ")
    yield ""


def first_lines(lines: Sequence[str], width: int, colour: bool) -> Iterator[str]:
    """What stands above everything else (`first_warnings`)."""
    if lines:
        yield ""
    for line in lines:
        yield from (painted(one, COLOURS["doubt"], colour) for one in wrapped(line, width, "! "))


def _gate(gate: Gate, width: int, colour: bool) -> Iterator[str]:
    word, state = aggregate_word(gate.aggregate), gate_state(gate)
    outcome = ", ".join(part for part in state[1:] if part)
    mark = {"good": "ok", "bad": "NO", "doubt": "??", "none": "--"}[state.tone]
    value, rule = gate_value(gate, gate.value), gate_rule(gate)
    line = f"{mark}  {word.label:<25} {value:>14}  {_scale(gate)}  {rule}"
    lines = [line] if len(line) <= width else wrapped(f"{mark}  {word.label}: {value}, {rule}", width, "")
    yield from (painted(one, COLOURS[state.tone], colour) for one in lines)
    found = numbers.interval(word.kind, gate.interval)
    yield from wrapped(f"{outcome}; {found}", width, "    ")


def _scale(gate: Gate) -> str:
    """`[..............|==o===]`: where the gate holds (=), its limit (|) and the value (o). ASCII on purpose."""
    top = 1.0 if gate.direction == "at_least" and gate.limit <= 1 else max(2 * gate.limit, gate.value or 0.0)
    places = [_place(gate.limit, top), None if gate.value is None else _place(gate.value, top)]
    limit, value = places
    marks = []
    for index in range(_SCALE_WIDTH):
        holds = index >= (limit or 0) if gate.direction == "at_least" else index <= (limit or 0)
        marks.append("o" if index == value else "|" if index == limit else "=" if holds else ".")
    return f"[{''.join(marks)}]"


def _place(value: float, top: float) -> int:
    return min(int(value / top * _SCALE_WIDTH), _SCALE_WIDTH - 1)


def _ledger(ledger: Ledger) -> str:
    parts = [f"{ledger.n_attempted:,} of {ledger.n_planned:,} samples attempted", f"{ledger.n_scored:,} scored"]
    if ledger.n_no_answer:
        why = ", ".join(f"{name} {n:,}" for name, n in ledger.no_answer_by_reason.items())
        parts.append(f"of these {ledger.n_no_answer:,} not answered ({why})")
    unanswered = {} if ledger.unanswered_by_cause is msgspec.UNSET else ledger.unanswered_by_cause
    reasons = [*ledger.unscored_by_reason.items(), *((f"unanswered: {name}", n) for name, n in unanswered.items())]
    why = ", ".join(f"{name} {n:,}" for name, n in reasons)
    parts.append(f"{ledger.n_unscored:,} unscored" + (f" ({why})" if why else ""))
    return ", ".join(parts)


def wrapped(words: str, width: int, indent: str) -> list[str]:
    """`words` as lines, on one line each whatever is in them."""
    # An option that is broken at its hyphens could not be copied.
    return textwrap.wrap(
        one_line(words), width, initial_indent=indent, subsequent_indent=" " * len(indent), break_on_hyphens=False
    )


def table_lines(table: tables.Table, width: int, *, wrap: bool = False) -> Iterator[str]:
    """A table below its caption, in columns as wide as their widest cell, and an empty line; nothing without rows.

    Too wide a line is cut, or with `wrap` goes on below.
    """
    if not table:
        return
    cells = [[column.name for column in table.columns], *([one_line(cell) for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    yield from wrapped(table.caption, width, "")
    for row in cells:
        line = "  ".join(
            cell.rjust(wide) if column.number else cell.ljust(wide)
            for cell, wide, column in zip(row, widths, table.columns, strict=True)
        ).rstrip()
        if len(line) + 2 <= width:
            yield f"  {line}"
        elif wrap:
            yield from wrapped(line, width, "  ")
        else:
            yield f"  {line}"[: width - 1] + "…"
    yield ""


def painted(words: str, code: str, colour: bool) -> str:
    """`words` in a colour of the terminal, where `colour` says that there are colours."""
    return f"\x1b[{code}m{words}\x1b[0m" if colour else words
