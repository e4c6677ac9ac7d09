"""Distributions against SciPy, against values of others, and against what must hold of them (DLMF 8.17)."""

from __future__ import annotations

from fractions import Fraction
from math import comb, inf, pi, sqrt, tan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from benchbook.statistics.distributions import (
    beta_cdfs,
    beta_quantile,
    binomial_cdf,
    binomial_cdfs_along,
    binomial_pmf,
    binomial_quantile,
    t_cdf,
    t_cdfs,
    t_quantile,
)
from benchbook.statistics.ranking import rank_correlation
from support import examples

SIZES = st.floats(0.25, 1e7)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(lambda: binomial_cdf(5, 10, 0.3), 0.9526510126, id="binomial-by-hand"),
        pytest.param(lambda: beta_cdfs(2.0, 3.0, 0.5), 11 / 16, id="beta-by-hand"),
        pytest.param(lambda: t_cdf(1, 1.0), 0.75, id="cauchy"),
        pytest.param(lambda: t_quantile(1, 0.99), tan(pi * 0.49), id="cauchy-quantile"),
        pytest.param(lambda: t_quantile(2, 0.975), 0.95 / sqrt(2 * 0.975 * 0.025), id="closed-form"),
        pytest.param(lambda: t_quantile(1e9, 0.975), 1.959963984540054 * (1 + 1.2103643e-9), id="nearly-normal"),
        pytest.param(lambda: beta_cdfs(0.5, 0.5, 0.5), 0.5, id="arcsine"),
        pytest.param(lambda: beta_quantile(1, 1e6, 1e-300), 1e-306, id="far-out"),
    ],
)
def test_values_of_others(found, expected) -> None:  # type: ignore[no-untyped-def]
    assert float(found()) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(binomial_cdf(-1, 5, 0.3), 0.0, id="fewer-than-none"),
        pytest.param(binomial_cdf(5, 5, 0.3), 1.0, id="all"),
        pytest.param(binomial_cdf(0, 5, 0.0), 1.0, id="never"),
        pytest.param(binomial_cdf(4, 5, 1.0), 0.0, id="always"),
        pytest.param(binomial_cdf(0, 0, 0.5), 1.0, id="nothing"),
        pytest.param(t_quantile(3, 0.5), 0.0, id="median"),
        pytest.param(t_quantile(3, 1.0), inf, id="certain"),
        pytest.param(t_cdf(3, -inf), 0.0, id="no-end"),
        pytest.param(t_cdf(3, 0.0), 0.5, id="middle"),
        pytest.param(float(beta_cdfs(2.0, 3.0, 1.0)), 1.0, id="whole"),
        pytest.param(beta_quantile(2, 3, 0.0), 0.0, id="low-end"),
    ],
)
def test_the_ends_are_exact(found: float, expected: float) -> None:
    assert found == expected


def test_not_a_number_stays_one() -> None:
    assert np.isnan(beta_cdfs(2.0, 3.0, np.nan))
    assert np.isnan(t_cdfs(3.0, np.nan))


@pytest.mark.parametrize("n", [1, 7, 40, 499, 500])
def test_tosses_of_a_coin_are_exact(n: int) -> None:
    for k in range(0, n, max(1, n // 7)):
        assert binomial_cdf(k, n, 0.5) == float(Fraction(sum(comb(n, i) for i in range(k + 1)), 2**n))


def test_a_grid_agrees_with_scipy() -> None:
    """SciPy's own error is up to 1e-10 here, for tails beyond 1e-100; that of ours at most 1e-12, by mpmath."""
    rng = np.random.default_rng(1)
    a, b = 10 ** rng.uniform(-0.6, 5, (2, 1500))
    x = special.betaincinv(a, b, rng.uniform(1e-6, 1 - 1e-6, a.size))
    inside = (x > 1e-200) & (x < 1)
    assert beta_cdfs(a, b, x)[inside] == pytest.approx(special.betainc(a, b, x)[inside], rel=3e-10)
    degrees, t = 10 ** rng.uniform(-0.3, 9, 1500), -(10 ** rng.uniform(-6, 1.2, 1500))
    assert t_cdfs(degrees, t) == pytest.approx(special.stdtr(degrees, t), rel=1e-11)


@given(SIZES, SIZES, st.floats(-300, -1e-6).map(lambda log10: 10**log10) | st.floats(1e-6, 1 - 1e-9))
@examples(150)
def test_the_quantile_inverts_the_tail(a: float, b: float, probability: float) -> None:
    x = beta_quantile(a, b, probability)
    if 1e-250 < x < 1 - 1e-9:  # nearer to 1 the next number of a float has another probability
        slope = float(stats.beta.pdf(x, a, b)) * x * 1e-15 / probability  # of the last digit of x
        assert float(beta_cdfs(a, b, x)) == pytest.approx(probability, rel=1e-11 + 4 * slope)


@given(SIZES, SIZES, st.floats(1e-6, 1 - 1e-6))
@examples(100)
def test_the_tails_add_up(a: float, b: float, x: float) -> None:
    """DLMF 8.17.4; x is a whole number of 2^-30, so that 1 - x is what it says."""
    x = max(1, round(x * 2**30)) / 2**30
    assert float(beta_cdfs(a, b, x) + beta_cdfs(b, a, 1 - x)) == pytest.approx(1.0, abs=1e-12)


@given(st.floats(0.5, 1e9), st.floats(1e-300, 0.499))
@examples(150)
def test_the_quantile_of_t_inverts_it(degrees: float, probability: float) -> None:
    t = t_quantile(degrees, probability)
    assert t_quantile(degrees, 1 - 2.0**-20) == -t_quantile(degrees, 2.0**-20)
    if t > -1e140:
        assert t_cdf(degrees, t) == pytest.approx(probability, rel=1e-11)


@given(st.integers(1, 10_000_000), st.floats(0, 1), st.floats(1e-7, 1 - 1e-7))
@examples(150)
def test_one_more_is_one_probability_more(n: int, share: float, p: float) -> None:
    k = min(n - 1, int(share * n))
    assert binomial_cdf(k, n, p) - binomial_cdf(k - 1, n, p) == pytest.approx(
        binomial_pmf(k, n, p), rel=1e-7, abs=1e-14
    )


def test_a_rank_is_where_the_probability_is_reached() -> None:
    for n, p in ((10, 0.5), (1000, 0.95), (10_000_000, 0.3)):
        k = binomial_quantile(0.975, n, p)
        assert binomial_cdf(k - 1, n, p) < 0.975 <= binomial_cdf(k, n, p)


@pytest.mark.parametrize("behind", [0, 1])
def test_one_variable_after_the_other(behind: int) -> None:
    n = np.arange(5, 700)
    k = n * 2 // 3 - behind
    expected = [binomial_cdf(int(one), int(of), 0.7) for one, of in zip(k, n, strict=True)]
    assert binomial_cdfs_along(k, n, 0.7) == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=60))
@examples(100)
def test_correlations_of_ranks_are_scipys(pairs: list[tuple[int, int]]) -> None:
    a, b = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    if len(set(a)) > 1 and len(set(b)) > 1:
        found = rank_correlation(a, b)
        assert found.kendall_tau_b.estimate == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-12)
        assert found.spearman.estimate == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)
