"""The columns that rows have under some rubrics alone: what a judge quoted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from benchbook.evaluators.rubric.quoting import Quoted
from benchbook.evaluators.rubric.reply import Parsed
from benchbook.evaluators.rubric.spec import Criterion, RubricSpec

__all__ = ["QuoteRow", "SpanRow", "further_columns", "further_fields"]


class SpanRow(msgspec.Struct, frozen=True):
    """A part of a text, half-open, in code points."""

    start: int
    end: int


class QuoteRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge quoted for a criterion, and where it stands."""

    criterion: str
    quote: str
    found: str  # exact, normalised, fragments, not_found (P4.1)
    turn: int | None  # of the transcript, from 1, the answer last; None: the spans are of the answer
    spans: list[SpanRow]  # one, or one a fragment; none where it was not found


def further_fields(criteria: Sequence[Criterion]) -> list[tuple[str, Any]]:
    """Name and type of what a row, and a judge's vote, has after the rationale."""
    quoted = any(one.quote is not None for one in criteria)
    return [("quotes", list[QuoteRow])] if quoted else []


def further_columns(parsed: Parsed | None, spec: RubricSpec) -> dict[str, Any]:
    """The same of a sample: `parsed` is the judge's reply, None where none was read."""
    quotes = () if parsed is None else parsed.quotes
    return {"quotes": [_quote_row(one) for one in quotes]} if spec.quoted else {}


def _quote_row(one: Quoted) -> QuoteRow:
    spans = [SpanRow(start, end) for start, end in one.spans]
    return QuoteRow(criterion=one.criterion, quote=one.text, found=one.found, turn=one.turn, spans=spans)
