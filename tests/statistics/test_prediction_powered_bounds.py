"""The interval of a prediction-powered mean of labels that lie on a scale."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from scipy import stats

from benchbook import statistics as st

MARKS = hs.lists(hs.tuples(hs.integers(0, 2), hs.integers(0, 2)), min_size=3, max_size=40)


@given(MARKS, hs.lists(hs.integers(0, 2), min_size=1, max_size=40))
def test_neither_side_is_narrower_than_students(pairs: list[tuple[int, int]], unseen: list[int]) -> None:
    labels, judged = (np.array(one, float) for one in zip(*pairs, strict=True))
    plain = st.prediction_powered_mean(labels, judged, unseen)
    found = st.prediction_powered_mean(labels, judged, unseen, scale=(0, 2))
    assert (found.estimate, found.judge_weight, found.reason) == (plain.estimate, plain.judge_weight, plain.reason)
    if plain.low is None or found.low is None or found.high is None or found.estimate is None:
        assert found.low is None
        return
    assert min(0, found.estimate) <= found.low <= found.estimate <= found.high <= max(2, found.estimate)
    weight, n = plain.judge_weight or 0.0, labels.size
    error = math.sqrt(weight**2 * np.var(unseen) / len(unseen) + (labels - weight * judged).var() / (n - 2))
    half = stats.t.ppf(0.975, n - 1) * error
    assert found.low <= max(0, found.estimate - half) + 1e-9
    assert found.high >= min(2, found.estimate + half) - 1e-9


def test_without_a_judge_worth_its_name_it_is_the_wider_of_the_labels_own() -> None:
    """A judge that says 1 of all gets no weight: the label's mean, by t below and by Jeffreys' interval above."""
    labels = [2] * 19 + [0]
    found = st.prediction_powered_mean(labels, [1] * 20, [1] * 100, scale=(0, 2))
    alone = st.bounded_mean(labels, highest=2)
    half = stats.t.ppf(0.975, 19) * np.std(labels) / math.sqrt(18)
    assert (found.low, found.high) == pytest.approx((min(alone.low or 0.0, 1.9 - half), 2.0), abs=1e-9)
    assert (found.judge_weight, found.method) == (0.0, "ppi++_bounded")
