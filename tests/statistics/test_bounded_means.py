"""Intervals of a mean of scores between two ends, against scipy, draws of the same posterior, and each other."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from scipy import stats

from benchbook import statistics as st
from benchbook.statistics.means import clustered_jeffreys_of_sums, jeffreys_of_sums

GRADES = hs.lists(hs.integers(0, 2), min_size=2, max_size=40)


def _less(n: int, confidence: float) -> float:
    """What a value counts for: the normal quantile over t's, squared."""
    level = (1 + confidence) / 2
    return float((NormalDist().inv_cdf(level) / stats.t.ppf(level, n - 1)) ** 2)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("successes", "n"), [(1, 2), (3, 20), (19, 20), (50, 100), (1, 1000)])
def test_of_passes_it_is_jeffreys_interval(successes: int, n: int, confidence: float) -> None:
    found = st.bounded_mean(np.repeat([1.0, 0.0], [successes, n - successes]), confidence=confidence)
    less = _less(n, confidence)
    expected = stats.beta(successes * less + 0.5, (n - successes) * less + 0.5).interval(confidence)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
    assert (found.estimate, found.method, found.n) == (successes / n, "jeffreys", n)


@pytest.mark.slow
def test_the_beta_distribution_has_the_mean_and_variance_of_weighted_scores() -> None:
    """Weights of the Bayesian bootstrap, with half a value at either end, drawn a million times."""
    scores = np.array([1.0, 1.0, 0.9, 0.75, 1.0, 0.2, 0.6, 1.0])
    less = _less(8, 0.95)
    weights = np.random.default_rng(1).dirichlet([less] * 8 + [0.5, 0.5], 1_000_000)
    means = weights @ np.append(scores, [0.0, 1.0])
    mean, variance = means.mean(), means.var()
    both = mean * (1 - mean) / variance - 1
    expected = stats.beta(mean * both, (1 - mean) * both).interval(0.95)
    found = st.bounded_mean(scores)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-3)
    assert (found.low, found.high) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.015)  # their shape, too


@given(GRADES, hs.randoms(use_true_random=False), hs.sampled_from([0.9, 0.95]))
def test_sums_say_the_same_as_values(grades: list[int], shuffle: object, confidence: float) -> None:
    clusters = [shuffle.randrange(5) for _ in grades]  # type: ignore[attr-defined]
    squares = sum(grade**2 for grade in grades)
    parts = [
        (clusters.count(one), sum(grade for grade, of in zip(grades, clusters, strict=True) if of == one))
        for one in range(5)
    ]
    _same(
        jeffreys_of_sums(len(grades), sum(grades), squares, 2, confidence),
        st.bounded_mean(grades, highest=2, confidence=confidence),
    )
    _same(
        clustered_jeffreys_of_sums(parts, squares, 2, confidence),
        st.bounded_mean(grades, highest=2, clusters=clusters, confidence=confidence),
    )
    assert clustered_jeffreys_of_sums(parts, squares, 2) == clustered_jeffreys_of_sums(parts[::-1], squares, 2)


def _same(a: st.Estimate, b: st.Estimate) -> None:
    assert (a.reason, a.method, a.n, a.n_clusters) == (b.reason, b.method, b.n, b.n_clusters)
    assert (a.low is None) == (b.low is None)
    if a.low is not None:
        assert (a.low, a.high, a.standard_error) == pytest.approx((b.low, b.high, b.standard_error), abs=1e-9)


@given(GRADES)
def test_it_holds_the_mean_keeps_within_the_scale_and_mirrors(grades: list[int]) -> None:
    found = st.bounded_mean(grades, highest=2)
    mirrored = st.bounded_mean([7 - grade for grade in grades], lowest=5, highest=7)
    if found.low is None or found.high is None or found.estimate is None:
        assert found.reason == "no_variance"
        return
    assert 0 <= found.low <= found.estimate <= found.high <= 2
    assert (mirrored.low, mirrored.high) == pytest.approx((7 - found.high, 7 - found.low), abs=1e-9)


