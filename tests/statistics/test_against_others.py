"""The same numbers as SciPy, statsmodels and scikit-learn, over twenty random inputs at least.

What no package here computes is held against its formula, in test_against_formulas.py; that every public function is
in one of the two, test_every_function_is_judged.py.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.regression.linear_model import OLS
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.stats import inter_rater, multitest, power, proportion, weightstats
from statsmodels.stats.contingency_tables import mcnemar

from benchbook import statistics as st

SEEDS = range(20)
ALMOST = {"rtol": 1e-9, "atol": 1e-12}


def _pairs(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    return a, np.where(rng.random(n) < 0.6, a, rng.integers(0, 3, n))


@pytest.mark.parametrize("n", [1, 7, 50, 100_000])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_intervals_of_a_rate(n: int, share: float, confidence: float) -> None:
    k = round(share * n)
    for ours, method in ((st.wilson, "wilson"), (st.clopper_pearson, "beta")):
        low, high = proportion.proportion_confint(k, n, 1 - confidence, method)
        found = ours(k, n, confidence)
        np.testing.assert_allclose([found.low, found.high], np.nan_to_num([low, high], nan=float(k == n)), **ALMOST)


@pytest.mark.parametrize("n", [2, 5, 1000, 100_000, *range(6, 22)])
def test_t_interval(n: int) -> None:
    x = np.random.default_rng(n).normal(3.0, 2.0, n)
    expected = scipy.stats.t.interval(0.9, n - 1, x.mean(), scipy.stats.sem(x))
    for found in (st.t_interval(x, 0.9), st.mean_interval(x, confidence=0.9)):
        np.testing.assert_allclose([found.low, found.high], expected, **ALMOST)


@pytest.mark.parametrize("seed", SEEDS)
def test_paired_differences(seed: int) -> None:
    a, b = _pairs(seed)
    found = st.paired_difference(a, b, confidence=0.9)
    theirs = scipy.stats.ttest_rel(b, a).confidence_interval(0.9)
    np.testing.assert_allclose([found.low, found.high], [theirs.low, theirs.high], **ALMOST)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_runs_of_passes(seed: int) -> None:
    """The fourfold table, the difference and both p-values."""
    a, b = ((one > 0).astype(int) for one in _pairs(seed))
    found = st.paired_binary(a, b)
    table = np.array([[found.neither, found.only_b], [found.only_a, found.both]])
    np.testing.assert_array_equal(table, [[((a == i) & (b == j)).sum() for j in (0, 1)] for i in (0, 1)])
    assert found.test.p_exact == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-9)
    theirs = scipy.stats.ttest_rel(b, a).confidence_interval(0.95)
    np.testing.assert_allclose([found.difference.low, found.difference.high], [theirs.low, theirs.high], **ALMOST)


@pytest.mark.parametrize("seed", SEEDS)
def test_clustered_standard_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, clusters = rng.random(80), rng.integers(0, 12, 80)
    fit = OLS(x, np.ones(80)).fit(cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False})
    found = st.clustered_mean(x, clusters)
    assert found.standard_error == pytest.approx(fit.bse[0], rel=1e-9)
    expected = scipy.stats.t.interval(0.95, np.unique(clusters).size - 1, x.mean(), fit.bse[0])
    np.testing.assert_allclose([found.low, found.high], expected, **ALMOST)


@pytest.mark.parametrize("seed", SEEDS)
def test_bca_of_a_mean(seed: int) -> None:
    x = np.random.default_rng(seed).exponential(1.0, 40)
    theirs = scipy.stats.bootstrap((x,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1))
    found = st.bootstrap_mean(x, n_resamples=20_000)
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    expected = [theirs.confidence_interval.low, theirs.confidence_interval.high]
    np.testing.assert_allclose([found.low, found.high], expected, atol=0.05 * width)
    assert found.standard_error == pytest.approx(theirs.standard_error, rel=0.03)


@pytest.mark.parametrize("seed", SEEDS)
def test_bca_of_a_ratio(seed: int) -> None:
    table = np.random.default_rng(seed).gamma(2.0, 1.0, (50, 2))
    theirs = scipy.stats.bootstrap(
        (table[:, 0], table[:, 1]), lambda x, y, axis: x.sum(axis=axis) / y.sum(axis=axis), paired=True,
        n_resamples=20_000, method="BCa", rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    found = st.bootstrap_interval(
        st.Units.of(table), lambda totals: totals[:, 0] / totals[:, 1], n=50, n_resamples=20_000
    )
    np.testing.assert_allclose(
        [found.low, found.high], [theirs.low, theirs.high], atol=0.05 * (theirs.high - theirs.low)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_percentile_intervals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, q = np.sort(rng.exponential(1.0, 200)), rng.uniform(0.1, 0.9)
    low, high = scipy.stats.binom.ppf([0.025, 0.975], 200, q).astype(int)
    found = st.percentile_interval(rng.permutation(x), q)
    assert (found.low, found.high) == (x[low - 1], x[high])
    assert found.estimate == pytest.approx(scipy.stats.mstats.mquantiles(x, [q], 1, 1)[0], rel=1e-9)  # type 7


@pytest.mark.parametrize("n", [10, 37, 60, 144, 500])
@pytest.mark.parametrize("q", [0.05, 0.5, 0.9, 0.99])
def test_percentile_ranks(n: int, q: float) -> None:
    low, high = scipy.stats.binom.ppf([0.025, 0.975], n, q)
    found = st.percentile_ranks(n, q)
    assert (found.low_rank or 0, found.high_rank or n + 1) == (low, high + 1)


@pytest.mark.parametrize(
    ("only_a", "only_b"),
    [(0, 1), (3, 9), (40, 8), (400, 460), *np.random.default_rng(5).integers(1, 90, (16, 2)).tolist()],
)
def test_mcnemar(only_a: int, only_b: int) -> None:
    found = st.mcnemar(only_a, only_b)
    assert found.p_exact == pytest.approx(mcnemar([[0, only_a], [only_b, 0]], exact=True).pvalue, rel=1e-9)
    one_point = scipy.stats.binom.pmf(only_a, only_a + only_b, 0.5)
    expected = 1.0 if only_a == only_b else found.p_exact - one_point
    assert found.p_mid == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_sign_flips(seed: int, alternative: st.Alternative) -> None:
    d = np.random.default_rng(seed).normal(0.4, 1.0, 9)
    theirs = scipy.stats.permutation_test(
        (d,), np.mean, permutation_type="samples", alternative=alternative, n_resamples=np.inf
    )
    assert st.paired_permutation_test(d, alternative=alternative).p == pytest.approx(theirs.pvalue, rel=1e-9)


@pytest.mark.parametrize("magnitudes", ["few", "many"])
def test_drawn_sign_flips_come_near_the_exact_p(magnitudes: str) -> None:
    rng = np.random.default_rng(3)
    d = rng.integers(-2, 4, 18) if magnitudes == "few" else rng.normal(0.4, 1.0, 18)
    exact, drawn = st.paired_permutation_test(d), st.paired_permutation_test(d, exact=False)
    assert drawn.p == pytest.approx(exact.p, abs=0.005)


def test_tables_of_signs_give_the_variance_of_the_sum() -> None:
    d = np.random.default_rng(4).normal(0.0, 1.0, 301)
    p = st.paired_permutation_test(d + 0.1).p
    assert p == pytest.approx(2 * scipy.stats.norm.sf(abs((d + 0.1).sum()) / np.sqrt(((d + 0.1) ** 2).sum())), abs=0.01)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("zeros", ["pratt", "wilcox"])
def test_signed_ranks(seed: int, zeros: str) -> None:
    a, b = _pairs(seed)
    theirs = scipy.stats.wilcoxon(b - a, zero_method=zeros, method="asymptotic")
    assert st.wilcoxon_signed_rank(a, b, zeros=zeros).p == pytest.approx(theirs.pvalue, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_adjusted_p_values(seed: int) -> None:
    p = np.random.default_rng(seed).beta(0.3, 1.0, 15).round(2)  # with ties
    found = st.adjust_p_values(p.tolist())
    np.testing.assert_allclose(found.holm, multitest.multipletests(p, method="holm")[1], **ALMOST)
    np.testing.assert_allclose(found.benjamini_hochberg, multitest.multipletests(p, method="fdr_bh")[1], **ALMOST)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("margin", [0.05, 0.2, 0.5])
def test_margins(seed: int, margin: float) -> None:
    a, b = _pairs(seed)
    p, lower, upper = weightstats.ttost_paired(b.astype(float), a.astype(float), -margin, margin)
    assert st.equivalence(a, b, margin).holds == (p < 0.05)
    assert st.non_inferiority(a, b, margin).holds == (lower[1] < 0.05)
    assert st.non_inferiority(a, b, margin, higher_is_better=False).holds == (upper[1] < 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("ours", "theirs"), [("unweighted", None), ("linear", "linear"), ("quadratic", "quadratic")])
def test_kappa(seed: int, ours: st.Weights, theirs: str | None) -> None:
    a, b = _pairs(seed)
    found = st.cohens_kappa(a.tolist(), b.tolist(), (0, 1, 2), weights=ours)
    assert found.estimate == pytest.approx(cohen_kappa_score(a, b, labels=[0, 1, 2], weights=theirs), rel=1e-9)


def test_ac2_of_gwets_formula_by_hand() -> None:
    """Linear weights of three categories: 1 for the same, 1/2 for one apart, 0 for two apart."""
    a, b = [0, 1, 2, 2], [0, 2, 2, 1]  # weights 1, 1/2, 1, 1/2: observed 3/4
    # Shares 1/4, 1/4, 1/2: the sum of share * (1 - share) is 5/8. Weights sum to 5: chance is 5 / (3 * 2) * 5/8.
    expected = (0.75 - 25 / 48) / (1 - 25 / 48)
    assert st.gwet_ac(a, b, (0, 1, 2), weights="linear").estimate == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_resamples_is_the_librarys(seed: int, level: st.Level) -> None:
    """The interval's own alpha, on the whole sample, must be the estimate that the krippendorff library gives."""
    from benchbook.statistics import many_raters

    rng = np.random.default_rng(seed)
    counts = rng.multinomial(4, [0.5, 0.3, 0.15, 0.05], 30).astype(float)
    values = np.array([0.0, 1.0, 2.0, 5.0])
    ratings = [[values[row.argmax()] if (row := _nth_rating(c, r)).any() else None for c in counts] for r in range(4)]
    found = st.krippendorff_alpha(ratings, level=level, n_resamples=100)
    table = sum(many_raters._coincidences(one[None, :]) for one in counts)
    ours = many_raters._alpha_of(values, level)(table.reshape(1, -1))[0]
    assert ours == pytest.approx(found.estimate, rel=1e-9)


