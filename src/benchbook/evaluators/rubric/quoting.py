"""A judge's quotes from what it judged, and where they stand (SPEC P4.1): of criteria that ask for one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec

from benchbook.evalsets import Item
from benchbook.evalsets.conversations import turn_text, with_answer
from benchbook.evaluators.evidence_text import NormalisedText, Span, normalised
from benchbook.evaluators.quotes import LengthRule, LocatedKind, excess_of, locate
from benchbook.evaluators.rubric.reply_faults import Rejected, json_type
from benchbook.evaluators.rubric.spec import Criterion, RubricSpec
from benchbook.text import quoted

__all__ = ["Judged", "Quoted", "read_quotes"]


_LENGTH = LengthRule(min_length=4, cjk_character_length=2)
_MOST_WORDS = 60


class Judged:
    """What one judge was asked about. Each text is normalised once, when the first quote is looked up in it.

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


def read_quotes(
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
        return Rejected("bad_quote", f"{key} is {json_type(quote)}, not a string")
    if not _LENGTH.holds(normalised(quote)):
        return Rejected("bad_quote", f"{key} is {quoted(quote)}: too short to be a quote")
    if (excess := excess_of(quote, _MOST_WORDS, counts_characters=True)) is not None:
        return Rejected("bad_quote", f"{key} has {excess}")
    turn = value[criterion.turn_key] if criterion.from_transcript else None
    if criterion.from_transcript and (type(turn) is not int or not 1 <= turn <= judged.n_turns):
        found = "no turn's number" if type(turn) is int else json_type(turn)
        return Rejected("bad_quote", f"{criterion.turn_key} is {found}; there are the turns 1 to {judged.n_turns}")
    located = locate(quote, judged.answer if turn is None else judged.turn(turn), _LENGTH)
    if not located.found and criterion.quote == "must_be_found":
        where = "the answer" if turn is None else f"turn {turn}"
        return Rejected("quote_not_found", f"{key} does not stand in {where}: {quoted(quote, 200)}")
    return Quoted(criterion.name, quote, located.kind, located.spans, turn)
