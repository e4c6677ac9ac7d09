"""What the report of a comparison is made of, and which of its items are shown in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from benchbook.comparison.compared import Change, Comparison, ComparisonSet
from benchbook.comparison.text_difference import Segment, text_difference
from benchbook.evaluators.exact import as_float
from benchbook.training.curves import Curve

__all__ = ["MAX_CHARS", "MAX_SHOWN", "ComparisonReport", "ShownItem", "shown_items"]


MAX_SHOWN = 200  # items of a pair that a page shows in full
MAX_CHARS = 20_000  # of one text


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Runs compared, ready to be shown. `curves` has each run's training loss, None for a run without one."""

    found: ComparisonSet
    curves: Mapping[str, Curve | None] = field(default_factory=dict)

    @property
    def has_curves(self) -> bool:
        return any(curve is not None for curve in self.curves.values())


class ShownItem(msgspec.Struct, frozen=True, kw_only=True):
    """One item in which something changed. Null texts were not there; `expected_b` is null where it is A's.

    `difference` leads from A's text to B's (op, text); scores are means over repeats.
    """

    change: Change
    item_id: str
    item_id_b: str | None
    section: str | None
    category: str | None
    difficulty: str | None
    prompt: str | None
    expected: str | None
    expected_b: str | None
    score_a: float | None
    score_b: float | None
    miss_reason_a: str | None
    miss_reason_b: str | None
    text_a: str | None
    text_b: str | None
    difference: tuple[Segment, ...]


def shown_items(pair: Comparison, most: int) -> Iterator[ShownItem]:
    """The first `most` items in which something changed, what matters most first."""
    for row in pair.changed(most).iter_rows(named=True):
        yield _shown(row)


def _shown(row: dict[str, Any]) -> ShownItem:
    names = (
        "change", "item_id", "section", "category", "difficulty", "prompt", "expected", "miss_reason_a",
        "miss_reason_b", "text_a", "text_b",
    )  # fmt: skip
    return ShownItem(
        **{name: row[name] for name in names},
        item_id_b=row["item_id_b"] if row["item_id_b"] != row["item_id"] else None,
        expected_b=row["expected_b"] if row["expected_b"] != row["expected"] else None,
        score_a=as_float(row["score_nano_a"]),
        score_b=as_float(row["score_nano_b"]),
        difference=tuple(text_difference(row["text_a"] or "", row["text_b"] or "")),
    )
