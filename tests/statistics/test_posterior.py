"""Intervals of agreement by random weights, against draws made elsewhere, and where they must agree with others."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from benchbook import statistics as st

A = [2, 2, 2, 2, 1, 2, 0, 2, 2, 1, 2, 2, 0, 2, 2]
B = [2, 2, 1, 2, 1, 2, 0, 2, 2, 2, 2, 2, 1, 2, 2]


def _less(n: int) -> float:
    return float((NormalDist().inv_cdf(0.975) / stats.t.ppf(0.975, n - 1)) ** 2)


def test_weights_are_dirichlets_with_one_item_spread_over_all_cells() -> None:
    """Drawn by NumPy's own Dirichlet; each table's kappa by the formula, and by scikit-learn of a hundred of them."""
    counts = np.zeros((3, 3))
    np.add.at(counts, (A, B), 1)
    tables = np.random.default_rng(1).dirichlet(counts.ravel() * _less(15) + 1 / 9, 4000)
    a, b = np.indices((3, 3)).reshape(2, 9)
    by_row, by_column = (np.stack([tables[:, of == k].sum(axis=1) for k in range(3)]) for of in (a, b))
    by_chance = by_row[a] * by_column[b]
    kappas = 1 - tables @ (a - b) ** 2 / ((a - b) ** 2 @ by_chance)
    theirs = [cohen_kappa_score(a, b, weights="quadratic", sample_weight=table) for table in tables[:100]]
    assert kappas[:100] == pytest.approx(theirs)
    found = st.cohens_kappa(A, B, (0, 1, 2), weights="quadratic")
    assert found.estimate == pytest.approx(cohen_kappa_score(A, B, weights="quadratic"))
    assert (found.low, found.high) == pytest.approx(np.quantile(kappas, [0.025, 0.975]), abs=0.03)


@pytest.mark.parametrize(
    "coefficient",
    [
        pytest.param(lambda a, b: st.cohens_kappa(a, b, (0, 1, 2), weights="linear"), id="kappa"),
        pytest.param(lambda a, b: st.gwet_ac(a, b, (0, 1, 2)), id="ac1"),
        pytest.param(lambda a, b: st.krippendorff_alpha([a, b]), id="alpha"),
    ],
)
def test_raters_who_always_agree_may_yet_differ(coefficient) -> None:  # type: ignore[no-untyped-def]
    few, many = coefficient(A, A), coefficient(A * 20, A * 20)
    assert few.estimate == few.high == many.estimate == many.high == 1.0
    assert 0.2 < few.low < 0.9 < many.low < 1.0
    assert few.reason is None


def test_alpha_of_two_raters_who_use_the_values_alike_is_nearly_kappa() -> None:
    """Alpha takes both raters' marginals for one; of many items who use them alike it differs by 1/n."""
    a, b = (A + B) * 10, (B + A) * 10
    alpha, kappa = st.krippendorff_alpha([a, b], level="interval"), st.cohens_kappa(a, b, weights="quadratic")
    assert (alpha.estimate, alpha.low, alpha.high) == pytest.approx((kappa.estimate, kappa.low, kappa.high), abs=0.02)


@pytest.mark.parametrize("method", ["weighted", "bca"])
def test_clusters_of_one_item_change_nothing_but_the_draws(method: st.AgreementMethod) -> None:
    alone = st.cohens_kappa(A * 4, B * 4, method=method)
    apart = st.cohens_kappa(A * 4, B * 4, method=method, clusters=range(60))
    assert (apart.low, apart.high) == pytest.approx((alone.low, alone.high), abs=0.03)
    assert apart.n_clusters == 60


def test_many_ratings_drown_what_was_added() -> None:
    a, b = A * 200, B * 200
    weighted, resampled = st.cohens_kappa(a, b), st.cohens_kappa(a, b, method="bca")
    assert (weighted.low, weighted.high) == pytest.approx((resampled.low, resampled.high), abs=0.004)


def test_the_seed_decides_and_is_told() -> None:
    first, again, other = (st.cohens_kappa(A, B, seed=seed) for seed in (7, 7, 8))
    assert first == again != other
    assert (first.seed, other.seed) == (7, 8)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [None, [n // 2 for n in range(60)]], ids=["items", "clusters"])
def test_of_more_categories_than_can_be_listed_resamples_are_drawn(clusters: list[int] | None) -> None:
    a = [n % 20 for n in range(60)]
    b = [n % 19 for n in range(60)]
    for coefficient in (st.cohens_kappa, st.gwet_ac):
        assert coefficient(a, b, clusters=clusters) == coefficient(a, b, clusters=clusters, method="bca")
    assert st.krippendorff_alpha([a, b], clusters=clusters).low is not None


def test_of_thousands_of_different_clusters_resamples_are_drawn() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 3, (2, 40_000)).tolist()
    clusters = np.repeat(np.arange(4000), 10)
    found, resampled = (
        st.cohens_kappa(a, b, clusters=clusters, method=method, n_resamples=200) for method in ("weighted", "bca")
    )
    assert found == resampled
