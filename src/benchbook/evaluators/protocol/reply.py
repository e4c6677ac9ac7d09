"""Reads a judge's reply as one strict JSON object and takes typed fields out of it (SPEC P2, R3.1, R3.7)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from benchbook.ask.requests import split_reasoning
from benchbook.canonical import StrictJsonError, parse_strict
from benchbook.evaluators.protocol.findings import Findings
from benchbook.evaluators.protocol.spec import SPEC_ID
from benchbook.specs import load_spec

__all__ = [
    "ABSENT",
    "ReadReply",
    "absent",
    "declines",
    "has_scores",
    "json_type",
    "opens_json",
    "read_reply",
    "typed_field",
]


_JSON_OPENINGS = ("{", "[", "```")
_QUOTED = re.compile(r'"[^"]*"')
# A refusal is said at once; a megabyte is not searched for one.
_MAX_READ = 20_000


def declines(text: str) -> bool:
    """The text says in the first person that it does not judge what it was given.

    Only the act as a whole counts: "I can't evaluate this text", not "I can't evaluate the accuracy of its dates",
    which is a judge that says how far it went. What stands in double quotes is somebody else's word.
    """
    plain = text[:_MAX_READ].casefold().replace("’", "'").replace("“", '"').replace("”", '"')
    return _refusal_pattern().search(" ".join(_QUOTED.sub(" ", plain).split())) is not None


def has_scores(text: str, dimensions: tuple[str, ...]) -> bool:
    """A dimension is given a number somewhere in a text that could not be read as an object."""
    return _scored_pattern(dimensions).search(text) is not None


def opens_json(text: str) -> bool:
    """The text sets out to be JSON, if only behind a fence."""
    return text.lstrip("\ufeff \t\r\n").startswith(_JSON_OPENINGS)


@cache
def _scored_pattern(dimensions: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(dimensions)})[\"'*`]{{0,3}}\s*[:=]\s*[\"'*`]{{0,3}}\s*\d")


@cache
def _refusal_pattern() -> re.Pattern[str]:
    words = load_spec(SPEC_ID).settings["refusal"]
    openings, acts, things, phrases = ("|".join(map(re.escape, words[name])) for name in _WORD_LISTS)
    judged_text = rf"(?: (?:it|this|that|(?:(?:this|that|the|your|given|provided|above) )+(?:{things})))?"
    return re.compile(rf"\b(?:{openings}) (?:{acts}){judged_text}(?=[.,;:!?]|$| because\b| as\b| since\b)|{phrases}")


_WORD_LISTS = ("openings", "acts", "things", "phrases")

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


def read_reply(reply: str, dimensions: tuple[str, ...], reasoning_tags: Sequence[str], findings: Findings) -> ReadReply:
    """The one object that `reply` is. Where it is none, its faults are added to `findings`."""
    reasoning, body = split_reasoning(reply, reasoning_tags)
    try:
        value = parse_strict(body)
    except StrictJsonError as error:
        findings.add("not_strict_json", "", f"{error.fault}: {error.detail}")
        _find_refusal(body, dimensions, findings, expect_scores=not opens_json(body))
        return ReadReply(None, reasoning, body)
    if not isinstance(value, dict):
        findings.add("not_an_object", "", f"the reply is a JSON {json_type(value)}, not an object")
        _find_refusal(body, dimensions, findings, expect_scores=True)
        return ReadReply(None, reasoning, body)
    return ReadReply(value, reasoning, body)


def _find_refusal(body: str, dimensions: tuple[str, ...], findings: Findings, *, expect_scores: bool) -> None:
    """P4 on a text that is no object: prose without scores evades; JSON that broke before its scores does not."""
    if has_scores(body, dimensions):
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
