"""Reads a judge's reply under a rubric (SPEC R3): a score for each criterion, or the reason for none.

Some rubrics ask for more: quotes from what was judged, which are looked up in it (SPEC P4.1); and which of an item's
own criteria are met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, assert_never

import msgspec

from benchbook.ask.requests import split_reasoning
from benchbook.canonical import JsonFault, StrictJsonError, parse_strict
from benchbook.errors import InputError
from benchbook.evalsets import EvalSet, Item
from benchbook.evalsets.conversations import turn_text, with_answer
from benchbook.evalsets.requirements import ItemCriterion, criteria_faults, read_criteria
from benchbook.evaluators.evidence_text import NormalisedText, Span, normalised
from benchbook.evaluators.exact import NANO, divide
from benchbook.evaluators.panel_rules import PanelRule, panel_score
from benchbook.evaluators.quotes import LengthRule, LocatedKind, excess_of, locate
from benchbook.evaluators.rubric.criteria import Criterion
from benchbook.evaluators.rubric.scoring import MetCounts
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.text import quoted

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


class Parsed(msgspec.Struct, frozen=True):
    """A reply that keeps all rules, its scores by criterion; `reasoning` is what a declared tag held (R3.7)."""

    scores: tuple[int | None, ...]  # None: the criterion does not apply
    rationale: str
    reasoning: str | None = None
    quotes: tuple[Quoted, ...] = ()
    met: tuple[Met, ...] = ()  # of the item's own criteria, by their numbers

    @property
    def marks(self) -> tuple[int | None, ...]:
        """The marks by which judges are compared: the scores, but for the item's own criteria whether each is met."""
        return (*self.scores[:-1], *(one.met for one in self.met)) if self.met else self.scores


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
        return Rejected("not_an_object", f"the reply is a JSON {_json_type(value)}, not an object")
    rejected = _check(value, spec)
    if rejected is not None:
        return rejected
    scores = tuple([score_given(value[one.score_key], one) for one in spec.asked])
    parsed = Parsed(scores, value["rationale"], reasoning)
    return _with_more(parsed, value, spec, judged) if spec.asks_more else parsed


def _with_more(parsed: Parsed, value: dict[str, Any], spec: RubricSpec, judged: Judged | None) -> Parsed | Rejected:
    """`parsed` with what a rubric asks for beside scores, looked up in what was judged; or the first fault of that."""
    assert judged is not None  # noqa: S101 - nobody reads such a reply without
    quotes = _read_quotes(value, parsed.scores, spec, judged)
    if isinstance(quotes, Rejected):
        return quotes
    if not spec.by_item:
        return msgspec.structs.replace(parsed, quotes=quotes)
    met = _read_met(value, judged.item, spec)
    if isinstance(met, Rejected):
        return met
    return msgspec.structs.replace(parsed, scores=(*parsed.scores, score_of(met)), quotes=quotes, met=met)


def score_given(given: Any, criterion: Criterion) -> int | None:
    """The score for what a reply gives for a criterion: a number on its scale, or the name of a grade."""
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
            found = _json_type(value[one.score_key])
            return Rejected("bad_score_type", f"{one.score_key} is {found}, not {words}")
    for one in asked_of:
        if value[one.score_key] not in one.given:
            scale = ", ".join(map(str, one.given))
            return Rejected("score_out_of_range", f"{one.score_key} is outside {scale}")
    fault = _rationale_fault(value["rationale"], spec.max_rationale_words)  # R3.3
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


def _rationale_fault(rationale: Any, max_words: int) -> str | None:
    """The fault of a rationale (R3.3); None for none."""
    if not isinstance(rationale, str):
        return f"rationale is {_json_type(rationale)}, not a string"
    words = len(rationale.split())
    if not words:
        return "rationale is empty"
    return f"rationale has {words} words, over {max_words}" if words > max_words else None


def _json_type(value: Any) -> str:
    """The JSON type of a value in a reply."""
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


# ── quotes from what was judged ──────────────────────────────────────────────────────────────────────────────


