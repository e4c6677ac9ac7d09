r"""The kind `number`: the number in the compared part is the expected one, within a tolerance.

Numbers are read exactly: as fractions, never as floats. Read are digits of any script with a sign, thousands
separators, a decimal mark, an exponent (`1.5e3`, `1.5 × 10^3`), and fractions (`3/4`, `1 3/4`, `1½`, `\frac{3}{4}`).
Left aside are currency signs, per cent signs and units: `50 %` is 50. Not read are digits that are no number of their
own: those that end a word or a name (`x2`, `GPT-4`), versions and addresses (`1.2.3`), powers (`2^10`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
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
)
from benchbook.specs.fields import LIMIT_DIGITS, of_these, read_tolerance, text_of
from benchbook.text import quoted

_NOTHING = Fraction(0)

_DecimalMark = Literal[".", ","]

_Which = Literal["first", "last", "only"]


def _read_which(value: Any) -> _Which:
    words: tuple[_Which, ...] = ("first", "last", "only")
    return of_these(value, words)


def _read_mark(value: Any) -> _DecimalMark:
    marks: tuple[_DecimalMark, ...] = (".", ",")
    return of_these(value, marks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Kind):
    """The last number (or `which`) differs from the expected one, or from one of several, by the tolerance at most.

    `tolerance` is absolute, `relative_tolerance` a share of the expected number; where both are given, the larger one
    counts. `decimal_mark` is that of answers, and of expected texts.
    """

    SETTINGS: ClassVar[Mapping[str, Reader]] = {
        "expected": read_expected,
        "which": _read_which,
        "tolerance": read_tolerance,
        "relative_tolerance": read_tolerance,
        "decimal_mark": _read_mark,
    }

    expected: Expected = EXPECTED_ANSWER
    which: _Which = "last"
    tolerance: Fraction = _NOTHING
    relative_tolerance: Fraction = _NOTHING
    decimal_mark: _DecimalMark = "."

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


def _chosen(numbers: Iterator[_ReadNumber], which: _Which) -> _ReadNumber | list[_ReadNumber] | None:
    """The number that counts; None where there is none; a list where there should be one value and there are more."""
    first = last = next(numbers, None)
    if first is None or which == "first":
        return first
    for last in numbers:
        if which == "only" and (last.value is None or last.value != first.value):
            return [first, last]
    return last


# ── numbers in a text ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _ReadNumber:
    """A number as it stands in a text; `value` is None where it has over 1,000 digits or a larger exponent."""

    text: str
    value: Fraction | None


def numbers_in(text: str, decimal_mark: _DecimalMark = ".") -> Iterator[_ReadNumber]:
    """The numbers of a text, in its order; in linear time."""
    plain = text if text.isascii() else text.translate(_PLAIN)
    for found in _pattern(decimal_mark).finditer(plain):
        if found["version"] or found["power"] or _goes_on_a_word(plain, found):
            continue
        if found["below"] is None:
            yield _ReadNumber(found.group(), _value(found))
        else:
            yield from _over(found, is_chain=plain[: found.start()][-2:].strip().endswith("/"))


class _Plain(dict[int, str | None]):
    """Digits of every script as ASCII's, minus signs as `-`; invisible characters (zero-width, direction) go."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        digit = unicodedata.decimal(character, None)
        if digit is not None:
            self[code] = str(digit)
        elif unicodedata.category(character) == "Cf":
            self[code] = None
        else:
            self[code] = {"−": "-", "﹣": "-", "－": "-", "⁄": "/"}.get(character, character)
        return self[code]


_PLAIN = _Plain()

_CURRENCY = "$¢£¤¥֏؋߾߿৲৳৻૱௹฿៛\u20a0-\u20cf꠸﷼﹩＄￠￡￥￦"

_VULGAR = "¼½¾\u2150-\u215e↉"

_RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"

_FROM_RAISED = str.maketrans(_RAISED, "-0123456789")


