"""Kinds that look at text: `equals`, `contains`, `contains_all`, `max_words`, `token_f1`, `regex`.

`token_f1` counts shared words as SQuAD does (Rajpurkar 2016). Patterns of `regex` are those of Rust's crate `regex`,
through Polars, which Benchbook has anyway: no backtracking, so that no text can make a pattern slow, and what would
need it (look-around, backreferences) is refused when a spec is read.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal

from benchbook.evaluators.checks.kind import (
    EXPECTED_ANSWER,
    CheckResult,
    Expected,
    Kind,
    Reader,
    hit,
    miss,
    read_expected,
    shown,
)
from benchbook.specs.fields import WrongValueError, of_these, read_count, read_share, read_text, read_truth
from benchbook.text import quoted, storable

# ── how two texts are made alike before they are compared ────────────────────────────────────────────────────


_UnicodeForm = Literal["none", "NFC", "NFKC"]


def _read_unicode(value: Any) -> _UnicodeForm:
    forms: tuple[_UnicodeForm, ...] = ("none", "NFC", "NFKC")
    return of_these(value, forms)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TextRules:
    """By default SPEC A7's rule: `str.strip().casefold()` on both sides, and nothing else."""

    ignore_case: bool = True
    strip: bool = True
    ignore_punctuation: bool = False
    unicode: _UnicodeForm = "none"

    def normal(self, text: str) -> str:
        """`text` as it is compared: Unicode form, case, punctuation, white space at the ends, in this order."""
        if self.unicode != "none":
            text = unicodedata.normalize(self.unicode, text)
        if self.ignore_case:
            text = text.casefold()
        if self.ignore_punctuation:
            text = _without_punctuation(text)
        return text.strip() if self.strip else text


def _without_punctuation(text: str) -> str:
    """A text without the characters of Unicode's categories P, and with single spaces for runs of white space."""
    kept = "".join(one for one in text if not _is_punctuation(one))
    words = " ".join(kept.split())
    before, after = kept[:1].isspace(), kept[-1:].isspace()
    return f"{' ' if before else ''}{words}{' ' if after and words else ''}"


@lru_cache(maxsize=4096)
def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


# ── kinds that hold an answer against expected texts ─────────────────────────────────────────────────────────


