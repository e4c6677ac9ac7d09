"""The bootstrap's three ways are one bootstrap; whole clusters are drawn; the tool is small and quick."""

from __future__ import annotations

import resource
import time

import numpy as np
import pytest

from benchbook import statistics as st
from benchbook.statistics import bootstrap

SHARES = [0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995]


def _units(n: int, seed: int = 1) -> st.Units:
    """Skewed scores with their sizes: two columns, all rows distinct."""
    rng = np.random.default_rng(seed)
    return st.Units.of(np.column_stack([rng.exponential(1.0, n), rng.integers(1, 6, n)]))


@pytest.mark.slow
@pytest.mark.parametrize("way", [bootstrap._by_draws, bootstrap._by_bins])
def test_every_way_gives_the_bootstraps_mean_and_covariance(way: object) -> None:
    units = _units(2000)
    totals = way(units, 20_000, np.random.default_rng(2))  # type: ignore[operator]
    exact_mean, exact_covariance = units.totals, units.size * np.cov(units.rows.T, ddof=0)
    spread = np.sqrt(np.diag(exact_covariance))
    assert np.all(np.abs(totals.mean(axis=0) - exact_mean) < 4 * spread / np.sqrt(20_000))
    np.testing.assert_array_less(np.abs(np.cov(totals.T) - exact_covariance), 0.04 * np.outer(spread, spread))


@pytest.mark.slow
def test_bins_give_the_quantiles_of_all_draws_even_with_outliers() -> None:
    rows = _units(3000).rows.copy()
    rows[:3, 0] += [300.0, 200.0, 400.0]  # three units make up much of the sum
    units = st.Units.of(rows)
    by_draws, by_bins = (
        way(units, 20_000, np.random.default_rng(seed))[:, 0]
        for seed, way in ((3, bootstrap._by_draws), (4, bootstrap._by_bins))
    )
    spread = by_draws.std()
    np.testing.assert_allclose(np.quantile(by_bins, SHARES), np.quantile(by_draws, SHARES), atol=0.08 * spread)


def test_few_distinct_rows_give_the_quantiles_of_all_draws() -> None:
    units = st.Units.of(np.random.default_rng(5).integers(0, 3, (400, 1)).astype(float))
    by_rows = bootstrap._by_rows(units.rows, units.counts, 40_000, np.random.default_rng(6))[:, 0]
    by_draws = bootstrap._by_draws(units, 40_000, np.random.default_rng(7))[:, 0]
    np.testing.assert_allclose(np.quantile(by_rows, SHARES), np.quantile(by_draws, SHARES), atol=1.0)


def test_whole_clusters_are_resampled() -> None:
    """Ten clusters of ten equal values: the error is that of ten values, not of a hundred."""
    values = np.repeat(np.linspace(0.0, 1.0, 10), 10)
    clustered = st.bootstrap_mean(values, clusters=np.arange(10).repeat(10))
    assert clustered.standard_error == pytest.approx(np.linspace(0, 1, 10).std() / np.sqrt(10), rel=0.05)
    assert st.bootstrap_mean(values).standard_error == pytest.approx(values.std() / 10, rel=0.05)


def test_any_function_of_totals_has_an_interval() -> None:
    """A ratio of two means: output tokens per second."""
    rng = np.random.default_rng(8)
    seconds = rng.gamma(4.0, 1.0, 500)
    tokens = 30 * seconds + rng.normal(0, 10, 500)
    units = st.Units.of(np.column_stack([tokens, seconds]))
    found = st.bootstrap_interval(units, lambda totals: totals[:, 0] / totals[:, 1], n=500)
    assert found.low < tokens.sum() / seconds.sum() < found.high
    by_delta = np.std(tokens - found.estimate * seconds) / seconds.mean() / np.sqrt(500)
    assert found.standard_error == pytest.approx(by_delta, rel=0.05)


@pytest.mark.slow
def test_100_000_pairs_take_less_than_3_seconds_of_cpu_and_500_mb() -> None:
    rng = np.random.default_rng(9)
    a, b = rng.random(100_000), rng.random(100_000)
    before_mb, before_s = _most_memory_mb(), time.process_time()
    found = st.paired_difference(a, b, method="bca", n_resamples=10_000)
    assert time.process_time() - before_s < 3
    assert _most_memory_mb() - before_mb < 500
    assert found.standard_error == pytest.approx(st.paired_difference(a, b).standard_error, rel=0.05)


def _most_memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
