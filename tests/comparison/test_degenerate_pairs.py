"""Comparisons and rankings of inputs at the edge: what is said, and that nothing is said too surely."""

from __future__ import annotations

import pytest

from benchbook.comparison.compared import compare, compare_runs
from benchbook.comparison.leaderboard import Leaderboard, leaderboard
from benchbook.comparison.regressions import check_regressions
from benchbook.views.comparison_tables import verdict
from degenerate_pairs import PAIRS, RANKINGS, Degenerate

SHOWN = {"five-won", "0-to-1", "failed-run"}
"""The only ones of which better or worse may be said."""


@pytest.mark.parametrize("row", PAIRS, ids=lambda row: row.id)
def test_a_pair_at_the_edge(row: Degenerate) -> None:
    a, b = row.runs()
    found = compare(a, b, margin=0.05)
    assert verdict(found) == row.said
    for one in (found.score, *(metric.difference for metric in found.metrics)):
        assert one.verdict not in ("better", "worse") or row.id in SHOWN
    score = found.score
    if score.n:
        assert score.low is not None
        assert score.high is not None
        assert -1 <= score.low <= (score.difference or 0.0) <= score.high <= 1
        assert score.not_worse is not None
        assert not score.not_worse.holds or score.n > 12 or row.id in SHOWN
    assert check_regressions(found).outcome in ("holds", "does_not_hold", "undecided", "not_complete")


@pytest.mark.slow
@pytest.mark.parametrize("row", PAIRS, ids=lambda row: row.id)
def test_the_other_way_round_it_is_the_opposite(row: Degenerate) -> None:
    a, b = row.runs()
    there, back = compare(a, b).score, compare(b, a).score
    opposite = {"better": "worse", "worse": "better"}
    assert back.verdict == opposite.get(there.verdict, there.verdict)
    assert back.p == there.p
    if there.low is not None and there.high is not None:
        assert (back.low, back.high) == (pytest.approx(-there.high), pytest.approx(-there.low))


@pytest.mark.parametrize("row", RANKINGS, ids=lambda row: row.id)
def test_a_ranking_at_the_edge(row: Degenerate) -> None:
    found = leaderboard(row.runs())
    assert said_of_ranking(found) == row.said
    for one in found.places:
        assert one.rank_low is not None
        assert one.rank_high is not None
        assert 1 <= one.rank_low <= one.rank <= one.rank_high <= len(found.places)
        assert one.among_best == (one.rank_low == 1)


def said_of_ranking(found: Leaderboard) -> str:
    placed = [f"{one.run}: rank {one.rank}, {one.rank_low} to {one.rank_high}" for one in found.places]
    placed += [f"{one.run}: {one.note}" for one in found.places if one.note]
    apart = [f"{one.run} is not ranked: {one.reason}" for one in found.apart]
    return "; ".join([*placed, *apart])


@pytest.mark.parametrize("row", [row for row in RANKINGS if row.id != "rank-one-run"], ids=lambda row: row.id)
def test_several_runs_at_the_edge_are_compared_without_a_fault(row: Degenerate) -> None:
    runs = row.runs()
    found = compare_runs(runs)
    for pair, p in zip(found.pairs, found.p_holm, strict=True):
        assert pair.score.verdict not in ("better", "worse") or (p is not None and p <= 0.05)
