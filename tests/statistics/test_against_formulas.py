"""What no package here computes, against its source's formula, written out over twenty random inputs.

R's irrCAC has Gwet's coefficients and ppi-python prediction-powered means; neither is installed. Nothing here uses our
own distributions or helpers: quantiles are SciPy's, sums are loops where the code has products of matrices.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import ceil, exp, log, log1p, sqrt

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.special
import scipy.stats

from benchbook import statistics as st
from benchbook.statistics.sequences import FRACTIONS

SEEDS = range(20)
Z = scipy.stats.norm.ppf(0.975)
ALMOST = {"rtol": 1e-7, "atol": 1e-9}


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


pytestmark = pytest.mark.parametrize("seed", SEEDS)


def _beta_bounds(mean: float, variance: float) -> tuple[float, float]:
    """Quantiles of the beta distribution with this mean and variance."""
    both = mean * (1 - mean) / variance - 1
    return tuple(scipy.stats.beta.ppf([0.025, 0.975], mean * both, (1 - mean) * both))  # type: ignore[return-value]


def _with_halves(values: np.ndarray, size: float) -> tuple[float, float]:
    """Mean and variance of the mean (Rubin 1981) of values that count for `size`, and of half a 0 and half a 1."""
    middle = (size * values.mean() + 0.5) / (size + 1)
    squares = size * ((values - middle) ** 2).mean() + 0.5 * (middle**2 + (1 - middle) ** 2)
    return middle, squares / ((size + 1) * (size + 2))


def test_a_mean_of_bounded_values(rng: np.random.Generator) -> None:
    x = rng.beta(2, 1, int(rng.integers(5, 200)))
    size = x.size * (Z / scipy.stats.t.ppf(0.975, x.size - 1)) ** 2
    low, high = _beta_bounds(*_with_halves(x, size))
    found = st.bounded_mean(x)
    np.testing.assert_allclose([found.low, found.high], [min(low, x.mean()), max(high, x.mean())], **ALMOST)


def test_a_mean_of_passes_is_jeffreys(rng: np.random.Generator) -> None:
    """Beta(k + 1/2, n - k + 1/2) (Brown, Cai and DasGupta 2001), of as many passes as t leaves of them."""
    n = int(rng.integers(10, 300))
    k = int(rng.integers(1, n))
    size = n * (Z / scipy.stats.t.ppf(0.975, n - 1)) ** 2
    expected = scipy.stats.beta.ppf([0.025, 0.975], size * k / n + 0.5, size * (1 - k / n) + 0.5)
    found = st.bounded_mean([1.0] * k + [0.0] * (n - k))
    expected = [min(expected[0], k / n), max(expected[1], k / n)]
    np.testing.assert_allclose([found.low, found.high], expected, **ALMOST)


def _intraclass(d: np.ndarray, codes: np.ndarray) -> tuple[float, float, float]:
    """Correlation drawn towards 1, design effect and Satterthwaite's degrees of freedom, in loops over clusters."""
    groups = [d[codes == code] for code in np.unique(codes)]
    n, k = d.size, len(groups)
    between = sum(one.size * (one.mean() - d.mean()) ** 2 for one in groups) / (k - 1)
    within = sum(((one - one.mean()) ** 2).sum() for one in groups) / (n - k)
    squares = sum(one.size**2 for one in groups)
    shared = max(0.0, (between - within) / ((n - squares / n) / (k - 1)))
    correlation = shared / (shared + within)
    correlation += (1 - correlation) * 0.25 / (k - 1 + 0.25)
    parts = correlation * squares / n, 1 - correlation
    degrees = sum(parts) ** 2 / (parts[0] ** 2 / (k - 1) + parts[1] ** 2 / (n - k))
    return max(shared + within, d.var()), sum(parts), min(max(degrees, 1), n - 1)


