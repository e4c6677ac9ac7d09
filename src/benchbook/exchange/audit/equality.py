"""Equal numbers, as far as a log wrote them out."""

from __future__ import annotations

from decimal import Decimal, DecimalTuple
from math import isclose

_RELATIVE = 1e-9  # the order of a sum, and how its tool rounds on the way
_ABSOLUTE = 1e-12
_ALIKE = 1e-7  # the root of what doubles resolve, with some room
_ALL_DIGITS = 12  # decimals: so many are no rounding


def same(claimed: float, value: float, decimals: int | None = None) -> bool:
    """True if both are the same number, or the same in the `decimals` that the log writes."""
    if isclose(claimed, value, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE):
        return True
    if decimals is None:
        return False
    return abs(claimed - value) <= 0.5 * 10.0**-decimals + _RELATIVE * max(1.0, abs(value))


def no_spread(claimed: float, value: float, largest: float) -> bool:
    """True if both are a spread of values that are alike: squares of numbers of this size leave no less."""
    return max(abs(claimed), abs(value)) <= _ALIKE * largest


def decimals_of(value: float) -> int:
    """How many decimals it is written with: 2 of 0.35, 0 of 12."""
    exponent = _written(value).exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def is_rounding(claimed: float, value: float) -> bool:
    """True if `claimed` is the value, rounded to the decimals that it has. One digit alone may be anything's."""
    decimals = decimals_of(claimed)
    if decimals >= _ALL_DIGITS or len(_written(claimed).digits) < 2:
        return False
    return abs(claimed - value) <= 0.5 * 10.0**-decimals * (1 + _RELATIVE)


def _written(value: float) -> DecimalTuple:
    return Decimal(repr(float(value))).normalize().as_tuple()


def shown(value: float | None) -> str:
    """A number with as many digits as tell something: `0.3544303797`, `12`, `1.5e-08`."""
    return "nothing" if value is None else f"{value:.10g}"
