"""A document as JSON, for the page and the API: numbers are written as in every other form, beside what they are."""

from __future__ import annotations

from dataclasses import dataclass

from benchbook.evaluators import document
from benchbook.evaluators.document import Tone
from benchbook.evaluators.gates import Gate
from benchbook.views import numbers
from benchbook.views.words import aggregate_word, gate_rule, gate_state, gate_value

__all__ = ["ColumnWords", "GateWords", "TableWords", "gate_words", "table_json"]


@dataclass(frozen=True, slots=True)
class ColumnWords:
    name: str
    number: bool = False  # set to the right, in figures of one width


@dataclass(frozen=True, slots=True)
class TableWords:
    """`rows` are as wide as `columns`; the first cell of a row is its heading. Cells are text, not markup."""

    caption: str
    columns: tuple[ColumnWords, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class GateWords:
    """What a gate asks for, its value (never rounded onto the limit), whether it holds (`text`), and how firmly."""

    label: str
    rule: str
    value: str
    n: int | None
    interval: str
    tone: Tone
    text: str
    detail: str | None


def table_json(found: document.Table) -> TableWords:
    """A table with its cells as text."""
    columns = tuple(ColumnWords(column.name, column.number) for column in found.columns)
    return TableWords(found.caption, columns, tuple(map(tuple, numbers.cells(found))))


def gate_words(gate: Gate, n: int | None = None) -> GateWords:
    """A gate in words; `n` is what its value is counted over."""
    word = aggregate_word(gate.aggregate)
    value, reach = gate_value(gate, gate.value), numbers.interval(word.kind, gate.interval)
    return GateWords(word.label, gate_rule(gate), value, n, reach, *gate_state(gate))
