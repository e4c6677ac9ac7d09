"""A judge held against people in sentences and as data of pictures: cases worked out by hand."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from benchbook.evaluators.gates import Gate, Threshold
from benchbook.evaluators.intervals import Interval
from benchbook.labels.calibration_corrected import LabelledPair, same_score
from benchbook.labels.calibration_results import Bias, CorrectedGate, SliceBias
from benchbook.statistics import Estimate, wilson
from benchbook.views.against_people import (
    OnTrial,
    agreement_sentences,
    crossed,
    gate_sentences,
    gate_spans,
    unmoved_gates,
)
from benchbook.views.words import in_prose


def estimate(
    value: float | None, low: float | None = None, high: float | None = None, n: int = 100, reason: str | None = None
) -> Estimate:
    return Estimate(estimate=value, low=low, high=high, confidence=0.95, method="t", n=n, reason=reason)


NOTHING = estimate(None, n=0, reason="no_data")


def on_trial(same: int, n: int, difference: Estimate = NOTHING, title: str = "Accuracy", **more: Any) -> OnTrial:
    """`same` of `n` answers on the diagonal; all others got 2 where people gave 1."""
    confusion = {str(one): {str(other): 0 for other in range(3)} for one in range(3)}
    confusion["2"]["2"], confusion["1"]["2"] = same, n - same
    bias = Bias(overall=difference, slices=more.pop("slices", ()), with_length=NOTHING)
    return OnTrial(title, more.pop("who", "judge"), n, confusion, wilson(same, n), bias)


@pytest.mark.parametrize(
    ("trials", "said"),
    [
        pytest.param(
            [on_trial(84, 100, estimate(0.12, 0.034, 0.206))],
            [("Accuracy: the judge agrees with people on 84 of 100 answers (75.6 % to 89.9 %); it is too kind by "
             "0.120 of 2 points (0.034 to 0.206).")],
            id="too kind",
        ),
        pytest.param(
            [on_trial(84, 100, estimate(-0.12, -0.206, -0.034), who="evaluator")],
            [("Accuracy: the evaluator agrees with people on 84 of 100 answers (75.6 % to 89.9 %); it is too strict by "
             "0.120 of 2 points (0.034 to 0.206).")],
            id="too strict",
        ),
        pytest.param(
            [on_trial(2, 3, estimate(0.333, -7.853, 4.853, n=3))],
            [("Accuracy: the judge agrees with people on 2 of 3 answers (20.8 % to 93.9 %); whether it is kinder or "
             "stricter than people can't be told (−2.000 to +2.000 of 2 points).")],
            id="nobody can tell, and the approximation is kept on the scale",
        ),
        pytest.param(
            [on_trial(0, 4, estimate(1.0, n=4, reason="no_variance"))],
            [("Accuracy: the judge agrees with people on 0 of 4 answers (0.0 % to 49.0 %); it gives 1.000 of 2 points "
             "more on average, and how sure that is can't be told.")],
            id="all differ alike",
        ),
        pytest.param(
            [on_trial(4, 4, estimate(0.0, n=4, reason="no_variance"))],
            ["Accuracy: the judge agrees with people on 4 of 4 answers (51.0 % to 100.0 %)."],
            id="none differs",
        ),
        pytest.param(
            [on_trial(1, 1, estimate(0.0, n=1))],
            ["Accuracy: the judge agrees with people on 1 of 1 answer (20.7 % to 100.0 %)."],
            id="one answer",
        ),
        pytest.param(
            [on_trial(0, 0, title="Clear"), on_trial(0, 0, title="Sources")],
            ["Clear and Sources: nobody has labelled an answer that was scored."],
            id="no labels",
        ),
        pytest.param(
            [on_trial(n, 100, title=name) for n, name in ((97, "A"), (84, "B"), (99, "C"), (95, "D"))],
            ["B: the judge agrees with people on 84 of 100 answers (75.6 % to 89.9 %).",
             "D: the judge agrees with people on 95 of 100 answers (88.8 % to 97.8 %).",
             "On 2 other criteria they agree on more: 97.0 % to 99.0 %."],
            id="of many the worst two, and the others as one",
        ),
    ],
)  # fmt: skip
def test_how_far_judge_and_people_agree(trials: list[OnTrial], said: list[str]) -> None:
    assert agreement_sentences(trials) == said


def test_clusters_make_the_share_of_same_scores_less_sure() -> None:
    """Four clusters of 25 that are alike within count as about four answers."""
    pairs = [LabelledPair(2, 2 if n // 25 < 3 else 1, 10, (), f"c{n // 25}") for n in range(100)]
    alone = [LabelledPair(pair.people, pair.judge, 10, (), None) for pair in pairs]
    clustered, one_by_one = same_score(pairs, 0.95), same_score(alone, 0.95)
    assert clustered.estimate == one_by_one.estimate == 0.75
    assert (one_by_one.low, one_by_one.high) == (wilson(75, 100).low, wilson(75, 100).high)
    assert clustered.low is not None
    assert one_by_one.low is not None
    assert clustered.low < one_by_one.low - 0.2


def gate(
    frozen: float,
    value: float | None,
    worst: float | None,
    best: float | None,
    *,
    name: str = "pass_rate",
    direction: Literal["at_least", "at_most"] = "at_least",
    limit: float = 0.85,
    source: Literal["corrected", "labels_alone", "run"] = "corrected",
) -> CorrectedGate:
    rule = Threshold(name, direction, round(limit * 1e9))
    reason = None if value is not None else "no_data"
    return CorrectedGate(
        aggregate=name, direction=direction, limit=limit, source=source, frozen=frozen, value=value, worst=worst,
        best=best, holds=rule.holds(value), holds_for_sure=rule.holds(worst),
        can_hold=best is None or rule.holds(best), reason=reason,
    )  # fmt: skip


def frozen(one: CorrectedGate) -> Gate:
    """The run's own gate, of a run without unscored samples."""
    rule = Threshold(one.aggregate, one.direction, round(one.limit * 1e9))
    return rule.gate(one.frozen, one.frozen, one.frozen, None)