_TEXT_SETTINGS: Mapping[str, Reader] = {
    "expected": read_expected,
    "ignore_case": read_truth,
    "strip": read_truth,
    "ignore_punctuation": read_truth,
    "unicode": _read_unicode,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfTexts(_TextRules, Kind):
    """The base of kinds that hold an answer against expected texts."""

    SETTINGS: ClassVar[Mapping[str, Reader]] = _TEXT_SETTINGS

    expected: Expected = EXPECTED_ANSWER

    def check_item(self, item: Mapping[str, Any]) -> None:
        self.wanted(item)

    def wanted(self, item: Mapping[str, Any]) -> tuple[str, ...]:
        """The expected texts as they are compared. Raises: ItemError; a blank one stands in every answer."""
        texts = self.expected.texts(item)
        wanted = tuple(self.normal(text) for text in texts)
        for text, as_compared in zip(texts, wanted, strict=True):
            if not as_compared.strip():
                raise self.expected.fault(quoted(text), "text of which something is left to compare")
        return wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Equals(_OfTexts):
    """The compared part is the expected text, or one of several."""

    def judge(self, answer: str, item: Mapping[str, Any], /) -> CheckResult:
        return hit(answer) if self.normal(answer) in self.wanted(item) else miss("not_equal", answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfPieces(_OfTexts):
    SETTINGS: ClassVar[Mapping[str, Reader]] = {**_TEXT_SETTINGS, "whole_words": read_truth}

    whole_words: bool = False

    def holds(self, answer: str, wanted: str) -> bool:
        return _holds_words(answer, wanted) if self.whole_words else wanted in answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Contains(_OfPieces):
    """The expected text, or one of several, stands in the compared part."""

    def judge(self, answer: str, item: Mapping[str, Any], /) -> CheckResult:
        text = self.normal(answer)
        found = next((one for one in self.wanted(item) if self.holds(text, one)), None)
        return miss("not_inside", answer) if found is None else hit(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainsAll(_OfPieces):
    """Each of the expected texts stands in the compared part."""

    def judge(self, answer: str, item: Mapping[str, Any], /) -> CheckResult:
        text = self.normal(answer)
        lacking = [one for one in self.wanted(item) if not self.holds(text, one)]
        return miss("not_inside", f"lacks {', '.join(map(quoted, lacking))}") if lacking else hit(answer)


def _holds_words(text: str, wanted: str) -> bool:
    """True if `wanted` stands in `text` with no letter, digit or mark of another word right beside it."""
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if start and _is_word(wanted[0]) and _is_word(text[start - 1]):
            start = text.find(wanted, _word_end(text, start))  # nowhere else in this word could it begin
            continue
        if end == len(text) or not (_is_word(wanted[-1]) and _is_word(text[end])):
            return True
        start = text.find(wanted, start + 1)
    return False


def _word_end(text: str, start: int) -> int:
    while start < len(text) and _is_word(text[start]):
        start += 1
    return start


def _is_word(character: str) -> bool:
    """True if a character is part of a word: a letter, digit, mark (an accent) or `_`."""
    return character == "_" or unicodedata.category(character)[:1] in ("L", "N", "M")


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxWords(Kind):
    """The compared part has at most `limit` words; words are `str.split()` pieces."""

    SETTINGS: ClassVar[Mapping[str, Reader]] = {"limit": read_count}
    NEEDED: ClassVar[tuple[str, ...]] = ("limit",)

    limit: int

    def judge(self, answer: str, _item: Mapping[str, Any], /) -> CheckResult:
        n_words = len(answer.split())
        found = f"{n_words} word{'' if n_words == 1 else 's'}"
        return hit(found) if n_words <= self.limit else miss("too_long", found)


# ── words shared ─────────────────────────────────────────────────────────────────────────────────────────────


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def _tokens(text: str) -> list[str]:
    """The tokens of a text: lower case, ASCII punctuation out, articles out, split at white space, in this order."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def token_f1(one: str, other: str) -> Fraction:
    """The harmonic mean of precision and recall over _tokens, each counted as often as it stands in both; exact.

    Two texts without _tokens are alike; one without shares nothing with one that has some.
    """
    first, second = Counter(_tokens(one)), Counter(_tokens(other))
    n_tokens = first.total() + second.total()
    return Fraction(2 * (first & second).total(), n_tokens) if n_tokens else Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenF1(Kind):
    """The score is the token F1 with the expected text, the best of several. It passes from `at_least` on."""

    SETTINGS: ClassVar[Mapping[str, Reader]] = {"expected": read_expected, "at_least": read_share}
    IS_GRADED: ClassVar[bool] = True

    expected: Expected = EXPECTED_ANSWER
    at_least: Fraction | None = None

    @property
    def passes_at(self) -> Fraction | None:
        return self.at_least

    def check_item(self, item: Mapping[str, Any]) -> None:
        self._wanted(item)

    def _wanted(self, item: Mapping[str, Any]) -> tuple[str, ...]:
        texts = self.expected.texts(item)
        for text in texts:
            if not text.strip():
                raise self.expected.fault(quoted(text), "text that is not blank")
        return texts

    def judge(self, answer: str, item: Mapping[str, Any], /) -> CheckResult:
        score = max(token_f1(answer, wanted) for wanted in self._wanted(item))
        if score == 1:
            return hit(answer)
        return CheckResult(score, "some_words_shared" if score else "no_words_shared", shown(answer))


# ── patterns ─────────────────────────────────────────────────────────────────────────────────────────────────


_LONGEST_PATTERN = 2000

_NEEDS_LINEAR = re.compile(r"look-around|backreferences")


def first_match(pattern: str, text: str) -> str | None:
    """The first match of the pattern; None where it matches nowhere. A lone surrogate is matched as its escape.

    Raises: ValueError for what is no pattern, with the reason.
    """
    import polars as pl  # starting is a feature

    try:
        found: str | None = pl.Series([storable(text)]).str.extract(storable(pattern), 0)[0]
    except pl.exceptions.ComputeError as error:
        raise ValueError(_why(str(error))) from None
    return found


def _why(message: str) -> str:
    """The reason in Polars' message, which shows the pattern too, and where in it the fault is."""
    said = message.split("\n\n")[0].removeprefix("regex error: ")
    reason = said.rpartition("\nerror: ")[2]
    if _NEEDS_LINEAR.search(reason):
        return f"{reason}: no text may make a pattern slow"
    return " ".join(reason.split())


def _read_pattern(value: Any) -> str:
    pattern = read_text(value)
    if len(pattern) > _LONGEST_PATTERN:
        raise WrongValueError(f"{len(pattern)} characters", f"a pattern of at most {_LONGEST_PATTERN}")
    try:
        first_match(pattern, "")
    except ValueError as error:
        raise WrongValueError(f"{quoted(pattern)} ({error})", "a regular expression of Rust's crate regex") from None
    return pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Regex(Kind):
    """The pattern matches somewhere in the compared part. Case counts, unless the pattern says `(?i)`."""

    SETTINGS: ClassVar[Mapping[str, Reader]] = {"pattern": _read_pattern}
    NEEDED: ClassVar[tuple[str, ...]] = ("pattern",)

    pattern: str

    def judge(self, answer: str, _item: Mapping[str, Any], /) -> CheckResult:
        found = first_match(self.pattern, answer)
        return miss("no_match", answer) if found is None else hit(found)