def _nth_rating(counts: np.ndarray, rater: int) -> np.ndarray:
    """The rater's rating as marks, where the ratings that were counted are dealt out in order."""
    dealt = np.repeat(np.arange(counts.size), counts.astype(int))
    return np.eye(counts.size)[dealt[rater]]


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss(seed: int) -> None:
    counts = np.random.default_rng(seed).multinomial(5, [0.5, 0.3, 0.2], 25)
    assert st.fleiss_kappa(counts.tolist()).estimate == pytest.approx(inter_rater.fleiss_kappa(counts), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_rank_correlations(seed: int) -> None:
    a, b = _pairs(seed)
    found = st.rank_correlation(a, b)
    assert found.kendall_tau_b.estimate == pytest.approx(scipy.stats.kendalltau(a, b).statistic, rel=1e-9)
    assert found.spearman.estimate == pytest.approx(scipy.stats.spearmanr(a, b).statistic, rel=1e-9)
    for one, variance in (
        (found.kendall_tau_b, 0.437 / 56),
        (found.spearman, (1 + found.spearman.estimate**2 / 2) / 57),
    ):
        bounds = np.tanh(scipy.stats.norm.interval(0.95, np.arctanh(one.estimate), np.sqrt(variance)))
        np.testing.assert_allclose([one.low, one.high], bounds, **ALMOST)


@pytest.mark.parametrize("seed", SEEDS)
def test_sample_size_of_a_paired_mean(seed: int) -> None:
    """The normal form is statsmodels' of one sample; and at most two pairs short of the t distribution."""
    rng = np.random.default_rng(seed)
    difference, sd = rng.uniform(0.05, 0.5) * rng.choice([-1, 1]), rng.uniform(0.3, 2.0)
    found = st.sample_size_paired_mean(difference, sd, power=0.9).n
    size = abs(difference) / sd
    assert found == np.ceil(power.NormalIndPower().solve_power(size, alpha=0.05, power=0.9, ratio=0))
    assert -2.5 < found - power.TTestPower().solve_power(size, alpha=0.05, power=0.9) < 1


@pytest.mark.parametrize("seed", SEEDS)
def test_sample_size_of_two_proportions(seed: int) -> None:
    """statsmodels' power is enough from this number on, and not from one less."""
    rng = np.random.default_rng(seed)
    p1 = rng.uniform(0.1, 0.6)
    p2 = p1 + rng.uniform(0.05, 0.3)
    n = st.sample_size_two_proportions(p1, p2).n
    powers = [proportion.power_proportions_2indep(p2 - p1, p1, size).power for size in (n - 1, n)]
    assert powers[0] < 0.8 <= powers[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_sample_size_of_the_mid_p_test(seed: int) -> None:
    """The power of the test, added up by SciPy: enough with this number, and not with one less."""
    rng = np.random.default_rng(seed)
    only_a = rng.uniform(0.02, 0.1)
    only_b = only_a + rng.uniform(0.15, 0.3)
    n = st.sample_size_mid_p(only_a, only_b).n
    assert _mid_p_power(only_a, only_b, n - 1) < 0.8 <= _mid_p_power(only_a, only_b, n)


def _mid_p_power(only_a: float, only_b: float, n: int) -> float:
    found = 0.0
    for differing in range(n + 1):
        k = np.arange(differing + 1)
        lower = scipy.stats.binom.cdf(k, differing, 0.5) - scipy.stats.binom.pmf(k, differing, 0.5) / 2
        rejected = 2 * np.minimum(lower, 1 - lower) <= 0.05
        won = scipy.stats.binom.pmf(k, differing, only_b / (only_a + only_b))
        found += scipy.stats.binom.pmf(differing, n, only_a + only_b) * won[rejected].sum()
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_how_many_values_settle_a_rate(seed: int) -> None:
    """By statsmodels' Wilson interval, which takes parts of a success: it keeps the limit from this number on."""
    rng = np.random.default_rng(seed)
    n, limit = 100, 0.85
    k = int(rng.choice([*range(60, 83), *range(88, 99)]))
    found = st.n_to_settle_rate(k, n, limit)
    settled = [
        low >= limit or high <= limit
        for low, high in (proportion.proportion_confint(k / n * m, m, 0.05, "wilson") for m in (found - 1, found))
    ]
    assert settled == [False, True]


@pytest.mark.parametrize("seed", SEEDS)
def test_how_many_values_settle_a_mean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    distance, sd = rng.uniform(0.02, 0.3), rng.uniform(0.1, 0.5)
    found = st.n_to_settle_mean(distance, sd)
    halves = [scipy.stats.t.ppf(0.975, m - 1) * sd / np.sqrt(m) for m in (found - 1, found)]
    assert halves[0] > distance >= halves[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_how_many_values_settle_a_percentile(seed: int) -> None:
    """The least number of which the upper order statistic of SciPy's binomial is among those within the limit."""
    rng = np.random.default_rng(seed)
    n, q = 100, 0.9
    within = int(rng.integers(93, 100))
    found = st.n_to_settle_percentile(within, n, q)
    expected = next(m for m in range(1, 10_000) if scipy.stats.binom.ppf(0.975, m, q) + 1 <= m * within // n)
    assert found == expected


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("clusters", [None, 12])
def test_repeats(seed: int, clusters: int | None) -> None:
    """The mean over repeats is clustered by item; its spread is NumPy's of their means."""
    rng = np.random.default_rng(seed)
    rows = rng.random((3, clusters or 30))
    found = st.repeat_summary(rows.tolist())
    items = np.tile(np.arange(rows.shape[1]), 3)
    cluster = {"groups": items, "use_correction": False}
    fit = OLS(rows.ravel(), np.ones(rows.size)).fit(cov_type="cluster", cov_kwds=cluster)
    assert found.mean.standard_error == pytest.approx(fit.bse[0], rel=1e-9)
    assert found.sd == pytest.approx(rows.mean(axis=1).std(ddof=1), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_ranks(seed: int) -> None:
    """McNemar's mid-p of every two runs by SciPy, adjusted by statsmodels: whom it shows to be better ranks above."""
    rng = np.random.default_rng(seed)
    scores = (rng.random((80, 5)) < np.array([0.8, 0.75, 0.55, 0.5, 0.3])) * 1
    pairs = [(i, j) for i in range(5) for j in range(i)]
    p = []
    for i, j in pairs:
        lost, won = int((scores[:, i] > scores[:, j]).sum()), int((scores[:, i] < scores[:, j]).sum())
        few, all_ = min(lost, won), lost + won
        p.append(min(1.0, 2 * scipy.stats.binom.cdf(few, all_, 0.5) - scipy.stats.binom.pmf(few, all_, 0.5)))
    shown = [
        pair
        for pair, adjusted in zip(pairs, multitest.multipletests(p, method="holm")[1], strict=True)
        if adjusted <= 0.05
    ]
    means = scores.mean(axis=0)
    for one in st.rank_runs({str(i): scores[:, i] for i in range(5)}).runs:
        rivals = [means[j if i == int(one.name) else i] for i, j in shown if int(one.name) in (i, j)]
        better, worse = (sum(sign * (rival - one.mean) > 0 for rival in rivals) for sign in (1, -1))
        assert (one.rank_low, one.rank_high) == (1 + better, 5 - worse)


@pytest.mark.parametrize("seed", SEEDS)
def test_variance_components(seed: int) -> None:
    """Against statsmodels' mixed model by REML, which a balanced analysis of variance equals."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0.0, 1.0, 60)[:, None] + rng.normal(0.0, 0.5, (60, 4))
    found = st.variance_components(scores.ravel(), np.arange(60).repeat(4))
    fit = MixedLM(scores.ravel(), np.ones(240), np.arange(60).repeat(4)).fit()
    assert found.within == pytest.approx(fit.scale, rel=1e-3)
    assert found.between == pytest.approx(float(np.asarray(fit.cov_re).item()), rel=1e-2)
