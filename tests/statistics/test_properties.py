"""What always holds, whatever the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs

from benchbook import statistics as st
from support import examples

SCORES = hs.floats(0, 1, allow_nan=False)
ANY = hs.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 6))
CONFIDENCE = hs.floats(0.5, 0.999)
FAST = examples(50)


@hs.composite
def counts(draw: hs.DrawFn, most: int = 300) -> tuple[int, int]:
    n = draw(hs.integers(0, most))
    return draw(hs.integers(0, n)), n


def labelled(values: hs.SearchStrategy[float], most: int = 40) -> hs.SearchStrategy[list[tuple[float, int]]]:
    return hs.lists(hs.tuples(values, hs.integers(0, 5)), max_size=most)


def _in_order(found: st.Estimate) -> bool:
    """Null bounds with a reason, or bounds around the estimate; nothing NaN or infinite."""
    assert all(math.isfinite(value) for value in asdict(found).values() if isinstance(value, float))
    if found.low is None or found.high is None:
        return found.reason in st.REASONS
    hair = 1e-9 * max(1.0, abs(found.high - found.low))
    return found.estimate is not None and found.low - hair <= found.estimate <= found.high + hair


@given(counts(), CONFIDENCE)
def test_intervals_of_a_rate_lie_in_0_to_1_and_mirror(of: tuple[int, int], confidence: float) -> None:
    k, n = of
    for interval in (st.wilson, st.clopper_pearson):
        found, mirrored = interval(k, n, confidence), interval(n - k, n, confidence)
        assert _in_order(found)
        if n:
            assert 0 <= found.low <= found.high <= 1
            assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-9)


@given(counts().filter(lambda of: of[1] > 0))
def test_the_exact_interval_is_the_wider_on_the_far_side(of: tuple[int, int]) -> None:
    narrow, wide = st.clopper_pearson(*of, 0.9), st.clopper_pearson(*of, 0.99)
    assert wide.low <= narrow.low <= narrow.high <= wide.high


@given(hs.lists(ANY, max_size=40), CONFIDENCE)
def test_a_t_interval_is_around_its_mean(values: list[float], confidence: float) -> None:
    assert _in_order(st.t_interval(values, confidence))


@given(hs.lists(SCORES, min_size=2, max_size=40), hs.randoms())
def test_a_t_interval_does_not_depend_on_order(values: list[float], random: object) -> None:
    shuffled = random.sample(values, k=len(values))  # type: ignore[attr-defined]
    found, again = st.t_interval(values), st.t_interval(shuffled)
    assert found.reason == again.reason
    assert (found.low, found.high) == pytest.approx((again.low, again.high), abs=1e-9)


@given(labelled(SCORES))
def test_a_clustered_mean_is_around_its_mean_and_takes_any_label(of: list[tuple[float, int]]) -> None:
    values, clusters = [value for value, _ in of], [cluster for _, cluster in of]
    found = st.clustered_mean(values, clusters)
    assert _in_order(found)
    assert found == st.clustered_mean(values, [f"group {cluster}" for cluster in clusters])
    assert found == st.clustered_mean(np.array(values), np.array(clusters, dtype=int))


@given(hs.lists(SCORES, min_size=2, max_size=40))
def test_singletons_as_clusters_give_the_plain_error_times_their_small_sample_factor(values: list[float]) -> None:
    plain, clustered = st.t_interval(values), st.clustered_mean(values, range(len(values)))
    if plain.standard_error and clustered.standard_error:
        factor = math.sqrt((len(values) - 1) / len(values))
        assert clustered.standard_error == pytest.approx(plain.standard_error * factor, rel=1e-6)


@FAST
@given(labelled(hs.sampled_from([0.0, 0.25, 0.5, 1.0])), hs.integers(0, 9))
def test_a_bootstrap_stays_within_the_values_and_repeats_with_its_seed(of: list[tuple[float, int]], seed: int) -> None:
    values, clusters = [value for value, _ in of], [cluster for _, cluster in of]
    for grouping in (None, clusters):
        found = st.bootstrap_mean(values, clusters=grouping, seed=seed, n_resamples=200)
        assert found == st.bootstrap_mean(
            values[::-1], clusters=grouping and grouping[::-1], seed=seed, n_resamples=200
        )
        if found.low is None:
            assert found.reason in st.REASONS
        else:
            assert min(values) - 1e-12 <= found.low <= found.high <= max(values) + 1e-12
            assert found.seed == seed


@given(hs.integers(0, 2000), hs.floats(0.01, 0.99), CONFIDENCE)
def test_percentile_ranks_cover_what_they_promise(n: int, q: float, confidence: float) -> None:
    found = st.percentile_ranks(n, q, confidence)
    if found.coverage is None:
        assert found.reason in {"no_data", "sample_too_small"}
    else:
        assert 1 <= found.low_rank < found.high_rank <= n
        assert found.coverage >= confidence - 1e-12


@given(hs.lists(hs.tuples(hs.integers(0, 1), hs.integers(0, 1)), max_size=60))
def test_two_runs_swapped_give_the_opposite(pairs: list[tuple[int, int]]) -> None:
    a, b = [one for one, _ in pairs], [one for _, one in pairs]
    there, back = st.paired_binary(a, b), st.paired_binary(b, a)
    assert (there.only_a, there.only_b, there.test.p_exact) == (back.only_b, back.only_a, back.test.p_exact)
    assert there.both + there.only_a + there.only_b + there.neither == there.n == len(pairs)
    assert there.test.p_mid <= there.test.p_exact <= 1
    for one, other in ((there.difference, back.difference), (_adjusted(a, b), _adjusted(b, a))):
        if one.low is not None:
            assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)


def _adjusted(a: Sequence[int], b: Sequence[int]) -> st.Estimate:
    return st.paired_difference(a, b, method="bonett_price")


@FAST
@given(hs.lists(hs.integers(-2, 2), max_size=14))
def test_sign_flips_of_signs_alone_are_mcnemars_exact_test(differences: list[int]) -> None:
    signs = np.sign(differences)
    flips = st.paired_permutation_test(signs)
    exact = st.mcnemar(int((signs < 0).sum()), int((signs > 0).sum())).p_exact
    assert flips.p == (pytest.approx(exact) if differences else None)


@FAST
@given(hs.lists(hs.integers(-2, 2), min_size=1, max_size=12))
def test_one_sided_sign_flips_mirror(differences: list[int]) -> None:
    greater = st.paired_permutation_test(differences, alternative="greater")
    less = st.paired_permutation_test([-one for one in differences], alternative="less")
    assert greater.p == less.p
    assert greater.p > 0


@given(hs.lists(hs.none() | hs.floats(0, 1), max_size=20))
def test_adjusted_p_values_keep_order_and_gaps(p: list[float | None]) -> None:
    found = st.adjust_p_values(p)
    assert found.n == sum(one is not None for one in p)
    for raw, holm, screened in zip(p, found.holm, found.benjamini_hochberg, strict=True):
        assert (raw is None) == (holm is None) == (screened is None)
        if raw is not None:
            assert raw <= screened + 1e-15
            assert screened <= holm + 1e-15
            assert holm <= 1
    given_p = [(raw, holm) for raw, holm in zip(p, found.holm, strict=True) if raw is not None]
    assert [holm for _, holm in sorted(given_p)] == sorted(holm for _, holm in given_p)


@FAST
@given(hs.lists(hs.tuples(hs.integers(0, 2), hs.integers(0, 2)), max_size=25))
def test_agreement_is_at_most_1_and_does_not_depend_on_who_is_first(pairs: list[tuple[int, int]]) -> None:
    a, b = [one for one, _ in pairs], [one for _, one in pairs]
    for function in (st.cohens_kappa, st.gwet_ac):
        for weights in ("unweighted", "linear", "quadratic"):
            there = function(a, b, (0, 1, 2), weights=weights, n_resamples=50)
            back = function(b, a, (0, 1, 2), weights=weights, n_resamples=50)
            assert there.estimate == pytest.approx(back.estimate)
            assert there.estimate is None or there.estimate <= 1 + 1e-12
            assert there.low is not None or there.reason in st.REASONS
            assert there.observed_agreement == (pytest.approx(np.mean(np.equal(a, b))) if pairs else None)


@FAST
@given(hs.lists(hs.lists(hs.none() | hs.integers(0, 2), min_size=6, max_size=6), min_size=2, max_size=4))
def test_alpha_takes_any_gaps(ratings: list[list[int | None]]) -> None:
    found = st.krippendorff_alpha(ratings, n_resamples=50)
    assert found.estimate is None or found.estimate <= 1 + 1e-12
    assert found.low is not None or found.reason in st.REASONS
    for level in ("nominal", "interval", "ratio"):
        st.krippendorff_alpha(ratings, level=level, n_resamples=50)


@FAST
@given(hs.lists(hs.tuples(ANY, ANY), max_size=20))
def test_a_rank_correlation_does_not_depend_on_the_scale(pairs: list[tuple[float, float]]) -> None:
    a, b = [one for one, _ in pairs], [one for _, one in pairs]
    found = st.rank_correlation(a, b)
    assert _in_order(found.spearman)
    assert _in_order(found.kendall_tau_b)
    stretched = st.rank_correlation(np.cbrt(a) if len(set(np.cbrt(a))) == len(set(a)) else a, b)
    assert found.spearman.estimate == pytest.approx(stretched.spearman.estimate, abs=1e-9)


@FAST
@given(counts(), counts(60), counts(60))
def test_a_corrected_rate_lies_in_0_to_1(
    flagged: tuple[int, int], positives: tuple[int, int], negatives: tuple[int, int]
) -> None:
    found = st.rogan_gladen(
        *flagged, true_positives=positives[0], positives=positives[1], true_negatives=negatives[0],
        negatives=negatives[1], n_resamples=200,
    )  # fmt: skip
    if found.estimate is None:
        assert found.reason in {"no_data", "judge_no_better_than_chance"}
    else:
        assert 0 <= found.low <= found.high <= 1
        assert found.estimate == min(1.0, max(0.0, found.raw_estimate))


@given(hs.lists(hs.tuples(SCORES, SCORES), max_size=30), hs.lists(SCORES, max_size=30))
def test_a_prediction_powered_mean_without_weight_is_the_labels_mean(
    pairs: list[tuple[float, float]], unseen: list[float]
) -> None:
    labels, judged = [one for one, _ in pairs], [one for _, one in pairs]
    tuned = st.prediction_powered_mean(labels, judged, unseen)
    ignored = st.prediction_powered_mean(labels, judged, unseen, judge_weight=0.0)
    assert _in_order(tuned)
    assert ignored.estimate == (pytest.approx(np.mean(labels)) if labels else None)
    assert tuned.judge_weight is None or 0 <= tuned.judge_weight <= 1


@FAST
@given(hs.lists(SCORES, min_size=1, max_size=60), hs.floats(-5, 5), hs.floats(0.1, 9))
def test_a_confidence_sequence_only_narrows_and_moves_with_its_unit(
    values: list[float], shift: float, scale: float
) -> None:
    for method in ("betting", "empirical_bernstein"):
        found = st.confidence_sequence(values, method=method)
        assert list(found.lows) == sorted(found.lows)
        assert list(found.highs) == sorted(found.highs, reverse=True)
        assert all(0 <= low <= high <= 1 for low, high in zip(found.lows, found.highs, strict=True))
        so_far = st.confidence_sequence(values[:-1], method=method)
        assert so_far.lows == found.lows[:-1]
        moved = [min(shift + scale, max(shift, shift + scale * value)) for value in values]
        again = st.confidence_sequence(moved, smallest=shift, largest=shift + scale, method=method)
        np.testing.assert_allclose(again.lows, shift + scale * np.array(found.lows), atol=0.0011 * scale)


@FAST
@given(hs.lists(hs.lists(hs.sampled_from([0.0, 0.5, 1.0]), min_size=5, max_size=5), min_size=1, max_size=5))
def test_a_ranking_shares_ranks_among_ties(columns: list[list[float]]) -> None:
    scores = {str(i): column for i, column in enumerate(columns)} | {"twin": columns[0]}
    found = st.rank_runs(scores)
    by_name = {run.name: run for run in found.runs}
    assert by_name["twin"].rank == by_name["0"].rank
    assert (by_name["twin"].rank_low, by_name["twin"].rank_high) == (by_name["0"].rank_low, by_name["0"].rank_high)
    assert [run.rank for run in found.runs] == sorted(run.rank for run in found.runs)
    for run in found.runs:
        assert run.rank == 1 + sum(other.mean > run.mean for other in found.runs)
        assert 1 <= run.rank_low <= run.rank <= run.rank_high <= len(scores)
        assert run.rank > 1 or run.among_best
    upside_down = st.rank_runs(scores, higher_is_better=False)
    assert found.runs[0].mean == max(run.mean for run in upside_down.runs)
    assert upside_down.runs[0].mean == min(run.mean for run in found.runs)


@given(labelled(SCORES))
def test_variance_components_are_not_negative(of: list[tuple[float, int]]) -> None:
    found = st.variance_components([value for value, _ in of], [item for _, item in of])
    if found.between is None:
        assert found.reason in st.REASONS
    else:
        assert found.between >= 0
        assert found.within >= 0
        assert found.share_within is None or 0 <= found.share_within <= 1
