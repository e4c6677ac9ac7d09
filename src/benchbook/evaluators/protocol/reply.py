"""Reads a judge's reply: one strict JSON object, its scores and verdict, its evidence (SPEC P2 to P4, R3.1, R3.7)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from benchbook.ask.requests import split_reasoning
from benchbook.canonical import StrictJsonError, parse_strict
from benchbook.evaluators.evidence_text import NormalisedText, normalised
from benchbook.evaluators.protocol.findings import Findings, said
from benchbook.evaluators.protocol.spec import OVERALL, SPEC_ID, VERDICTS, Protocol, all_dimensions, form, scores_words
from benchbook.evaluators.quotes import Located, excess_of, locate
from benchbook.specs import load_spec

_JSON_OPENINGS = ("{", "[", "```")
_QUOTED = re.compile(r'"[^"]*"')
# A refusal is said at once; a megabyte is not searched for one.
_MAX_READ = 20_000


def declines(text: str) -> bool:
    """True if the text says in the first person that it does not judge what it was given.

    Only the act as a whole counts: "I can't evaluate this text", not "I can't evaluate the accuracy of its dates",
    which is a judge that says how far it went. What stands in double quotes is somebody else's word.
    """
    plain = text[:_MAX_READ].casefold().replace("’", "'").replace("“", '"').replace("”", '"')
    return _refusal_pattern().search(" ".join(_QUOTED.sub(" ", plain).split())) is not None


def has_scores(text: str, dimensions: tuple[str, ...]) -> bool:
    """True if a dimension is given a number somewhere in a text that could not be read as an object."""
    return _scored_pattern(dimensions).search(text) is not None


def opens_json(text: str) -> bool:
    """True if the text sets out to be JSON, if only behind a fence."""
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
    """A reply's object, or None. `reasoning` is what a declared tag held (R3.7), `body` the rest."""

    value: dict[str, Any] | None
    reasoning: str | None
    body: str


def json_type(value: Any) -> str:
    """The type of a parsed value, as RFC 8259 names it."""
    return _JSON_TYPES[type(value)]


def absent(value: Any) -> bool:
    """True if a value is not there, or null: a null is a value that nobody gave (C5)."""
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


# ── scores and verdict ───────────────────────────────────────────────────────────────────────────────────────


def readable_scores(found: Mapping[str, int] | None, protocol: Protocol) -> dict[str, int] | None:
    """The dimensions' scores, in their order, where each is there and of its scale; else None."""
    if found is None or not all(found.get(name) in scale for name, scale in protocol.scores.items()):
        return None
    return {name: found[name] for name in protocol.names}


def check_scores(reply: Mapping[str, Any], protocol: Protocol, findings: Findings) -> dict[str, int] | None:
    """The integers that `scores` gives the dimensions; None where not all of these have one.

    They may be off their scales: that is a finding, and their sum can still be held against `overall_score`.
    """
    if absent(reply.get("scores", ABSENT)):
        findings.add("no_scores", "scores", "the reply scores no dimension")
    scores = typed_field(reply, "scores", dict, "scores", findings)
    if scores is None:
        return None
    found = {
        name: score
        for name, scale in protocol.scores.items()
        if (score := _score(scores, name, scale, findings)) is not None
    }
    if scores.keys() <= {OVERALL}:
        findings.add("no_scores", "scores", "the reply scores no dimension")
    for name in scores:
        if name != OVERALL and name not in protocol.scores:
            findings.add("dimension_unknown", f"scores.{name[:80]}", f"{said(name)} is no dimension")
    overall = typed_field(scores, OVERALL, int, f"scores.{OVERALL}", findings)
    if len(found) < len(protocol.dimensions):
        return None
    if overall is not None and overall != sum(found.values()):
        total = said(sum(found.values()))
        what = f"{all_dimensions(len(found))} {'is' if len(found) == 1 else 'add up to'} {total}"
        findings.add("sum_wrong", f"scores.{OVERALL}", f"found {said(overall)}; {what}")
    return found


def _score(scores: Mapping[str, Any], name: str, scale: range, findings: Findings) -> int | None:
    """A dimension's score if it is an integer (R3.2: not true, not 1.0, not "2")."""
    path = f"scores.{name}"
    score = scores.get(name, ABSENT)
    if score is ABSENT:
        # P4 calls this a protocol violation; that it is a missing field too would add nothing.
        findings.add("dimension_left_out", path, f"{name} is not scored")
        if findings.edition >= 2:  # the source names missing scores under refusal too
            findings.add("score_missing", path, f"{name} has no score")
        return None
    if score is None:
        findings.add("null_score", path, f"{name} is null")
    if type(score) is not int:
        findings.add("wrong_type", path, f"{path} is {json_type(score)}, not integer")
        return None
    if score not in scale:
        findings.add("score_out_of_range", path, f"found {said(score)}; expected {scores_words(scale)}")
    return score


def check_verdict(
    reply: Mapping[str, Any], scores: Mapping[str, int] | None, protocol: Protocol, findings: Findings
) -> None:
    """The verdict that the reply states: known, and the one that follows from its scores where they can be summed."""
    stated = typed_field(reply, "verdict", str, "verdict", findings)
    if stated is None:
        return
    if stated not in VERDICTS:
        # An unknown word contradicts nothing: that it "does not follow" is not said as well.
        findings.add("verdict_unknown", "verdict", f"found {said(stated)}; expected {', '.join(VERDICTS)}")
    elif scores is not None and stated != protocol.verdict_for(sum(scores.values())):
        total = sum(scores.values())
        right = protocol.verdict_for(total)
        findings.add("verdict_wrong", "verdict", f"found {stated}; a sum of {said(total)} is {right}")


