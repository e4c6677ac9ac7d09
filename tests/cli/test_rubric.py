"""`benchbook rubric init` and `check`, and `run` with what they make."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from running import benchbook_here, write_items
from scripted_server import OK_CANDIDATE, OK_JUDGE, running


def test_what_init_writes_is_without_fault_and_runs(tmp_path: Path) -> None:
    write_items(tmp_path / "items.jsonl", 3)
    made = benchbook_here("rubric", "init", "kind", "--json", cwd=tmp_path)
    assert json.loads(made.stdout) == {"files": ["kind@v1/spec.toml", "kind@v1/prompt.txt"], "spec": "kind@v1"}
    again = benchbook_here("rubric", "init", "kind", cwd=tmp_path)
    assert (again.returncode, b"is there already; nothing was written" in again.stderr) == (2, True)
    words = ["rubric", "check", "kind@v1", "--evalset", "items.jsonl", "--json"]
    shown = json.loads(benchbook_here(*words, cwd=tmp_path).stdout)
    assert [(one["name"], one["scale"], one["weight"]) for one in shown["criteria"]] == [
        ("correct", [0, 2], 2), ("clear", [0, 1], 1)
    ]  # fmt: skip
    (message,) = shown["first_judge_messages"]
    assert "- correct_score (0, 1, 2): Is the answer correct and complete?" in message["content"]
    form = '{"correct_score": <0 | 1 | 2>, "clear_score": <0 | 1>, "rationale": "<why, in at most 80 words>"}'
    assert form in message["content"]

    def reply(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del n, request
        verdict = {"correct_score": 2, "clear_score": 0, "rationale": "So."}
        return OK_CANDIDATE if role == "candidate" else OK_JUDGE | {"content": json.dumps(verdict)}

    with running(reply) as server:
        done = benchbook_here(
            "run", "--spec", "kind@v1", "--evalset", "items.jsonl", "--model", "openai/m@2026-01-01", "--judge",
            "openai/j@2026-01-01", "--model-base-url", server.base_url, "--judge-base-url", server.base_url,
            "--run-id", "one", "--json", cwd=tmp_path,
        )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["aggregates"]["aggregates"]["aggregate_score"] == 0.666666667  # 2 of the weights 2 + 1
    assert found["manifest"]["spec_sha256"] == shown["sha256"]
    assert benchbook_here("verify", "one", cwd=tmp_path).returncode == 0


def test_a_rubric_is_shown_to_people(tmp_path: Path) -> None:
    benchbook_here("rubric", "init", "kind", cwd=tmp_path)
    lines = benchbook_here("rubric", "check", "kind@v1", cwd=tmp_path).stdout.decode().splitlines()
    assert lines[:5] == [
        "kind@v1: Is the answer right, and is it clear?",
        "  correct: 0 to 2, 1 passes; weight 2: Is the answer correct and complete?",
        "  clear: 0 to 1, any passes; weight 1: Would a reader understand it at the first reading?",
        "  gate: pass_rate at least 0.8",
        "  gate: aggregate_score at least 0.7",
    ]
    assert "correct_full_credit_rate" in lines[-2]


HEAD = 'name = "own"\nversion = 1\nabout = "x"\n[[criteria]]\nname = "good"\nquestion = "Good?"\n'  # 6 lines
GATE = '\n[[gates]]\naggregate = "pass_rate"\nat_least = 0.5\n'


@pytest.mark.parametrize(
    ("more", "faults"),
    [
        ("scale = [0, 2]", [":7: criteria[1].scale: found [0, 2]; expected whole numbers one after the other"]),
        ("scale = [1, 0]", [":7: criteria[1].scale: found [1, 0]; expected whole numbers"]),
        ('scale = ["no"]', [":7: criteria[1].scale: found ['no']; expected at least two grades"]),
        ('scale = ["no", "no"]', [":7: criteria[1].scale: found ['no', 'no']; expected at least two grades"]),
        ('scale = ["no", "y|s"]', [":7: criteria[1].scale: found 'y|s'; expected a grade of at most 48 letters"]),
        ('scale = ["no", 1]', [":7: criteria[1].scale: found"]),
        (
            'scale = ["no", "yes"]\nat_least = "no"',
            [":8: criteria[1].at_least: found 'no'; expected a grade above the lowest: yes; or no at_least"],
        ),
        ("scale = [0, 1]\nat_least = 2", [":8: criteria[1].at_least: found 2; expected a score of its scale, 0 to 1"]),
        ("scale = [0, 1]\nweigth = 1", [":8: criteria[1].weigth: found a key that nothing reads; expected weight"]),
        (
            'scale = [0, 1]\n[[gates]]\naggregate = "god_mean"\nat_least = 0.5',
            [":9: gates[1].aggregate: found 'god_mean'; expected good_mean, which is near"],
        ),
        (
            'scale = [0, 1]\n[[gates]]\naggregate = "good_mean"\nat_least = 1.5',
            [":10: gates[1].at_least: found 1.5; expected a number from 0 to 1, as good_mean is"],
        ),
        (
            'scale = [0, 1]\nweight = 0\n[measures.tokens]\ntarget = 5',
            [":8: criteria[1].weight: found 0", ":9: measures.tokens: found neither at_most nor weight",
             ":9: measures.tokens.weight: found nothing"],
        ),
    ],
)  # fmt: skip
def test_every_fault_is_named_by_its_line(tmp_path: Path, more: str, faults: list[str]) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    more += "" if "[[gates]]" in more else GATE
    (folder / "spec.toml").write_text(f"{HEAD}{more}\n", encoding="utf-8")
    (folder / "prompt.txt").write_text("{{answer}}\n", encoding="utf-8")
    done = benchbook_here("rubric", "check", "own", cwd=tmp_path)
    said = done.stderr.decode().replace("benchbook: ", "").splitlines()
    assert (done.returncode, len(said)) == (2, len(faults)), said
    for line, fault in zip(said, faults, strict=True):
        assert line.startswith(f"own/spec.toml{fault}")


def test_a_quote_that_is_asked_for_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    more = 'scale = [0, 1]\nquote = "report"\nquote_from = "transcript"\n'
    (folder / "spec.toml").write_text(f"{HEAD}{more}{GATE}", encoding="utf-8")
    (folder / "prompt.txt").write_text("{{transcript}} {{criteria}}\n", encoding="utf-8")
    lines = benchbook_here("rubric", "check", "own", cwd=tmp_path).stdout.decode().splitlines()
    assert lines[1] == "  good: 0 to 1, any passes; weight 1; quotes the transcript, which is counted: Good?"


@pytest.mark.parametrize(
    ("prompt", "says"),
    [
        (
            "{{answer}}\n{{item.promt}}\n",
            "own/prompt.txt:2: found '{{item.promt}}'; expected item.prompt, which is near",
        ),
        ("Judge it.\n", "no {{answer}} in what the judge is asked"),
        (None, "own/prompt.txt: found no such file"),
    ],
)
def test_a_fault_of_the_prompt(tmp_path: Path, prompt: str | None, says: str) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "spec.toml").write_text(f"{HEAD}scale = [0, 1]{GATE}", encoding="utf-8")
    if prompt is not None:
        (folder / "prompt.txt").write_text(prompt, encoding="utf-8")
    done = benchbook_here("rubric", "check", "own", cwd=tmp_path)
    assert (done.returncode, says in done.stderr.decode()) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["rubric", "init", "Kind"], "NAME: found 'Kind'; expected small letters"),
        (["rubric", "init", "rubric"], "NAME: found 'rubric'; expected another name: rubric@v1 is shipped"),
        (["rubric", "init", "../x"], "NAME: found '../x'; expected small letters"),
        (["rubric", "check", "nowhere"], "`benchbook rubric init NAME` writes one to start from"),
    ],
)
def test_what_is_refused(tmp_path: Path, words: list[str], says: str) -> None:
    done = benchbook_here(*words, cwd=tmp_path)
    assert (done.returncode, says in done.stderr.decode()) == (2, True), done.stderr


def test_what_init_says_in_comments_is_right(tmp_path: Path) -> None:
    """Every key that stands behind a `#` may be taken as it is: of [pass] the first of the two."""
    benchbook_here("rubric", "init", "kind", cwd=tmp_path)
    spec = tmp_path / "kind@v1" / "spec.toml"
    lines = spec.read_text(encoding="utf-8").splitlines()
    second = next(number for number, line in enumerate(lines) if line.startswith("# [pass]")) + 2
    taken = [re.sub(r"^# (?=\[|\w+ = )", "", line) for line in (*lines[:second], *lines[second + 1 :])]
    assert sum(one != other for one, other in zip(taken, lines, strict=False)) > 15
    spec.write_text("\n".join(taken), encoding="utf-8")
    (spec.parent / "system.txt").write_text("Be strict.", encoding="utf-8")
    done = benchbook_here("rubric", "check", "kind@v1", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert [one["name"] for one in shown["criteria"]] == ["correct", "clear", "item_criteria"]
    assert [one["name"] for one in shown["measures"]] == ["latency", "tokens", "cost"]
    assert shown["pass"] == {"min_score": 0.8}
