"""Runs at the rim (R6.4, R6.5): none is falsely READY or NOT_READY, and no interval leaves its scale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.rubric.aggregates import aggregates_of
from benchbook.evaluators.rubric.intervals import further_intervals_of, intervals_of
from benchbook.evaluators.rubric.release import decide
from benchbook.views.words import reason
from evaluators.rubric.degenerate import (
    BAD,
    GOOD,
    HALF,
    SINGLE,
    SLOW,
    UNANSWERED,
    UNSCORED,
    WRONG,
    Single,
    decided,
    tally_of,
)

SCALES = {"accuracy_mean": 2.0, "faithfulness_mean": 2.0}


def test_there_are_fifty_of_them_under_names_of_their_own() -> None:
    assert len({row.id for row in SINGLE}) == len(SINGLE) >= 50


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row.id)
def test_what_is_said_of_a_run_at_the_rim(row: Single) -> None:
    found = decided(row)
    said = "\n".join(reason(one) for one in found.reasons)
    assert (found.decision, found.release_ready) == (row.decision, row.by_rule), said
    assert row.says in said


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row.id)
def test_intervals_and_bounds_keep_their_scale_and_hold_their_value(row: Single) -> None:
    counted = tally_of(row)
    values = aggregates_of(counted)
    for name, one in (intervals_of(counted, 0.95) | further_intervals_of(counted, 0.95)).items():
        value = getattr(values, name)
        assert one.reason is not None or None not in (one.low, one.high)
        if value is None:
            assert (one.low, one.high) == (None, None)
            continue
        most = SCALES.get(name, float("inf") if name.startswith(("latency", "token")) else 1.0)
        low, high = one.low if one.low is not None else value, one.high if one.high is not None else value
        assert 0 <= low <= value + 1e-9
        assert value - 1e-9 <= high <= most
    for gate in decided(row).gates:
        most = float("inf") if gate.aggregate.startswith("latency") else 1.0
        bounds = [one for one in (gate.bound, gate.best_bound) if isinstance(one, float)]
        assert all(0 <= bound <= most for bound in bounds)
        assert gate.claim != "holds" or gate.holds_in_worst_case
        assert gate.claim != "fails" or not gate.holds_in_best_case


@pytest.mark.parametrize("row", SINGLE, ids=lambda row: row.id)
def test_what_is_claimed_is_never_against_the_rule(row: Single) -> None:
    """READY takes the rule to hold, in the worst case too; NOT_READY takes a gate to fail in the best case too."""
    found, points = decided(row), decide(tally_of(row), caps=row.caps)
    assert found.decision != "READY" or (found.release_ready and points.decision == "READY")
    assert found.decision != "NOT_READY" or points.decision == "NOT_READY"


@given(st.lists(st.sampled_from([GOOD, HALF, WRONG, BAD, SLOW, UNSCORED, UNANSWERED]), min_size=1, max_size=120))
def test_so_it_is_of_any_run(outcomes: list[object]) -> None:
    row = Single("any", "any", outcomes, "READY", True, "")  # type: ignore[arg-type]
    test_what_is_claimed_is_never_against_the_rule(row)
    test_intervals_and_bounds_keep_their_scale_and_hold_their_value(row)


def test_more_of_the_same_settles_as_it_was_told() -> None:
    """What is told comes true, and not before."""
    row = Single("some", "some", [GOOD] * 90 + [WRONG] * 10, "INCONCLUSIVE", True, "")
    (gate,) = [one for one in decided(row).gates if one.claim == "open"]
    assert gate.n_to_settle
    assert (gate.aggregate, gate.n_to_settle.n_in_all) == ("pass_rate", 150)  # type: ignore[union-attr]
    for n, decision in ((140, "INCONCLUSIVE"), (150, "READY")):
        again = Single("more", "more", [GOOD] * (n - n // 10) + [WRONG] * (n // 10), "READY", True, "")
        assert decided(again).decision == decision