_MOST = 2**63  # JSON's writers hold no larger integers


@dataclass(frozen=True, slots=True)
class Written:
    """The fields that a reply has. One that is None, or not in a mapping, is lacking, or not as the protocol asks."""

    meta: Mapping[str, str] | None = None
    scores: Mapping[str, int] | None = None
    verdict: str | None = None
    notes: str | None = None


def written_in(reply: str, protocol: Protocol) -> Written:
    """Nothing is computed and nothing repaired. Evidence is not in it: `validate` reads and looks it up."""
    try:
        value = parse_strict(reply)
    except StrictJsonError:
        return Written()
    if not isinstance(value, dict):
        return Written()
    return Written(
        meta=_members(value.get("meta"), form().meta, str),
        scores=_scores(value.get("scores"), protocol),
        verdict=_text(value.get("verdict")),
        notes=_text(value.get("notes")),
    )


def _members(value: Any, names: tuple[str, ...], kind: type) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    return {name: value[name] for name in names if type(value.get(name)) is kind}


def _scores(value: Any, protocol: Protocol) -> dict[str, int] | None:
    found = _members(value, (*protocol.names, OVERALL), int)
    return found and {name: score for name, score in found.items() if -_MOST <= score < _MOST}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


# ── evidence ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Evidence:
    """One item of a reply's evidence, in the reply's order. What is None could not be read as a string."""

    dimension: str | None
    quote: str | None
    reason: str | None
    located: Located | None  # None: there is no quote to look up


def check_evidence(
    reply: Mapping[str, Any], text: NormalisedText, protocol: Protocol, *, must_be_found: bool, findings: Findings
) -> tuple[Evidence, ...]:
    """Reads `evidence` and looks every quote up in `text`; all that is wrong is added to `findings`.

    With `must_be_found` off (`evidence = "report"`, P4.1) a quote that is not found is no fault. One that is empty, too
    short or too long still is: the option is about what was looked for and not found.
    """
    items = typed_field(reply, "evidence", list, "evidence", findings)
    if items is None:
        # Missing or of another type says it all; that no dimension has evidence follows and is not said as well.
        return ()
    limit = protocol.max_evidence_items
    if len(items) > limit:
        # A bound on work, not on judging: each quote costs a search through the judged text.
        findings.add("too_much_evidence", "evidence", f"{len(items)} items; {limit} at most are looked up")
    known: dict[str, Located] = {}
    evidence = tuple(_read_item(item, at, text, protocol, known, findings) for at, item in enumerate(items[:limit]))
    for at, item in enumerate(evidence):
        _check_quote(item, f"evidence[{at}].quote", protocol, must_be_found, findings)
    _check_dimensions(evidence, protocol, findings)
    return evidence


def _read_item(
    item: Any, at: int, text: NormalisedText, protocol: Protocol, known: dict[str, Located], findings: Findings
) -> Evidence:
    path = f"evidence[{at}]"
    if not isinstance(item, dict):
        findings.add("wrong_type", path, f"{path} is {json_type(item)}, not object")
        return Evidence(None, None, None, None)
    dimension = typed_field(item, "dimension", str, f"{path}.dimension", findings)
    quote = typed_field(item, "quote", str, f"{path}.quote", findings)
    reason = typed_field(item, "reason", str, f"{path}.reason", findings)
    if dimension is not None and dimension not in protocol.scores:
        findings.add("dimension_unknown", f"{path}.dimension", f"{said(dimension)} is no dimension")
    if findings.edition >= 2 and reason is not None and not reason.strip():
        findings.add("reason_empty", f"{path}.reason", "the reason is empty")
    if quote is None:
        return Evidence(dimension, None, reason, None)
    if quote not in known:  # snippets may serve several dimensions (source 002, section 4)
        known[quote] = locate(quote, text, protocol.length)
    return Evidence(dimension, quote, reason, known[quote])


def _check_quote(item: Evidence, path: str, protocol: Protocol, must_be_found: bool, findings: Findings) -> None:
    if item.quote is None or item.located is None:
        return
    if item.located.kind == "empty":
        findings.add("quote_empty", path, "the quote is empty")
    elif findings.edition >= 2 and not protocol.length.holds(normalised(item.quote)):
        findings.add("quote_too_short", path, f"{said(item.quote)} is too short to be a quote")
    if item.located.kind == "not_found" and must_be_found:
        findings.add("quote_not_found", path, f"{said(item.quote)} does not stand in the judged text")
    excess = excess_of(item.quote, protocol.max_quote_words, counts_characters=findings.edition >= 2)
    if excess is not None:
        findings.add("quote_too_long", path, excess)


def _check_dimensions(evidence: tuple[Evidence, ...], protocol: Protocol, findings: Findings) -> None:
    """At least one item a dimension that asks for it (source 002, section 4), whatever its quote is worth."""
    covered = {item.dimension for item in evidence}
    for one in protocol.dimensions:
        if one.must_quote and one.name not in covered:
            findings.add("dimension_without_evidence", "evidence", f"{one.name} has no evidence")
