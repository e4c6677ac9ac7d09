"""How many labels of each stratum: Neyman's shares by hand, what every allocation keeps, and when a gate is settled."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.labels.allocation import (
    Doubt,
    ExpectedScores,
    Verdict,
    allocate,
    expected_scores,
    labels_needed,
    proportional,
    strata_of,
    weights_of,
)

Z = 1.959963984540054


def test_shares_are_size_times_spread() -> None:
    """100 of 300 * 0.4 and 700 * 0.1: 120 to 70, so 63.16 and 36.84; 36.84 is above half of 70."""
    assert allocate({"fails": 300, "passes": 700}, {"fails": 0.4, "passes": 0.1}, 100) == {"fails": 63, "passes": 37}


def test_a_bad_guess_leaves_each_stratum_half_of_what_chance_gives() -> None:
    found = allocate({"fails": 100, "passes": 900}, {"fails": 1.0, "passes": 0.0}, 100)
    assert found == {"fails": 55, "passes": 45}


def test_no_stratum_gives_more_than_it_has_and_earlier_labels_count() -> None:
    assert allocate({"a": 5, "b": 95}, {"a": 1.0, "b": 0.01}, 60) == {"a": 5, "b": 55}
    assert allocate({"a": 50, "b": 50}, {"a": 1.0, "b": 0.5}, 30, {"a": 0, "b": 20}) == {"a": 10, "b": 20}


@pytest.mark.parametrize("n", [pytest.param(101, id="too-many"), pytest.param(9, id="fewer-than-there-are")])
def test_numbers_that_can_not_be_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match="n must lie"):
        allocate({"a": 100}, {"a": 1.0}, n, {"a": 10})


@given(
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=6),
    weights=st.lists(st.floats(0, 5), min_size=6, max_size=6),
    share=st.floats(0, 1),
)
def test_every_allocation_adds_up_and_fits(sizes: list[int], weights: list[float], share: float) -> None:
    strata = {f"s{place}": size for place, size in enumerate(sizes)}
    n = round(share * sum(sizes))
    found = allocate(strata, {name: weights[place] for place, name in enumerate(strata)}, n)
    assert sum(found.values()) == n
    assert all(0 <= found[name] <= size for name, size in strata.items())
    if n >= 4 * len(sizes) and n <= sum(sizes):
        assert all(found[name] >= min(size, 2) for name, size in strata.items())


# ── strata ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_small_strata_are_merged_with_the_nearest() -> None:
    counts: dict[Verdict, int] = {(2, 2): 800, (2, 1): 100, (1, 2): 90, (2, 0): 7, (0, 0): 3}
    merged = "0 / 0 or 2 / 0 or 2 / 1"
    own = {(2, 2): "2 / 2", (1, 2): "1 / 2"}
    assert strata_of(counts, {one: one for one in counts}) == own | dict.fromkeys([(2, 1), (2, 0), (0, 0)], merged)


def test_near_is_what_is_worth_the_same() -> None:
    """Of a gate on failures, a small stratum that fails is nearer to one that fails than to one with near scores."""
    counts: dict[Verdict, int] = {(2, 2): 800, (2, 1): 100, (0, 0): 90, (2, 0): 10}
    found = strata_of(counts, {one: (float(one[1] == 0), 0.1 * sum(one)) for one in counts})
    assert found[2, 0] == found[0, 0] == "0 / 0 or 2 / 0"


def test_there_are_six_at_most() -> None:
    counts: dict[Verdict, int] = {(a, f): 100 for a in range(3) for f in range(3)}
    assert len(set(strata_of(counts, {one: one for one in counts}).values())) == 6
    assert strata_of({(1,): 3}, {(1,): (1,)}) == {(1,): "1"}


# ── what to expect ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_first_guess_is_a_judge_that_errs_in_a_fifth_where_it_passes_half() -> None:
    found = expected_scores({"fails": [0.0] * 5000, "passes": [1.0] * 5000}, {}, 1)
    assert (found["fails"].mean, found["passes"].mean) == pytest.approx((0.2, 0.8), abs=1e-4)
    assert (found["fails"].spread, found["passes"].spread) == pytest.approx((0.4, 0.4), abs=1e-4)


def test_labels_correct_the_guess() -> None:
    """Four labels' worth of 0.2, and 16 labels of which 8 are 1: (0.8 + 8) / 20."""
    judge = {"fails": [0.0] * 5000, "passes": [1.0] * 5000}
    found = expected_scores(judge, {"fails": [1.0, 0.0] * 8}, 1)["fails"]
    assert found.mean == pytest.approx(0.44, abs=1e-4)
    assert found.spread == pytest.approx(sqrt(0.44 * 0.56), abs=1e-4)


def test_a_judge_that_says_one_thing_is_not_believed() -> None:
    assert expected_scores({"passes": [1.0] * 50}, {}, 1)["passes"].spread > 0


# ── how many ─────────────────────────────────────────────────────────────────────────────────────────────────


def doubt(distance: float, n: int = 100_000) -> Doubt:
    """A tenth with spread 0.5, the others with 0.1, all with one mean: so the answers' own draw adds nothing."""
    return Doubt(
        "rate", distance, {"fails": ExpectedScores(n // 10, 0.5, 0.5), "passes": ExpectedScores(n - n // 10, 0.5, 0.1)}
    )


def test_labels_needed_by_hand() -> None:
    """Neyman: (z (0.1 * 0.5 + 0.9 * 0.1) / d)^2; by chance z^2 (0.1 * 0.25 + 0.9 * 0.01) / d^2."""
    found = labels_needed([doubt(0.03)], Z)
    assert found.n == pytest.approx((Z * 0.14 / 0.03) ** 2, abs=2)
    assert found.n_by_chance == pytest.approx(Z**2 * 0.034 / 0.03**2, abs=1)


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(doubt(0.0), id="on-the-limit"),
        pytest.param(doubt(-0.1), id="beyond-it"),
        pytest.param(doubt(0.01, n=100), id="too-few-answers"),
    ],
)
def test_where_no_number_is_enough_there_is_none(one: Doubt) -> None:
    assert labels_needed([one], Z).n is None


def test_the_gate_nearest_to_its_limit_has_the_greatest_say() -> None:
    near = Doubt("near", 0.01, {"a": ExpectedScores(50, 0.5, 0.5), "b": ExpectedScores(50, 0.5, 0.1)})
    far = Doubt("far", 0.3, {"a": ExpectedScores(50, 0.5, 0.1), "b": ExpectedScores(50, 0.5, 0.5)})
    weights = weights_of([near, far])
    assert weights["a"] > 4 * weights["b"]


def test_earlier_labels_are_a_part_of_what_is_needed() -> None:
    """180 of the passes: 0.0025 / ((0.03 / z)^2 - 0.0081 / 180) of the fails are lacking, 13.2."""
    assert labels_needed([doubt(0.03)], Z, {"fails": 0, "passes": 180}).n == 180 + 14


def test_chance_draws_in_proportion() -> None:
    assert proportional({"a": 30, "b": 70}, 10) == {"a": 3, "b": 7}
