"""How often 95 % intervals hold the true value: exactly where the outcomes can be listed, else over thousands of seeds.

`COVERAGE` is what the manual says, of 10,000 seeds: the percentage of given intervals that hold the value, and in
brackets the percentage of samples for which one is given at all (the rest have null bounds and a reason). Where a
figure leaves 93.5 to 96.5, the method can't do better: counts are discrete, scores skewed, clusters few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from math import comb
from statistics import NormalDist

import numpy as np
import pytest

from benchbook import statistics as st
from benchbook.evaluators.intervals import Interval, rate_interval
from benchbook.statistics.ground import Floats, Ints
from coverage_table import COVERAGE

pytestmark = pytest.mark.slow

SIZES, RATES, SEEDS = (20, 50, 200), (0.02, 0.5, 0.98), 10_000
FEWER_SEEDS = 4000  # for what takes 50 µs and more at every seed
FEWEST_SEEDS = 1000  # for what resamples at every seed
Coverage = tuple[float, float]  # percent of given intervals that hold the value, percent of samples that have one


def _binomial(n: int, p: float) -> list[float]:
    return [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def _tally(found: Iterator[tuple[float, st.Estimate | Interval]], truth: float) -> Coverage:
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


def _of_scores(n: int, rate: float, interval: Callable[[Floats], st.Estimate], seeds: int) -> Coverage:
    """Scores from a beta distribution with this mean and a standard deviation of 0.41 times a pass's."""
    samples = np.random.default_rng(1).beta(5 * rate, 5 * (1 - rate), (seeds, n))
    return _tally(((1.0, interval(x)) for x in samples), rate)


def t_of_scores(n: int, rate: float) -> Coverage:
    return _of_scores(n, rate, st.t_interval, FEWER_SEEDS)


def jeffreys_of_scores(n: int, rate: float) -> Coverage:
    return _of_scores(n, rate, st.bounded_mean, SEEDS)


def _of_grades(n: int, rate: float, interval: Callable[[Floats], st.Estimate]) -> Coverage:
    """Grades of 0, 1 and 2, `rate` of them 2 and the others as often 1 as 0: listed."""
    share = (1 - rate) / 2
    weighted = (
        (comb(n, i) * comb(n - i, j) * share ** (i + j) * rate ** (n - i - j), i, j)
        for i in range(n + 1)
        for j in range(n + 1 - i)
    )
    found = ((w, interval(np.repeat([0.0, 1.0, 2.0], [i, j, n - i - j]))) for w, i, j in weighted if w > 1e-7)
    return _tally(found, 2 * rate + share)


def t_of_grades(n: int, rate: float) -> Coverage:
    return _of_grades(n, rate, st.t_interval)


def jeffreys_of_grades(n: int, rate: float) -> Coverage:
    return _of_grades(n, rate, partial(st.bounded_mean, highest=2.0))


def bca_of_scores(n: int, rate: float) -> Coverage:
    rng = np.random.default_rng(2)
    samples = rng.beta(5 * rate, 5 * (1 - rate), (FEWEST_SEEDS, n))
    return _tally(((1.0, st.bootstrap_mean(x, seed=i, n_resamples=1000)) for i, x in enumerate(samples)), rate)


