"""Exact aggregation against Python's fractions and NumPy (SPEC C2 to C4)."""

from __future__ import annotations

import statistics
from collections import Counter
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchbook.evaluators.exact import NANO, as_float, divide, mean, order_statistic, percentile, ratio, sample_sd

big = st.integers(-(10**30), 10**30)
positive = st.integers(1, 10**30)
milliseconds = st.lists(st.integers(0, 10**7), min_size=1, max_size=60)
nanos = st.integers(0, 10**12)


def half_even(value: Fraction) -> int:
    """To the nearest integer, a tie to the even one, by Decimal's rounding of the exact remainder."""
    whole, rest = divmod(value.numerator, value.denominator)
    if 2 * rest == value.denominator:
        return whole + (whole % 2)
    return whole + (2 * rest > value.denominator)


# ── rounding ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("numerator", "denominator", "expected"),
    [(0, 1, 0), (1, 2, 0), (3, 2, 2), (5, 2, 2), (7, 2, 4), (-1, 2, 0), (-3, 2, -2), (-5, 2, -2), (1, 3, 0), (2, 3, 1),
     (-1, 3, 0), (-2, 3, -1), (10**30, 3, 333333333333333333333333333333), (10**40 + 5, 10, 10**39)],
)  # fmt: skip
def test_a_quotient_is_rounded_half_to_even(numerator: int, denominator: int, expected: int) -> None:
    assert divide(numerator, denominator) == expected


@given(big, positive)
@example(5, 10)
@example(-15, 10)
def test_any_quotient_is_that_of_fractions(numerator: int, denominator: int) -> None:
    assert divide(numerator, denominator) == half_even(Fraction(numerator, denominator))
    assert divide(numerator, denominator) == round(Fraction(numerator, denominator))


@given(st.integers(-(10**15), 10**15))
def test_rounding_to_nine_decimals_is_decimals(units: int) -> None:
    """A value with 12 decimals, as nano-units."""
    with localcontext(prec=60):
        rounded = Decimal(units).scaleb(-12).quantize(Decimal("1e-9"), rounding=ROUND_HALF_EVEN)
    assert divide(units, 1000) == int(rounded.scaleb(9))


# ── means and ratios ─────────────────────────────────────────────────────────────────────────────────────


def test_a_mean_of_nothing_is_null() -> None:
    assert mean(0, 0) is None
    assert ratio(0, 0) is None


@pytest.mark.parametrize(
    ("total", "n", "expected"), [(2_400_000_000, 3, 800_000_000), (1, 2, 0), (3, 2, 2), (2, 3, 1), (-1, 2, 0)]
)
def test_a_mean_is_in_nano_units(total: int, n: int, expected: int) -> None:
    assert mean(total, n) == expected


def test_a_mean_that_is_080_by_arithmetic_reaches_080() -> None:
    """Ten times 0.8: as floats they add up to 7.999999999999999."""
    assert sum([0.8] * 10) < 8
    assert mean(sum([800_000_000] * 10), 10) == 800_000_000


@pytest.mark.parametrize(("k", "n", "expected"), [(17, 20, 850_000_000), (1, 3, 333_333_333), (2, 3, 666_666_667)])
def test_a_ratio_is_in_nano_units(k: int, n: int, expected: int) -> None:
    assert ratio(k, n) == expected


@given(st.lists(nanos, min_size=1), st.randoms(use_true_random=False))
def test_a_mean_does_not_depend_on_order_or_partition(values: list[int], rng: object) -> None:
    cut = len(values) // 2
    assert mean(sum(values), len(values)) == mean(sum(values[cut:]) + sum(reversed(values[:cut])), len(values))
    assert mean(sum(values), len(values)) == round(Fraction(sum(values), len(values)))


# ── percentiles ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("values", "hundredths", "expected"),
    [
        pytest.param([], 50, None, id="nothing"),
        pytest.param([7], 50, 7.0, id="one"),
        pytest.param([7], 95, 7.0, id="one-p95"),
        pytest.param([1, 2], 50, 1.5, id="between-two"),
        pytest.param([1, 2], 95, 1.95, id="between-two-p95"),
        pytest.param([3, 1, 2], 50, 2.0, id="middle"),
        pytest.param([1, 2, 3, 4], 0, 1.0, id="lowest"),
        pytest.param([1, 2, 3, 4], 100, 4.0, id="highest"),
        pytest.param([5] * 9 + [100], 95, 57.25, id="ties"),
        pytest.param([0, 0, 0, 1], 50, 0.0, id="zeros"),
        pytest.param([-10, 10], 25, -5.0, id="negative"),
    ],
)
def test_percentiles_by_hand(values: list[int], hundredths: int, expected: float | None) -> None:
    found = percentile(Counter(values), hundredths)
    assert found == (None if expected is None else round(expected * NANO))