_LENGTH = LengthRule(min_length=4, cjk_character_length=2)

_MOST_WORDS = 60


class Judged:
    """The subject of one judgement. Each text is normalised once, when the first quote is looked up in it.

    `item` may be left out where the rubric's replies can be read without (`RubricSpec.needs_item`).
    """

    def __init__(self, answer: str, item: Item | None) -> None:
        self._answer = answer
        self._item = item
        self._turns: dict[int, NormalisedText] = {}

    @cached_property
    def answer(self) -> NormalisedText:
        return NormalisedText(self._answer)

    @property
    def item(self) -> Item:
        assert self._item is not None  # noqa: S101 - whoever reads replies that need it has it
        return self._item

    @cached_property
    def _texts(self) -> list[str]:
        item = self.item
        return [turn_text(one) for one in with_answer(item.messages, item.prompt, self._answer)]

    @property
    def n_turns(self) -> int:
        """How many turns the transcript has; the answer is the last."""
        return len(self._texts)

    def turn(self, number: int) -> NormalisedText:
        """The text of a turn of the transcript, counted from 1."""
        if number not in self._turns:
            self._turns[number] = NormalisedText(self._texts[number - 1])
        return self._turns[number]


class Quoted(msgspec.Struct, frozen=True):
    """A criterion's quote, how it was found, and where: in code points of the answer, or of the turn."""

    criterion: str
    text: str
    found: LocatedKind
    spans: tuple[Span, ...]
    turn: int | None  # of the transcript, from 1; None: it is from the answer

    @property
    def is_found(self) -> bool:
        return bool(self.spans)


def _read_quotes(
    value: Mapping[str, Any], scores: tuple[int | None, ...], spec: RubricSpec, judged: Judged
) -> tuple[Quoted, ...] | Rejected:
    """The quotes of a reply whose scores are right, by criterion. Of one that does not apply there is none.

    What is no quote (P4.1: empty, too short, too long) is rejected, whatever the criterion makes of one that is not
    found.
    """
    found: list[Quoted] = []
    for one, score in zip(spec.asked, scores, strict=True):
        if one.quote is None or score is None:
            continue
        quote = _read_quote(value, one, judged)
        if isinstance(quote, Rejected):
            return quote
        found.append(quote)
    return tuple(found)


def _read_quote(value: Mapping[str, Any], criterion: Criterion, judged: Judged) -> Quoted | Rejected:
    key, quote = criterion.quote_key, value[criterion.quote_key]
    if not isinstance(quote, str):
        return Rejected("bad_quote", f"{key} is {_json_type(quote)}, not a string")
    if not _LENGTH.holds(normalised(quote)):
        return Rejected("bad_quote", f"{key} is {quoted(quote)}: too short to be a quote")
    if (excess := excess_of(quote, _MOST_WORDS, counts_characters=True)) is not None:
        return Rejected("bad_quote", f"{key} has {excess}")
    turn = value[criterion.turn_key] if criterion.from_transcript else None
    if criterion.from_transcript and (type(turn) is not int or not 1 <= turn <= judged.n_turns):
        found = "no turn's number" if type(turn) is int else _json_type(turn)
        return Rejected("bad_quote", f"{criterion.turn_key} is {found}; there are the turns 1 to {judged.n_turns}")
    located = locate(quote, judged.answer if turn is None else judged.turn(turn), _LENGTH)
    if not located.found and criterion.quote == "must_be_found":
        where = "the answer" if turn is None else f"turn {turn}"
        return Rejected("quote_not_found", f"{key} does not stand in {where}: {quoted(quote, 200)}")
    return Quoted(criterion.name, quote, located.kind, located.spans, turn)


# ── an item's own criteria ───────────────────────────────────────────────────────────────────────────────────


ITEM_CRITERIA = "item_criteria"  # what the table of a spec, and the criterion that is made of it, is called


class Met(msgspec.Struct, frozen=True):
    """One of an item's criteria, and whether the judge says that the answer meets it."""

    criterion: ItemCriterion
    met: bool
    rationale: str | None  # None: the rubric asks for none


