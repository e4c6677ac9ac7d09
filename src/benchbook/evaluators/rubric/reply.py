"""Reads a judge's reply under `rubric@v1` (SPEC R3): two scores, or the reason for none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, assert_never

import msgspec

from benchbook.ask.reasoning import split_reasoning
from benchbook.canonical import JsonFault, StrictJsonError, parse_strict

__all__ = ["ParseErrorReason", "Parsed", "Rejected", "parse_reply"]


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
]

SCORE_KEYS = ("accuracy_score", "faithfulness_score")
KEYS = (*SCORE_KEYS, "rationale")
MAX_RATIONALE_WORDS = 80


class Parsed(msgspec.Struct, frozen=True):
    """A reply that keeps all rules. `reasoning` is what a declared tag held (R3.7), else None."""

    accuracy_score: int
    faithfulness_score: int
    rationale: str
    reasoning: str | None = None


class Rejected(msgspec.Struct, frozen=True):
    """A reply that breaks a rule: the first that it breaks, in the order of R3."""

    reason: ParseErrorReason
    detail: str


def parse_reply(reply: str, reasoning_tags: Sequence[str] = (), *, lone_closing: bool = False) -> Parsed | Rejected:
    """Read `reply` by R3.1 to R3.4, one leading block of a declared reasoning tag moved away (R3.7).

    `lone_closing` as for `split_reasoning`.
    """
    reasoning, body = split_reasoning(reply, reasoning_tags, lone_closing=lone_closing)
    try:
        value = parse_strict(body)
    except StrictJsonError as error:
        return Rejected(_reason_for(error.fault), error.detail)
    if not isinstance(value, dict):
        return Rejected("not_an_object", f"the reply is a JSON {_json_type(value)}, not an object")
    return _check(value) or Parsed(value["accuracy_score"], value["faithfulness_score"], value["rationale"], reasoning)


def _check(value: dict[str, Any]) -> Rejected | None:
    for key in KEYS:
        if key not in value:
            return Rejected("missing_key", f"there is no {key!r}")
    for key in SCORE_KEYS:
        if type(value[key]) is not int:  # R3.2: not a bool, which is an int to Python
            return Rejected("bad_score_type", f"{key} is {_json_type(value[key])}, not an integer")
    for key in SCORE_KEYS:
        if value[key] not in (0, 1, 2):
            return Rejected("score_out_of_range", f"{key} is outside 0, 1, 2")
    return _check_rationale(value["rationale"])


def _check_rationale(rationale: Any) -> Rejected | None:
    """R3.3."""
    if not isinstance(rationale, str):
        return Rejected("bad_rationale", f"rationale is {_json_type(rationale)}, not a string")
    words = len(rationale.split())
    if not words:
        return Rejected("bad_rationale", "rationale is empty")
    if words > MAX_RATIONALE_WORDS:
        return Rejected("bad_rationale", f"rationale has {words} words, over {MAX_RATIONALE_WORDS}")
    return None


def _reason_for(fault: JsonFault) -> ParseErrorReason:
    match fault:
        case "empty":
            return "empty_reply"
        case "truncated":
            return "truncated"
        case "duplicate_key":
            return "duplicate_key"
        case "malformed":
            return "malformed_json"
        case _:
            assert_never(fault)


def _json_type(value: Any) -> str:
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
