"""The kind `number`: the number in the compared part is the expected one, within a tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from benchbook.evaluators.checks.expected import EXPECTED_ANSWER, Expected, read_expected
from benchbook.evaluators.checks.kinds.kind import Kind, Reader
from benchbook.evaluators.checks.kinds.number_reading import DecimalMark, ReadNumber, numbers_in
from benchbook.evaluators.checks.result import CheckResult, hit, miss
from benchbook.specs.fields import of_these, read_tolerance, text_of
from benchbook.text import quoted

__all__ = ["Number"]

NOTHING = Fraction(0)
Which = Literal["first", "last", "only"]


def read_which(value: Any) -> Which:
    words: tuple[Which, ...] = ("first", "last", "only")
    return of_these(value, words)


def read_mark(value: Any) -> DecimalMark:
    marks: tuple[DecimalMark, ...] = (".", ",")
    return of_these(value, marks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Kind):
    """The last number (or `which`) differs from the expected one, or from one of several, by the tolerance at most.

    `tolerance` is absolute, `relative_tolerance` a share of the expected number; where both are given, the larger one
    counts. `decimal_mark` is that of answers, and of expected texts.
    """

    SETTINGS: ClassVar[Mapping[str, Reader]] = {
        "expected": read_expected,
        "which": read_which,
        "tolerance": read_tolerance,
        "relative_tolerance": read_tolerance,
        "decimal_mark": read_mark,
    }

    expected: Expected = EXPECTED_ANSWER
    which: Which = "last"
    tolerance: Fraction = NOTHING
    relative_tolerance: Fraction = NOTHING
    decimal_mark: DecimalMark = "."

    def check_item(self, item: Mapping[str, Any]) -> None:
        self._wanted(item)

    def _wanted(self, item: Mapping[str, Any]) -> tuple[Fraction, ...]:
        return tuple(map(self._number_of, self.expected.values(item)))

    def _number_of(self, value: Any) -> Fraction:
        """The one number of an expected text; a number of TOML or JSON has `.` for its mark. Raises: ItemError."""
        text = text_of(value) or ""
        numbers = [read.value for read in numbers_in(text, self.decimal_mark if isinstance(value, str) else ".")]
        if len(numbers) != 1 or numbers[0] is None:
            raise self.expected.fault(quoted(text), "text with one number in it, of at most 1000 digits")
        return numbers[0]

    def judge(self, answer: str, item: Mapping[str, Any], /) -> CheckResult:
        wanted = self._wanted(item)
        read = _chosen(numbers_in(answer, self.decimal_mark), self.which)
        if read is None:
            return miss("no_number", answer)
        if isinstance(read, list):
            return miss("several_numbers", ", ".join(one.text for one in read))
        is_right = any(self._is_near(read.value, one) for one in wanted)
        return hit(read.text) if is_right else miss("other_number", read.text)

    def _is_near(self, value: Fraction | None, wanted: Fraction) -> bool:
        if value == wanted:
            return True
        allowed = max(self.tolerance, self.relative_tolerance * abs(wanted))
        return value is not None and abs(value - wanted) <= allowed


def _chosen(numbers: Iterator[ReadNumber], which: Which) -> ReadNumber | list[ReadNumber] | None:
    """The number that counts; None where there is none; a list where there should be one value, and are more."""
    first = last = next(numbers, None)
    if first is None or which == "first":
        return first
    for last in numbers:
        if which == "only" and (last.value is None or last.value != first.value):
            return [first, last]
    return last
