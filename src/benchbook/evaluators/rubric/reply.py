"""Reads a judge's reply under a rubric (SPEC R3): a score for each criterion, or the reason for none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

import msgspec

from benchbook.ask.requests import split_reasoning
from benchbook.canonical import JsonFault, StrictJsonError, parse_strict
from benchbook.evaluators.rubric.item_scores import Met, read_met, score_of
from benchbook.evaluators.rubric.quoting import Judged, Quoted, read_quotes
from benchbook.evaluators.rubric.reply_faults import ParseErrorReason, Rejected, json_type, rationale_fault
from benchbook.evaluators.rubric.spec import Criterion, RubricSpec

__all__ = ["ParseErrorReason", "Parsed", "Rejected", "parse_reply"]


class Parsed(msgspec.Struct, frozen=True):
    """A reply that keeps all rules, its scores by criterion; `reasoning` is what a declared tag held (R3.7)."""

    scores: tuple[int | None, ...]  # None: the criterion does not apply
    rationale: str
    reasoning: str | None = None
    quotes: tuple[Quoted, ...] = ()
    met: tuple[Met, ...] = ()  # of the item's own criteria, by their numbers


def parse_reply(
    reply: str,
    spec: RubricSpec,
    reasoning_tags: Sequence[str] = (),
    *,
    lone_closing: bool = False,
    judged: Judged | None = None,
) -> Parsed | Rejected:
    """Read `reply` by R3.1 to R3.4, one leading block of a declared reasoning tag moved away (R3.7).

    `lone_closing` as for `split_reasoning`. `judged` is needed where the rubric asks for more than scores.
    """
    reasoning, body = split_reasoning(reply, reasoning_tags, lone_closing=lone_closing)
    try:
        value = parse_strict(body)
    except StrictJsonError as error:
        return Rejected(_reason_for(error.fault), error.detail)
    if not isinstance(value, dict):
        return Rejected("not_an_object", f"the reply is a JSON {json_type(value)}, not an object")
    rejected = _check(value, spec)
    if rejected is not None:
        return rejected
    scores = tuple([_score(value[one.score_key], one) for one in spec.asked])
    parsed = Parsed(scores, value["rationale"], reasoning)
    return _with_more(parsed, value, spec, judged) if spec.asks_more else parsed


def _with_more(parsed: Parsed, value: dict[str, Any], spec: RubricSpec, judged: Judged | None) -> Parsed | Rejected:
    """With what a rubric asks for beside scores, looked up in what was judged."""
    assert judged is not None  # noqa: S101 - nobody reads such a reply without
    quotes = read_quotes(value, parsed.scores, spec, judged)
    if isinstance(quotes, Rejected):
        return quotes
    if not spec.by_item:
        return msgspec.structs.replace(parsed, quotes=quotes)
    met = read_met(value, judged.item, spec)
    if isinstance(met, Rejected):
        return met
    return msgspec.structs.replace(parsed, scores=(*parsed.scores, score_of(met)), quotes=quotes, met=met)


def _score(given: Any, criterion: Criterion) -> int | None:
    score: int | None = criterion.grades.index(given) if criterion.grades and given is not None else given
    return score


def _check(value: dict[str, Any], spec: RubricSpec) -> Rejected | None:
    for key in spec.reply_keys:
        if key not in value:
            return Rejected("missing_key", f"there is no {key!r}")
    asked_of = [one for one in spec.asked if not (one.may_not_apply and value[one.score_key] is None)]
    if not asked_of and not spec.by_item:
        return Rejected("bad_score_type", "every score is null; at least one criterion must apply")
    for one in asked_of:
        asked, words = (str, "a grade's name") if one.grades else (int, "an integer")
        if type(value[one.score_key]) is not asked:  # R3.2: not a bool, which is an int to Python
            found = json_type(value[one.score_key])
            return Rejected("bad_score_type", f"{one.score_key} is {found}, not {words}")
    for one in asked_of:
        if value[one.score_key] not in one.given:
            scale = ", ".join(map(str, one.given))
            return Rejected("score_out_of_range", f"{one.score_key} is outside {scale}")
    fault = rationale_fault(value["rationale"], spec.max_rationale_words)  # R3.3
    return None if fault is None else Rejected("bad_rationale", fault)


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
