"""The answers of the shipped eval sets, computed again: an expression an item, written apart from the sets' files.

Numbers are plain decimals without trailing zeros, but where a prompt asks for two decimals.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

__all__ = ["COMPUTED", "as_answer"]


def two_decimals(value: Decimal) -> str:
    return str(value.quantize(Decimal("0.01"), ROUND_HALF_UP))


def only(values: Iterable[int]) -> int:
    """The one value that there is."""
    (value,) = values
    return value


def root(f: Callable[[Any], Any], *, above: Fraction | int = -1000) -> int:
    """The one whole number in (above, 1000] at which `f` is 0."""
    return only(x for x in range(-1000, 1001) if x > above and f(x) == 0)


def repeated(step: Callable[[int], int], first: int, times: int) -> int:
    for _ in range(times):
        first = step(first)
    return first


def next_by_differences(*terms: int) -> int:
    """The next value of the polynomial of the lowest degree through `terms`."""
    if len(set(terms)) == 1:
        return terms[-1]
    return terms[-1] + next_by_differences(*(b - a for a, b in pairwise(terms)))


def roman(n: int) -> str:
    numeral = ""
    for value, letters in zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    ):
        numeral += letters * (n // value)
        n %= value
    return numeral


def as_answer(value: Any) -> str:
    """A computed value in the form that a prompt asks for; a text is in it already."""
    return format(value.normalize(), "f") if isinstance(value, Decimal) else str(value)


COMPUTED: dict[str, Any] = {
    "g1-01": 39 + 46,
    "g1-02": 17 * 6,
    "g1-03": 864 // 24,
    "g1-04": 3 * 15,
    "g1-05": 16 * Fraction(15, 2),
    "g1-06": Decimal("2.75") * 1000,
    "g1-07": 4 * 36,
    "g1-11": 6 * 8 - 19,
    "g1-12": Fraction(4 * 45, 60),
    "g1-13": root(lambda x: x + 19 - 52),
    "g1-14": root(lambda x: 6 * x - 5 - (2 * x + 31)),
    "g1-15": 2 * 40,
    "g1-16": next_by_differences(50, 47, 41, 32),
    "g1-17": Fraction(12, 20),
    "g1-18": Decimal("0.08472").quantize(Decimal("0.001"), ROUND_HALF_UP),
    "g1-19": sum("sequoia".count(letter) for letter in "aeiou"),
    "g1-20": sum(map(int, str(2**15))),
    "v1-001": 58 + 67,
    "v1-002": 402 - 175,
    "v1-003": 16 * 14,
    "v1-004": 945 // 15,
    "v1-005": Fraction(12, 100) * 375,
    "v1-006": math.lcm(12, 18),
    "v1-007": (9 + 16) * 4 - 38,
    "v1-008": sum(all(n % d for d in range(2, n)) for n in range(50, 101)),
    "v1-009": 13**2,
    "v1-010": 2 * (17 + 8),
    "v1-011": 18 * 11 // 2,
    "v1-012": math.isqrt(9**2 + 40**2),
    "v1-013": 2 * (3 * 4 + 4 * 7 + 3 * 7),
    "v1-014": Decimal("3.2") * 100,
    "v1-015": 540 // 60,
    "v1-016": Fraction(5, 9) * (68 - 32),
    "v1-017": Fraction(15 * 3600, 1000),
    "v1-018": Decimal("0.075") * 1000,
    "v1-025": 20 - 4 * 3,
    "v1-026": (38 - 14 + 8) // 2,
    "v1-027": 35 * 14 + (42 - 35) * 21,
    "v1-028": root(lambda x: 4 * x - 5 - 31),
    "v1-029": root(lambda x: 2 * (x + 7) - 38),
    "v1-030": root(lambda x: x + 3 * x - 92),
    "v1-031": next_by_differences(7, 11, 15, 19),
    "v1-032": 3 // 3,
    "v1-033": next_by_differences(1, 3, 6, 10, 15),
    "v1-034": Decimal("7.846").quantize(Decimal("0.1"), ROUND_HALF_UP),
    "v1-035": Fraction(450, 6) * 10,
    "v1-036": 24 * 18 // 4,
    "v1-037": 1500 * Fraction(4, 100) * Fraction(30, 12),
    "v1-038": 1 / (Fraction(1, 3) + Fraction(1, 6)),
    "v1-039": root(lambda x: 5 * (2 * x - 3) - (6 * x + 13)),
    "v1-040": root(lambda x: x**2 - x - 72, above=0),
    "v1-041": repeated(lambda a: 2 * a, 3, 7),
    "v1-042": sum(range(15, 46)),
    "v1-043": Fraction(22, 7) * 7**2 * 10,
    "v1-044": 2**50 % 7,
    "v1-045": Decimal(3) / 4,
    "v1-046": f"{date(2024, 7, 9):%d/%m/%Y}",
    "v1-047": len("bananas"),
    "v1-048": -8 * -7,
    "v1-049": Decimal("1.2") * Decimal("0.05"),
    "v1-050": "drawer"[::-1],
    "v2-001": 347 + 586,
    "v2-002": 805 - 268,
    "v2-003": 23 * 19,
    "v2-004": 1716 // 13,
    "v2-005": 200 % 17,
    "v2-006": 7**2026 % 10,
    "v2-007": 18 + 4 * (15 - 9) // 3,
    "v2-008": Decimal(37) * 650 / 100,
    "v2-009": math.gcd(252, 198),
    "v2-010": sum(720 % n == 0 for n in range(1, 721)),
    "v2-011": 14 * 9,
    "v2-012": 8 * 12,
    "v2-013": 180 - 47 - 68,
    "v2-014": 11**3,
    "v2-015": math.isqrt(20**2 + 21**2),
    "v2-016": (9 - 2) * 180 // 9,
    "v2-017": (8 + 14) * 7 // 2,
    "v2-018": 2 * Fraction(22, 7) * 21,
    "v2-019": math.isqrt(21 * (21 - 13) * (21 - 14) * (21 - 15)),
    "v2-020": Decimal("7.5") * 1000,
    "v2-021": 13 * 60,
    "v2-022": Decimal(4600) / 1000,
    "v2-023": 17 * 7,
    "v2-024": Fraction(72 * 1000, 3600),
    "v2-025": Fraction(5, 9) * (95 - 32),
    "v2-026": Decimal("2.5") * 100**2,
    "v2-027": 3 * 3600 + 25 * 60 + 40,
    "v2-028": 9 * Decimal("30.48") ** 2,
    "v2-039": 9 * 24 - 57,
    "v2-040": 18 * 6 + 35,
    "v2-041": 4 * 12 + 9 * 7,
    "v2-042": 500 - 15 * 12 + 90,
    "v2-043": two_decimals(Decimal(80) * Decimal("0.85") * Decimal("0.90")),
    "v2-044": root(lambda x: 5 * x + 8 - 63),
    "v2-045": root(lambda x: Fraction(x, 4) - 3 - 6),
    "v2-046": 3 * 12 - 7,
    "v2-047": root(lambda x: 7 * x - 9 - (4 * x + 21)),
    "v2-048": root(lambda x: x**2 + 5 * x - 84, above=0),
    "v2-049": 4**2 - 2,
    "v2-050": next_by_differences(4, 9, 14, 19),
    "v2-051": 2 * 24,
    "v2-052": next_by_differences(100, 93, 86, 79),
    "v2-053": 2 * 17 - 1,
    "v2-054": next_by_differences(1, 4, 9, 16, 25),
    "v2-055": 7 * 1000 + 12,
    "v2-056": date(2031, 3, 5),
    "v2-057": two_decimals(Decimal("48.3652")),
    "v2-058": Decimal(7) / 16,
    "v2-059": Decimal("0.1") + Decimal("0.02") + Decimal("0.003"),
    "v2-060": 58 * 1 - 58,
    "v2-061": 3 * 18 + 2 * 24,
    "v2-062": Fraction(12 * 60, 45),
    "v2-063": 96 - 11 * 6,
    "v2-064": two_decimals(Decimal("87.60") / 3 + Decimal("1.80")),
    "v2-065": 1 / (Fraction(1, 6) + Fraction(1, 4) - Fraction(1, 12)),
    "v2-066": (570 - 80 * Fraction(3, 2)) / (80 + 70),
    "v2-067": two_decimals(2000 * Decimal("1.05") ** 3 - 2000),
    "v2-068": Fraction(12 * 35, 20) - 12,
    "v2-069": 4 * root(lambda ben: 4 * ben + 10 - 2 * (ben + 10)),
    "v2-070": 110 * 15 + (150 - 110) * 6 - 150 * 8,
    "v2-071": root(lambda x: 3 * (x - 4) - (2 * x + 15)),
    "v2-072": root(lambda n: n + (n - 2) + (n - 4) + (n - 6) - 148),
    "v2-073": 4 + root(lambda y: (y + 4) + y + 2 * y - 24),
    "v2-074": root(lambda x: 2 * x**2 - 19 * x + 35, above=Fraction(19, 4)),
    "v2-075": (lambda f: f(f(2)))(lambda x: 2 * x**2 - 3 * x + 1),
    "v2-076": only(n for n in range(10, 100) if n // 10 + n % 10 == 11 and n % 10 * 10 + n // 10 == n + 27),
    "v2-077": range(7, 1000, 6)[24],
    "v2-078": sum(range(1, 40, 2)),
    "v2-079": repeated(lambda a: 3 * a + 2, 1, 5),
    "v2-080": sum(range(6, 201, 6)),
    "v2-081": Fraction(18, only(r for r in range(1, 100) if 18 * r**3 == 486) ** 2),
    "v2-082": Fraction(22, 7) * 9**2 * 14 / 3,
    "v2-083": (2 * 10) ** 2 // 2,
    "v2-084": sum(n % 2 != 0 and n % 3 != 0 for n in range(1, 301)),
    "v2-085": 3**100 % 7,
    "v2-086": f"{0.35:.0%}",
    "v2-087": ",".join(sorted(["pear", "fig", "apple", "mango"])),
    "v2-088": f"{datetime(2000, 1, 1, 18, tzinfo=UTC) - timedelta(minutes=25):%H:%M}",
    "v2-089": json.dumps([2 * n for n in (1, 2, 3)], separators=(",", ":")),
    "v2-090": roman(1984),
    "v2-091": two_decimals(Decimal("2.675")),
    "v2-092": (Decimal(1) / 7).quantize(Decimal("0.000001"), ROUND_HALF_UP),
    "v2-093": Decimal("3.06") * 10**4,
    "v2-094": len("rhythm"),
    "v2-095": -14 + -9,
    "v2-096": "possessions".count("s"),
    "v2-097": 64 - 19,
    "v2-098": "lamp5"[::-1],
    "v2-099": date(2100, 2, 28) + timedelta(days=1),
    "v2-100": 2 ** (3**2),
}