@given(milliseconds, st.integers(0, 100))
def test_percentiles_are_numpys_default(values: list[int], hundredths: int) -> None:
    found = percentile(Counter(values), hundredths)
    assert found is not None
    assert found / NANO == pytest.approx(float(np.percentile(values, hundredths)), rel=1e-12, abs=1e-9)


@given(milliseconds, st.integers(0, 100))
def test_percentiles_are_exact(values: list[int], hundredths: int) -> None:
    ordered = sorted(values)
    rank = Fraction((len(ordered) - 1) * hundredths, 100)
    low = int(rank)
    high = min(low + 1, len(ordered) - 1)
    exact = ordered[low] + (rank - low) * (ordered[high] - ordered[low])
    assert percentile(Counter(values), hundredths) == exact * NANO  # whole nano-units: hundredths of whole numbers


@given(milliseconds)
def test_a_percentile_lies_within_and_grows(values: list[int]) -> None:
    found = [percentile(Counter(values), hundredths) for hundredths in range(0, 101, 5)]
    known = [one for one in found if one is not None]
    assert known == sorted(known)
    assert (known[0], known[-1]) == (min(values) * NANO, max(values) * NANO)


@given(milliseconds)
def test_order_statistics_are_the_sorted_values(values: list[int]) -> None:
    counts = Counter(values)
    assert [order_statistic(counts, rank) for rank in range(1, len(values) + 1)] == sorted(values)


@pytest.mark.parametrize("rank", [-1, 0, 4])
def test_a_rank_outside_of_the_sample_is_refused(rank: int) -> None:
    with pytest.raises(ValueError, match=f"rank {rank} is outside 1 to 3"):
        order_statistic(Counter([5, 5, 6]), rank)


# ── standard deviations ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([], None, id="nothing"),
        pytest.param([5], None, id="one"),
        pytest.param([5, 5, 5], 0, id="no-spread"),
        pytest.param([0, 2], 1, id="sqrt-2-is-down"),
        pytest.param([0, 3], 2, id="sqrt-4.5-is-up"),
        pytest.param([0, 0, 3], 2, id="sqrt-3-is-up"),
        pytest.param([800_000_000, 850_000_000, 900_000_000], 50_000_000, id="three-repeats"),
        pytest.param([2, 4, 4, 4, 5, 5, 7, 9], 2, id="sqrt-32/7"),
    ],
)
def test_standard_deviations_by_hand(values: list[int], expected: int | None) -> None:
    assert sample_sd(values) == expected


@given(st.lists(nanos, min_size=2, max_size=30))
@example([0, 10**30])
@example([0, 1])
def test_a_standard_deviation_is_the_nearest_integer_to_the_root(values: list[int]) -> None:
    variance = statistics.variance([Fraction(value) for value in values])
    found = sample_sd(values)
    assert found is not None
    assert found >= 0
    assert (found - Fraction(1, 2)) ** 2 <= variance or found == 0
    assert variance <= (found + Fraction(1, 2)) ** 2


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=30))
def test_standard_deviations_are_numpys(values: list[int]) -> None:
    found = sample_sd([value * NANO for value in values])
    assert found is not None
    assert found / NANO == pytest.approx(float(np.std(values, ddof=1)), rel=1e-9, abs=1e-9)


@given(st.lists(nanos, min_size=2), st.integers(0, 10**15))
def test_a_standard_deviation_does_not_depend_on_order_or_place(values: list[int], shift: int) -> None:
    assert sample_sd(values) == sample_sd(values[::-1]) == sample_sd([value + shift for value in values])


# ── as floats ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("nano", "shown"),
    [
        (653_585_214, "0.653585214"),
        (0, "0.0"),
        (NANO, "1.0"),
        (837_500_000, "0.8375"),
        (1, "1e-09"),
        (-NANO // 2, "-0.5"),
    ],
)
def test_nano_units_print_as_the_decimal(nano: int, shown: str) -> None:
    assert repr(as_float(nano)) == shown


def test_null_stays_null() -> None:
    assert as_float(None) is None


@given(st.integers(-(10**15), 10**15))
def test_a_float_has_its_nano_units_again(nano: int) -> None:
    value = as_float(nano)
    assert value is not None
    assert round(Decimal(repr(value)).scaleb(9)) == nano