@lru_cache(maxsize=2)
def _pattern(decimal_mark: _DecimalMark) -> re.Pattern[str]:
    """The pattern of a number, possessive where it repeats: digits that were taken are not looked at again.

    A hyphen is a sign where nothing ends before it: `10-20` and `GPT-4` have none.
    """
    mark = re.escape(decimal_mark)
    between = "['’\u00a0\u2009\u202f" + ("," if decimal_mark == "." else ".") + "]"
    no_date = r"(?!\s?/\s?[0-9]|[.,][0-9])"
    return re.compile(
        rf"""
        (?:(?<![\w)\]}}%-])(?P<sign>[+-]))?  (?P<currency>[{_CURRENCY}]\s?(?P<late_sign>[+-])?)?
        (?:
          (?:
              (?P<grouped>(?<![0-9]{between})[1-9][0-9]{{0,2}}(?:{between}[0-9]{{3}})++(?![0-9]|{between}[0-9]))
              (?:{mark}(?P<decimals>[0-9]++))?+
            | (?P<version>[0-9]++(?:\.[0-9]++){{2,}})
            | (?P<digits>[0-9]++)(?:{mark}(?P<more>[0-9]++)(?!{mark}[0-9]))?
            | (?<![\w.,)]){mark}(?P<less>[0-9]++)
          )
          (?: [eE](?P<exponent>[+-]?[0-9]++)(?!\w)
            | \s?(?:×|x|\*|·|\\times|\\cdot)\s?10(?:\^\{{?(?P<tens>[+-]?[0-9]++)\}}?|(?P<raised>[{_RAISED}]++))
            | (?P<power>\s?(?:\^|\*\*)\s?[({{]?[+-]?[0-9]++[)}}]?|[{_RAISED}]++)
            | \s?/\s?(?P<below>[0-9]++){no_date}
            | \s(?P<top>[0-9]++)/(?P<bottom>0*+[1-9][0-9]*+){no_date}
            | \s?(?P<vulgar>[{_VULGAR}])
            | \s?\\[dt]?frac\{{(?P<frac_top>[0-9]++)\}}\{{(?P<frac_bottom>0*+[1-9][0-9]*+)\}}
          )?
        | (?P<alone>[{_VULGAR}])
        | \\[dt]?frac\{{(?P<inner_sign>-)?(?P<alone_top>[0-9]++)\}}\{{(?P<alone_bottom>0*+[1-9][0-9]*+)\}}
        )
        """,
        re.VERBOSE,
    )


def _goes_on_a_word(text: str, found: re.Match[str]) -> bool:
    """True if digits follow a letter of a script that has case, or a letter and a hyphen: `H2O`, `GPT-4`."""
    start = found.start()
    if not start or found["currency"]:
        return False
    before = text[start - 1]
    if before in "-‐‑" and start > 1:
        before = text[start - 2]
    return before == "_" or before.lower() != before.upper()


def _over(found: re.Match[str], *, is_chain: bool) -> Iterator[_ReadNumber]:
    """The numbers of a match such as `3/4`: a fraction; in a date, and over zero, two numbers."""
    above, below = _value(found), _scaled(found["below"], "", 0)
    if not is_chain and below != 0:
        yield _ReadNumber(found.group(), None if above is None or below is None else above / below)
        return
    yield _ReadNumber(found.group().partition("/")[0].rstrip(), above)
    yield _ReadNumber(found["below"], below)


def _value(found: re.Match[str]) -> Fraction | None:
    """The value of a match, without a denominator below it."""
    signs = (found["sign"], found["late_sign"], found["inner_sign"])
    sign = -1 if "-" in signs else 1
    if found["alone"]:
        return sign * _vulgar(found["alone"])
    if found["alone_top"]:
        return _times(sign, _quotient(found["alone_top"], found["alone_bottom"]))
    raised = found["raised"].translate(_FROM_RAISED) if found["raised"] else None
    exponent = _exponent(found["exponent"] or found["tens"] or raised or "0")
    whole = re.sub("[^0-9]", "", found["grouped"] or "") or found["digits"] or ""
    value = _scaled(whole, found["decimals"] or found["more"] or found["less"] or "", exponent)
    if found["vulgar"]:
        rest: Fraction | None = _vulgar(found["vulgar"])
    elif found["top"]:
        rest = _quotient(found["top"], found["bottom"])
    elif found["frac_top"]:
        rest = _quotient(found["frac_top"], found["frac_bottom"])
    else:
        return _times(sign, value)
    return None if value is None or rest is None else sign * (value + rest)


def _times(sign: int, value: Fraction | None) -> Fraction | None:
    return -value if sign < 0 and value is not None else value


def _vulgar(character: str) -> Fraction:
    """The value of `½` and its like; Unicode has it as a double, with a denominator of at most 10."""
    return Fraction(unicodedata.numeric(character)).limit_denominator(10)


def _quotient(top: str, bottom: str) -> Fraction | None:
    above, below = _scaled(top, "", 0), _scaled(bottom, "", 0)
    return None if above is None or below is None else above / below


def _exponent(digits: str) -> int | None:
    """An exponent; None for one of uselessly many digits, and for `-` or `2⁻` alone."""
    return int(digits) if re.fullmatch("[+-]?[0-9]{1,9}", digits) else None


def _scaled(whole: str, decimals: str, exponent: int | None) -> Fraction | None:
    """`whole.decimals × 10^exponent`; None where that is beyond `LIMIT_DIGITS`."""
    digits = (whole + decimals).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return Fraction(0)
    if exponent is None:
        return None
    scale = exponent - len(decimals) + len(digits) - len(significant)
    if len(significant) > LIMIT_DIGITS or abs(scale) > LIMIT_DIGITS:
        return None
    return Fraction(int(significant) * 10**scale) if scale >= 0 else Fraction(int(significant), 10**-scale)
