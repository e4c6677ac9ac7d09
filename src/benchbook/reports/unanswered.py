"""What reports say before any number, and how they say that no answer came (SPEC R1.3a, R1.4)."""

from __future__ import annotations

from typing import Any

import msgspec

from benchbook.derivations.rows import RubricRow
from benchbook.derivations.unanswered import Unanswered

__all__ = ["first_warnings", "unanswered_of", "unscored_because"]


def first_warnings(aggregates: Any) -> list[str]:
    """The first thing that a report says: what servers, this machine and the data did to the numbers.

    `aggregates` are those of a record of any spec; there are none of them before derivation 3.
    """
    n = aggregates.n_warnings_first
    return [] if n is msgspec.UNSET else list(aggregates.warnings[:n])


def unanswered_of(aggregates: Any) -> list[Unanswered]:
    """Why samples are unanswered, as it stands in aggregates.json; nothing where all were answered."""
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
