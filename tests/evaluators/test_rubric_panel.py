"""Several judges' scores as one score of rubric@v1: the rules, and judges who gave none."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.panel_rules import PANEL_RULES, PanelRule, panel_score

RULES = tuple(PANEL_RULES)
SCORES = (0, 1, 2)
some_scores = st.lists(st.sampled_from(SCORES), min_size=1, max_size=7)


@pytest.mark.parametrize(
    ("scores", "majority", "mean", "worst"),
    [
        ((2, 2, 0), 2, 1, 0),  # 4/3
        ((0, 0, 2), 0, 1, 0),  # 2/3
        ((0, 1, 2), 1, 1, 0),
        ((1, 2, 2), 2, 2, 1),  # 5/3
        ((1, 2), 1, 1, 1),  # 3/2: half goes down
        ((0, 1), 0, 0, 0),
        ((0, 2), 0, 1, 0),
        ((0, 0, 2, 2), 0, 1, 0),
        ((1, 2, 2, 2), 2, 2, 1),  # 7/4
        ((0, 2, 2, 2), 2, 1, 0),  # 3/2
        ((2,), 2, 2, 2),
    ],
)
def test_scores_make_one(scores: tuple[int, ...], majority: int, mean: int, worst: int) -> None:
    assert [panel_score(scores, rule, 0, 2) for rule in ("majority", "mean", "worst")] == [majority, mean, worst]


@pytest.mark.parametrize(
    ("scores", "majority", "mean", "worst"),
    [
        ((2, 2, None), 2, None, None),  # the third could make the mean 4/3, or the worst 0
        ((0, 0, None), 0, None, 0),  # the mean is 0 or 2/3
        ((0, 2, None), None, 1, 0),  # the mean is 2/3, 1 or 4/3
        ((0, None, None), None, None, 0),
        ((None, None, None), None, None, None),
        ((None,), None, None, None),
        ((1, 1, 1, None), 1, 1, None),  # 3/4, 1 or 5/4
    ],
)
def test_a_missing_score_leaves_open_what_it_could_change(
    scores: tuple[int | None, ...], majority: int | None, mean: int | None, worst: int | None
) -> None:
    assert [panel_score(scores, rule, 0, 2) for rule in ("majority", "mean", "worst")] == [majority, mean, worst]


@given(scores=some_scores)
def test_a_majority_is_what_more_than_half_give(scores: list[int]) -> None:
    score, count = Counter(scores).most_common(1)[0]
    if 2 * count > len(scores):
        assert panel_score(scores, "majority", 0, 2) == score


@given(scores=some_scores)
def test_the_mean_is_to_the_nearest_and_halves_go_down(scores: list[int]) -> None:
    mean = Fraction(sum(scores), len(scores))
    nearest = min(SCORES, key=lambda score: (abs(score - mean), score))
    assert panel_score(scores, "mean", 0, 2) == nearest


@given(scores=st.lists(st.sampled_from((*SCORES, None)), min_size=1, max_size=5), rule=st.sampled_from(RULES))
def test_missing_scores_count_as_every_score_that_they_could_be(scores: list[int | None], rule: PanelRule) -> None:
    choices = [SCORES if score is None else (score,) for score in scores]
    possible = {panel_score(whole, rule, 0, 2) for whole in product(*choices)}
    assert panel_score(scores, rule, 0, 2) == (possible.pop() if len(possible) == 1 else None)


@given(scores=some_scores, rule=st.sampled_from(RULES), seed=st.randoms())
def test_the_order_of_the_judges_does_not_matter(scores: list[int], rule: PanelRule, seed: object) -> None:
    shuffled = list(scores)
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    assert panel_score(shuffled, rule, 0, 2) == panel_score(scores, rule, 0, 2)