LATENCY = gate(5, 5, 5, 5, name="latency_e2e_p95_ms", direction="at_most", limit=10_000, source="run")


@pytest.mark.parametrize(
    ("gates", "said"),
    [
        pytest.param([LATENCY], [], id="no judge has a say"),
        pytest.param(
            [gate(0.947, 0.93, 0.91, 0.95), LATENCY],
            ["As people would judge, the gate in which the judge has a say comes out the same."],
            id="the same",
        ),
        pytest.param(
            [gate(0.947, 0.93, 0.91, 0.95), gate(0.9, 0.9, 0.86, 0.95, name="aggregate_score", limit=0.8)],
            ["As people would judge, both gates in which the judge has a say come out the same."],
            id="both the same",
        ),
        pytest.param(
            [gate(0.87, 0.801, 0.76, 0.842)],
            [("The gate “Pass rate” (at least 85 %) holds at 87.0 % as judged; as people would judge, at 80.1 %, it "
             "does not hold.")],
            id="it does not hold any more",
        ),
        pytest.param(
            [gate(0.03, 0.04, 0.141, 0.02, name="faithfulness_failure_rate", direction="at_most", limit=0.05)],
            [("The gate “Faithfulness failure rate” (at most 5 %) holds at 3.0 % as judged; as people would judge, at "
             "4.0 %, it holds, but not at worst.")],
            id="it holds, but not at worst",
        ),
        pytest.param(
            [gate(0.84996, 0.86, 0.85, 0.9)],
            [("The gate “Pass rate” (at least 85 %) does not hold at 84.996 % as judged; as people would judge, at "
             "86.0 %, it holds.")],
            id="it holds now, and no value is rounded onto the limit",
        ),
        pytest.param(
            [gate(0.9, None, None, None)],
            [("The gate “Pass rate” (at least 85 %) holds at 90.0 % as judged; as people would judge nothing can be "
             "said.")],
            id="nothing can be said",
        ),
        pytest.param(
            [gate(0.87, 0.8, 0.76, 0.84), gate(0.7, 0.9, 0.86, 0.95, name="aggregate_score", limit=0.8)],
            ["2 gates come out otherwise as people would judge: “Pass rate” and “Mean sample score”."],
            id="two",
        ),
    ],
)  # fmt: skip
def test_what_becomes_of_gates(gates: list[CorrectedGate], said: list[str]) -> None:
    assert gate_sentences([frozen(one) for one in gates], gates) == said


