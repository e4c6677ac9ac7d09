"""How many values would settle a question: the interval itself says so before and after that number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.statistics import percentile_ranks, t_interval, wilson
from benchbook.statistics.distributions import t_quantile
from benchbook.statistics.planning import n_to_settle_mean, n_to_settle_percentile, n_to_settle_rate


def _wilson_at(rate: float, n: int, confidence: float) -> tuple[float, float]:
    """Wilson's bounds for a rate that need not be a whole number of n: the formula of his paper."""
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (rate * (1 - rate) / n + z * z / (4 * n * n)) ** 0.5
    return middle - half, middle + half


@given(st.integers(1, 60), st.integers(0, 60), st.floats(0.02, 0.98), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilsons_bound_passes_the_limit_at_the_number_that_is_told(
    n: int, successes: int, limit: float, confidence: float
) -> None:
    successes = min(successes, n)
    rate = successes / n
    needed = n_to_settle_rate(successes, n, limit, confidence)
    if needed is None:
        assert rate == limit
        return
    low, high = _wilson_at(rate, needed, confidence)
    assert (low >= limit - 1e-7) if rate > limit else (high <= limit + 1e-7)
    if needed > 1:
        low, high = _wilson_at(rate, needed - 1, confidence)
        assert (low < limit + 1e-7) if rate > limit else (high > limit - 1e-7)


def test_a_rate_worked_out_by_hand() -> None:
    """z = 1.959964: 3.841459 * 0.85 * 0.15 / (0.9 - 0.85)^2 = 195.9; all passed: 3.841459 * 0.85 / 0.15 = 21.8."""
    assert n_to_settle_rate(90, 100, 0.85) == 196
    assert n_to_settle_rate(9, 10, 0.85) == 196
    assert n_to_settle_rate(5, 5, 0.85) == 22
    assert wilson(22, 22).low >= 0.85 > wilson(21, 21).low
    assert n_to_settle_rate(85, 100, 0.85) is None
    assert n_to_settle_rate(0, 0, 0.85) is None


@given(st.floats(0.001, 1), st.floats(0.001, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_students_interval_is_narrow_enough_from_the_number_on(distance: float, sd: float, confidence: float) -> None:
    needed = n_to_settle_mean(distance, sd, confidence)
    assert needed is not None

    def half(n: int) -> float:
        return t_quantile(n - 1, (1 + confidence) / 2) * sd / n**0.5

    assert half(needed) <= distance * (1 + 1e-8)
    assert needed == 2 or half(needed - 1) > distance


def test_a_mean_that_is_asked_so_often_is_settled() -> None:
    values = np.array([0.7, 0.9, 1.0, 0.8, 0.95])
    needed = n_to_settle_mean(float(values.mean()) - 0.8, float(values.std(ddof=1)))
    more = np.resize(values, needed // 5 * 5 + 5)
    assert t_interval(more).low > 0.8
    assert t_interval(np.resize(values, needed // 5 * 5 - 5)).low < 0.8
    assert n_to_settle_mean(0.0, 0.1) is None
    with pytest.raises(ValueError, match="sd must be 0 or more"):
        n_to_settle_mean(0.1, -1.0)


@pytest.mark.parametrize(
    ("within", "n"), [pytest.param(30, 30, id="all"), pytest.param(97, 100, id="97"), pytest.param(193, 200, id="96.5")]
)
def test_the_upper_rank_of_a_percentile(within: int, n: int) -> None:
    found = n_to_settle_percentile(within, n, 0.95, at_least=n + 1)
    ranks = percentile_ranks(found, 0.95)
    assert ranks.high_rank is not None
    assert ranks.high_rank <= found * within // n
    before = percentile_ranks(found - 1, 0.95)
    assert before.high_rank is None or before.high_rank > (found - 1) * within // n


def test_a_percentile_that_nothing_lies_beyond_takes_72_values() -> None:
    """0.95^72 is below 0.025, 0.95^71 is not."""
    assert n_to_settle_percentile(30, 30, 0.95) == 72
    assert n_to_settle_percentile(0, 0, 0.95) is None


@pytest.mark.slow
@pytest.mark.parametrize("within", [95, 90])
def test_a_percentile_on_the_limit_or_beyond_is_never_settled_below_it(within: int) -> None:
    assert n_to_settle_percentile(within, 100, 0.95) is None


def test_the_lower_rank_of_a_percentile() -> None:
    found = n_to_settle_percentile(80, 100, 0.95, above=True)
    low = percentile_ranks(found, 0.95).low_rank
    assert low is not None
    assert low > found * 80 // 100
    before = percentile_ranks(found - 1, 0.95).low_rank
    assert before is None or before <= (found - 1) * 80 // 100
