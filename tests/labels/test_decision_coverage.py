"""How often the intervals of a draw for the decision hold, and how wide they are beside those of a draw by chance.

2,000 judged answers, 100 labels; by simulation through the code that draws and corrects.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from benchbook.labels.allocation import Verdict, allocate, expected_scores, strata_of
from benchbook.statistics import (
    Estimate,
    SampledStratum,
    Stratum,
    post_stratified_rate,
    prediction_powered_mean,
    stratified_mean,
)

ANSWERS, LABELS, RUNS = 2_000, 100, 1_000
ALL: list[Verdict] = [(accuracy, faithfulness) for accuracy in range(3) for faithfulness in range(3)]
GOOD = np.array([0.02, 0.01, 0.01, 0.02, 0.05, 0.04, 0.02, 0.08, 0.75])  # people's scores, in the order of ALL
MIXED = np.array([0.06, 0.03, 0.03, 0.05, 0.10, 0.08, 0.05, 0.15, 0.45])
FAILS = np.array([float(faithfulness == 0) for _, faithfulness in ALL])
ACCURACY = np.array([float(accuracy) for accuracy, _ in ALL])


def judged(rng: np.random.Generator, truth: np.ndarray, errs: float, misses: float) -> np.ndarray:
    """The judge gives people's scores, but in `errs` of all others by chance; `misses`: full marks for what fails."""
    wrong = rng.random(ANSWERS) < errs
    found = np.where(wrong, rng.integers(0, 9, ANSWERS), truth)
    return np.where((FAILS[truth] == 1) & (rng.random(ANSWERS) < misses), 8, found)


def by_decision(rng: np.random.Generator, judge: np.ndarray, truth: np.ndarray, value: np.ndarray) -> Estimate:
    span = float(value.max())
    counts: Counter[Verdict] = Counter(ALL[one] for one in judge)
    strata = strata_of(counts, {one: (value[ALL.index(one)] / span, 0.1 * sum(one)) for one in counts})
    stratum = np.array([strata[ALL[one]] for one in judge])
    members = {name: np.flatnonzero(stratum == name) for name in sorted(set(strata.values()))}
    expected = expected_scores({name: value[judge[own]].tolist() for name, own in members.items()}, {}, span)
    sizes = {name: own.size for name, own in members.items()}
    n_of = allocate(sizes, {name: one.spread for name, one in expected.items()}, LABELS)
    return stratified_mean(
        [
            SampledStratum(own.size, value[truth[rng.choice(own, n_of[name], replace=False)]].tolist())
            for name, own in members.items()
        ],
        highest=span,
    )


def by_chance(rng: np.random.Generator, judge: np.ndarray, truth: np.ndarray, value: np.ndarray) -> Estimate:
    drawn = rng.permutation(ANSWERS)
    labelled, others = drawn[:LABELS], drawn[LABELS:]
    if value is not FAILS:
        scale = 0.0, float(value.max())
        return prediction_powered_mean(
            value[truth[labelled]], value[judge[labelled]], value[judge[others]], scale=scale
        )
    flagged = {is_flagged: FAILS[judge] == is_flagged for is_flagged in (True, False)}
    return post_stratified_rate(
        {
            key: Stratum(
                n=int(own.sum()),
                n_labelled=int(own[labelled].sum()),
                positives=int(value[truth[labelled]][own[labelled]].sum()),
            )
            for key, own in flagged.items()
        },
        n_resamples=2_000,
    )


@pytest.mark.slow
@pytest.mark.parametrize("value", [pytest.param(FAILS, id="rate"), pytest.param(ACCURACY, id="mean")])
@pytest.mark.parametrize(
    ("truth_shares", "errs", "misses", "wider_at_most"),
    [
        pytest.param(GOOD, 0.05, 0.0, (0.99, 0.96), id="good-answers-good-judge"),
        pytest.param(GOOD, 0.2, 0.0, (0.95, 0.85), id="good-answers-judge-errs-in-a-fifth"),
        pytest.param(GOOD, 0.1, 0.5, (1.06, 0.9), id="judge-misses-half-of-the-failures"),
        pytest.param(MIXED, 0.05, 0.0, (1.0, 1.06), id="mixed-answers-good-judge"),
        pytest.param(MIXED, 0.2, 0.0, (0.97, 0.92), id="mixed-answers-judge-errs-in-a-fifth"),
        pytest.param(MIXED, 0.4, 0.0, (0.98, 0.9), id="mixed-answers-poor-judge"),
    ],
)
def test_intervals_hold_what_they_say(
    truth_shares: np.ndarray, errs: float, misses: float, wider_at_most: tuple[float, float], value: np.ndarray
) -> None:
    rng = np.random.default_rng(20_26)
    true_mean = float(truth_shares @ value)
    held, widths = 0, np.zeros(2)
    for _ in range(RUNS):
        truth = rng.choice(9, ANSWERS, p=truth_shares)
        judge = judged(rng, truth, errs, misses)
        own, chance = by_decision(rng, judge, truth, value), by_chance(rng, judge, truth, value)
        assert own.low is not None
        assert own.high is not None
        held += own.low <= true_mean <= own.high
        widths += own.high - own.low, (chance.high or 0) - (chance.low or 0)
    assert 0.93 <= held / RUNS <= 0.975
    assert widths[0] / widths[1] < wider_at_most[value is ACCURACY]
