"""The base of every kind of check: its settings as data, and a pure function of an answer and an item.

An answer is held against what is expected: texts of the spec's own, or a field of the item. The outcome is a result: a
score, the reason why it is not full, and what was found.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal

from benchbook.errors import ItemError
from benchbook.evaluators.exact import NANO, in_nano
from benchbook.specs.fields import WrongValueError, said, text_of
from benchbook.text import quoted, shorten

Reader = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Kind(ABC):
    """A kind of check. Its fields are its settings; their defaults are the defaults of `spec.toml`.

    `SETTINGS` has for each setting its reader from TOML (raises `WrongValueError`); `NEEDED` those that must be there;
    `FROM_FILE` those whose value may be the name of a JSON file beside the spec. `IS_GRADED`: its score may lie between
    0 and 1.
    """

    SETTINGS: ClassVar[Mapping[str, Reader]]
    NEEDED: ClassVar[tuple[str, ...]] = ()
    FROM_FILE: ClassVar[frozenset[str]] = frozenset()
    IS_GRADED: ClassVar[bool] = False

    @abstractmethod
    def judge(self, answer: str, item: Mapping[str, Any], /) -> CheckResult:
        """The result for the compared part of an answer, which is not blank.

        Raises: ItemError, as `check_item`.
        """

    def check_item(self, item: Mapping[str, Any]) -> None:  # noqa: B027 - most kinds that need nothing of it say so by this
        """Check that the item has what this check needs. Raises: ItemError."""

    @property
    def item_fields(self) -> frozenset[str]:
        """The fields of an item that it asks for."""
        values = (getattr(self, one.name) for one in fields(self))
        return frozenset(one.field for one in values if isinstance(one, Expected) and one.field is not None)

    @property
    def passes_at(self) -> Fraction | None:
        """The least score at which the check passes; None where none was set."""
        return Fraction(1)


# ── what is expected ─────────────────────────────────────────────────────────────────────────────────────────


_ONE_OR_MORE = 'text, a number, a list of these, or one field of the item such as "{{item.expected_answer}}"'

_REFERENCE = re.compile(r"\{\{\s*item\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")

NO_ITEM: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Expected:
    """Either an item's `field`, or, where that is None, `literal` values."""

    field: str | None
    literal: tuple[Any, ...] = ()

    def values(self, item: Mapping[str, Any]) -> tuple[Any, ...]:
        """The texts, numbers and truth values, at least one. Raises: ItemError."""
        if self.field is None:
            return self.literal
        value = item.get(self.field)
        values = tuple(value) if isinstance(value, list | tuple) else (value,)
        if not values or any(text_of(one) is None for one in values):
            raise self.fault(_said(value), "text, a number, or a list of these")
        return values

    def texts(self, item: Mapping[str, Any]) -> tuple[str, ...]:
        """The same, each as text. Raises: ItemError."""
        return tuple(text_of(one) or "" for one in self.values(item))

    def fault(self, found: str, expected: str) -> ItemError:
        return ItemError(self.field, found, expected)


EXPECTED_ANSWER = Expected("expected_answer")


def field_named(text: str) -> str | None:
    """The field that `{{item.NAME}}` names; None for any other text."""
    found = _REFERENCE.fullmatch(text)
    return found[1] if found else None


def _said(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case str():
            return quoted(value)
        case list() | tuple():
            return "a list of other things" if value else "an empty list"
        case _:
            return f"a value of type {type(value).__name__}"


def read_expected(value: Any) -> Expected:
    if isinstance(value, str) and (field := field_named(value)) is not None:
        return Expected(field)
    values = value if isinstance(value, list) else [value]
    if not values or any(text_of(one) is None for one in values):
        raise WrongValueError(said(value), _ONE_OR_MORE)
    for text in values:
        if isinstance(text, str) and re.search(r"\{\{\s*item\b", text):
            raise WrongValueError(quoted(text), 'one field and nothing else, such as "{{item.expected_answer}}"')
    return Expected(None, tuple(values))


# ── what a check says of one output ──────────────────────────────────────────────────────────────────────────


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
    """The result of one check. `score` lies in 0 to 1 and is exact; `reason` is None where it is 1.

    `found` is what was compared, in a few words for people: on one line, nothing in it that a terminal acts upon.
    """

    score: Fraction
    reason: Reason | None
    found: str | None

    @property
    def score_nano(self) -> int:
        """The score in billionths, rounded half-even (SPEC C2)."""
        return 0 if self.score == 0 else NANO if self.score == 1 else in_nano(self.score)


def hit(found: str | None) -> CheckResult:
    return CheckResult(Fraction(1), None, shown(found))


def miss(reason: Reason, found: str | None = None) -> CheckResult:
    return CheckResult(Fraction(0), reason, shown(found))


def shown(found: str | None) -> str | None:
    """A piece of an output as a result keeps it: cut, on one line, and visible."""
    # Only the beginning is shown, and a line's worth of it may be all white space: no need to look at a whole megabyte.
    return None if found is None else shorten(found.strip()[: 20 * _SHOWN_CHARACTERS], _SHOWN_CHARACTERS)
