"""Whether two texts are the same decimal number, exactly (SPEC A7)."""

from __future__ import annotations

import re

__all__ = ["DECIMAL", "same_number"]

# An optional sign, digits with an optional fraction, an optional exponent; ASCII, and no separators. Exponents of more
# than 18 digits are no numbers that anyone wrote; leaving them out keeps the arithmetic on exponents small.
DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,18})?"
_PARTS = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,18}))?")


def same_number(one: str, other: str) -> bool:
    """Whether both are decimals of the same value: `42` and `4.20e1` are, `1,000` is none."""
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
