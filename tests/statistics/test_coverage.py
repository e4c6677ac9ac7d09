"""How often 95 % intervals hold the true value: exactly where the outcomes can be listed, else over 10,000 seeds.

`COVERAGE` is what the manual says: the percentage of given intervals that hold the value, and in brackets the
percentage of samples for which one is given at all (the rest have null bounds and a reason). Where a figure leaves 93.5
to 96.5, the method can't do better: counts are discrete, scores skewed, clusters few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb

import numpy as np
import pytest

from benchbook import statistics as st

pytestmark = pytest.mark.slow

SIZES, RATES, SEEDS = (20, 50, 200), (0.02, 0.5, 0.98), 10_000
FEWER_SEEDS = 1000  # of what resamples at every seed
Coverage = tuple[float, float]  # percent of given intervals that hold the value, percent of samples that have one

COVERAGE = """
                     20, 0.02  20, 0.5   20, 0.98  50, 0.02  50, 0.5   50, 0.98  200, 0.02 200, 0.5  200, 0.98
"""


def _binomial(n: int, p: float) -> list[float]:
    return [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def _tally(found: Iterator[tuple[float, st.Estimate]], truth: float) -> Coverage:
    """Over `(weight, interval)`; an interval with a null bound is not given."""
    held = given = total = 0.0
    for weight, one in found:
        total += weight
        if one.low is not None and one.high is not None:
            given += weight
            held += weight * (one.low <= truth <= one.high)
    return 100 * held / given, 100 * given / total


def wilson(n: int, rate: float) -> Coverage:
    return _tally(((w, st.wilson(k, n)) for k, w in enumerate(_binomial(n, rate))), rate)


def clopper_pearson(n: int, rate: float) -> Coverage:
    return _tally(((w, st.clopper_pearson(k, n)) for k, w in enumerate(_binomial(n, rate))), rate)


def t_of_passes(n: int, rate: float) -> Coverage:
    passes = [np.repeat([1.0, 0.0], [k, n - k]) for k in range(n + 1)]
    return _tally(((w, st.t_interval(x)) for w, x in zip(_binomial(n, rate), passes, strict=True)), rate)


def t_of_scores(n: int, rate: float) -> Coverage:
    """Scores from a beta distribution with this mean and a standard deviation of 0.41 times a pass's."""
    rng = np.random.default_rng(1)
    samples = rng.beta(5 * rate, 5 * (1 - rate), (SEEDS, n))
    return _tally(((1.0, st.t_interval(x)) for x in samples), rate)


def bca_of_scores(n: int, rate: float) -> Coverage:
    rng = np.random.default_rng(2)
    samples = rng.beta(5 * rate, 5 * (1 - rate), (FEWER_SEEDS, n))
    return _tally(((1.0, st.bootstrap_mean(x, seed=i, n_resamples=1000)) for i, x in enumerate(samples)), rate)


def clustered_t(n: int, rate: float) -> Coverage:
    """Passes in clusters of five, correlation 0.3 within."""
    rng = np.random.default_rng(3)
    strength = (1 - 0.3) / 0.3
    rates = rng.beta(strength * rate, strength * (1 - rate), (SEEDS, n // 5)).repeat(5, axis=1)
    clusters = np.arange(n) // 5
    return _tally(((1.0, st.clustered_mean(x, clusters)) for x in (rng.random(rates.shape) < rates) * 1.0), rate)


def _discordant(n: int, rate: float, interval: Callable[[int, int], st.Estimate]) -> Coverage:
    """Both runs pass `rate` of the items; half of the discordant pairs that independence would give."""
    share = rate * (1 - rate) / 2
    weighted = (
        (comb(n, i) * comb(n - i, j) * share ** (i + j) * (1 - 2 * share) ** (n - i - j), interval(i, j))
        for i in range(n + 1)
        for j in range(n + 1 - i)
        if i + j < 6 * n * share + 30
    )
    return _tally(weighted, 0.0)


def paired_t(n: int, rate: float) -> Coverage:
    def interval(only_a: int, only_b: int) -> st.Estimate:
        b = np.repeat([-1.0, 1.0, 0.0], [only_a, only_b, n - only_a - only_b])
        return st.paired_difference(np.zeros(n), b)

    return _discordant(n, rate, interval)


def bonett_price(n: int, rate: float) -> Coverage:
    return _discordant(n, rate, lambda only_a, only_b: st.bonett_price(only_a, only_b, n))


def lang_reiczigel(n: int, rate: float) -> Coverage:
    """A judge right in 90 % of both kinds, known from n positives and n negatives; 10 n judged samples."""
    rng = np.random.default_rng(4)
    counts = rng.binomial([10 * n, n, n], [0.9 * rate + 0.1 * (1 - rate), 0.9, 0.9], (SEEDS, 3)).tolist()
    found = (
        st.rogan_gladen(x, 10 * n, true_positives=tp, positives=n, true_negatives=tn, negatives=n)
        for x, tp, tn in counts
    )
    return _tally(((1.0, one) for one in found), rate)


def prediction_powered(n: int, rate: float) -> Coverage:
    """n labels, 5 n further samples judged, right in 85 %."""
    rng = np.random.default_rng(5)
    truth = (rng.random((SEEDS, 6 * n)) < rate) * 1.0
    judge = np.where(rng.random(truth.shape) < 0.85, truth, 1 - truth)
    found = (
        st.prediction_powered_mean(y[:n], f[:n], f[n:]) for y, f in zip(truth, judge, strict=True)
    )
    return _tally(((1.0, one) for one in found), rate)


def kappa(n: int, rate: float) -> Coverage:
    """Two raters, each right in 90 % about items of which `rate` pass."""
    rng = np.random.default_rng(6)
    both = 0.9 * 0.9 * rate + 0.1 * 0.1 * (1 - rate)
    marginal = 0.9 * rate + 0.1 * (1 - rate)
    cells = [both, marginal - both, marginal - both, 1 - 2 * marginal + both]
    expected = marginal**2 + (1 - marginal) ** 2
    truth = (cells[0] + cells[3] - expected) / (1 - expected)
    found = (
        st.cohens_kappa(
            np.repeat([1, 1, 0, 0], counts).tolist(), np.repeat([1, 0, 1, 0], counts).tolist(), (0, 1), seed=i,
            n_resamples=1000,
        )
        for i, counts in enumerate(rng.multinomial(n, cells, FEWER_SEEDS))
    )  # fmt: skip
    return _tally(((1.0, one) for one in found), truth)


def median_ranks(n: int, _: float) -> Coverage:
    found = st.percentile_ranks(n, 0.5)
    return 100 * (found.coverage or 0.0), 100.0 * (found.coverage is not None)
