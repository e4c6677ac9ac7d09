"""What would settle an INCONCLUSIVE before derivation 3: gate by gate, by its interval's method (SPEC R6.4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from benchbook.evaluators.gates import WHY_NOT, Decision, ToSettle
from benchbook.evaluators.rubric.intervals import intervals_of
from benchbook.evaluators.rubric.release import decide
from benchbook.evaluators.rubric.scoring import SampleOutcome, score_sample
from benchbook.evaluators.rubric.tally import RubricTally
from rubric_v1 import V1, outcome_v1

SCALE = V1
_answer = partial(outcome_v1, latency_e2e_ms=1000, input_tokens=500, output_tokens=100)
GOOD = _answer(accuracy_score=2, faithfulness_score=2)
HALF = _answer(accuracy_score=1, faithfulness_score=2)
WRONG = _answer(accuracy_score=0, faithfulness_score=2)
MADE_UP = _answer(accuracy_score=2, faithfulness_score=0)
UNSCORED = _answer(evaluator_error="parse_error")
SLOW = outcome_v1(accuracy_score=2, faithfulness_score=2, latency_e2e_ms=20_000, input_tokens=500, output_tokens=100)


def decided(outcomes: Sequence[SampleOutcome], *, repeats: int = 1, confidence: float = 0.95) -> Decision:
    counted = RubricTally(SCALE)
    for number, outcome in enumerate(outcomes):
        counted.add(outcome, score_sample(outcome, SCALE), number // repeats if repeats > 1 else None)
    return decide(counted, intervals=intervals_of(counted, confidence, 2), confidence=confidence)


def settling(outcomes: Sequence[SampleOutcome], aggregate: str, **more: int) -> ToSettle | None:
    decision = decided(outcomes, **more)
    (found,) = [gate.n_to_settle for gate in decision.gates if gate.aggregate == aggregate]
    assert found is None or isinstance(found, ToSettle)
    return found


def holds(outcomes: Sequence[SampleOutcome], aggregate: str, **more: int) -> bool | None:
    return next(gate.bound_holds for gate in decided(outcomes, **more).gates if gate.aggregate == aggregate)


def test_a_pass_rate_that_more_samples_would_bear_out() -> None:
    """90 of 100 pass: 196 samples in all (worked out in statistics/test_settling.py)."""
    outcomes = [WRONG] * 10 + [GOOD] * 90
    found = settling(outcomes, "pass_rate")
    assert found == ToSettle(would="hold", n=100, n_in_all=196, n_more=96, n_unscored=0, method="wilson")
    assert holds(outcomes, "pass_rate") is False
    assert holds([WRONG] * 20 + [GOOD] * 180, "pass_rate") is True


def test_what_is_told_comes_true_when_the_same_samples_come_again() -> None:
    outcomes = ([GOOD] * 46 + [HALF] * 3 + [WRONG] * 4 + [MADE_UP]) * 1
    for aggregate in ("aggregate_score", "faithfulness_failure_rate"):
        found = settling(outcomes, aggregate)
        if found is None:  # its bound holds already
            assert holds(outcomes, aggregate) is True
            continue
        assert found.n_in_all is not None
        times = -(-found.n_in_all // len(outcomes))
        assert holds(outcomes * times, aggregate) is True
        assert holds(outcomes * (times - 1), aggregate) is False


def test_repeats_count_as_more_items_of_as_many_repeats() -> None:
    outcomes = [GOOD] * 66 + [WRONG] * 6
    alone, repeated = settling(outcomes, "pass_rate"), settling(outcomes, "pass_rate", repeats=3)
    assert alone is not None
    assert repeated is not None
    assert repeated.method == "clustered_jeffreys"
    assert repeated.n_in_all is not None
    assert alone.n_in_all is not None
    assert repeated.n_in_all % 3 == 0
    assert repeated.n_in_all > alone.n_in_all  # an item's three repeats are all alike here
    times = -(-repeated.n_in_all // 72)
    assert holds(outcomes * times, "pass_rate", repeats=3) is True
    assert holds(outcomes * (times - 1), "pass_rate", repeats=3) is False


def test_a_gate_that_fails_by_what_is_scored_says_when_that_would_be_sure() -> None:
    """80 of 100 pass, and 15 unscored could lift that to 85 %: more samples would show that 80 % is too few."""
    outcomes = [WRONG] * 5 + [UNSCORED] * 15 + [GOOD] * 80
    found = settling(outcomes, "pass_rate")
    assert found is not None
    assert (found.would, found.n_in_all, found.n_unscored) == ("fail", 196, 15)


def test_an_upper_percentile_needs_72_samples_though_none_is_slow() -> None:
    found = settling([GOOD] * 30, "latency_e2e_p95_ms")
    assert found is not None
    assert (found.would, found.n_in_all, found.n_more, found.n_unscored) == ("hold", 72, 42, 0)


@pytest.mark.parametrize(
    ("outcomes", "aggregate", "reason"),
    [
        pytest.param([GOOD] * 17 + [WRONG] * 3, "pass_rate", "on_the_limit", id="85 % of 20"),
        pytest.param([GOOD] * 9, "pass_rate", "too_few", id="nine"),
        pytest.param([GOOD] * 40, "aggregate_score", "no_variance", id="all alike"),
        pytest.param([GOOD] * 340 + [UNSCORED] * 30, "faithfulness_failure_rate", "unscored_alone", id="unscored"),
    ],
)
def test_where_no_number_can_be_told_there_is_a_reason(
    outcomes: list[SampleOutcome], aggregate: str, reason: str
) -> None:
    found = settling(outcomes, aggregate)
    assert found is not None
    assert (found.n_in_all, found.n_more, found.reason) == (None, None, reason)
    assert reason in WHY_NOT


def test_nothing_is_told_where_nothing_is_open_or_nothing_was_asked() -> None:
    ready = decided([GOOD] * 400 + [HALF] * 20)
    assert ready.decision == "READY"
    assert [gate.n_to_settle for gate in ready.gates] == [None] * 4
    failing = decided([GOOD] * 40 + [WRONG] * 40)
    assert failing.decision == "NOT_READY"
    assert [gate.n_to_settle for gate in failing.gates] == [None] * 4
    counted = RubricTally(SCALE)
    counted.add(GOOD, score_sample(GOOD, SCALE))
    points = decide(counted, intervals=intervals_of(counted, 0.95, 2))
    assert not any(isinstance(gate.n_to_settle, ToSettle | None) for gate in points.gates)


def test_a_slow_tail_on_the_limit_is_said_to_be_there() -> None:
    found = settling([GOOD] * 95 + [SLOW] * 5, "latency_e2e_p95_ms")
    assert found is not None
    assert found.n_in_all is None
    assert found.reason in ("on_the_limit", "too_many")