def _grouped(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    codes = np.repeat(np.arange(15), rng.integers(2, 9, 15))
    d = np.clip(rng.normal(0.1, 0.2, 15)[codes] + rng.normal(0, 0.3, codes.size), -1, 1)
    return d, codes


def test_paired_differences_in_clusters(rng: np.random.Generator) -> None:
    d, codes = _grouped(rng)
    spread, effect, degrees = _intraclass(d, codes)
    size, share = d.size / effect, (d.mean() + 1) / 2
    middle = (size * share + 0.5) / (size + 1)
    squares = size * (spread / 4 + (share - middle) ** 2) + 0.5 * (middle**2 + (1 - middle) ** 2)
    variance = squares / ((size + 1) * (size + 2)) * (scipy.stats.t.ppf(0.975, degrees) / Z) ** 2
    low, high = (2 * bound - 1 for bound in _beta_bounds(middle, variance))
    found = st.bounded_difference(d, clusters=codes.tolist())
    np.testing.assert_allclose([found.low, found.high], [low, high], **ALMOST)


def test_how_much_wider_clusters_make_an_interval(rng: np.random.Generator) -> None:
    d, codes = _grouped(rng)
    _, effect, degrees = _intraclass(d, codes)
    found = st.cluster_widening(d, codes.tolist())
    assert found.of_error == pytest.approx(max(1.0, sqrt(effect)), rel=1e-7)
    assert found.factor == pytest.approx(found.of_error * scipy.stats.t.ppf(0.975, degrees) / Z, rel=1e-7)


def test_paired_rates(rng: np.random.Generator) -> None:
    """Quantiles of share that differ times how one-sided they are, each by mid-p, by quadrature."""
    n = int(rng.integers(20, 80))
    lost, won = (int(one) for one in rng.integers(1, 9, 2))
    differ = [(lost + won + one, n - lost - won + 1 - one) for one in (0, 1)]
    one_sided = [(won, lost + 1), (won + 1, lost)]

    def density(share: float, difference: float, d: tuple[int, int]) -> float:
        log_height = (d[0] - 1) * log(share) + (d[1] - 1) * log1p(-share) - float(scipy.special.betaln(*d))
        up_to = min(max((1 + difference / share) / 2, 0.0), 1.0)
        return exp(log_height) * sum(float(scipy.special.betainc(*one, up_to)) for one in one_sided) / 4

    def up_to(difference: float) -> float:
        at = [abs(difference)] if difference else None
        return sum(scipy.integrate.quad(density, 0, 1, (difference, d), points=at, limit=200)[0] for d in differ)

    low, high = (scipy.optimize.brentq(lambda x, p=p: up_to(x) - p, -0.999, 0.999, xtol=1e-9) for p in (0.025, 0.975))
    found = st.paired_rates(lost, won, n)
    np.testing.assert_allclose([found.low, found.high], [low, high], atol=1e-4)  # ours has 32 nodes


def test_paired_scores(rng: np.random.Generator) -> None:
    """Tango 1998: at a bound the estimate is z standard errors away, where what differs is as likely as can be."""
    n = int(rng.integers(20, 200))
    lost, won = (int(one) for one in rng.integers(0, n // 4, 2))
    found = st.paired_score(lost, won, n, 0.9)
    for bound in (found.low, found.high):
        least, most = max(0.0, -bound) + 1e-12, (1 - bound) / 2 - 1e-12

        def unlikely(share_lost: float, bound: float = bound) -> float:
            shares = share_lost, share_lost + bound, 1 - 2 * share_lost - bound
            return -float(scipy.special.xlogy((lost, won, n - lost - won), np.maximum(shares, 1e-300)).sum())

        options = {"xatol": 1e-12}
        share = scipy.optimize.minimize_scalar(unlikely, bounds=(least, most), method="bounded", options=options).x
        error = sqrt((2 * share + bound * (1 - bound)) / n)
        assert abs(found.estimate - bound) / error == pytest.approx(scipy.stats.norm.ppf(0.95), rel=1e-4)


def test_bonett_price(rng: np.random.Generator) -> None:
    n = int(rng.integers(10, 200))
    lost, won = (int(one) for one in rng.integers(0, n // 3, 2))
    p, q = (lost + 1) / (n + 2), (won + 1) / (n + 2)
    half = Z * sqrt((p + q - (q - p) ** 2) / (n + 2))
    found = st.bonett_price(lost, won, n)
    np.testing.assert_allclose([found.low, found.high], [max(-1, q - p - half), min(1, q - p + half)], **ALMOST)


def test_rogan_gladen_with_the_interval_of_lang_and_reiczigel(rng: np.random.Generator) -> None:
    n, positives, negatives = 400, int(rng.integers(30, 90)), int(rng.integers(30, 90))
    flagged = int(rng.integers(120, 300))
    tp, tn = int(rng.binomial(positives, 0.9)), int(rng.binomial(negatives, 0.85))
    raw = (flagged / n + tn / negatives - 1) / (tp / positives + tn / negatives - 1)
    ap, se, sp = (flagged + Z**2 / 2) / (n + Z**2), (tp + 1) / (positives + 2), (tn + 1) / (negatives + 2)
    share = (ap + sp - 1) / (se + sp - 1)
    of_se, of_sp = se * (1 - se) / (positives + 2), sp * (1 - sp) / (negatives + 2)
    shift = 2 * Z**2 * (share * of_se - (1 - share) * of_sp)
    error = sqrt(ap * (1 - ap) / (n + Z**2) + share**2 * of_se + (1 - share) ** 2 * of_sp) / (se + sp - 1)
    found = st.rogan_gladen(flagged, n, true_positives=tp, positives=positives, true_negatives=tn, negatives=negatives)
    expected = np.clip([raw, share + shift - Z * error, share + shift + Z * error], 0, 1)
    np.testing.assert_allclose([found.estimate, found.low, found.high], expected, **ALMOST)


def test_post_stratified_rates(rng: np.random.Generator) -> None:
    """The estimate by hand; the bounds by SciPy's own draws from Jeffreys' posteriors."""
    sizes, labelled = rng.integers(50, 900, 2), rng.integers(10, 50, 2)
    positives = rng.binomial(labelled, [0.9, 0.2])
    strata = [st.Stratum(*(int(one) for one in row)) for row in zip(sizes, labelled, positives, strict=True)]
    found = st.post_stratified_rate({True: strata[0], False: strata[1]}, n_resamples=100_000)
    weight = scipy.stats.beta.rvs(*(sizes + 0.5), size=200_000, random_state=rng)
    rates = scipy.stats.beta.rvs(
        (positives + 0.5)[:, None], (labelled - positives + 0.5)[:, None], size=(2, 200_000), random_state=rng
    )
    low, high = np.quantile(weight * rates[0] + (1 - weight) * rates[1], [0.025, 0.975])
    assert found.estimate == pytest.approx(float(sizes @ (positives / labelled) / sizes.sum()), rel=1e-12)
    np.testing.assert_allclose([found.low, found.high], [low, high], atol=0.02 * (high - low))


def test_stratified_means(rng: np.random.Generator) -> None:
    """Two classes, each drawn by another chance: the beta distribution with the mean and the variance of Jeffreys'
    posteriors by class (SciPy's `beta.stats`), and of the classes' own draw."""
    sizes, drawn = np.array([300, 1700]), np.array([60, 40])
    positives = rng.binomial(drawn, [0.6, 0.1])
    values = [[1.0] * k + [0.0] * (n - k) for k, n in zip(positives.tolist(), drawn.tolist(), strict=True)]
    found = st.stratified_mean([st.SampledStratum(int(n), one) for n, one in zip(sizes, values, strict=True)])
    share = sizes / 2000
    means, variances = scipy.stats.beta.stats(positives + 0.5, drawn - positives + 0.5)
    mean = float(share @ means)
    variance = float(share**2 @ variances) + float(share @ (means - mean) ** 2) / 2000
    size = mean * (1 - mean) / variance - 1
    expected = scipy.stats.beta.ppf([0.025, 0.975], mean * size, (1 - mean) * size)
    assert found.estimate == pytest.approx(float(share @ (positives / drawn)), rel=1e-12)
    np.testing.assert_allclose([found.low, found.high], expected, rtol=1e-8)


def test_prediction_powered_means(rng: np.random.Generator) -> None:
    """PPI++ (Angelopoulos, Duchi and Zrnic 2023), example 6.1, in loops; ppi-python is not installed."""
    n, unseen_n = int(rng.integers(20, 60)), int(rng.integers(50, 300))
    truth = rng.random(n + unseen_n)
    judged = truth + rng.normal(0, 0.3, truth.size)
    y, on_labelled, unseen = truth[:n], judged[:n], judged[n:]
    covariance = sum((a - y.mean()) * (b - on_labelled.mean()) for a, b in zip(y, on_labelled, strict=True)) / n
    weight = min(1.0, max(0.0, covariance / ((1 + n / unseen_n) * np.var(judged, ddof=1))))
    estimate = weight * unseen.mean() + sum(a - weight * b for a, b in zip(y, on_labelled, strict=True)) / n
    half = Z * sqrt(weight**2 * np.var(unseen) / unseen_n + np.var(y - weight * on_labelled) / n)
    found = st.prediction_powered_mean(y, on_labelled, unseen)
    expected = [weight, estimate, estimate - half, estimate + half]
    np.testing.assert_allclose([found.judge_weight, found.estimate, found.low, found.high], expected, **ALMOST)


@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
def test_gwets_coefficients(rng: np.random.Generator, weights: st.Weights) -> None:
    """AC1 and AC2 (Gwet 2014, chapter 4), in loops; irrCAC is not installed."""
    a = rng.integers(0, 4, 50)
    b = np.where(rng.random(50) < 0.6, a, rng.integers(0, 4, 50))
    q = 4

    def weight(i: int, j: int) -> float:
        apart = {"unweighted": float(i != j), "linear": abs(i - j) / (q - 1), "quadratic": ((i - j) / (q - 1)) ** 2}
        return 1 - apart[weights]

    observed = sum(weight(i, j) for i, j in zip(a.tolist(), b.tolist(), strict=True)) / 50
    shares = [((a == k).mean() + (b == k).mean()) / 2 for k in range(q)]
    total = sum(weight(i, j) for i in range(q) for j in range(q))
    chance = total / (q * (q - 1)) * sum(share * (1 - share) for share in shares)
    found = st.gwet_ac(a.tolist(), b.tolist(), range(q), weights=weights, n_resamples=50)
    assert found.estimate == pytest.approx((observed - chance) / (1 - chance), rel=1e-9)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_krippendorffs_alpha(rng: np.random.Generator, level: st.Level) -> None:
    """From all pairs of ratings within a unit and over all (Krippendorff 2011), with gaps."""
    values = [1, 2, 3, 5]
    ratings = [[None if rng.random() < 0.2 else int(rng.choice(values)) for _ in range(25)] for _ in range(3)]
    units = [[row[u] for row in ratings if row[u] is not None] for u in range(25)]
    units = [unit for unit in units if len(unit) > 1]
    every = [value for unit in units for value in unit]
    count = {value: every.count(value) for value in values}

    def distance(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        between = sum(count[value] for value in values if low <= value <= high) - (count[low] + count[high]) / 2
        return {"nominal": float(a != b), "ordinal": between**2 if a != b else 0.0, "interval": (a - b) ** 2,
                "ratio": ((a - b) / (a + b)) ** 2}[level]  # fmt: skip

    seen = sum(2 * distance(a, b) / (len(unit) - 1) for unit in units for a, b in combinations(unit, 2))
    expected = sum(2 * distance(a, b) for a, b in combinations(every, 2)) / (len(every) - 1)
    found = st.krippendorff_alpha(ratings, level=level, n_resamples=50)
    assert found.estimate == pytest.approx(1 - seen / expected, rel=1e-9)


def test_tarones_form_of_holms_correction(rng: np.random.Generator) -> None:
    """A hypothesis is rejected at alpha while p <= alpha / K, with K the tests left that can reach alpha / K at all
    (Tarone 1990; Hommel and Krummenauer 1998): tried at each adjusted p, and just below it."""
    least = 0.5 ** rng.integers(1, 9, 8)
    p = np.minimum(1.0, least * rng.integers(1, 12, 8))
    adjusted = np.array(st.tarone_holm(p.tolist(), least.tolist()))
    for alpha in (0.01, 0.05, 0.2):
        assert ((adjusted <= alpha) == _rejected(p, least, alpha)).all()


def _rejected(p: np.ndarray, least: np.ndarray, alpha: float) -> np.ndarray:
    left, gone = list(np.argsort(p, kind="stable")), np.zeros(p.size, bool)
    while left:
        first = left[0]
        able = sum(least[one] <= p[first] * (1 + 1e-9) for one in left)
        if p[first] * able > alpha:
            break
        gone[left.pop(0)] = True
    return gone


def test_sample_size_of_paired_rates(rng: np.random.Generator) -> None:
    """Connor 1987."""
    only_a = rng.uniform(0.02, 0.2)
    only_b = only_a + rng.uniform(0.05, 0.2)
    gap, both = only_b - only_a, only_a + only_b
    n = (Z * sqrt(both) + scipy.stats.norm.ppf(0.9) * sqrt(both - gap**2)) ** 2 / gap**2
    assert st.sample_size_paired_binary(only_a, only_b, power=0.9).n == ceil(n)


def test_design_effects(rng: np.random.Generator) -> None:
    """The variance of a mean of equally correlated values, over that of independent ones (Kish 1965)."""
    size, correlation = int(rng.integers(1, 20)), rng.uniform(0, 1)
    matrix = np.full((size, size), correlation) + (1 - correlation) * np.eye(size)
    assert st.design_effect(size, correlation) == pytest.approx(matrix.sum() / size, rel=1e-12)


def test_how_many_values_settle_a_bounded_mean(rng: np.random.Generator) -> None:
    """The first number of values whose beta bounds leave the limit out, tried one by one."""
    mean, limit = rng.uniform(0.85, 0.95), 0.8
    spread = 0.3 * mean * (1 - mean)

    def low(n: int) -> float:
        size = n * (Z / scipy.stats.t.ppf(0.975, n - 1)) ** 2
        middle = (size * mean + 0.5) / (size + 1)
        squares = size * (spread + (mean - middle) ** 2) + 0.5 * (middle**2 + (1 - middle) ** 2)
        return _beta_bounds(middle, squares / ((size + 1) * (size + 2)))[0]

    found = st.n_to_settle_bounded_mean(mean, spread, limit)
    assert low(found - 1) < limit <= low(found) + 1e-9


@pytest.mark.parametrize("method", ["betting", "empirical_bernstein"])
def test_confidence_sequences(rng: np.random.Generator, method: st.SequenceMethod) -> None:
    """Theorems 2 and 3 of Waudby-Smith and Ramdas 2024, value by value."""
    x = rng.beta(4, 1, 60)
    found = st.confidence_sequence(x, method=method)
    low, high = (_bernstein if method == "empirical_bernstein" else _betting)(x)
    within = 1e-9 if method == "empirical_bernstein" else 0.0011  # ours is rounded outwards to a thousandth
    np.testing.assert_allclose(found.lows, np.maximum.accumulate(np.clip(low, 0, 1)), atol=within)
    np.testing.assert_allclose(found.highs, np.minimum.accumulate(np.clip(high, 0, 1)), atol=within)


def _plugged_in(x: np.ndarray) -> list[tuple[float, float]]:
    """The bet and the mean before each value."""
    mean, squares, found = 0.5, 0.25, []
    for t, value in enumerate(x.tolist(), 1):
        variance = squares / t
        found.append((sqrt(2 * np.log(2 / 0.05) / (variance * t * np.log(t + 1))), mean))
        mean = (0.5 + float(x[:t].sum())) / (t + 1)
        squares += (value - mean) ** 2
    return found


def _bernstein(x: np.ndarray) -> tuple[list[float], list[float]]:
    lows, highs = [], []
    bets = values = cost = 0.0
    for value, (bet, mean) in zip(x.tolist(), _plugged_in(x), strict=True):
        bet = min(bet, 0.5)
        bets, values = bets + bet, values + bet * value
        cost += (value - mean) ** 2 * (-np.log(1 - bet) - bet)
        half = (np.log(2 / 0.05) + cost) / bets
        lows.append(values / bets - half)
        highs.append(values / bets + half)
    return lows, highs


def _betting(x: np.ndarray) -> tuple[list[float], list[float]]:
    """Candidates in thousandths that no capital has ruled out; one at a time, each way."""
    grid = np.arange(1001) / 1000
    logs = np.zeros((2, 1001))
    lows, highs = [], []
    for value, (bet, _) in zip(x.tolist(), _plugged_in(x), strict=True):
        with np.errstate(divide="ignore"):
            up, down = np.minimum(bet, 0.5 / grid), np.minimum(bet, 0.5 / (1 - grid))
        logs[0] += np.log1p(up * (value - grid))
        logs[1] += np.log1p(-down * (value - grid))
        kept = (logs < np.log(2 / 0.05)).all(axis=0)
        lows.append(grid[kept].min())
        highs.append(grid[kept].max())
    return lows, highs


def test_bets_on_a_finite_set(rng: np.random.Generator) -> None:
    """The capital as exact fractions."""
    values = [int(one) for one in rng.integers(0, 11, 12)]
    bet, owed = st.FiniteBet(40, 4), Fraction(160)
    capitals = [Fraction(1, len(FRACTIONS))] * len(FRACTIONS)
    for place, value in enumerate(values):
        bet.add(value)
        worth = value * (40 - place) / owed - 1
        capitals = [one * (1 + Fraction(part) * worth) for one, part in zip(capitals, FRACTIONS, strict=True)]
        owed -= value
    assert bet.evidence == pytest.approx(float(sum(capitals)), rel=1e-9)
