"""The worked example of docs/explanation/how-a-decision-is-made.md, computed by the library."""

from __future__ import annotations

import pytest

from benchbook.evaluators.exact import as_float
from benchbook.evaluators.gates import Decision
from benchbook.evaluators.rubric.aggregates import aggregates_of
from benchbook.evaluators.rubric.intervals import intervals_of
from benchbook.evaluators.rubric.release import decide, decide_by_bounds
from benchbook.evaluators.rubric.scoring import NO_ANSWER, SampleOutcome, score_sample
from benchbook.evaluators.rubric.tally import tally
from benchbook.statistics.clusters import one_sided_bound
from docs.sessions import tables_of
from rubric_v1 import V1, outcome_v1
from support import ROOT

PAGE = ROOT / "docs/explanation/how-a-decision-is-made.md"
SCALE = V1
SAMPLES, SCORES, AGGREGATES, GATES, ENDS, SHOWN = tables_of(PAGE)[:6]


def number(cell: str) -> float | None:
    return None if cell == "–" else float(cell.replace(",", ""))


def whole(cell: str) -> int | None:
    found = number(cell)
    return None if found is None else int(found)


def outcome(row: dict[str, str], **changes: int | None) -> SampleOutcome:
    no_answer = row["answer"] == "none"
    unscored = row["accuracy"] == "–" and not changes
    return outcome_v1(
        accuracy_score=0 if no_answer else changes.get("score", whole(row["accuracy"])),
        faithfulness_score=None if no_answer else changes.get("score", whole(row["faithfulness"])),
        score_origin=NO_ANSWER if no_answer else None,
        evaluator_error="parse_error" if unscored and not no_answer else None,
        latency_e2e_ms=whole(row["latency, ms"]),
        input_tokens=whole(row["input tokens"]),
        output_tokens=whole(row["output tokens"]),
    )


OUTCOMES = [outcome(row) for row in SAMPLES]


@pytest.mark.parametrize(
    ("one", "row"), list(zip(OUTCOMES, SCORES, strict=True)), ids=[row["sample"] for row in SCORES]
)
def test_a_sample_is_worth_what_the_page_says(one: SampleOutcome, row: dict[str, str]) -> None:
    score = score_sample(one, SCALE)
    assert [as_float(norm) for norm in score.norms_nano] == [
        number(row[name]) for name in ("accuracy", "faithfulness", "latency", "tokens")
    ]
    assert as_float(score.sample_score_nano) == number(row["sample score"])
    assert ("yes" if score.passed else "no") == row["passes"]


def test_the_aggregates_are_those_of_the_page() -> None:
    found = aggregates_of(tally(OUTCOMES, SCALE))
    assert {row["aggregate"]: getattr(found, row["aggregate"]) for row in AGGREGATES} == {
        row["aggregate"]: number(row["value"]) for row in AGGREGATES
    }


def decision(outcomes: list[SampleOutcome]) -> Decision:
    counted = tally(outcomes, SCALE)
    return decide(counted, intervals=intervals_of(counted, 0.95))


@pytest.mark.parametrize("row", GATES, ids=[row["gate"] for row in GATES])
def test_a_gate_stands_as_the_page_says(row: dict[str, str]) -> None:
    gate = next(one for one in decision(OUTCOMES).gates if one.aggregate == row["gate"])
    assert [gate.value, gate.worst, gate.best] == [
        number(row[name]) for name in ("as scored", "worst case", "best case")
    ]
    yes_no = {True: "yes", False: "no"}
    held = (gate.holds, gate.holds_in_worst_case, gate.holds_in_best_case)
    assert [yes_no[one] for one in held] == row["holds: as scored, worst, best"].split(", ")


@pytest.mark.parametrize("row", ENDS, ids=[row["the missing verdict"] for row in ENDS])
def test_the_missing_verdict_decides(row: dict[str, str]) -> None:
    missing = row["the missing verdict"]
    outcomes = OUTCOMES if missing == "none" else [*OUTCOMES[:-1], outcome(SAMPLES[-1], score=int(missing[0]))]
    found = decision(outcomes)
    values = {gate.aggregate: gate.value for gate in found.gates}
    assert found.decision == row["by the values"]
    assert [values["aggregate_score"], values["pass_rate"]] == [
        number(row["aggregate_score"]),
        number(row["pass_rate"]),
    ]


@pytest.mark.parametrize("row", SHOWN, ids=[row["of seven passing"] for row in SHOWN])
def test_what_seven_samples_show_is_as_the_page_says(row: dict[str, str]) -> None:
    passing = int(row["of seven passing"][0])
    share, spread = passing / 7, passing / 7 * (1 - passing / 7)
    at_least = one_sided_bound("low", 7, share, spread, 1.0, 0.95)
    at_most = one_sided_bound("high", 7, share, spread, float(passing == 7), 0.9875)
    assert round(at_least, 9) == number(row["passes at least, 95 %"])
    assert round(at_most, 9) == number(row["passes at most, 98.75 %"])


def test_the_seven_samples_decide_nothing() -> None:
    counted = tally(OUTCOMES, SCALE)
    found = decide_by_bounds(counted, intervals=intervals_of(counted, 0.95))
    assert (found.decision, found.release_ready) == ("INCONCLUSIVE", False)
    rate = next(gate for gate in found.gates if gate.aggregate == "pass_rate")
    assert [rate.bound, rate.best_bound] == [
        number(SHOWN[0]["passes at least, 95 %"]),
        number(SHOWN[1]["passes at most, 98.75 %"]),
    ]