def score_of(met: Sequence[Met]) -> int:
    """The share of all positive weights that is met, less what is met of negative ones, from 0 to 1 in nano-units:
    rounded half-even, once."""
    best = sum(one.criterion.weight for one in met if one.criterion.weight > 0)
    share = Fraction(sum(one.criterion.weight for one in met if one.met)) / best
    clipped = min(max(share, Fraction(0)), Fraction(1))
    return divide(clipped.numerator * NANO, clipped.denominator)


def counts_of(met: Sequence[Met]) -> MetCounts:
    """The number of criteria by the sign of their weight, and how many of them are met."""
    positive = [one.met for one in met if one.criterion.weight > 0]
    negative = [one.met for one in met if one.criterion.weight < 0]
    return MetCounts(len(positive), sum(positive), len(negative), sum(negative))


def met_by_panel(given: Sequence[Sequence[Met] | None], rule: PanelRule) -> tuple[Met, ...] | None:
    """The criteria as a panel finds them met or not, each by the rule; for one with a negative weight, being met is the
    lower score. `given` has an entry for each judge, None for one who gave none; None where that leaves a criterion
    open.

    A rationale is that of the first judge who says the same.
    """
    said = [met for met in given if met is not None]
    found = []
    for number, criterion in enumerate(one.criterion for one in (said[0] if said else ())):
        should = criterion.weight > 0
        scores = [None if met is None else int(met[number].met is should) for met in given]
        score = panel_score(scores, rule, 0, 1)
        if score is None:
            return None
        is_met = should if score else not should
        found.append(next(met[number] for met in said if met[number].met is is_met))
    return tuple(found) or None


def _read_met(value: Mapping[str, Any], item: Item, spec: RubricSpec) -> tuple[Met, ...] | Rejected:
    """Which criteria of `item` a reply says are met: `"item_criteria": {"1": {"met": true}}`, each by its number."""
    given = value[ITEM_CRITERIA]
    if not isinstance(given, dict):
        return Rejected("bad_score_type", f"{ITEM_CRITERIA} is {_json_type(given)}, not an object")
    found = []
    for number, criterion in enumerate(read_criteria(item.criteria), start=1):
        one = _read_one(given, str(number), criterion, spec)
        if isinstance(one, Rejected):
            return one
        found.append(one)
    return tuple(found)


def _read_one(given: Mapping[str, Any], number: str, criterion: ItemCriterion, spec: RubricSpec) -> Met | Rejected:
    place = f'{ITEM_CRITERIA}["{number}"]'
    if number not in given:
        return Rejected("missing_key", f"there is no {place}")
    one = given[number]
    if not isinstance(one, dict):
        return Rejected("bad_score_type", f"{place} is {_json_type(one)}, not an object with met")
    for key in ("met", "rationale") if spec.item_rationales else ("met",):
        if key not in one:
            return Rejected("missing_key", f"there is no {key} in {place}")
    if not isinstance(one["met"], bool):
        return Rejected("bad_score_type", f"met in {place} is {_json_type(one['met'])}, not true or false")
    if not spec.item_rationales:
        return Met(criterion, one["met"], None)
    if (fault := _rationale_fault(one["rationale"], spec.max_rationale_words)) is not None:
        return Rejected("bad_rationale", f"of {place}: {fault}")
    return Met(criterion, one["met"], one["rationale"])


def check_item_criteria(evalset: EvalSet, spec: RubricSpec) -> None:
    """Refuses items without criteria of their own, or with a fault in them. Raises: InputError with line and field."""
    with evalset:
        for index, item in enumerate(evalset):
            if (fault := next(criteria_faults(item.criteria), None)) is not None:
                found = "nothing" if item.criteria is None else fault.found
                expected = f"{fault.expected}: {spec.id} scores each item by its own"
                line = evalset.line_of(index)
                raise InputError(evalset.path, line=line, field=fault.field, found=found, expected=expected)
