"""How reports say that nothing came, by no doing of the model's (SPEC R1.3a)."""

from __future__ import annotations

from typing import Any

import msgspec

from benchbook.derivations.rows import RubricRow
from benchbook.derivations.unanswered import Unanswered

__all__ = ["unanswered_lines", "unanswered_of", "unscored_because"]


def unanswered_lines(aggregates: Any) -> list[str]:
    """Why samples are unanswered, in words, with what mends it: the first thing that a report says.

    `aggregates` are those of a record of any spec; they are empty where all was answered, and before derivation 3.
    """
    return [one.words for one in unanswered_of(aggregates)]


def unanswered_of(aggregates: Any) -> list[Unanswered]:
    """The same as it stands in aggregates.json."""
    found = getattr(aggregates, "unanswered", msgspec.UNSET)
    return [] if found is msgspec.UNSET else found


def unscored_because(row: RubricRow) -> tuple[str, str] | None:
    """`(name, words)` of why a sample has no score; None where it has one: `("parse_error", "unscored (…)")`."""
    cause = getattr(row, "candidate_error", None)
    if cause is not None:
        return cause, f"unanswered ({cause})"
    if row.evaluator_error is None:
        return None
    why = f"{row.evaluator_error}: {row.parse_error_reason}" if row.parse_error_reason else row.evaluator_error
    return row.evaluator_error, f"unscored ({why})"