def test_a_gate_that_is_sure_in_neither_view_comes_out_the_same() -> None:
    corrected = gate(0.87, 0.86, 0.8, 0.9)
    rule = Threshold("pass_rate", "at_least", 850_000_000)
    assert gate_sentences([rule.gate(0.87, 0.8, 0.9, None)], [corrected]) == [
        "As people would judge, the gate in which the judge has a say comes out the same."
    ]
    assert gate_sentences([rule.gate(0.87, 0.87, 0.87, None)], [corrected])[0].endswith("it holds, but not at worst.")


def test_gates_without_a_judge_are_named() -> None:
    assert (
        unmoved_gates([LATENCY, gate(0.9, 0.9, 0.9, 0.9)]) == "Whoever judges has no say in: Latency end to end, p95."
    )
    assert unmoved_gates([gate(0.9, 0.9, 0.9, 0.9)]) == ""


def test_a_gate_is_drawn_twice_on_one_axis() -> None:
    corrected = gate(0.03, 0.04, 0.061, 0.02, name="faithfulness_failure_rate", direction="at_most", limit=0.05)
    rule = Threshold("faithfulness_failure_rate", "at_most", 50_000_000)
    reach = Interval(low=0.01, high=0.049, confidence=0.95, method="wilson", n=300)
    frozen: Gate = rule.gate(0.03, 0.03, 0.03, reach)
    (found,) = gate_spans([frozen], [corrected, LATENCY], {})
    assert (found.title, found.about) == ("Faithfulness failure rate", "at most 5 %")
    assert (found.lowest, found.highest) == (0.0, 0.1)  # twice the limit, where nothing reaches farther
    assert (found.mark, found.good_from, found.good_to) == (0.05, 0.0, 0.05)
    judged, people = found.lines
    assert (judged.name, judged.value, judged.low, judged.high) == ("As judged", 0.03, 0.01, 0.049)
    assert (judged.words, judged.tone, judged.state) == ("3.0 % (1.0 % to 4.9 %)", "good", "Holds")
    assert (people.low, people.high) == (0.02, 0.061)  # the worst is the highest here
    assert (people.words, people.tone, people.state) == ("4.0 % (2.0 % to 6.1 %)", "doubt", "Holds, but not at worst")


def slice_of(value: str, difference: float, p_holm: float | None) -> SliceBias:
    found = estimate(difference, difference - 0.1, difference + 0.1, n=30)
    return SliceBias(slice="category", value=value, difference=found, p=0.001, p_holm=p_holm)


def test_a_slice_is_called_kind_or_strict_by_its_adjusted_p_alone() -> None:
    slices = (slice_of("a", 0.2, 0.049), slice_of("b", -0.2, 0.05), slice_of("c", 0.2, 0.051), slice_of("d", 0.2, None))
    found = crossed(on_trial(90, 100, estimate(0.1, 0.01, 0.19), slices=slices), 0.95)
    assert found.counts == ((0, 0, 0), (0, 0, 10), (0, 0, 90))
    states = {line.name: (line.state, line.tone) for line in found.differences.lines}
    assert states == {
        "all answers": ("too kind", "bad"),
        "category: a": ("too kind", "bad"),
        "category: b": ("too strict", "bad"),
        "category: c": ("", "none"),
        "category: d": ("", "none"),
    }
    assert found.differences.lines[0].words == "+0.100 (+0.010 to +0.190), n = 100"
    assert (found.differences.lowest, found.differences.highest) == (-0.3, 0.3)


def test_slices_beyond_a_dozen_are_those_that_differ_most() -> None:
    slices = tuple(slice_of(f"s{n:02}", n / 100, None) for n in range(15))
    found = crossed(on_trial(90, 100, estimate(0.1, 0.01, 0.19), slices=slices), 0.95).differences
    assert [line.name for line in found.lines] == ["all answers", *(f"category: s{n:02}" for n in range(3, 15))]
    assert found.about.endswith("3 slices that differ less stand in the table alone.")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1 sample can't show READY: at least 59 can", "1 sample can't show “Ready to release”: at least 59 can"),
        ("NOT_READY or INCONCLUSIVE", "“Not ready” or “Inconclusive”"),
        ("ALREADY", "ALREADY"),
    ],
)
def test_a_reason_in_prose_has_no_constant(text: str, shown: str) -> None:
    assert in_prose(text) == shown