@given(GRADES)
def test_clusters_of_one_change_nothing(grades: list[int]) -> None:
    alone, apart = st.bounded_mean(grades, highest=2), st.bounded_mean(grades, highest=2, clusters=range(len(grades)))
    if alone.low is not None:
        assert (apart.low, apart.high) == pytest.approx((alone.low, alone.high), abs=1e-9)


def test_repeats_that_are_all_alike_count_as_one() -> None:
    items = np.repeat([1.0, 0.0], [24, 6])
    once = st.bounded_mean(items)
    thrice = st.bounded_mean(items.repeat(3), clusters=np.arange(30).repeat(3))
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high), abs=0.005)


def test_one_large_cluster_is_not_taken_for_many() -> None:
    """Forty of a hundred values stand together: 4.5 clusters' worth, so the interval is wider than t's by 14."""
    sizes = [40, 20, 10, 5, 5, 5, 5, 2, 2, 1, 1, 1, 1, 1, 1]
    passed = [25, 15, 2, 5, 0, 4, 1, 2, 0, 1, 1, 0, 1, 0, 1]
    x = np.concatenate([np.repeat([1.0, 0.0], [k, n - k]) for k, n in zip(passed, sizes, strict=True)])
    clusters = np.repeat(np.arange(15), sizes)
    found, plain = st.bounded_mean(x, clusters=clusters), st.clustered_mean(x, clusters)
    assert found.standard_error == pytest.approx(plain.standard_error, abs=1e-12)
    # 100 / (effect times t's inflation): 1 / sum of squared shares is 4.5167, so 3.5167 degrees; worked out with scipy
    share = np.array(sizes) / 100
    squares, cubes = (share**2).sum(), (share**3).sum()
    effect = plain.standard_error**2 / (1 - 2 * cubes / squares + squares) / (x.var(ddof=1) / 100)
    less = (NormalDist().inv_cdf(0.975) / stats.t.ppf(0.975, 1 / squares - 1)) ** 2 / effect
    expected = stats.beta(x.sum() * less + 0.5, (100 - x.sum()) * less + 0.5).interval(0.95)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
    assert found.high - found.low > plain.high - plain.low


def test_of_many_scores_it_is_students() -> None:
    x = np.random.default_rng(2).beta(4, 2, 20_000)
    found, student = st.bounded_mean(x), st.t_interval(x)
    assert (found.low, found.high) == pytest.approx((student.low, student.high), abs=5e-5)
    assert found.standard_error == pytest.approx(student.standard_error)


def test_a_rare_zero_that_was_not_seen_is_allowed_for() -> None:
    """Thirty scores near 0.95: t says 0.94 at least, though one in fifty may be 0, and the mean then is 0.93."""
    x = 0.95 + 0.05 * np.sin(np.arange(30))
    assert st.t_interval(x).low > 0.93 > st.bounded_mean(x).low > 0.85


@given(hs.lists(hs.integers(0, 4), min_size=12, max_size=40), hs.floats(0.02, 0.98))
def test_what_would_settle_it_does(marks: list[int], limit: float) -> None:
    x = np.array(marks) / 4
    mean, spread = float(x.mean()), float(x.var())
    if spread == 0 or abs(mean - limit) < 0.02:
        return
    needed = st.n_to_settle_bounded_mean(mean, spread, limit)
    assert needed is not None

    def bound(times: int) -> float:
        found = st.bounded_mean(np.tile(x, times))
        return float(found.low or 0.0) - limit if limit < mean else limit - float(found.high or 0.0)

    times = -(-needed // x.size)
    assert bound(times) >= -1e-9
    assert times == 1 or bound(times - 1) < 0


def test_nothing_settles_a_mean_that_is_the_limit() -> None:
    assert st.n_to_settle_bounded_mean(0.8, 0.1, 0.8) is None
