"""STATISTICS.md, last column: where nothing can be said, None and the reason by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchbook import statistics as st
from benchbook.statistics.means import clustered_jeffreys_of_sums, jeffreys_of_sums

NOTHING = (None, None, None)


@pytest.mark.parametrize(
    ("found", "values", "reason"),
    [
        pytest.param(lambda: st.wilson(0, 0), NOTHING, "no_data", id="wilson-of-nothing"),
        pytest.param(lambda: st.clopper_pearson(0, 0), NOTHING, "no_data", id="exact-of-nothing"),
        pytest.param(lambda: st.t_interval([]), NOTHING, "no_data", id="mean-of-nothing"),
        pytest.param(lambda: st.t_interval([0.3]), (0.3, None, None), "one_value", id="mean-of-one"),
        pytest.param(lambda: st.t_interval([0.1] * 3), (0.1, None, None), "no_variance", id="mean-without-spread"),
        pytest.param(lambda: st.bootstrap_mean([]), NOTHING, "no_data", id="bootstrap-of-nothing"),
        pytest.param(lambda: st.bootstrap_mean([0.3]), (0.3, None, None), "one_value", id="bootstrap-of-one"),
        pytest.param(lambda: st.bootstrap_mean([0.5] * 9), (0.5, None, None), "no_variance", id="bootstrap-alike"),
        pytest.param(lambda: st.bootstrap_mean([1, 0, 1, 0], clusters="aaaa"), (0.5, None, None), "one_cluster",
                     id="bootstrap-of-one-cluster"),
        pytest.param(lambda: st.clustered_mean([], []), NOTHING, "no_data", id="clustered-nothing"),
        pytest.param(lambda: st.clustered_mean([1, 0], "aa"), (0.5, None, None), "one_cluster", id="one-cluster"),
        pytest.param(lambda: st.clustered_mean([0.1, 0.7, 0.1, 0.7], "aabb"), (0.4, None, None), "no_variance",
                     id="clusters-alike"),
        pytest.param(lambda: st.clustered_mean([0.1] * 6, "aabbcc"), (0.1, None, None), "no_variance",
                     id="clusters-without-spread"),
        pytest.param(lambda: st.percentile_interval([], 0.5), NOTHING, "no_data", id="percentile-of-nothing"),
        pytest.param(lambda: st.percentile_interval([7], 0.5), (7.0, None, None), "sample_too_small",
                     id="percentile-of-one"),
        pytest.param(lambda: st.percentile_interval(range(20), 0.95), (18.05, 16.0, None), "sample_too_small",
                     id="percentile-without-upper-bound"),
        pytest.param(lambda: st.paired_difference([], []), NOTHING, "no_data", id="no-pairs"),
        pytest.param(lambda: st.paired_difference([1], [0]), (-1.0, None, None), "one_value", id="one-pair"),
        pytest.param(lambda: st.paired_difference([1, 0], [1, 0]), (0.0, None, None), "no_discordant_pairs",
                     id="no-pair-differs"),
        pytest.param(lambda: st.paired_difference([0, 0, 0], [1, 1, 1]), (1.0, None, None), "no_variance",
                     id="pairs-differ-alike"),
        pytest.param(lambda: st.paired_difference([0.1, 0.2, 0.7], [0.2, 0.3, 0.8]), (0.1, None, None), "no_variance",
                     id="pairs-differ-alike-but-for-rounding"),
        pytest.param(lambda: st.paired_difference([0.3, 0.3], [0.1 + 0.2] * 2), (0.0, None, None),
                     "no_discordant_pairs", id="pairs-differ-by-rounding"),
        pytest.param(lambda: st.t_interval([0.3, 0.1 + 0.2]), (0.3, None, None), "no_variance",
                     id="rounding-is-no-spread"),
        pytest.param(lambda: st.paired_difference([1, 0, 1], [1, 0, 1], clusters="aab"), (0.0, None, None),
                     "no_discordant_pairs", id="no-pair-differs-in-clusters"),
        pytest.param(lambda: st.bonett_price(0, 0, 0), NOTHING, "no_data", id="bonett-price-of-nothing"),
        pytest.param(lambda: st.cohens_kappa([], []), NOTHING, "no_data", id="kappa-of-nothing"),
        pytest.param(lambda: st.cohens_kappa([2], [2], (0, 1, 2)), NOTHING, "one_category", id="kappa-of-one-item"),
        pytest.param(lambda: st.cohens_kappa([2, 2], [2, 2], (0, 1, 2), weights="quadratic"), NOTHING, "one_category",
                     id="weighted-kappa-of-one-category"),
        pytest.param(lambda: st.cohens_kappa([0, 0], [2, 2], method="bca"), (0.0, None, None), "no_variance",
                     id="kappa-never-agrees"),
        pytest.param(lambda: st.cohens_kappa("abcd" * 9, "abcd" * 9, method="bca"), (1.0, None, None), "no_variance",
                     id="kappa-always-agrees"),
        pytest.param(lambda: st.cohens_kappa([0, 1], [0, 1], clusters="aa"), (1.0, None, None), "one_cluster",
                     id="kappa-of-one-cluster"),
        pytest.param(lambda: st.gwet_ac([2], [2], (0, 1, 2)), (1.0, None, None), "one_value", id="ac1-of-one-item"),
        pytest.param(lambda: st.gwet_ac([], []), NOTHING, "no_data", id="ac1-of-nothing"),
        pytest.param(lambda: st.gwet_ac([2, 2], [2, 2]), NOTHING, "one_category", id="ac1-of-one-category"),
        pytest.param(lambda: st.gwet_ac([2, 2], [2, 2], (0, 1, 2), method="bca"), (1.0, None, None), "no_variance",
                     id="ac1-of-one-category-of-three"),
        pytest.param(lambda: st.krippendorff_alpha([]), NOTHING, "no_data", id="alpha-without-raters"),
        pytest.param(lambda: st.krippendorff_alpha([[1, None], [None, 2]]), NOTHING, "no_data",
                     id="alpha-without-pairs"),
        pytest.param(lambda: st.krippendorff_alpha([[1, 1, 3], [1, 1, None]]), NOTHING, "one_category",
                     id="alpha-of-one-category"),
        pytest.param(lambda: st.krippendorff_alpha([range(101), range(101)]), (1.0, None, None), "too_many_values",
                     id="alpha-of-many-values"),
        pytest.param(lambda: st.krippendorff_alpha([[0, 0], [1e-200, 2e-200]], level="interval"), NOTHING,
                     "one_category", id="alpha-of-values-that-are-0"),
        pytest.param(lambda: st.t_interval([0.0, 1e-200]), (0.0, None, None), "no_variance", id="mean-of-near-zeros"),
        pytest.param(lambda: st.bounded_mean([]), NOTHING, "no_data", id="bounded-mean-of-nothing"),
        pytest.param(lambda: st.bounded_mean([], clusters=[]), NOTHING, "no_data", id="bounded-mean-of-no-cluster"),
        pytest.param(lambda: st.bounded_mean([0.5]), (0.5, None, None), "one_value", id="bounded-mean-of-one"),
        pytest.param(lambda: st.bounded_mean([1, 1, 1]), (1.0, None, None), "no_variance", id="bounded-mean-alike"),
        pytest.param(lambda: st.bounded_mean([0.1 + 0.2, 0.3]), (0.3, None, None), "no_variance",
                     id="bounded-mean-alike-but-for-rounding"),
        pytest.param(lambda: st.bounded_mean([1, 0], clusters="aa"), (0.5, None, None), "one_cluster",
                     id="bounded-mean-of-one-cluster"),
        pytest.param(lambda: st.bounded_mean([1, 1], clusters="ab"), (1.0, None, None), "no_variance",
                     id="bounded-mean-of-clusters-alike"),
        pytest.param(lambda: jeffreys_of_sums(0, 0, 0), NOTHING, "no_data", id="bounded-mean-of-no-sums"),
        pytest.param(lambda: clustered_jeffreys_of_sums([(0, 0)], 0), NOTHING, "no_data",
                     id="bounded-mean-of-an-empty-cluster"),
        pytest.param(lambda: st.fleiss_kappa([]), NOTHING, "no_data", id="fleiss-of-nothing"),
        pytest.param(lambda: st.fleiss_kappa([[3, 0], [3, 0]]), NOTHING, "one_category", id="fleiss-of-one-category"),
        pytest.param(lambda: st.rank_correlation([], []).spearman, NOTHING, "no_data", id="correlation-of-nothing"),
        pytest.param(lambda: st.rank_correlation([1], [1]).spearman, NOTHING, "one_value", id="correlation-of-one"),
        pytest.param(lambda: st.rank_correlation([1, 1, 1], [1, 2, 3]).kendall_tau_b, NOTHING, "no_variance",
                     id="correlation-with-a-constant"),
        pytest.param(lambda: st.rank_correlation([1, 2, 3], [1, 3, 2]).spearman, (0.5, None, None), "sample_too_small",
                     id="correlation-of-three"),
        pytest.param(lambda: st.rank_correlation(range(9), range(9)).kendall_tau_b, (1.0, None, None),
                     "perfect_correlation", id="perfect-correlation"),
        pytest.param(lambda: _corrected(0, 0), NOTHING, "no_data", id="corrected-of-nothing"),
        pytest.param(lambda: _corrected(5, 10, positives=0, true_positives=0), NOTHING, "no_data", id="no-positives"),
        pytest.param(lambda: _corrected(5, 10, true_positives=1, true_negatives=9), NOTHING,
                     "judge_no_better_than_chance", id="judge-by-chance-exactly"),
        pytest.param(lambda: st.prediction_powered_mean([], [], [1]), NOTHING, "no_data", id="ppi-of-nothing"),
        pytest.param(lambda: st.prediction_powered_mean([1], [1], [1, 0]), (1.0, None, None), "one_value",
                     id="ppi-of-one-label"),
        pytest.param(lambda: st.prediction_powered_mean([1, 1], [1, 1], [1, 1]), (1.0, None, None), "no_variance",
                     id="ppi-without-spread"),
        pytest.param(lambda: st.confidence_sequence([]).last, NOTHING, "no_data", id="sequence-of-nothing"),
        pytest.param(lambda: st.repeat_summary([]).mean, NOTHING, "no_data", id="no-repeats"),
        pytest.param(lambda: st.repeat_summary([[1, 0]]).mean, (0.5, -5.853102, 6.853102), None, id="one-repeat"),
    ],
)  # fmt: skip
def test_an_interval_is_null_with_its_reason(
    found: Callable[[], st.Estimate], values: tuple[float | None, ...], reason: str | None
) -> None:
    result = found()
    assert (result.estimate, result.low, result.high) == pytest.approx(values, abs=1e-5)
    assert result.reason == reason
    assert reason is None or reason in st.REASONS
    assert set(result.warnings) <= set(st.WARNINGS)
    assert result.standard_error is None or reason is None


def _corrected(flagged: int, n: int, **more: int) -> st.CorrectedRate:
    counts = {"true_positives": 9, "positives": 10, "true_negatives": 9, "negatives": 10} | more
    return st.rogan_gladen(flagged, n, **counts)


@pytest.mark.parametrize(
    ("found", "p", "reason"),
    [
        pytest.param(lambda: st.paired_permutation_test([]), None, "no_data", id="flips-of-nothing"),
        pytest.param(lambda: st.paired_permutation_test([0, 0]), 1.0, "no_discordant_pairs", id="flips-of-zeros"),
        pytest.param(lambda: st.paired_permutation_test([0] * 30, exact=False), 1.0, "no_discordant_pairs",
                     id="drawn-flips-of-zeros"),
        pytest.param(lambda: st.paired_permutation_test([1]), 1.0, None, id="flips-of-one"),
        pytest.param(lambda: st.paired_permutation_test([1] * 20), 2**-19, None, id="twenty-alike-are-exact"),
        pytest.param(lambda: st.paired_permutation_test([1] * 21), 1 / 100_001, None, id="twenty-one-are-drawn"),
        pytest.param(lambda: st.paired_permutation_test([1, 1, -1, -1], clusters="aabb"), 1.0, None, id="two-clusters"),
        pytest.param(lambda: st.paired_permutation_test([1, -1, 2, -2], clusters="aabb"), 1.0, "no_discordant_pairs",
                     id="clusters-that-even-out"),
        pytest.param(lambda: st.wilcoxon_signed_rank([], []), None, "no_data", id="ranks-of-nothing"),
        pytest.param(lambda: st.wilcoxon_signed_rank([1, 2], [1, 2]), 1.0, "no_discordant_pairs", id="ranks-of-zeros"),
    ],
)  # fmt: skip
def test_a_test_says_why_it_finds_nothing(found: Callable[[], Any], p: float | None, reason: str | None) -> None:
    result = found()
    assert result.p == pytest.approx(p)
    assert result.reason == reason


@pytest.mark.parametrize(
    ("found", "warning"),
    [
        pytest.param(lambda: st.clustered_mean([1, 0, 1], "abc"), "few_clusters", id="three-clusters"),
        pytest.param(lambda: st.bootstrap_mean([1, 0, 1, 0], clusters="abcd"), "few_clusters", id="four-clusters"),
        pytest.param(lambda: st.paired_binary([1, 0], [0, 0], clusters="ab").test, "clusters_ignored", id="mcnemar"),
        pytest.param(lambda: _corrected(0, 100), "clipped", id="below-0"),
        pytest.param(lambda: _corrected(5, 10, positives=9), "few_labels", id="nine-positives"),
        pytest.param(lambda: _corrected(50, 100, positives=1, true_positives=1, negatives=100, true_negatives=1),
                     "judge_near_chance", id="judge-hardly-better-than-chance"),
        pytest.param(lambda: st.prediction_powered_mean([1, 0], [1, 0], [1, 0, 1]), "few_labels", id="two-labels"),
        pytest.param(lambda: st.prediction_powered_mean([1, 0], [1, 0], []), "no_unlabelled", id="nothing-unlabelled"),
        pytest.param(lambda: st.cohens_kappa([1, 1, 1, 0, 1], [1, 1, 0, 0, 1], method="bca"), "undefined_resamples",
                     id="rare-category"),
        pytest.param(lambda: st.cohens_kappa([1, 1, 0], [1, 0, 0], clusters="abc"), "few_clusters",
                     id="kappa-of-three-clusters"),
        pytest.param(lambda: st.bounded_mean([1, 0, 1], clusters="abb"), "few_clusters", id="two-clusters"),
        pytest.param(lambda: st.wilcoxon_signed_rank([1, 2], [2, 1]), "few_differing_pairs", id="two-pairs-differ"),
        pytest.param(lambda: st.confidence_sequence([0.0] * 99 + [1.0] * 999).last, "bounds_crossed", id="a-jump"),
        pytest.param(lambda: st.variance_components([0, 1, 0, 1], "aabb"), "negative_component", id="items-alike"),
    ],
)  # fmt: skip
def test_a_result_carries_its_warning(found: Callable[[], Any], warning: str) -> None:
    assert warning in found().warnings
    assert warning in st.WARNINGS


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda: st.wilson(3, 2), id="more-successes-than-trials"),
        pytest.param(lambda: st.wilson(-1, 2), id="negative"),
        pytest.param(lambda: st.wilson(1, 2, 95), id="confidence-in-percent"),
        pytest.param(lambda: st.t_interval([1.0, float("nan")]), id="nan"),
        pytest.param(lambda: st.t_interval([1.0, float("inf")]), id="infinity"),
        pytest.param(lambda: st.t_interval([1.0, None]), id="none"),
        pytest.param(lambda: st.t_interval([[1.0], [2.0]]), id="a-table"),
        pytest.param(lambda: st.clustered_mean([1.0, 2.0], "a"), id="too-few-clusters"),
        pytest.param(lambda: st.bounded_mean([0.5, 1.5]), id="above-the-highest"),
        pytest.param(lambda: st.bounded_mean([-1, 1], highest=2), id="below-the-lowest"),
        pytest.param(lambda: st.bounded_mean([1, 1], lowest=1, highest=1), id="no-scale"),
        pytest.param(lambda: st.prediction_powered_mean([2, 1], [1, 1], [1], scale=(0, 1)), id="label-off-the-scale"),
        pytest.param(lambda: st.n_to_settle_bounded_mean(0.5, 0.0, 0.6), id="settling-without-spread"),
        pytest.param(lambda: st.percentile_ranks(9, 95), id="percentile-in-percent"),
        pytest.param(lambda: st.paired_difference([1], [1, 2]), id="unpaired"),
        pytest.param(lambda: st.paired_binary([2], [1]), id="not-binary"),
        pytest.param(lambda: st.paired_difference([1], [0], method="bonett_price", clusters="a"), id="no-such-form"),
        pytest.param(lambda: st.bonett_price(3, 3, 5), id="more-discordant-than-pairs"),
        pytest.param(lambda: st.mcnemar(-1, 2), id="negative-pairs"),
        pytest.param(lambda: st.paired_permutation_test([1] * 21, exact=True), id="too-many-to-be-exact"),
        pytest.param(lambda: st.adjust_p_values([0.5, 1.5]), id="p-above-1"),
        pytest.param(lambda: st.non_inferiority([1, 0], [1, 1], -0.1), id="negative-margin"),
        pytest.param(lambda: st.equivalence([1, 0], [1, 1], 0.1, confidence=0.4), id="confidence-below-a-half"),
        pytest.param(lambda: st.cohens_kappa([3], [1], (0, 1, 2)), id="unknown-category"),
        pytest.param(lambda: st.cohens_kappa([1], [1], (1, 1)), id="category-twice"),
        pytest.param(lambda: st.cohens_kappa([1], [1, 2]), id="ratings-unpaired"),
        pytest.param(lambda: st.cohens_kappa([1, None], [1, 2]), id="missing-rating"),
        pytest.param(lambda: st.gwet_ac([1, float("nan")], [1, 2]), id="nan-for-a-rating"),
        pytest.param(lambda: st.cohens_kappa([1, "a"], [1, "b"]), id="ratings-without-order"),
        pytest.param(lambda: st.krippendorff_alpha([[1, -1], [-1, 1]], level="ratio"), id="negative-ratios"),
        pytest.param(lambda: st.fleiss_kappa([[1.5, 0.5], [1, 1]]), id="half-a-rater"),
        pytest.param(lambda: st.prediction_powered_mean([1, 0], [1, 0], [1], judge_weight=float("nan")),
                     id="nan-weight"),
        pytest.param(lambda: st.bootstrap_mean([1, 0], n_resamples=1), id="one-resample"),
        pytest.param(lambda: st.paired_permutation_test([1, 0], n_draws=0), id="no-draws"),
        pytest.param(lambda: st.variance_components([1, 0, 1], "aab").standard_error(0, 1), id="no-items"),
        pytest.param(lambda: st.confidence_sequence([0.5], largest=float("inf")), id="endless-range"),
        pytest.param(lambda: st.krippendorff_alpha([[1], [1, 2]]), id="ragged-ratings"),
        pytest.param(lambda: st.krippendorff_alpha([["a"], ["b"]], level="ordinal"), id="words-in-order"),
        pytest.param(lambda: st.fleiss_kappa([[1, 1], [3, 0]]), id="unequal-raters"),
        pytest.param(lambda: _corrected(11, 10), id="more-flagged-than-judged"),
        pytest.param(lambda: st.sample_size_two_proportions(0.5, 1.2), id="share-above-1"),
        pytest.param(lambda: st.sample_size_paired_binary(0.5, 0.6), id="shares-above-1-together"),
        pytest.param(lambda: st.sample_size_paired_mean(0.1, 0), id="no-spread"),
        pytest.param(lambda: st.sample_size_paired_mean(0.1, 1, power=80), id="power-in-percent"),
        pytest.param(lambda: st.sample_size_paired_mean(float("nan"), 1), id="no-number"),
        pytest.param(lambda: st.sample_size_paired_mean(0.1, float("inf")), id="endless-spread"),
        pytest.param(lambda: st.krippendorff_alpha([[1, float("nan")], [1, 2]]), id="nan-rating"),
        pytest.param(lambda: st.design_effect(0.5, 0.1), id="less-than-an-item-a-cluster"),
        pytest.param(lambda: st.confidence_sequence([2.0]), id="outside-the-range"),
        pytest.param(lambda: st.confidence_sequence([0.5], smallest=1, largest=0), id="no-range"),
        pytest.param(lambda: st.rank_runs({"a": [1, 2], "b": [1]}), id="runs-of-different-items"),
        pytest.param(lambda: st.repeat_summary([[1, 2], [1]]), id="repeats-of-different-items"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(wrong: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        wrong()


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(lambda: st.sample_size_two_proportions(0.5, 0.5), id="rates"),
        pytest.param(lambda: st.sample_size_paired_binary(0.1, 0.1), id="pairs"),
        pytest.param(lambda: st.sample_size_paired_mean(0.0, 1.0), id="mean"),
        pytest.param(lambda: st.sample_size_paired_mean(1e-300, 1.0), id="next-to-nothing"),
    ],
)
def test_no_number_of_items_shows_no_difference(found: Callable[[], st.SampleSize]) -> None:
    assert found().n is None
    assert found().reason == "no_difference"


def test_one_item_shows_a_certain_difference() -> None:
    assert st.sample_size_paired_mean(1e9, 1.0).n == 1


def test_a_judge_that_may_be_no_better_than_chance_leaves_every_rate_possible() -> None:
    """Lang and Reiczigel's adjusted judge is worse than chance here, so the counts are redrawn."""
    found = _corrected(50, 100, positives=1, true_positives=1, negatives=100, true_negatives=1)
    assert (found.method, found.low, found.high, found.seed) == ("parametric_bootstrap", 0.0, 1.0, 0)


@pytest.mark.parametrize("size", [1e-6, 1e30, 1e60])
def test_the_unit_does_not_matter(size: float) -> None:
    values = [1.0, 2.0, 4.0, 4.0]
    for interval in (st.t_interval, st.bootstrap_mean):
        found, scaled = interval(values), interval([size * value / 4 for value in values])
        assert (scaled.low, scaled.high) == pytest.approx((found.low * size / 4, found.high * size / 4), rel=1e-9)


def test_nan_can_not_leave() -> None:
    with pytest.raises(ArithmeticError, match=r"Estimate\.low is nan"):
        st.Estimate(estimate=1.0, low=float("nan"), high=2.0, confidence=0.95, method="t", n=2)
