"""Which derivation a record asks for: what is derived, beside what the SPEC fixes, as its first fact names it.

An old record stays what it was, byte for byte: one that names none has derivation 1.

2   of `rubric@v1`: intervals of all means, rates and percentiles, their worst and best cases, the variance of repeats,
    and what would settle a gate. Of every evaluator: intervals that are not too sure where scores are nearly all alike,
    clusters few, or labels few (docs/decisions/0017-too-sure-intervals.md).
3   only what the model did counts: R1.3 to R1.5, R6.2 to R6.4, R7.1 to R7.3, P2, P4, P4.3 and P7 as they read since.
4   the same numbers; warnings and reasons say a rule in words, and cite no clause.
"""

from __future__ import annotations

from benchbook.record.facts import RunStarted
from benchbook.record.format import DERIVATION as DERIVATION

ONLY_THE_MODEL = 3  # from here on, only what the model did counts against it (R1.3a)
_IN_WORDS = 4


def derivation_of(started: RunStarted) -> int:
    """The derivation that a record's first fact names."""
    return int(started.identity.get("derivation", 1))


def cited(clause: str, derivation: int) -> str:
    """` (R1.4)` at the end of a text of a record whose derivation cites the clauses of the SPEC; else nothing."""
    return "" if derivation >= _IN_WORDS else f" ({clause})"
