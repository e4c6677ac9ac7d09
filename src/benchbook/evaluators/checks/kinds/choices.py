r"""The kind `choice`: the answer names the expected one of several options.

The options that it names are found by rules, in this order; the first that finds anything decides. Where it finds more
than one option, the answer names several.

1. The whole text is an option's text.
2. A statement: `Answer: B`, `the answer is (B)`, `I choose option B`. The last one counts.
3. A line that opens with a letter and a delimiter, or is nothing but a letter: `B.`, `(B) Paris`, `**B**`.
4. A letter in brackets or bold: `(B)`, `[B]`, `**B**`, `\boxed{B}`.
5. A capital letter that stands alone: `I think B fits`.
6. The text of an option, as whole words.

A letter right after `not`, or called wrong (`A is wrong`), is not counted; nor are `A` and `I` where they are words:
`A dog`, `I think`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from benchbook.evaluators.checks.kind import (
    EXPECTED_ANSWER,
    NO_ITEM,
    CheckResult,
    Expected,
    Kind,
    Reader,
    hit,
    miss,
    read_expected,
)
from benchbook.specs.fields import WrongValueError, said
from benchbook.text import quoted


def _read_letters(value: Any) -> str:
    if value == "":
        return ""
    if not (isinstance(value, str) and value.isascii() and value.isalnum() and len(value) > 1):
        raise WrongValueError(said(value), 'letters or digits in a row, such as "ABCD"; "" where options have none')
    if len(set(value.upper())) < len(value):
        raise WrongValueError(said(value), "each letter once")
    return value.upper()


def _read_options(value: Any) -> Expected:
    options = read_expected(value)
    if options.field is None:
        fault = _fault_of(options.texts(NO_ITEM))
        if fault:
            raise WrongValueError(said(value), fault)
    return options


def _fault_of(options: tuple[str, ...]) -> str | None:
    """The right form of options, for those that do not have it; None for the others."""
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
        "options": _read_options,
        "letters": _read_letters,
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
        """The place of the option that a text expects: by its text first, then by its letter. Raises: ItemError."""
        place = _holds_option(options, text)
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


# ── options in an answer ─────────────────────────────────────────────────────────────────────────────────────


# Marks that may stand around a letter: `**(B)**`, `$\\boxed{B}$`, `"B"`.
_OPENING = r"(?:\*{1,3}|_{1,2}|[(\[{<\"'“‘«`$]|\\\(|\\(?:boxed|text|textbf|mathrm|mathbf)\{){0,4}"

_CLOSING = r"(?:\*{1,3}|_{1,2}|[)\]}>\"'”’»`$]|\\\)){0,4}"

_NAMED = r"(?:option|choice|letter|alternative)"

_STATED = (
    r"(?:answer|choice|option|solution|response)(?:\s+is|\s*[:=])"
    r"|(?:choose|chose|select|pick|go\s+with)(?=\s)"
    rf"|answer(?=\s+(?:{_NAMED}\s+)?[(\[*])"
)

_NEGATED = re.compile(r"(?:\bnot|n['’]t|\bneither|\bnor|\bnever)\s+(?:option\s+)?[*_(\[\"'“]{0,3}$", re.IGNORECASE)

_CALLED_WRONG = re.compile(
    r"[)\]*_.:\"'”]{0,4}\s+(?:is|was|would\s+be|must\s+be)\s+(?:not|wrong|incorrect|false)\b", re.IGNORECASE
)

# After `A` or `I`, a word in small letters makes it a word as well, except for these.
_IS_LETTER_STILL = re.compile(r"\s+(?!(?:is|was|and|or|because|since|seems|but)\b)[a-zà-ÿ]")


class _Patterns(NamedTuple):
    stated: re.Pattern[str]
    further: re.Pattern[str]
    opening: re.Pattern[str]
    marked: re.Pattern[str]
    alone: re.Pattern[str]


@lru_cache(maxsize=64)
def _patterns(letters: str) -> _Patterns:
    one = f"[{re.escape(letters)}]"
    end = r"(?!\w|['’-]\w)"
    letter = rf"{_OPENING}(?P<letter>{one}){end}"
    return _Patterns(
        re.compile(rf"\b(?:{_STATED})\s*+{_OPENING}\s*+(?:{_NAMED}\s*+)?{letter}", re.IGNORECASE),
        re.compile(rf"{_CLOSING}[ \t]*+(?:,[ \t]*+or|,[ \t]*+and|,|/|&|\bor\b|\band\b)[ \t]*+{letter}", re.IGNORECASE),
        re.compile(
            rf"^[ \t]*+(?:{_NAMED}\s+)?[(\[*_\"'“`$]{{0,4}}(?P<letter>{one})"
            r"(?:[)\]*_:.\"'”`$]{1,5}(?!\w)|[ \t]*$)",
            re.IGNORECASE | re.MULTILINE,
        ),
        re.compile(
            rf"[(\[](?P<letter>{one})[)\]]|(?<!\w)[*_]{{1,3}}\(?(?P<bold>{one})[).:]?[*_]{{1,3}}(?!\w)"
            rf"|\\(?:boxed|fbox)\{{\s*(?:\\text\{{)?\(?(?P<boxed>{one})\)?\}}",
            re.IGNORECASE,
        ),
        re.compile(rf"(?<!\w)(?<!\w['’-])(?P<letter>{one}){end}"),
    )


def choices_in(text: str, letters: str, options: Sequence[str]) -> list[int]:
    """The places of the options that an answer names, in order: none, one, or several.

    `letters` has one letter an option, or is empty where none were shown; `options` their texts as they are compared,
    or is empty where only letters are known. `text` is the answer; its case is looked at for letters alone.
    """
    place = _holds_option(options, text)
    if place is not None:
        return [place]
    if letters:
        upper = letters.upper()
        for rule in (_stated, _opening, _marked, _alone):
            found = {upper.index(letter.upper()) for letter in rule(_patterns(upper), text)}
            if found:
                return sorted(found)
    return sorted(set(_texts_in(_folded(text), options))) if options else []


def _holds_option(options: Sequence[str], text: str) -> int | None:
    """The place of the option that has this text; None where none has it."""
    folded = _folded(text)
    return options.index(folded) if folded in options else None


def _stated(patterns: _Patterns, text: str) -> list[str]:
    """The letters of the last statement: `Answer: A or C` has two."""
    last: re.Match[str] | None = None
    for found in _counted(patterns.stated, text):
        last = found
    return [last["letter"], *_further(patterns, text, last.end())] if last else []


def _opening(patterns: _Patterns, text: str) -> Iterator[str]:
    """The letters that open lines, and, where no sentence ends after one, those that go on: `(A) and (C)`."""
    for found in _counted(patterns.opening, text):
        yield found["letter"]
        if found.group()[-1] not in ".:":
            yield from _further(patterns, text, found.end())


def _marked(patterns: _Patterns, text: str) -> Iterator[str]:
    return (found[found.lastgroup or 0] for found in _counted(patterns.marked, text))


def _alone(patterns: _Patterns, text: str) -> Iterator[str]:
    return (found["letter"] for found in _counted(patterns.alone, text))


def _further(patterns: _Patterns, text: str, end: int) -> Iterator[str]:
    """The letters that go on after one, on its line: the `C` and `D` of `A, C or D`."""
    while further := patterns.further.match(text, end):
        if _counts(text, further.start("letter"), further.end("letter")):
            yield further["letter"]
        end = further.end()


def _counted(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches whose letter names an option."""
    for found in pattern.finditer(text):
        name = found.lastgroup or 0
        if _counts(text, found.start(name), found.end(name)):
            yield found


def _counts(text: str, start: int, end: int) -> bool:
    """True if a letter names an option: it is not denied, and no word."""
    if text[start:end] in "AaIi" and _IS_LETTER_STILL.match(text, end):
        return False
    return not (_NEGATED.search(text[max(0, start - 24) : start]) or _CALLED_WRONG.match(text, end))


@lru_cache(maxsize=256)
def _any_of(options: tuple[str, ...]) -> re.Pattern[str]:
    """The options as a pattern, longest first: `not toxic` is never `toxic`. Literal, so nothing is tried twice."""
    longest_first = sorted(options, key=len, reverse=True)
    return re.compile("|".join(rf"(?<!\w){re.escape(one)}(?!\w)" for one in longest_first))


def _texts_in(folded: str, options: Sequence[str]) -> Iterator[int]:
    for found in _any_of(tuple(options)).finditer(folded):
        yield options.index(found.group())
