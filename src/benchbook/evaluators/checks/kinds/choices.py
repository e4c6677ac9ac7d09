"""The kind `choice`: the answer names the expected one of several options."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from benchbook.evaluators.checks.expected import EXPECTED_ANSWER, NO_ITEM, Expected, read_expected
from benchbook.evaluators.checks.kinds.choice_reading import choices_in, holds_option
from benchbook.evaluators.checks.kinds.kind import Kind, Reader
from benchbook.evaluators.checks.result import CheckResult, hit, miss
from benchbook.specs.fields import WrongValueError, said
from benchbook.text import quoted

__all__ = ["Choice"]


def read_letters(value: Any) -> str:
    if value == "":
        return ""
    if not (isinstance(value, str) and value.isascii() and value.isalnum() and len(value) > 1):
        raise WrongValueError(said(value), 'letters or digits in a row, such as "ABCD"; "" where options have none')
    if len(set(value.upper())) < len(value):
        raise WrongValueError(said(value), "each letter once")
    return value.upper()


def read_options(value: Any) -> Expected:
    options = read_expected(value)
    if options.field is None:
        fault = _fault_of(options.texts(NO_ITEM))
        if fault:
            raise WrongValueError(said(value), fault)
    return options


def _fault_of(options: tuple[str, ...]) -> str | None:
    """What would be right of options that are not."""
    if not 2 <= len(options) <= len(string.ascii_uppercase):
        return "a list of 2 to 26 options"
    folded = {_folded(one) for one in options}
    return (
        None
        if len(folded) == len(options) and all(folded)
        else "options that are not blank, and differ by more than case"
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Kind):
    """The answer names one option, by its letter or its text, and it is the expected one (or one of several).

    `options` are their texts, of the spec or of the item; without them only letters are read. `letters` are A, B, C, …
    for as many options as there are, else A to J; "" where the options were shown without letters. What is expected is
    a letter or the text of an option.
    """

    SETTINGS: ClassVar[Mapping[str, Reader]] = {
        "expected": read_expected,
        "options": read_options,
        "letters": read_letters,
    }

    expected: Expected = EXPECTED_ANSWER
    options: Expected | None = None
    letters: str | None = None

    def __post_init__(self) -> None:
        if self.options is None and self.letters == "":
            raise WrongValueError("no options", "options, where they have no letters")
        if (
            self.options
            and self.options.field is None
            and self.letters
            and len(self.letters) < len(self.options.texts(NO_ITEM))
        ):
            raise WrongValueError(
                f"{len(self.letters)} letters for {len(self.options.texts(NO_ITEM))} options", "a letter for each"
            )

    def check_item(self, item: Mapping[str, Any]) -> None:
        self._wanted(item)

    def _options_of(self, item: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
        """`(letters, options as they are compared)`. Raises: ItemError."""
        if self.options is None:
            return self.letters or "ABCDEFGHIJ", ()
        options = self.options.texts(item)
        fault = _fault_of(options)
        if fault:
            raise self.options.fault(f"a list of {len(options)}", fault)
        letters = string.ascii_uppercase if self.letters is None else self.letters
        if letters and len(letters) < len(options):
            raise self.options.fault(f"{len(options)} options", f"at most {len(letters)}: a letter for each")
        return letters[: len(options)], tuple(map(_folded, options))

    def _wanted(self, item: Mapping[str, Any]) -> set[int]:
        letters, options = self._options_of(item)
        return {self._place(text, letters, options) for text in self.expected.texts(item)}

    def _place(self, text: str, letters: str, options: tuple[str, ...]) -> int:
        """Which option an expected text is: by its text first, then by its letter. Raises: ItemError."""
        place = holds_option(options, text)
        if place is None:
            letter = text.strip().strip("().").upper()
            place = letters.find(letter) if len(letter) == 1 else -1
        if place < 0:
            shown = ", ".join(letters) or ", ".join(map(quoted, options))
            raise self.expected.fault(
                quoted(text), f"one of {shown}" + (", or an option's text" if options and letters else "")
            )
        return place

    def judge(self, answer: str, item: Mapping[str, Any], /) -> CheckResult:
        letters, options = self._options_of(item)
        wanted = self._wanted(item)
        named = choices_in(answer, letters, options)
        found = ", ".join(letters[place] if letters else options[place] for place in named)
        if not named:
            return miss("no_choice", answer)
        if len(named) > 1:
            return miss("several_choices", found)
        return hit(found) if named[0] in wanted else miss("other_choice", found)
