"""The kind `token_f1`: how many words an answer shares with the expected text, as SQuAD counts it (Rajpurkar 2016)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from benchbook.evaluators.checks.expected import EXPECTED_ANSWER, Expected, read_expected
from benchbook.evaluators.checks.kinds.kind import Kind, Reader
from benchbook.evaluators.checks.result import CheckResult, hit, shown
from benchbook.specs.fields import read_share
from benchbook.text import quoted

__all__ = ["TokenF1", "token_f1", "tokens"]

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def tokens(text: str) -> list[str]:
    """Lower case, ASCII punctuation taken out, articles taken out, split at white space: in this order."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def token_f1(one: str, other: str) -> Fraction:
    """The harmonic mean of precision and recall over tokens, each counted as often as it stands in both; exact.

    Two texts that both have no tokens are alike; one that has none shares nothing with one that has some.
    """
    first, second = Counter(tokens(one)), Counter(tokens(other))
    n_tokens = first.total() + second.total()
    return Fraction(2 * (first & second).total(), n_tokens) if n_tokens else Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenF1(Kind):
    """The score is the token F1 with the expected text, of several the best. It passes from `at_least` on."""

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
