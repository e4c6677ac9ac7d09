"""Which runs can be compared, in what order, and which of them is the baseline where nobody has chosen one."""

from __future__ import annotations

import pytest

from benchbook.comparison.checkpoints import Checkpoint, in_order, step_named
from benchbook.comparison.comparable import compared_as, why_never
from benchbook.comparison.compared import compare
from benchbook.errors import UsageError
from compared import marks, scores


def test_one_rule_for_who_picks_and_who_compares() -> None:
    a, b = marks("a", "10"), scores("b", ("i0", 0, 1.0, True))
    assert compared_as(a.spec) != compared_as(b.spec)
    with pytest.raises(UsageError, match="a was scored under answer_correctness@v1, b under rubric@v1"):
        compare(a, b)
    assert compared_as("rubric@v1") == compared_as("rubric@v2") == "rubric"


@pytest.mark.parametrize(
    ("state", "spec", "samples_are", "has_numbers", "why"),
    [
        ("complete", "rubric@v1", "answers", True, None),
        ("stopped", "rubric@v1", "answers", True, None),
        ("running", "rubric@v1", "answers", False, "it is running: its numbers come at its end"),
        ("damaged", "rubric@v1", "answers", False, "it is damaged"),
        ("complete", "own@v1", None, True, "its evaluator is not known here"),
        (
            "complete", "judge_protocol@v1", "evaluations", True,
            "its samples are judges' evaluations of outputs, and no answers to items",
        ),
    ],
)  # fmt: skip
def test_why_a_run_is_compared_with_none(
    state: str, spec: str, samples_are: str | None, has_numbers: bool, why: str | None
) -> None:
    assert why_never(state=state, spec=spec, samples_are=samples_are, has_numbers=has_numbers) == why


@pytest.mark.parametrize(
    ("names", "step"),
    [
        (("local/my-model@step-300", "run-1"), 300),
        (("lab/checkpoint@1200",), 1200),
        (("lab/m@sha256:abc", "ckpt_40"), 40),
        (("lab/m", "run-iter5"), 5),
        (("lab/footstep-7", "base"), None),
        ((None, "2026-01-01"), None),
        (("stepless",), None),
    ],
)
def test_a_name_tells_the_step(names: tuple[str | None, ...], step: int | None) -> None:
    assert step_named(*names) == step


@pytest.mark.parametrize(
    ("runs", "baseline"),
    [
        # Picked downward in a list of the newest first: the oldest is the baseline all the same.
        ([("new", None, "2026-02-02"), ("old", None, "2026-01-01")], ("old", "start")),
        ([("old", None, "2026-01-01"), ("new", None, "2026-02-02")], ("old", "start")),
        # Scored later, and trained less.
        ([("far", 900, "2026-01-01"), ("near", 100, "2026-02-02")], ("near", "step")),
        ([("far", 900, "2026-01-01"), ("near", None, "2026-02-02")], ("far", "start")),
        ([("b", 100, "2026-02-02"), ("a", 100, "2026-01-01")], ("a", "start")),
        ([("unknown", None, None), ("known", None, "2026-01-01")], ("known", "start")),
        ([("first", None, None), ("second", None, None)], ("first", "start")),
    ],
)
def test_the_first_is_the_lowest_step_or_the_oldest(
    runs: list[tuple[str, int | None, str | None]], baseline: tuple[str, str]
) -> None:
    found, rule = in_order([Checkpoint(*run) for run in runs])
    assert (found[0].run, rule) == baseline
