"""Reads judges' replies that keep all rules, as most do: what `parse_reply` says of each, without words for faults."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from benchbook.canonical import StrictJsonError, parse_strict
from benchbook.evaluators.rubric.reply import score_given
from benchbook.evaluators.rubric.spec import RubricSpec


class PlainReplies:
    """Reads them under a rubric that asks for scores alone. Of any other reply it says no more than that."""

    def __init__(self, spec: RubricSpec) -> None:
        self._given_in = itemgetter("rationale", *(one.score_key for one in spec.asked))
        self._kinds: list[type] = [str, *(str if one.grades else int for one in spec.asked)]  # a bool is none of them
        self._asked = spec.asked
        self._known: dict[tuple[Any, ...], tuple[int, ...] | None] = {}  # by all that was given
        self._max_words = spec.max_rationale_words

    def read(self, reply: str) -> tuple[tuple[int, ...], str] | None:
        """The scores and the rationale."""
        try:
            found = self._given_in(parse_strict(reply))
        except (StrictJsonError, KeyError, TypeError):  # what is no object has no keys
            return None
        if list(map(type, found)) != self._kinds:
            return None
        rationale, *given = found
        scores = self._scores(tuple(given))
        if scores is None or not rationale or rationale.isspace():
            return None
        if len(rationale) >= 2 * self._max_words and len(rationale.split()) > self._max_words:
            return None  # a shorter text has no place for so many words
        return scores, rationale

    def _scores(self, given: tuple[Any, ...]) -> tuple[int, ...] | None:
        """The scores that are given in an answer; None where one is not on its scale."""
        try:
            return self._known[given]
        except KeyError:
            pass
        if any(value not in one.given for one, value in zip(self._asked, given, strict=True)):
            return None
        scores = (score_given(value, one) for one, value in zip(self._asked, given, strict=True))
        found = self._known[given] = tuple([score for score in scores if score is not None])
        return found
