"""SPEC C2, R4 to R6: aggregates, gates, decision."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.gates import Cap
from benchbook.evaluators.rubric.aggregates import aggregates_of
from benchbook.evaluators.rubric.release import decide
from benchbook.evaluators.rubric.scoring import NO_ANSWER, SampleOutcome, score_sample
from benchbook.evaluators.rubric.tally import tally
from rubric_v1 import V1, outcome_v1
from support import cases

SCALE = V1
GATE_FIELDS = ("value", "worst", "best", "holds")


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("aggregates"))
def test_a_run_comes_out_as_the_case_says(case: dict[str, Any]) -> None:
    outcomes = [outcome_v1(**sample) for sample in case["samples"]]
    counted = tally(outcomes, V1.without(case.get("options", {}).get("unmeasured", ())))
    decision = decide(counted)
    expect = case["expect"]
    aggregates = msgspec.to_builtins(aggregates_of(counted))
    assert {key: aggregates[key] for key in expect["aggregates"]} == expect["aggregates"]
    gates = {gate.aggregate: {name: getattr(gate, name) for name in GATE_FIELDS} for gate in decision.gates}
    assert gates == expect["gates"]
    assert (decision.decision, decision.release_ready) == (expect["decision"], expect["release_ready"])
    scored = [score_sample(outcome, counted.spec) for outcome in outcomes]
    scores = [None if one.sample_score_nano is None else one.sample_score_nano / 1e9 for one in scored]
    assert scores == expect["sample_scores"]
    assert [one.passed for one in scored] == expect["passed"]


def outcomes() -> st.SearchStrategy[SampleOutcome]:
    count = st.none() | st.integers(0, 20_000)
    judged = st.builds(
        outcome_v1, accuracy_score=st.integers(0, 2), faithfulness_score=st.integers(0, 2), latency_e2e_ms=count,
        latency_model_ms=count, input_tokens=count, output_tokens=count,
    )  # fmt: skip
    failed = st.builds(outcome_v1, evaluator_error=st.sampled_from(["parse_error", "timeout"]), latency_e2e_ms=count)
    silent = st.builds(
        outcome_v1,
        accuracy_score=st.just(0),
        score_origin=st.just(NO_ANSWER),
        timed_out=st.booleans(),
        latency_e2e_ms=count,
    )
    return judged | failed | silent


@given(st.lists(outcomes(), max_size=30), st.randoms(use_true_random=False))
def test_aggregates_and_decision_do_not_depend_on_order(samples: list[SampleOutcome], rng: random.Random) -> None:  # C2
    shuffled = rng.sample(samples, k=len(samples))
    one, other = tally(samples, SCALE), tally(shuffled, SCALE)
    assert msgspec.json.encode(aggregates_of(one)) == msgspec.json.encode(aggregates_of(other))
    assert decide(one) == decide(other)


@given(outcomes())
def test_the_score_is_the_exact_rational_rounded_once(outcome: SampleOutcome) -> None:  # C2, R5.2
    scored = score_sample(outcome, SCALE)
    if outcome.unscored:
        assert scored.sample_score_nano is None
        return
    latency, tokens = outcome.latency_e2e_ms, outcome.total_tokens
    exact = Fraction(45, 100) * Fraction(outcome.scores[0] or 0, 2)
    exact += Fraction(30, 100) * Fraction(outcome.scores[1] or 0, 2)
    exact += Fraction(15, 100) * (0 if latency is None else min(Fraction(1), Fraction(3000, max(latency, 1))))
    exact += Fraction(10, 100) * (0 if tokens is None else min(Fraction(1), Fraction(2000, max(tokens, 1))))
    assert scored.sample_score_nano == round(exact * 10**9)  # Fraction rounds half to even


@given(st.lists(outcomes(), min_size=1, max_size=30))
def test_the_worst_case_is_never_better_than_the_best(samples: list[SampleOutcome]) -> None:  # R6.3
    for gate in decide(tally(samples, SCALE)).gates:
        if gate.worst is not None and gate.best is not None:
            assert gate.worst <= gate.best if gate.direction == "at_least" else gate.worst >= gate.best
        assert gate.holds_in_best_case or not gate.holds_in_worst_case


def test_declared_unmeasured_shares_the_weights_and_caps_the_decision() -> None:  # R1.4
    scale = V1.without({"latency", "tokens"})
    outcome = outcome_v1(accuracy_score=2, faithfulness_score=1)
    scored = score_sample(outcome, scale)
    assert scored.sample_score_nano == 800_000_000  # (45 + 30 / 2) / 75
    assert scored.passed
    decision = decide(tally([outcome] * 3, scale))
    assert decision.decision == "INCONCLUSIVE"
    assert decision.reasons == ("latency was declared unmeasured", "tokens was declared unmeasured")


def test_not_declared_unmeasured_does_not_pass() -> None:  # R1.4
    scored = score_sample(outcome_v1(accuracy_score=2, faithfulness_score=2), SCALE)
    assert scored.fail_reasons == ("latency_unmeasured", "tokens_unmeasured")
    assert scored.sample_score_nano == 750_000_000


def test_a_cap_makes_ready_inconclusive() -> None:  # R7.2
    good = outcome_v1(accuracy_score=2, faithfulness_score=2, latency_e2e_ms=10, input_tokens=1, output_tokens=1)
    assert decide(tally([good], SCALE)).decision == "READY"
    assert decide(tally([good], SCALE), caps=(Cap("snapshot_changed", "the model changed"),)).decision == "INCONCLUSIVE"
