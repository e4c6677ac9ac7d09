"""Why a judge's reply is not read (SPEC R3.5): the closed list of reasons, and the words for what was found."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["ParseErrorReason", "Rejected", "json_type", "rationale_fault"]


ParseErrorReason = Literal[
    "malformed_json",
    "not_an_object",
    "duplicate_key",
    "missing_key",
    "bad_score_type",
    "score_out_of_range",
    "bad_rationale",
    "empty_reply",
    "truncated",
    # Of a user's own rubric alone:
    "bad_quote",
    "quote_not_found",
]


class Rejected(msgspec.Struct, frozen=True):
    """A reply that breaks a rule: the first that it breaks, in the order of R3."""

    reason: ParseErrorReason
    detail: str


def rationale_fault(rationale: Any, max_words: int) -> str | None:
    """What is wrong with a rationale (R3.3); None for nothing."""
    if not isinstance(rationale, str):
        return f"rationale is {json_type(rationale)}, not a string"
    words = len(rationale.split())
    if not words:
        return "rationale is empty"
    return f"rationale has {words} words, over {max_words}" if words > max_words else None


def json_type(value: Any) -> str:
    """What a value of a reply is in JSON."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number with a fraction or exponent"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
