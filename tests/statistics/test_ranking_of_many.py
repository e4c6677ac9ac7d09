"""Many runs at once: each pair's p is that of the pair alone, whatever is taken together to be quick."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from benchbook import statistics as st
from benchbook.comparison.leaderboard import leaderboard
from benchbook.statistics import ranking
from benchbook.statistics.distributions import binomial_cdf, coin_cdfs
from benchbook.views.several_runs import leaderboard_lines
from compared import marks


def test_tosses_of_a_coin_as_one_by_one() -> None:
    n = np.array([0, 1, 7, 7, 60, 500, 500, 501, 2_000, 2_000])
    k = np.array([0, 0, -1, 7, 21, 3, 250, 240, 0, 1_040])
    one_by_one = [binomial_cdf(int(a), int(b), 0.5) for a, b in zip(k, n, strict=True)]
    assert coin_cdfs(k, n).tolist() == pytest.approx(one_by_one, rel=1e-14)
    assert coin_cdfs(k[:7], n[:7]).tolist() == one_by_one[:7]  # counted, to the last digit


def test_passes_of_every_pair_are_tested_as_mcnemar_does() -> None:
    table = (np.random.default_rng(1).random((80, 12)) < np.linspace(0.3, 0.9, 12)).astype(float)
    found = st.rank_runs({str(place): table[:, place] for place in range(12)})
    pairs = list(combinations(range(12), 2))
    p = [st.mcnemar(*_only(table[:, one], table[:, other])).p_mid for one, other in pairs]
    holm = dict(zip(pairs, st.adjust_p_values(p).holm, strict=True))
    best = int(found.runs[0].name)
    for run in found.runs[1:]:
        key = (min(best, int(run.name)), max(best, int(run.name)))
        assert run.p_against_best == pytest.approx(holm[key], rel=1e-12)
    worse = {one: sum(holm[min(one, b), max(one, b)] <= 0.05 and table[:, b].mean() > table[:, one].mean()
                      for b in range(12) if b != one) for one in range(12)}  # fmt: skip
    assert {int(run.name): run.rank_low - 1 for run in found.runs if run.rank_low} == worse


def _only(a: Any, b: Any) -> tuple[int, int]:
    return int((a > b).sum()), int((b > a).sum())


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", ["thirds", "few differ", "all alike but one"])
def test_no_p_is_below_what_flipping_signs_can_give(kind: str, grouped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sums alone show that it does not matter, it is not counted; the result is that of counting everywhere."""
    rng = np.random.default_rng(2)
    table = rng.integers(0, 4, (40, 9)) / 3
    if kind == "few differ":
        table = np.repeat(table[:, :1], 9, axis=1)
        table[:8] = rng.random((8, 9))
    elif kind == "all alike but one":
        table = np.full((40, 9), 0.5) + np.arange(9) / 20
        table[0] = 0.5
    scores = {str(place): table[:, place] for place in range(9)}
    clusters = [place // 5 for place in range(40)] if grouped else None
    quick = st.rank_runs(scores, clusters=clusters)
    monkeypatch.setattr(ranking, "_SURE", 500.0)  # nothing is sure, so that all are counted
    assert st.rank_runs(scores, clusters=clusters) == quick


@pytest.mark.slow
def test_a_board_has_every_run() -> None:
    found = leaderboard([marks(f"r{place}", "1" * (place % 7) + "0" * 6) for place in range(120)])
    assert len({one.run for one in found.places}) == 120
    assert found.n_pairs == 120 * 119 // 2


def test_where_ranks_can_not_be_told_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "MOST_RUNS", 2)
    found = leaderboard([marks("a", "111"), marks("b", "110"), marks("c", "100")])
    assert [(one.rank, one.rank_low, one.standing) for one in found.places] == [
        (1, None, "not_told"), (2, None, "not_told"), (3, None, "not_told"),
    ]  # fmt: skip
    assert (found.n_pairs, found.best, found.reason) == (0, "not_told", "too_many_runs")
    said = list(leaderboard_lines(found))
    assert said[-1] == "Ranks are by the scores alone: of more than 4,000 runs no two are told apart: rank fewer."
    assert all(line.endswith("can't be told") for line in said[2:5])
