"""Strengths by verdicts on pairs: against statsmodels, by hand, by what must always hold, and by simulation."""

from __future__ import annotations

from itertools import combinations
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy import stats

from benchbook import statistics as st
from benchbook.statistics import bradley_terry
from benchbook.statistics.distributions import t_quantile


def made(seed: int, *, n: int = 300, n_models: int = 4, n_items: int = 60) -> dict[str, Any]:
    """Verdicts of a judge that likes the first place and long answers, on items of their own difficulty."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, n_models, n)
    b = (a + rng.integers(1, n_models, n)) % n_models
    items = rng.integers(0, n_items, n)
    first, length = rng.choice([-1.0, 1.0], n), rng.normal(size=n)
    of_items = rng.normal(scale=0.7, size=(n_items, n_models))
    odds = 0.4 * (a - b) + of_items[items, a] - of_items[items, b] + 0.3 * first + 0.2 * length
    won = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(float)
    won[rng.random(n) < 0.15] = 0.5
    won[rng.random(n) < 0.05] = rng.random()
    names = np.array([f"m{place}" for place in range(n_models)])
    return {
        "first": names[a],
        "second": names[b],
        "won": won,
        "clusters": items,
        "covariates": {"first": first, "length": length},
    }


def by_statsmodels(given: dict[str, Any], anchor: str) -> tuple[list[str], Any, Any]:
    """The coefficients of the other models and of the covariates, with their covariance."""
    names = sorted({*given["first"], *given["second"]} - {anchor})
    models = [(given["first"] == name).astype(float) - (given["second"] == name).astype(float) for name in names]
    columns = np.column_stack([*models, *given["covariates"].values()])
    groups = given["clusters"]
    found = sm.GLM(given["won"], columns, family=sm.families.Binomial()).fit(
        tol=1e-13, cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    n = len(set(groups.tolist()))
    return names, found.params, n / (n - 1) * found.cov_params()


@pytest.mark.parametrize("seed", range(24))
def test_as_statsmodels_fits_them(seed: int) -> None:
    """GLM Binomial with a covariance by clusters, times G / (G - 1)."""
    given = made(seed, n_models=2 + seed % 5)
    found = st.pair_strengths(**given, anchor="m1")
    names, values, covariance = by_statsmodels(given, "m1")
    by_name = {one.name: one for one in found.models}
    places = [[one.name for one in found.models].index(name) for name in names]
    assert [by_name[name].strength.estimate for name in names] == pytest.approx(values[: len(names)], rel=1e-7)
    ours = np.array(found.covariance)[np.ix_(places, places)]
    assert ours == pytest.approx(covariance[: len(names), : len(names)], rel=1e-6, abs=1e-12)
    for place, one in enumerate(found.effects, start=len(names)):
        assert one.effect.estimate == pytest.approx(values[place], rel=1e-6, abs=1e-9)
        assert one.effect.standard_error == pytest.approx(sqrt(covariance[place, place]), rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_a_weight_is_so_many_verdicts(seed: int) -> None:
    given = made(seed)
    weights = np.random.default_rng(seed).integers(1, 4, given["won"].size)
    repeated = {name: np.repeat(given[name], weights) for name in ("first", "second", "won", "clusters")}
    repeated["covariates"] = {name: np.repeat(one, weights) for name, one in given["covariates"].items()}
    weighed, each = st.pair_strengths(**given, weights=weights), st.pair_strengths(**repeated)
    for one, other in zip(weighed.models, each.models, strict=True):
        assert one.strength.low == pytest.approx(other.strength.low, rel=1e-9)
        assert (one.name, one.rank, one.rank_low, one.rank_high) == (
            other.name, other.rank, other.rank_low, other.rank_high,
        )  # fmt: skip


# ── by hand ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_three_of_four_won() -> None:
    """Odds of 3; scores of 1/4 three times and -3/4 once, so a variance of (4/3) (3/4) / (3/4)^2 = 16/9."""
    found = st.pair_strengths("aaaa", "bbbb", [1, 1, 1, 0], clusters=range(4), anchor="b")
    a, b = found.models
    half = t_quantile(3, 0.975) * 4 / 3
    assert (a.name, b.name, found.reason) == ("a", "b", None)
    assert (a.strength.estimate, a.strength.standard_error) == (pytest.approx(log(3)), pytest.approx(4 / 3))
    assert (a.strength.low, a.strength.high) == (pytest.approx(log(3) - half), pytest.approx(log(3) + half))
    assert (a.win.estimate, a.win.standard_error) == (pytest.approx(3 / 4), pytest.approx(4 / 3 * 3 / 16))
    assert a.win.high == pytest.approx(1 / (1 + np.exp(-log(3) - half)))
    assert (b.strength.low, b.strength.high, b.win.low, b.win.high) == (0, 0, 0.5, 0.5)  # the anchor
    assert [(one.rank, one.rank_low, one.rank_high) for one in (a, b)] == [(1, 1, 2), (2, 1, 2)]


def test_odds_that_multiply_are_strengths_that_add() -> None:
    """a : b = 2 : 1, b : c = 2 : 1, a : c = 4 : 1, and nothing else fits as well."""
    rows = [*["ab"] * 2, "ba", *["bc"] * 2, "cb", *["ac"] * 4, "ca"]
    found = st.pair_strengths(
        [row[0] for row in rows], [row[1] for row in rows], np.ones(len(rows)), clusters=range(len(rows))
    )
    assert [one.name for one in found.models] == ["a", "b", "c"]
    assert [one.strength.estimate for one in found.models] == pytest.approx([log(2), 0, -log(2)], abs=1e-12)
    assert [one.win.estimate for one in found.models] == pytest.approx([(2 / 3 + 4 / 5) / 2, 0.5, (1 / 3 + 1 / 5) / 2])


def test_the_place_alone_decides_in_three_of_four() -> None:
    won, first = [1, 1, 1, 0, 0, 0, 0, 1], [1, 1, 1, 1, -1, -1, -1, -1]
    found = st.pair_strengths("a" * 8, "b" * 8, won, clusters=range(8), covariates={"first": first})
    assert [one.strength.estimate for one in found.models] == pytest.approx([0, 0], abs=1e-12)
    assert found.effects[0].effect.estimate == pytest.approx(log(3))
    assert [one.rank for one in found.models] == [1, 1]


def test_a_tie_is_half_a_win_for_both() -> None:
    ties = st.pair_strengths("aaaa", "bbbb", [1, 0.5, 0.5, 0.5], clusters=range(4))
    halves = st.pair_strengths(
        "aaaaaaaa", "bbbbbbbb", [1, 1, 0, 1, 0, 1, 0, 1], clusters=[0, 1, 1, 2, 2, 3, 3, 0], anchor="b"
    )
    assert halves.models[0].strength.estimate == pytest.approx(log(5 / 3))
    assert ties.models[0].strength.estimate == pytest.approx(log(5 / 3) / 2)  # against the mean of both


# ── nothing can be said ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rows", "reason", "parts"),
    [
        pytest.param([], "no_data", (), id="nothing"),
        pytest.param(["ab", "ab"], "separated", (("a",), ("b",)), id="won everything"),
        pytest.param(["ab", "ba", "ac", "bc"], "separated", (("a", "b"), ("c",)), id="lost everything"),
        pytest.param(["ab", "bc"], "separated", (("a",), ("b",), ("c",)), id="a chain"),
        pytest.param(["ab", "ba", "cd", "cd", "ea"], "not_connected", (("a", "b", "e"), ("c", "d")), id="two islands"),
    ],
)
def test_where_strengths_have_no_bound(rows: list[str], reason: str, parts: Any) -> None:
    firsts, seconds = [row[0] for row in rows], [row[1] for row in rows]
    found = st.pair_strengths(firsts, seconds, np.ones(len(rows)), clusters=range(len(rows)))
    assert (found.models, found.effects, found.reason, found.parts) == ((), (), reason, parts)
    assert found.reason in st.REASONS


def test_of_too_many_models_no_strength_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bradley_terry, "MOST_MODELS", 3)
    assert st.pair_strengths(**made(1, n_models=3)).reason is None
    found = st.pair_strengths(**made(1, n_models=4))
    assert (found.models, found.reason) == ((), "too_many_models")
    assert found.reason in st.REASONS


def test_a_tie_connects_and_bounds() -> None:
    """a won once and tied once against b: odds of 3. b and c tied."""
    found = st.pair_strengths("aab", "bbc", [1, 0.5, 0.5], clusters=range(3), anchor="c")
    assert [(one.name, one.rank) for one in found.models] == [("a", 1), ("b", 2), ("c", 2)]
    assert found.models[0].strength.estimate == pytest.approx(log(3))


def test_a_covariate_that_tells_who_won_has_no_bound() -> None:
    given = {"won": [1, 1, 0, 0, 1, 0], "clusters": range(6), "covariates": {"first": [1, 1, -1, -1, 1, -1]}}
    found = st.pair_strengths("a" * 6, "b" * 6, **given)  # type: ignore[arg-type]
    assert (found.models, found.reason) == ((), "separated_by_covariates")


def test_a_covariate_that_goes_along_with_the_models_is_left_out() -> None:
    """One that others explain, too, and one that is 0 everywhere: the fit is that without them."""
    given = made(3)
    plain = st.pair_strengths(**given)
    is_m0 = (given["first"] == "m0").astype(float) - (given["second"] == "m0").astype(float)
    twice = 2 * given["covariates"]["first"]
    more = given["covariates"] | {"m0": is_m0, "twice": twice, "none": np.zeros(is_m0.size)}
    found = st.pair_strengths(**given | {"covariates": more})
    assert [one.effect.reason for one in found.effects] == [None, None, *["not_told_apart"] * 3]
    assert found.models == plain.models
    assert found.effects[:2] == plain.effects


def test_one_item_and_hardly_any_items_show_no_spread() -> None:
    given = made(5)
    alone = st.pair_strengths(**given | {"clusters": np.zeros(given["won"].size)})
    few = st.pair_strengths(**given | {"clusters": given["clusters"] % 5})  # three strengths and two effects
    six = st.pair_strengths(**given | {"clusters": given["clusters"] % 6})
    assert (alone.reason, few.reason, six.reason) == ("one_cluster", "too_few_clusters", None)
    for found in (alone, few):
        assert found.covariance == ()
        for one in found.models:
            assert (one.strength.low, one.win.low, one.rank_low) == (None, None, None)
            assert one.strength.estimate is not None
    assert six.models[0].strength.warnings == ("few_clusters",)


def test_items_that_are_all_alike_show_no_spread() -> None:
    found = st.pair_strengths("ab" * 8, "ba" * 8, np.ones(16), clusters=np.arange(16) // 2)
    assert [one.strength.reason for one in found.models] == ["no_variance"] * 2
    assert [(one.rank, one.rank_low, one.rank_high) for one in found.models] == [(1, 1, 2)] * 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"second": ["a", "b"]}, "compared with itself", id="itself"),
        pytest.param({"second": ["b"]}, "values of second", id="length"),
        pytest.param({"won": [1, 1.5]}, "between 0 and 1", id="share"),
        pytest.param({"weights": [1, 0]}, "above 0", id="weight"),
        pytest.param({"anchor": "x"}, "in no verdict", id="anchor"),
        pytest.param({"covariates": {"length": [1.0]}}, "values of length", id="covariate"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {"first": ["a", "a"], "second": ["b", "b"], "won": [1, 0], "clusters": [1, 2]}
    with pytest.raises(ValueError, match=says):
        st.pair_strengths(**given | change)


# ── what must always hold ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(some.integers(0, 10_000), some.randoms(use_true_random=False))
def test_order_and_places_change_nothing(seed: int, random: Any) -> None:
    """Verdicts in another order, some the other way round, and another model for the anchor."""
    given = made(seed, n=150, n_models=3)
    n = given["won"].size
    order = np.array(random.sample(range(n), n))
    turned = np.array([random.random() < 0.5 for _ in range(n)])
    other = {
        "first": np.where(turned, given["second"], given["first"])[order],
        "second": np.where(turned, given["first"], given["second"])[order],
        "won": np.where(turned, 1 - given["won"], given["won"])[order],
        "clusters": given["clusters"][order],
        "covariates": {name: np.where(turned, -one, one)[order] for name, one in given["covariates"].items()},
    }
    found, again = st.pair_strengths(**given), st.pair_strengths(**other)
    anchored = {one.name: one for one in st.pair_strengths(**other, anchor="m2").models}
    names = [one.name for one in found.models]
    assert names == [one.name for one in again.models]
    for one, same in zip(found.models, again.models, strict=True):
        assert same.strength.low == pytest.approx(one.strength.low, rel=1e-8, abs=1e-9)
        assert same.win.high == pytest.approx(one.win.high, rel=1e-8)
    middle = found.models[names.index("m2")].strength.estimate
    for one in found.models:  # differences stay, and so do ranks
        held = anchored[one.name]
        assert held.strength.estimate == pytest.approx(one.strength.estimate - middle, rel=1e-8, abs=1e-9)
        assert (held.rank, held.rank_low, held.rank_high) == (one.rank, one.rank_low, one.rank_high)
    assert sum(one.strength.estimate for one in found.models if one.strength.estimate) == pytest.approx(0, abs=1e-9)


@settings(max_examples=20, deadline=None)
@given(some.integers(0, 10_000))
def test_swapped_names_turn_the_sign(seed: int) -> None:
    given = made(seed, n=120, n_models=2)
    swapped = {"m0": "m1", "m1": "m0"}
    other = given | {side: np.array([swapped[name] for name in given[side]]) for side in ("first", "second")}
    ours = {one.name: one for one in st.pair_strengths(**given).models}
    theirs = {one.name: one for one in st.pair_strengths(**other).models}
    assert theirs["m1"].strength.estimate == pytest.approx(ours["m0"].strength.estimate, rel=1e-8, abs=1e-10)
    assert theirs["m1"].win.high == pytest.approx(ours["m0"].win.high, rel=1e-8)
    assert ours["m0"].strength.estimate == pytest.approx(-(ours["m1"].strength.estimate or 0.0), rel=1e-9)


def test_a_covariate_in_another_unit_changes_nothing_else() -> None:
    given = made(11)
    longer = given["covariates"] | {"length": 1_000 * given["covariates"]["length"]}
    found, other = st.pair_strengths(**given), st.pair_strengths(**given | {"covariates": longer})
    assert other.effects[1].p == pytest.approx(found.effects[1].p, rel=1e-6)
    for one, same in zip(found.models, other.models, strict=True):
        assert same.strength.low == pytest.approx(one.strength.low, rel=1e-7)


def test_ranks_are_those_of_all_pairs_by_holm() -> None:
    """Each pair's p from the covariance, one by one."""
    found = st.pair_strengths(**made(8, n=900, n_models=5))
    n = len(found.models)
    covariance = np.array(found.covariance)
    t, value = {}, [one.strength.estimate or 0.0 for one in found.models]
    for a, b in combinations(range(n), 2):
        error = sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b])
        t[a, b] = 2 * stats.t.sf((value[a] - value[b]) / error, found.n_clusters - 1)
    holm = dict(zip(t, st.adjust_p_values(list(t.values())).holm, strict=True))
    low = [1 + sum(holm[other, one] <= 0.05 for other in range(one)) for one in range(n)]
    high = [n - sum(holm[one, other] <= 0.05 for other in range(one + 1, n)) for one in range(n)]
    assert [(one.rank_low, one.rank_high) for one in found.models] == list(zip(low, high, strict=True))
    assert low != [1] * n


