"""When a sample passes: all limits hold, its score is high enough, or enough criteria are at their minimum."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.evaluators.rubric.reading import read_rubric
from benchbook.evaluators.rubric.scoring import NO_ANSWER, SampleOutcome, score_sample
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.verify import verify
from running import benchbook_here, run
from scripted_server import JUDGE_WORDS, OK_CANDIDATE, OK_JUDGE, running


def toml(rule: str, minimum: str = "at_least = 1", more: str = "") -> str:
    """Three criteria of 0, 1, 2, with the weights 2, 1 and 1, and a limit of tokens."""
    criteria = "".join(
        f'[[criteria]]\nname = "{name}"\nquestion = "?"\nscale = [0, 1, 2]\nweight = {weight}\n{minimum}\n{more}\n'
        for name, weight in (("a", 2), ("b", 1), ("c", 1))
    )
    gate = '[[gates]]\naggregate = "pass_rate"\nat_least = 0.5\n'
    head = 'name = "own"\nversion = 1\nabout = "x"\n'
    return f"{head}{criteria}[measures.tokens]\nat_most = 50\n{rule}\n{gate}"


def spec_with(rule: str, minimum: str = "at_least = 1", more: str = "") -> RubricSpec:
    return read_rubric({"spec.toml": toml(rule, minimum, more).encode(), "prompt.txt": b"{{answer}}"})


def outcome(*scores: int | None, tokens: int = 40, **more: Any) -> SampleOutcome:
    return SampleOutcome(scores=scores, input_tokens=tokens - 1, output_tokens=1, **more)


BELOW, TOO_FEW, LOW = "{}_below_minimum", "too_few_criteria", "score_below_minimum"
TOKENS = "tokens_above_maximum"

# By the weights 2, 1, 1 a sample is worth (2 a + b + c) / 8.
CASES = [
    ("", outcome(1, 1, 1), ()),
    ("", outcome(2, 0, 2), ("b_below_minimum",)),
    ('[pass]\nrule = "all"', outcome(2, 0, 2), ("b_below_minimum",)),
    # A least score beside the limits: 6 / 8, 5 / 8.
    ("[pass]\nmin_score = 0.75", outcome(2, 1, 1), ()),
    ("[pass]\nmin_score = 0.75", outcome(2, 1, 1, tokens=60), (TOKENS,)),
    ("[pass]\nmin_score = 0.75", outcome(1, 2, 1), (LOW,)),
    ("[pass]\nmin_score = 0.75", outcome(2, 2, 0), ("c_below_minimum",)),
    ("[pass]\nmin_score = 0.75", outcome(1, 1, 0, tokens=60), ("c_below_minimum", TOKENS, LOW)),
    ("[pass]\nmin_score = 0.625", outcome(1, 2, 1), ()),
    ("[pass]\nmin_score = 0.75", outcome(None, None, None), ("a_unscored", "b_unscored", "c_unscored")),
    ("[pass]\nmin_score = 0.75", outcome(0, 0, 0, score_origin=NO_ANSWER),
     ("a_below_minimum", "b_below_minimum", "c_below_minimum", LOW)),
    # So many criteria.
    ("[pass]\nat_least = 2", outcome(1, 1, 0), ()),
    ("[pass]\nat_least = 2", outcome(1, 1, 0, tokens=60), (TOKENS,)),
    ("[pass]\nat_least = 2", outcome(2, 0, 0), (TOO_FEW, "b_below_minimum", "c_below_minimum")),
    ("[pass]\nat_least = 2", outcome(0, 0, 2, tokens=60), (TOO_FEW, "a_below_minimum", "b_below_minimum", TOKENS)),
    ("[pass]\nat_least = 3", outcome(1, 1, 0), (TOO_FEW, "c_below_minimum")),
    ("[pass]\nat_least = 1", outcome(None, None, None), ("a_unscored", "b_unscored", "c_unscored")),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "sample", "reasons"), CASES)
def test_why_a_sample_does_not_pass(rule: str, sample: SampleOutcome, reasons: tuple[str, ...]) -> None:
    found = score_sample(sample, spec_with(rule))
    assert found.fail_reasons == reasons
    assert found.passed is (reasons == ())


@pytest.mark.parametrize(
    ("scores", "reasons"),
    [
        ((1, 1, None), ()),  # two apply, and both are met
        ((1, 0, None), (TOO_FEW, "b_below_minimum")),
        ((1, None, None), ()),
        ((0, None, None), (TOO_FEW, "a_below_minimum")),
        ((1, 1, 0), ()),
    ],
)
def test_what_does_not_apply_asks_for_nothing(scores: tuple[int | None, ...], reasons: tuple[str, ...]) -> None:
    spec = spec_with("[pass]\nat_least = 2", more="not_applicable = true")
    assert score_sample(outcome(*scores, some_do_not_apply=None in scores), spec).fail_reasons == reasons


@pytest.mark.parametrize("rule", ["[pass]\nmin_score = 0.000000001", "[pass]\nat_least = 1"])
def test_no_answer_never_passes(rule: str) -> None:
    """Though no limit says so: what was measured of it is worth something."""
    text = toml(rule, minimum="" if "min_score" in rule else "at_least = 1").replace(
        "at_most = 50", "target = 50\nweight = 1"
    )
    spec = read_rubric({"spec.toml": text.encode(), "prompt.txt": b"{{answer}}"})
    found = score_sample(outcome(0, 0, 0, score_origin=NO_ANSWER), spec)
    assert (found.sample_score_nano or 0) > 1
    assert not found.passed
    assert found.fail_reasons[0] == ("no_answer" if "min_score" in rule else TOO_FEW)


def test_a_run_by_its_score(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "spec.toml").write_text(toml("[pass]\nmin_score = 0.75", minimum=""), encoding="utf-8")
    (folder / "prompt.txt").write_text(JUDGE_WORDS + "{{answer}} {{criteria}}", encoding="utf-8")

    def replies(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del request
        a, b, c = ((2, 2, 0), (1, 2, 0), (2, 2, 2))[n]  # 6 / 8, 4 / 8, 8 / 8
        scores = {"a_score": a, "b_score": b, "c_score": c, "rationale": "So."}
        return OK_CANDIDATE if role == "candidate" else OK_JUDGE | {"content": json.dumps(scores)}

    with running(replies) as server:
        result = run(tmp_path, server, 3, spec=str(folder), max_connections=1, reports=None)
    found = result.derived.aggregates
    assert (found.aggregates.pass_rate, found.fail_reasons) == (0.666666667, {"score_below_minimum": 1})
    assert verify(result.record).holds
    lines = benchbook_here("rubric", "check", str(folder)).stdout.decode().splitlines()
    assert "  passes: a sample score of at least 0.75, and every limit" in lines
    assert json.loads(benchbook_here("rubric", "check", str(folder), "--json").stdout)["pass"] == {"min_score": 0.75}


def test_no_answer_passes_under_no_rubric() -> None:  # R1.3: though nothing limits a score
    without_limits = spec_with("", minimum="")
    assert score_sample(outcome(0, 0, 0), without_limits).fail_reasons == ()
    assert score_sample(outcome(0, 0, 0, score_origin=NO_ANSWER), without_limits).fail_reasons == ("no_answer",)
