"""Kinds that compare texts: `equals`, `contains`, `contains_all`, `max_words`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from benchbook.evaluators.checks.expected import EXPECTED_ANSWER, Expected
from benchbook.evaluators.checks.kinds.kind import TEXT_SETTINGS, Kind, Reader
from benchbook.evaluators.checks.result import CheckResult, hit, miss
from benchbook.evaluators.checks.text_rules import TextRules, holds_words
from benchbook.specs.fields import read_count, read_truth
from benchbook.text import quoted

__all__ = ["Contains", "ContainsAll", "Equals", "MaxWords"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfTexts(TextRules, Kind):
    """What the kinds share that hold an answer against expected texts."""

    SETTINGS: ClassVar[Mapping[str, Reader]] = TEXT_SETTINGS

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
    SETTINGS: ClassVar[Mapping[str, Reader]] = {**TEXT_SETTINGS, "whole_words": read_truth}

    whole_words: bool = False

    def holds(self, answer: str, wanted: str) -> bool:
        return holds_words(answer, wanted) if self.whole_words else wanted in answer


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