# ── how often the intervals hold ─────────────────────────────────────────────────────────────────────────────

_TRUE = np.array([0.6, 0.2, 0.2, -1.0])


def drawn(rng: np.random.Generator, n_items: int) -> dict[str, Any]:
    """Each item compares each pair of four models once, in one order; half of a pair's items share one coin."""
    pairs = np.array(list(combinations(range(4), 2)))
    a, b = np.tile(pairs[:, 0], n_items), np.tile(pairs[:, 1], n_items)
    items = np.repeat(np.arange(n_items), len(pairs))
    first = rng.choice([-1.0, 1.0], a.size)
    coin = np.where(rng.random(a.size) < 0.5, rng.random(n_items)[items], rng.random(a.size))
    won = (coin < 1 / (1 + np.exp(-(_TRUE[a] - _TRUE[b] + 0.5 * first)))).astype(float)
    return {"first": a, "second": b, "won": won, "clusters": items, "covariates": {"first": first}}


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [40, 150])
def test_intervals_hold_in_95_of_100_and_ranks_in_no_fewer(n_items: int) -> None:
    rng, draws = np.random.default_rng(20), 1_000
    held, effects, ranks = np.zeros(4), 0, 0
    for _ in range(draws):
        found = st.pair_strengths(**drawn(rng, n_items), anchor=None)
        by_name = {one.name: one for one in found.models}
        for place in range(4):
            one = by_name[str(place)]
            assert one.strength.low is not None
            assert one.strength.high is not None
            held[place] += one.strength.low <= _TRUE[place] <= one.strength.high
        effect = found.effects[0].effect
        assert effect.low is not None
        assert effect.high is not None
        effects += effect.low <= 0.5 <= effect.high
        within = [(by_name[str(place)].rank_low, by_name[str(place)].rank_high) for place in range(4)]
        ranks += all(
            low is not None and high is not None and low <= place <= high
            for (low, high), places in zip(within, ([1], [2, 3], [2, 3], [4]), strict=True)
            for place in places
        )
    assert 100 * held / draws == pytest.approx(95, abs=2)
    assert 100 * effects / draws == pytest.approx(95, abs=2)
    assert ranks / draws >= 0.94