def _of_clusters(n: int, rate: float, seeds: int) -> Floats:
    """Passes in clusters of five, correlation 0.3 within."""
    rng = np.random.default_rng(3)
    strength = (1 - 0.3) / 0.3
    rates = rng.beta(strength * rate, strength * (1 - rate), (seeds, n // 5)).repeat(5, axis=1)
    return np.asarray((rng.random(rates.shape) < rates) * 1.0)


def clustered_t(n: int, rate: float) -> Coverage:
    clusters = np.arange(n) // 5
    return _tally(((1.0, st.clustered_mean(x, clusters)) for x in _of_clusters(n, rate, FEWER_SEEDS)), rate)


def clustered_rate(n: int, rate: float) -> Coverage:
    """As aggregates have it: by the intraclass correlation, or where all samples are alike Wilson over the clusters."""
    passes = np.sort(_of_clusters(n, rate, SEEDS).reshape(SEEDS, -1, 5).sum(axis=2).astype(int), axis=1)
    distinct, times = np.unique(passes, axis=0, return_counts=True)
    found = (
        (float(w), rate_interval(sum(one), n, [(5, k) for k in one], 0.95))
        for w, one in zip(times, distinct.tolist(), strict=True)
    )
    return _tally(found, rate)


def _discordant(n: int, rate: float, interval: Callable[[int, int], st.Estimate]) -> Coverage:
    """Both runs pass `rate` of the items; half of the discordant pairs that independence would give."""
    share = rate * (1 - rate) / 2
    weighted = (
        (comb(n, i) * comb(n - i, j) * share ** (i + j) * (1 - 2 * share) ** (n - i - j), i, j)
        for i in range(n + 1)
        for j in range(n + 1 - i)
        if i + j < 6 * n * share + 30
    )
    return _tally(((w, interval(i, j)) for w, i, j in weighted if w > 1e-7), 0.0)


def paired_t(n: int, rate: float) -> Coverage:
    def interval(only_a: int, only_b: int) -> st.Estimate:
        b = np.repeat([-1.0, 1.0, 0.0], [only_a, only_b, n - only_a - only_b])
        return st.paired_difference(np.zeros(n), b)

    return _discordant(n, rate, interval)


def paired_mid_p(n: int, rate: float) -> Coverage:
    @cache  # a table and its mirror image are right or wrong together
    def interval(fewer: int, more: int) -> st.Estimate:
        return st.paired_rates(fewer, more, n)

    return _discordant(n, rate, lambda only_a, only_b: interval(min(only_a, only_b), max(only_a, only_b)))


def paired_bounded(n: int, rate: float) -> Coverage:
    """Two runs' scores, from beta distributions with a mean of `rate`, half of which they share."""
    rng = np.random.default_rng(15)
    own = rng.beta(5 * rate, 5 * (1 - rate), (3, SEEDS // 2, n))
    same = rng.random((SEEDS // 2, n)) < 0.5
    differences = np.where(same, 0.0, own[1] - own[0])
    return _tally(((1.0, st.bounded_difference(x)) for x in differences), 0.0)


def paired_clusters(n: int, rate: float) -> Coverage:
    """As `paired_mid_p`, in clusters of uneven sizes (4, 1, 8, 2, 5 and so on), correlation 0.3 within."""
    rng = np.random.default_rng(16)
    codes = np.repeat(np.arange(n), np.resize([4, 1, 8, 2, 5], n))[:n]
    share = rate * (1 - rate) / 2
    shared = rng.normal(0, np.sqrt(0.3), (SEEDS // 2, n))[:, codes]
    latent = shared + rng.normal(0, np.sqrt(0.7), (SEEDS // 2, n))
    limit = NormalDist().inv_cdf(1 - share)
    differences = (latent > limit) * 1.0 - (latent < -limit) * 1.0
    return _tally(((1.0, st.bounded_difference(x, clusters=codes)) for x in differences), 0.0)


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


def _powered(n: int, rate: float, scale: tuple[float, float] | None, seeds: int) -> Coverage:
    """n labels, 5 n further samples judged, right in 85 %."""
    rng = np.random.default_rng(5)
    cells = [0.85 * rate, 0.15 * rate, 0.15 * (1 - rate), 0.85 * (1 - rate)]  # label and judge: 11, 10, 01, 00
    drawn = rng.multinomial(n, cells, seeds), rng.binomial(5 * n, cells[0] + cells[2], (seeds, 1))
    distinct, times = np.unique(np.hstack(drawn), axis=0, return_counts=True)

    def interval(labelled: Ints, flagged: int) -> st.Estimate:
        labels, judged = np.repeat([1.0, 1.0, 0.0, 0.0], labelled), np.repeat([1.0, 0.0, 1.0, 0.0], labelled)
        unseen = np.repeat([1.0, 0.0], [flagged, 5 * n - flagged])
        return st.prediction_powered_mean(labels, judged, unseen, scale=scale)

    found = (interval(one[:4], int(one[4])) for one in distinct)
    return _tally(zip(times.tolist(), found, strict=True), rate)


def prediction_powered_normal(n: int, rate: float) -> Coverage:
    return _powered(n, rate, None, FEWER_SEEDS)


def prediction_powered(n: int, rate: float) -> Coverage:
    return _powered(n, rate, (0.0, 1.0), SEEDS)


def _agreement(
    n: int, rate: float, coefficient: Callable[..., st.Agreement], method: st.AgreementMethod, seeds: int = SEEDS
) -> Coverage:
    """Two raters, each right in 90 % about items of which `rate` pass."""
    rng = np.random.default_rng(6)
    both = 0.9 * 0.9 * rate + 0.1 * 0.1 * (1 - rate)
    marginal = 0.9 * rate + 0.1 * (1 - rate)
    cells = [both, marginal - both, marginal - both, 1 - 2 * marginal + both]
    expected = marginal**2 + (1 - marginal) ** 2
    expected = 1 - expected if coefficient is st.gwet_ac else expected
    truth = (cells[0] + cells[3] - expected) / (1 - expected)
    distinct, times = np.unique(rng.multinomial(n, cells, seeds), axis=0, return_counts=True)
    found = (
        coefficient(
            np.repeat([1, 1, 0, 0], counts).tolist(), np.repeat([1, 0, 1, 0], counts).tolist(), (0, 1), seed=i,
            method=method, n_resamples=1000,
        )
        for i, counts in enumerate(distinct)
    )  # fmt: skip
    return _tally(zip(times.tolist(), found, strict=True), truth)


def kappa_bca(n: int, rate: float) -> Coverage:
    return _agreement(n, rate, st.cohens_kappa, "bca", FEWEST_SEEDS)


def kappa(n: int, rate: float) -> Coverage:
    return _agreement(n, rate, st.cohens_kappa, "weighted", FEWER_SEEDS)


def gwet_ac1(n: int, rate: float) -> Coverage:
    return _agreement(n, rate, st.gwet_ac, "weighted", FEWER_SEEDS)


def median_ranks(n: int, _: float) -> Coverage:
    found = st.percentile_ranks(n, 0.5)
    return 100 * (found.coverage or 0.0), 100.0 * (found.coverage is not None)


METHODS = {
    "wilson": (wilson, 0.06),
    "clopper_pearson": (clopper_pearson, 0.06),
    "t_of_passes": (t_of_passes, 0.06),
    "t_of_scores": (t_of_scores, 1.1),
    "bca_of_scores": (bca_of_scores, 2.5),
    "jeffreys_of_scores": (jeffreys_of_scores, 0.8),
    "t_of_grades": (t_of_grades, 0.06),
    "jeffreys_of_grades": (jeffreys_of_grades, 0.06),
    "clustered_t": (clustered_t, 1.1),
    "clustered_rate": (clustered_rate, 0.8),
    "paired_t": (paired_t, 0.06),
    "paired_mid_p": (paired_mid_p, 0.06),
    "paired_bounded": (paired_bounded, 0.9),
    "paired_clusters": (paired_clusters, 0.9),
    "bonett_price": (bonett_price, 0.06),
    "lang_reiczigel": (lang_reiczigel, 0.8),
    "prediction_powered_normal": (prediction_powered_normal, 1.1),
    "prediction_powered": (prediction_powered, 0.8),
    "kappa_bca": (kappa_bca, 3.5),
    "kappa": (kappa, 1.1),
    "gwet_ac1": (gwet_ac1, 1.1),
    "median_ranks": (median_ranks, 0.06),
}
"""Each with how far a figure may be from the table's: rounding where outcomes are listed, else chance."""


@pytest.mark.parametrize("row", COVERAGE.split("\n")[1:-1], ids=lambda row: row.split()[0])
def test_intervals_cover_what_the_manual_says(row: str) -> None:
    name, *figures = row.split()
    coverage, tolerance = METHODS[name]
    for figure, (n, rate) in zip(figures, ((n, rate) for n in SIZES for rate in RATES), strict=True):
        held, _, given = figure.rstrip(")").partition("(")
        found_held, found_given = coverage(n, rate)
        assert found_held == pytest.approx(float(held), abs=tolerance), f"{name}, n = {n}, rate = {rate}"
        assert found_given == pytest.approx(float(given or 100), abs=max(1.5, tolerance)), (
            f"{name}, n = {n}, rate = {rate}"
        )


@pytest.mark.parametrize("q", [0.5, 0.95])
@pytest.mark.parametrize("n", [20, 50, 200, 1000])
def test_percentile_intervals_are_exact(n: int, q: float) -> None:
    """Of uniform values the quantile q is q: the ranks' own coverage is what happens."""
    ranks = st.percentile_ranks(n, q)
    if ranks.coverage is None:
        return
    values = np.sort(np.random.default_rng(7).random((SEEDS, n)), axis=1)
    held = (values[:, ranks.low_rank - 1] <= q) & (q <= values[:, ranks.high_rank - 1])
    assert held.mean() == pytest.approx(ranks.coverage, abs=0.008)


@pytest.mark.parametrize(("method", "seeds", "n"), [("betting", 250, 400), ("empirical_bernstein", 3000, 1000)])
@pytest.mark.parametrize("draw", ["passes at 0.5", "passes at 0.98", "scores"])
def test_a_confidence_sequence_errs_less_than_promised_though_it_is_looked_at_every_time(
    method: st.SequenceMethod, seeds: int, n: int, draw: str
) -> None:
    """Bounds only narrow, so the last ones miss the mean if any ever did: whoever stops at will errs no more often."""
    rng = np.random.default_rng(8)
    mean = {"passes at 0.5": 0.5, "passes at 0.98": 0.98, "scores": 0.8}[draw]
    values = rng.beta(4.0, 1.0, (seeds, n)) if draw == "scores" else (rng.random((seeds, n)) < mean) * 1.0
    last = [st.confidence_sequence(x, method=method).last for x in values]
    assert np.mean([not _covers(one, mean) for one in last]) <= 0.05
    plain_missed = [
        any(not _covers(st.t_interval(x[:stop]), mean) for stop in range(20, n, n // 20)) for x in values[:250]
    ]
    assert np.mean(plain_missed) > 0.08  # what a fixed-n interval does when it is looked at twenty times


def _covers(found: st.Estimate, mean: float) -> bool:
    return found.low is None or found.high is None or found.low <= mean <= found.high


def test_a_confidence_sequence_gets_narrow() -> None:
    x = (np.random.default_rng(9).random(2000) < 0.8) * 1.0
    betting, bernstein = (st.confidence_sequence(x, method=m).last for m in ("betting", "empirical_bernstein"))
    fixed = st.wilson(int(x.sum()), 2000)
    assert fixed.high - fixed.low < betting.high - betting.low < 2 * (fixed.high - fixed.low)
    assert betting.high - betting.low < bernstein.high - bernstein.low


@pytest.mark.parametrize(("p1", "p2"), [(0.7, 0.75), (0.1, 0.2), (0.5, 0.7)])
def test_planned_groups_find_the_difference_as_often_as_planned(p1: float, p2: float) -> None:
    n = st.sample_size_two_proportions(p1, p2).n
    a, b = np.random.default_rng(10).binomial(n, [[p1], [p2]], (2, SEEDS)) / n
    middle = (a + b) / 2
    found = np.abs(a - b) / np.sqrt(2 * middle * (1 - middle) / n) > 1.959964
    assert found.mean() == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(("only_a", "only_b"), [(0.05, 0.1), (0.02, 0.1), (0.2, 0.3)])
def test_planned_pairs_find_the_difference_as_often_as_planned(only_a: float, only_b: float) -> None:
    n = st.sample_size_paired_binary(only_a, only_b).n
    counts = np.random.default_rng(11).multinomial(n, [only_a, only_b, 1 - only_a - only_b], SEEDS)
    found = np.abs(counts[:, 1] - counts[:, 0]) / np.sqrt(np.maximum(counts[:, 0] + counts[:, 1], 1)) > 1.959964
    assert 0.78 < found.mean() < 0.85  # the closed form is on the safe side where few pairs are needed


def test_planned_pairs_in_clusters_find_the_difference_as_often_as_planned() -> None:
    """Clusters of five, correlation 0.4, so 2.6 times the pairs."""
    effect = st.design_effect(5, 0.4)
    n_clusters = st.sample_size_paired_mean(0.2, 1.0, design_effect=effect).n // 5
    rng = np.random.default_rng(12)
    shared = rng.normal(0, np.sqrt(0.4), (4000, n_clusters, 1))
    d = 0.2 + shared + rng.normal(0, np.sqrt(0.6), (4000, n_clusters, 5))
    means = d.mean(axis=2)
    found = np.abs(means.mean(axis=1)) / (means.std(axis=1, ddof=1) / np.sqrt(n_clusters)) > 1.985
    assert found.mean() == pytest.approx(0.8, abs=0.025)


def test_sign_flips_keep_their_level() -> None:
    """Skewless differences around 0, fifteen pairs: rejected at 5 % in 5 % of samples."""
    d = np.random.default_rng(13).standard_t(3, (2000, 15))
    rejected = [st.paired_permutation_test(x).p <= 0.05 for x in d]
    assert np.mean(rejected) == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize(("test", "most"), [("p_exact", 0.05), ("p_mid", 0.0525)])
@pytest.mark.parametrize("discordant", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("n_pairs", [25, 60, 150])
def test_mcnemar_keeps_its_level(n_pairs: int, discordant: float, test: str, most: float) -> None:
    """Listed exactly, over how many pairs may differ; the mid-p test exceeds its level by a hair at most."""
    level = 0.0
    for n, likely in enumerate(_binomial(n_pairs, discordant)):
        rejected = [getattr(st.mcnemar(k, n - k), test) <= 0.05 for k in range(n + 1)]
        level += likely * float(np.array(_binomial(n, 0.5)) @ rejected)
    assert level <= most


@pytest.mark.parametrize("gap", [0.0, 0.03])
@pytest.mark.parametrize("kind", ["passes", "scores", "in clusters"])
def test_ranks_lie_where_they_say_and_the_truly_best_run_is_among_the_best(kind: str, gap: float) -> None:
    """Four runs over 150 items of mixed difficulty, one of them better by `gap`, or all alike: a run's interval holds
    every rank that it shares, in 95 % of samples for all four at once."""
    rng = np.random.default_rng(14)
    held = 0
    for _ in range(300):
        difficulty = np.resize(rng.beta(2, 1, 30).repeat(5) if kind == "in clusters" else rng.beta(2, 1, 150), 150)
        chance = np.clip(difficulty[:, None] + [gap, 0, 0, 0], 0, 1)
        scores = (rng.random((150, 4)) < chance) * 1.0
        if kind == "scores":
            scores = np.clip(0.5 * scores + 0.5 * chance + rng.normal(0, 0.05, (150, 4)), 0, 1)
        clusters = None if kind != "in clusters" else np.arange(150) // 5
        found = st.rank_runs({str(i): scores[:, i] for i in range(4)}, clusters=clusters)
        true = {str(i): (1, 4) if not gap else (1, 1) if i == 0 else (2, 4) for i in range(4)}
        held += all(one.rank_low <= true[one.name][0] and true[one.name][1] <= one.rank_high for one in found.runs)
    assert held / 300 >= 0.95


def test_the_test_and_the_interval_of_paired_rates_never_disagree() -> None:
    for n in (1, 2, 5, 12):
        for only_a, only_b in ((i, j) for i in range(n + 1) for j in range(n + 1 - i)):
            for confidence in (0.8, 0.9, 0.95, 0.99):
                found = st.paired_rates(only_a, only_b, n, confidence)
                assert -1 <= found.low <= found.estimate <= found.high <= 1
                assert (found.low <= 0 <= found.high) == (st.mcnemar(only_a, only_b).p_mid > 1 - confidence)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3])
def test_slices_that_can_show_nothing_take_nothing_from_the_others(share: float) -> None:
    """Twenty slices of twenty items, one of them better by 0.3: found in a quarter (Holm: in a twentieth)."""
    rng = np.random.default_rng(17)
    found = dict.fromkeys(("right", "false", "holm"), 0)
    for _ in range(1000):
        effect = np.zeros(20)
        effect[0] = 0.3
        lost = rng.binomial(20, np.maximum(0.0, share / 2 - effect / 2))
        won = rng.binomial(20, share / 2 + effect / 2 + (share < 0.3) * effect / 2)
        p = [st.mcnemar(int(a), int(b)).p_mid for a, b in zip(lost, won, strict=True)]
        adjusted = st.tarone_holm(p, [0.5 ** int(a + b) for a, b in zip(lost, won, strict=True)])
        found["right"] += adjusted[0] <= 0.05
        found["false"] += min(adjusted[1:]) <= 0.05
        found["holm"] += st.adjust_p_values(p).holm[0] <= 0.05
    assert found["false"] <= 50  # 5 % of 1,000
    assert found["right"] > 1.15 * found["holm"]
