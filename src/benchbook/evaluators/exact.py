"""Exact aggregation (SPEC C2 to C4): integers in nano-units, rounded half-even once.

A real value is held as an integer number of billionths: 0.8375 is 837_500_000. Sums of integers do not depend on
the order of their terms, so neither does anything computed from them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt

import msgspec

NANO = 1_000_000_000


def divide(numerator: int, denominator: int) -> int:
    """`numerator / denominator`, rounded half to even. `denominator` is positive."""
    quotient, rest = divmod(numerator, denominator)
    twice = 2 * rest
    if twice > denominator or (twice == denominator and quotient & 1):
        return quotient + 1
    return quotient


def in_nano(value: float | Fraction) -> int:
    """A number in nano-units, rounded half to even once from its exact value (C2); true counts 1."""
    if isinstance(value, int):
        return value * NANO
    numerator, denominator = value.as_integer_ratio()
    return divide(numerator * NANO, denominator)


def ratio(numerator: int, denominator: int) -> int | None:
    """The ratio in nano-units; None when `denominator` is 0."""
    return divide(numerator * NANO, denominator) if denominator else None


def mean(total_nano: int, n: int) -> int | None:
    """The mean in nano-units of `n` values whose nano-units add up to `total_nano`; None when n is 0."""
    return divide(total_nano, n) if n else None


def percentile(counts: Mapping[int, int], hundredths: int) -> int | None:
    """Type-7 percentile (Hyndman and Fan 1996; SPEC C3) in nano-units of the values; None when there are none.

    `counts` maps a value to how often it stands in the sample; `hundredths` is 50 for the median, 95 for p95.
    """
    n = sum(counts.values())
    if not n:
        return None
    rank, rest = divmod((n - 1) * hundredths, 100)
    low = order_statistic(counts, rank + 1)
    if not rest:
        return low * NANO
    return low * NANO + divide((order_statistic(counts, rank + 2) - low) * rest * NANO, 100)


def order_statistic(counts: Mapping[int, int], rank: int) -> int:
    """The value at `rank`, counted from 1, of the sample in ascending order.

    Raises: ValueError for a rank outside of it.
    """
    below = 0
    for value in sorted(counts):
        below += counts[value]
        if 0 < rank <= below:
            return value
    raise ValueError(f"rank {rank} is outside 1 to {below}")


def sample_sd(values_nano: Sequence[int]) -> int | None:
    """Sample standard deviation (ddof = 1; SPEC C4) in nano-units; None for fewer than two values."""
    return sd_of_sums(len(values_nano), sum(values_nano), sum(value * value for value in values_nano))


def sd_of_sums(n: int, total_nano: int, squares_nano: int) -> int | None:
    """The same of `n` values by their sum and the sum of their squares."""
    if n < 2:
        return None
    return _sqrt_half_even(n * squares_nano - total_nano * total_nano, n * (n - 1))


def _sqrt_half_even(numerator: int, denominator: int) -> int:
    """The integer nearest to sqrt(numerator / denominator)."""
    root = isqrt(numerator // denominator)
    # root + 1/2 squared is root^2 + root + 1/4: compare exactly, in quarters. A tie would need an irrational to be
    # rational, but for a perfect square of a half, which rounds to even.
    quarters, edge = 4 * numerator, (4 * root * root + 4 * root + 1) * denominator
    if quarters > edge or (quarters == edge and root & 1):
        return root + 1
    return root


def as_float(nano: int | None) -> float | None:
    """The double nearest to the nano-units, which prints as the decimal: 653_585_214 is 0.653585214."""
    return None if nano is None else nano / NANO


# An optional sign, digits with an optional fraction, an optional exponent; ASCII, and no separators. Exponents of more
# than 18 digits are no numbers that anyone wrote; leaving them out keeps the arithmetic on exponents small.
DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,18})?"
_PARTS = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,18}))?")


def same_number(one: str, other: str) -> bool:
    """True if both are decimals of the same value: `42` and `4.20e1` are, `1,000` is none."""
    first = _value(one)
    return first is not None and first == _value(other)


def _value(text: str) -> tuple[bool, str, int] | None:
    """`(negative, digits, exponent)`, the digits without zeros at either end; one form for each number.

    Text and not a float or Decimal: exact at any length, and in linear time.
    """
    match = _PARTS.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, exponent = match.groups()
    fraction = fraction or ""
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return (False, "", 0)
    return sign == "-", significant, int(exponent or 0) - len(fraction) + len(digits) - len(significant)


class RepeatSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Mean and standard deviation over the repeats of one aggregate (R7.3); null for fewer than two."""

    aggregate: str
    per_repeat: list[float | None]
    mean: float | None
    sd: float | None


def summary_of(aggregate: str, values: Sequence[int | None]) -> RepeatSummary:
    """Mean and standard deviation (C4) of an aggregate over repeats; values in nano-units."""
    known = [value for value in values if value is not None]
    return RepeatSummary(
        aggregate=aggregate,
        per_repeat=[as_float(value) for value in values],
        mean=as_float(divide(sum(known), len(known))) if known else None,
        sd=as_float(sample_sd(known)),
    )
