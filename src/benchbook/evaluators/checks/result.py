"""What a check says of one output: its score, why it is not full, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from benchbook.evaluators.exact import NANO, divide
from benchbook.text import shorten

__all__ = ["REASONS", "CheckResult", "Reason", "hit", "in_nano", "miss", "shown"]

Reason = Literal[
    "no_prediction",
    "not_equal",
    "not_inside",
    "no_match",
    "no_number",
    "several_numbers",
    "other_number",
    "no_choice",
    "several_choices",
    "other_choice",
    "malformed_json",
    "not_an_object",
    "schema",
    "too_long",
    "no_words_shared",
    "some_words_shared",
]

REASONS: Mapping[Reason, str] = {
    "no_prediction": "there is no answer, nothing but white space, or not the part that is compared",
    "not_equal": "it is another text than the expected one",
    "not_inside": "an expected text does not stand in it",
    "no_match": "the pattern matches nowhere in it",
    "no_number": "no number is read in it",
    "several_numbers": "numbers of different values are read in it, and only one may be",
    "other_number": "the number is another than the expected one, beyond the tolerance",
    "no_choice": "none of the options is read in it",
    "several_choices": "it can be read as more than one of the options",
    "other_choice": "it is another option than the expected one",
    "malformed_json": "it is not one JSON value by RFC 8259, or has a key twice",
    "not_an_object": "it is JSON, but no object",
    "schema": "it is JSON that the schema does not allow",
    "too_long": "it has more words than the limit",
    "no_words_shared": "it shares no word with the expected text",
    "some_words_shared": "it shares some words with the expected text, but not all, or has others",
}

_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check says. `score` lies in 0 to 1 and is exact; `reason` is None where it is 1.

    `found` is what was compared, in a few words for people: on one line, nothing in it that a terminal acts upon.
    """

    score: Fraction
    reason: Reason | None
    found: str | None

    @property
    def score_nano(self) -> int:
        """The score in billionths, rounded half-even (SPEC C2)."""
        return 0 if self.score == 0 else NANO if self.score == 1 else in_nano(self.score)


def in_nano(score: Fraction) -> int:
    """`score` in billionths, rounded half-even once (SPEC C2)."""
    return divide(score.numerator * NANO, score.denominator)


def hit(found: str | None) -> CheckResult:
    return CheckResult(Fraction(1), None, shown(found))


def miss(reason: Reason, found: str | None = None) -> CheckResult:
    return CheckResult(Fraction(0), reason, shown(found))


def shown(found: str | None) -> str | None:
    """A piece of an output as a result keeps it: cut, on one line, and visible."""
    # Only the beginning is shown, and a line's worth of it may be all white space: no need to look at a whole megabyte.
    return None if found is None else shorten(found.strip()[: 20 * _SHOWN_CHARACTERS], _SHOWN_CHARACTERS)
