"""The columns that rows have under some rubrics alone: what a judge quoted, which of an item's criteria are met."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from benchbook.evaluators.rubric.item_scores import ITEM_CRITERIA, Met
from benchbook.evaluators.rubric.quoting import Quoted
from benchbook.evaluators.rubric.reply import Parsed
from benchbook.evaluators.rubric.spec import Criterion, RubricSpec

__all__ = ["MetRow", "QuoteRow", "QuoteSpan", "further_columns", "further_fields"]


class QuoteSpan(msgspec.Struct, frozen=True):
    """A part of a text, half-open, in code points."""

    start: int
    end: int


class QuoteRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge quoted for a criterion, and where it stands."""

    criterion: str
    quote: str
    found: str  # exact, normalised, fragments, not_found (P4.1)
    turn: int | None  # of the transcript, from 1, the answer last; None: the spans are of the answer
    spans: list[QuoteSpan]  # one, or one a fragment; none where it was not found


class MetRow(msgspec.Struct, frozen=True, kw_only=True):
    """One of an item's own criteria, by its number from 1, and whether it is met."""

    number: int
    text: str
    weight: float
    met: bool
    rationale: str | None  # None: the rubric asks for none


def further_fields(criteria: Sequence[Criterion]) -> list[tuple[str, Any]]:
    """Name and type of what a row, and a judge's vote, has after the rationale."""
    quoted = any(one.quote is not None for one in criteria)
    by_item = [(one.name, list[MetRow]) for one in criteria if one.by_item]
    return [*([("quotes", list[QuoteRow])] if quoted else []), *by_item]


def further_columns(parsed: Parsed | None, spec: RubricSpec) -> dict[str, Any]:
    """The same of a sample: `parsed` is the judge's reply, None where none was read."""
    columns: dict[str, Any] = {}
    if spec.quoted:
        columns["quotes"] = [] if parsed is None else [_quote_row(one) for one in parsed.quotes]
    if spec.by_item:
        met = [] if parsed is None else [_met_row(number, one) for number, one in enumerate(parsed.met, start=1)]
        columns[ITEM_CRITERIA] = met
    return columns


def _met_row(number: int, one: Met) -> MetRow:
    criterion = one.criterion
    return MetRow(
        number=number, text=criterion.text, weight=float(criterion.weight), met=one.met, rationale=one.rationale
    )


def _quote_row(one: Quoted) -> QuoteRow:
    spans = [QuoteSpan(start, end) for start, end in one.spans]
    return QuoteRow(criterion=one.criterion, quote=one.text, found=one.found, turn=one.turn, spans=spans)
