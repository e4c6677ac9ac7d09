"""Reads a judge's reply as one strict JSON object and takes typed fields out of it (SPEC P2, R3.1, R3.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from benchbook.scorers.judge_protocol_findings import Findings
from benchbook.scorers.judge_protocol_refusal import declines, has_scores, opens_json
from benchbook.scorers.rubric_reply import split_reasoning
from benchbook.scorers.strict_json import StrictJsonError, parse_strict

__all__ = ["ABSENT", "ReadReply", "absent", "json_type", "read_reply", "typed_field"]

T = TypeVar("T")

ABSENT = object()  # no such key, as apart from a null

_JSON_TYPES: Mapping[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number with a fraction or exponent",
    str: "string",
    list: "array",
    dict: "object",
}


@dataclass(frozen=True, slots=True)
class ReadReply:
    """Its object, or None where it is none. `reasoning` is what a declared tag held (R3.7), `body` the rest."""

    value: dict[str, Any] | None
    reasoning: str | None
    body: str


def json_type(value: Any) -> str:
    """What RFC 8259 calls the type of a parsed value."""
    return _JSON_TYPES[type(value)]


def absent(value: Any) -> bool:
    """Not there, or null: a null is a value that nobody gave (C5)."""
    return value is ABSENT or value is None


def read_reply(reply: str, reasoning_tags: Sequence[str], findings: Findings) -> ReadReply:
    """The one object that `reply` is. Where it is none, its faults are added to `findings`."""
    reasoning, body = split_reasoning(reply, reasoning_tags)
    try:
        value = parse_strict(body)
    except StrictJsonError as error:
        findings.add("not_strict_json", "", f"{error.fault}: {error.detail}")
        _find_refusal(body, findings, expect_scores=not opens_json(body))
        return ReadReply(None, reasoning, body)
    if not isinstance(value, dict):
        findings.add("not_an_object", "", f"the reply is a JSON {json_type(value)}, not an object")
        _find_refusal(body, findings, expect_scores=True)
        return ReadReply(None, reasoning, body)
    return ReadReply(value, reasoning, body)


def _find_refusal(body: str, findings: Findings, *, expect_scores: bool) -> None:
    """P4 on a text that is no object: prose without scores evades; JSON that broke before its scores does not."""
    if has_scores(body):
        return
    if declines(body.replace('"', " ")):  # quotes are JSON's here, if anything: not another's word
        findings.add("declined", "", "the reply declines to judge")
    elif expect_scores:
        findings.add("no_scores", "", "the reply scores no dimension")


def typed_field(value: Mapping[str, Any], key: str, kind: type[T], path: str, findings: Findings) -> T | None:
    """`value[key]` if it is a `kind`. Else None, and why is added to `findings`.

    The type is compared exactly: to Python true is an int, to JSON it is not (R3.2).
    """
    found = value.get(key, ABSENT)
    if found is ABSENT:
        findings.add("missing_field", path, f"there is no {path}")
        return None
    if type(found) is not kind:
        findings.add("wrong_type", path, f"{path} is {json_type(found)}, not {_JSON_TYPES[kind]}")
        return None
    return found
