"""Deciding on a part of the items: in the drawn order whatever finishes first, and never against what is certain."""

from __future__ import annotations

import random
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.gates import Cap
from benchbook.evaluators.rubric.aggregates import aggregates_of
from benchbook.evaluators.rubric.early_stop_gates import EarlyStopping, values_of
from benchbook.evaluators.rubric.release import decide
from benchbook.evaluators.rubric.scoring import NO_ANSWER, SampleOutcome
from benchbook.evaluators.rubric.tally import tally
from rubric_v1 import V1, outcome_v1

SCALE = V1
_answer = partial(outcome_v1, latency_e2e_ms=1000, input_tokens=500, output_tokens=100)
GOOD = _answer(accuracy_score=2, faithfulness_score=2)
WRONG = _answer(accuracy_score=0, faithfulness_score=1)
MADE_UP = _answer(accuracy_score=2, faithfulness_score=0)
UNSCORED = _answer(evaluator_error="parse_error")
SILENT = outcome_v1(accuracy_score=0, score_origin=NO_ANSWER, timed_out=True, latency_e2e_ms=60_000)
REFUSED = outcome_v1(accuracy_score=0, score_origin=NO_ANSWER)


def stopped(outcomes: list[SampleOutcome], error: float = 0.05, seed: int = 0) -> EarlyStopping:
    """Each outcome is an item's, in the order in which they are asked; they finish in another."""
    rule = EarlyStopping(range(len(outcomes)), 1, error, V1)
    for item in random.Random(seed).sample(range(len(outcomes)), len(outcomes)):
        rule.add(item, outcomes[item])
    return rule


def test_values_by_gate() -> None:
    """Score, pass, faithfulness, latency; what a gate leaves out counts as its limit, 5 %."""
    unscored = values_of(UNSCORED, SCALE)
    assert [(one.worst, one.best) for one in unscored] == [(250_000_000, NANO), (0, NANO), (0, NANO), (NANO, NANO)]
    silent = [(one.worst, one.best) for one in values_of(SILENT, SCALE)]
    assert silent == [(7_500_000, 7_500_000), (0, 0), (950_000_000, 950_000_000), (0, 0)]
    assert values_of(REFUSED, SCALE)[3].worst == 950_000_000  # it failed at once: it was not quick to answer (R1.2)


def test_perfect_answers_are_ready_once_the_slowest_bet_is_won() -> None:
    decision = stopped([GOOD] * 300).decision
    assert decision is not None
    assert (decision.decision, decision.after_items, decision.n_items, decision.by) == ("READY", 79, 300, ())
    assert max(one.after_items or 0 for one in decision.gates) == 79
    assert {one.claim for one in decision.gates} == {"holds"}


def test_one_failing_gate_is_enough_and_is_named() -> None:
    decision = stopped([MADE_UP, GOOD] * 100).decision
    assert decision is not None
    assert (decision.decision, decision.by) == ("NOT_READY", ("faithfulness_failure_rate",))
    assert decision.after_items < 30
    assert next(one for one in decision.gates if one.aggregate == "pass_rate").claim == "open"


def test_a_smaller_error_takes_more_items() -> None:
    after = [stopped([GOOD] * 500, error).decision for error in (0.2, 0.05, 0.001)]
    numbers = [one.after_items for one in after if one is not None]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 3


def test_what_finishes_first_changes_nothing() -> None:
    rng = random.Random(5)
    outcomes = [rng.choice([GOOD, GOOD, GOOD, GOOD, WRONG, UNSCORED]) for _ in range(120)]
    assert len({str(stopped(outcomes, seed=seed).decision) for seed in range(8)}) == 1


def test_nothing_is_decided_beyond_an_item_that_is_not_finished() -> None:
    rule = EarlyStopping(range(200), 1, 0.05, V1)
    for item in range(199, 0, -1):
        rule.add(item, GOOD)
    assert rule.decision is None
    rule.add(0, GOOD)
    assert rule.decision is not None


def test_all_repeats_of_an_item_are_waited_for() -> None:
    rule = EarlyStopping(range(100), 3, 0.05, V1)
    for repeat in range(3):
        for item in range(100):
            assert rule.decision is None
            rule.add(repeat * 100 + item, GOOD)
            if rule.decision is not None:
                break
        if rule.decision is not None:
            break
    assert repeat == 2
    assert rule.decision is not None
    assert rule.decision.after_items < 100


def test_deciding_at_the_very_last_item_is_not_early() -> None:
    assert stopped([GOOD] * 15).decision is None
    assert stopped([]).decision is None


@given(
    st.lists(st.sampled_from([GOOD, GOOD, GOOD, WRONG, MADE_UP, UNSCORED, SILENT, REFUSED]), min_size=1, max_size=40),
    st.integers(0, 3),
)
def test_with_hardly_any_error_nothing_is_claimed_that_counting_does_not_prove(
    outcomes: list[SampleOutcome], seed: int
) -> None:
    """At an error of 1e-200 no bet is won; what is left is what the items asked so far settle whatever comes."""
    found = stopped(outcomes, 1e-200, seed).decision
    if found is not None:
        assert decide(tally(outcomes, SCALE)).decision == found.decision


@given(st.lists(st.sampled_from([100, 9_999, 10_000, 10_001, 50_000, None]), min_size=1, max_size=90))
def test_the_share_over_the_limit_says_where_the_percentile_is_for_sure(latencies: list[int | None]) -> None:
    outcomes = [
        GOOD
        if ms is not None and ms == 1000
        else outcome_v1(accuracy_score=0, score_origin=NO_ANSWER, latency_e2e_ms=ms)
        for ms in latencies
    ]
    n = len(outcomes)
    total = sum(values_of(outcome, SCALE)[3].worst for outcome in outcomes)
    p95 = aggregates_of(tally(outcomes, SCALE)).latency_e2e_p95_ms
    if 100 * total >= 95 * NANO * n + 105 * NANO:
        assert p95 is not None
        assert p95 <= 10_000
    if 100 * total <= 95 * NANO * n - 195 * NANO:
        assert p95 is not None
        assert p95 > 10_000


def test_early_decisions_are_told_with_what_they_are_of() -> None:
    outcomes = [WRONG, GOOD] * 60
    rule = stopped(outcomes)
    assert rule.decision is not None
    counted = tally(outcomes[: rule.decision.after_items], SCALE)
    found = decide(counted, early=rule.decision)
    assert found.decision == "NOT_READY"
    assert f"decided after {rule.decision.after_items} of 120 items" in found.reasons[0]
    capped = decide(
        counted, early=rule.decision, caps=[Cap("incomplete", "incomplete: 9 of 120 samples, the run is open")]
    )
    assert capped.decision == "INCONCLUSIVE"
    ready = stopped([GOOD] * 200).decision
    changed = decide(
        tally([GOOD] * 80, SCALE), early=ready, caps=[Cap("snapshot_changed", "the model's snapshot changed")]
    )
    assert (changed.decision, changed.release_ready) == ("INCONCLUSIVE", False)


@pytest.mark.parametrize("seed", range(3))
def test_worst_and_best_keep_unscored_samples_open(seed: int) -> None:
    rng = random.Random(seed)
    outcomes = [GOOD] * 240 + [UNSCORED] * 60  # a pass rate of 80 % at worst, of 100 % at best
    rng.shuffle(outcomes)
    assert stopped(outcomes).decision is None
