"""A document as JSON, for the page and the API: numbers are written as in every other form, beside what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from benchbook.evaluators import document
from benchbook.evaluators.document import Curves, Document, Gates, Shown, Tone, Value
from benchbook.evaluators.gates import Gate
from benchbook.views import numbers
from benchbook.views.curves import training_remarks, training_table
from benchbook.views.words import aggregate_word, gate_rule, gate_state, gate_value

__all__ = ["Column", "GateWords", "Table", "document_json", "gate_words", "table_json"]


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    number: bool = False  # set to the right, in figures of one width


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` are as wide as `columns`; the first cell of a row is its heading. Cells are text, not markup."""

    caption: str
    columns: tuple[Column, ...]
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


def table_json(found: document.Table) -> Table:
    """A table with its cells as text."""
    columns = tuple(Column(column.name, column.number) for column in found.columns)
    return Table(found.caption, columns, tuple(map(tuple, numbers.cells(found))))


def document_json(found: Document) -> dict[str, Any]:
    """What a page shows, in its order: each block with its kind as `block`. Texts are texts, not markup."""
    return {"title": found.title, "by": found.by, "digest": found.digest, "blocks": _plain(tuple(found.blocks))}


def _plain(value: Any) -> Any:
    match value:
        case document.Table():
            kept = [[one.value if isinstance(one, Value) else one for one in row] for row in value.rows]
            values = [[one if isinstance(one, int | float) else None for one in row] for row in kept]
            return {"block": "table", "values": values, **msgspec.to_builtins(table_json(value))}
        case Gates():
            return {"block": "gates", "gates": [msgspec.to_builtins(gate_words(gate, n)) for gate, n in value.gates]}
        case Curves():
            table = _plain(training_table(value.curves))
            return {"block": "curves", "table": table, "remarks": list(training_remarks(value.curves))}
        case Shown():
            names = [name for name in value.__struct_fields__ if name != "only"]
            return {"block": type(value).__name__.lower(), **{name: _plain(getattr(value, name)) for name in names}}
        case tuple():
            return [_plain(one) for one in value if not isinstance(one, Shown) or _is_shown(one)]
    return msgspec.to_builtins(value)


def _is_shown(block: Shown) -> bool:
    """What is for a terminal alone repeats what others say in tables."""
    return not isinstance(block, document.Lines) and (block.only is None or "html" in block.only)


def gate_words(gate: Gate, n: int | None = None) -> GateWords:
    """A gate in words; `n` is what its value is counted over."""
    word = aggregate_word(gate.aggregate)
    value, reach = gate_value(gate, gate.value), numbers.interval(word.kind, gate.interval)
    return GateWords(word.label, gate_rule(gate), value, n, reach, *gate_state(gate))
