"""`benchbook checks init` and `check`, and `score` with what they make."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from running import benchbook_here
from scored import write_lines

ITEMS = [
    {"id": "a", "prompt": "Capital of France?", "expected_answer": "Paris"},
    {"id": "b", "prompt": "6 * 7?", "expected_answer": "42"},
]
PREDICTIONS = [{"item_id": "a", "predicted": "Easy.\nAnswer: Paris"}, {"item_id": "b", "predicted": "Answer: 43"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lines(tmp_path / "items.jsonl", ITEMS)
    write_lines(tmp_path / "said.jsonl", PREDICTIONS)
    return tmp_path


def test_what_init_writes_is_without_fault_and_scores(folder: Path) -> None:
    made = benchbook_here("checks", "init", "capital", "--json", cwd=folder)
    assert json.loads(made.stdout) == {"files": ["capital@v1/spec.toml"], "spec": "capital@v1"}
    shown = json.loads(
        benchbook_here("checks", "check", "capital@v1", "--evalset", "items.jsonl", "--json", cwd=folder).stdout
    )
    assert [(one["name"], one["kind"], one["compare"]) for one in shown["checks"]] == [
        ("right", "contains", "after Answer:"), ("short", "max_words", "whole")
    ]  # fmt: skip
    assert shown["first_item"] == {
        "item_id": "a",
        "checks": [
            {"name": "right", "compares": "expects 'Paris'"},
            {"name": "short", "compares": "asks for nothing of the item"},
        ],
    }
    words = ["--evalset", "items.jsonl", "--predictions", "said.jsonl", "--run-id", "one", "--json"]
    scored = json.loads(benchbook_here("score", "capital@v1", *words, cwd=folder).stdout)
    # Of a right answer 1, of a wrong one the weight of being short alone: (0 + 0.25) / 1.25 = 0.2.
    assert (scored["aggregates"]["primary_score"], scored["aggregates"]["pass_rate"]) == (0.6, 0.5)
    assert scored["manifest"]["spec_sha256"] == shown["sha256"]
    assert (folder / "reports" / "one" / "report.html").exists()
    failed = benchbook_here("show", "one", "--failed", cwd=folder).stdout.decode()
    assert failed.split() == ["1", "b", "not_inside"]
    assert benchbook_here("verify", "one", cwd=folder).returncode == 0
    assert benchbook_here("rescore", "one", "--reports", "none", cwd=folder).returncode == 0


def test_a_spec_is_shown_to_people(folder: Path) -> None:
    done = benchbook_here("checks", "check", "contains@v1", "--evalset", "items.jsonl", cwd=folder)
    assert done.stdout.decode().splitlines() == [
        "contains@v1: The expected answer stands somewhere in the answer.",
        "  contains: contains of whole; weight 1, must pass",
        "  contains: expects 'Paris'",
        "sha256 8bf545a1d5acde46e7862c9d68f94aa4681a92b056b5bfc32dfbad5a1e0af645",
    ]


def test_every_fault_is_named_by_its_line(folder: Path) -> None:
    (folder / "own").mkdir()
    (folder / "own" / "spec.toml").write_text(
        'name = "own"\nversion = 0\nabout = "x"\n[[checks]]\nname = "x"\nkind = "contians"\n', encoding="utf-8"
    )
    for words in (["checks", "check", "own"], ["score", "own", "--evalset", "items.jsonl", "--model", "openai/m@1"]):
        done = benchbook_here(*words, cwd=folder)
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode().splitlines() == [
            "benchbook: own/spec.toml:2: version: found 0; expected a whole number from 1 to 1000000000",
            "own/spec.toml:6: checks[1].kind: found 'contians'; expected contains, which is near",
        ]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["checks", "init", "Capital"], "NAME: found 'Capital'; expected small letters"),
        (["checks", "init", "contains"], "NAME: found 'contains'; expected another name: contains@v1 is shipped"),
        (["checks", "init", "../x"], "NAME: found '../x'; expected small letters"),
        (["checks", "check", "rubric@v1"], "FOLDER: found 'rubric@v1'; expected a folder with a spec.toml of checks"),
        (
            ["checks", "check", "numbr@v1"],
            "expected number@v1, which is near; or the folder of a rubric, or of checks, of your own",
        ),
        (
            ["checks", "check", "number@v1", "--evalset", "items.jsonl"],
            "items.jsonl:1: expected_answer: found 'Paris'; expected text with one number in it",
        ),
        (
            ["score", "contains@v1", "--evalset", "items.jsonl", "--predictions", "said.jsonl", "--table", "t.parquet"],
            "--table: of answer_correctness@v1 alone; without it, the run is recorded",
        ),
    ],
)
def test_mistakes(words: list[str], says: str, folder: Path) -> None:
    done = benchbook_here(*words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr.decode()
    assert sorted(path.name for path in folder.iterdir()) == ["items.jsonl", "said.jsonl"]


def test_init_writes_over_nothing(folder: Path) -> None:
    assert benchbook_here("checks", "init", "capital", cwd=folder).returncode == 0
    (folder / "capital@v1" / "spec.toml").write_text("mine", encoding="utf-8")
    done = benchbook_here("checks", "init", "capital", cwd=folder)
    assert (done.returncode, b"is there already; nothing was written" in done.stderr) == (2, True)
    assert (folder / "capital@v1" / "spec.toml").read_text("utf-8") == "mine"


def test_gates_of_a_spec_stand_in_the_report(folder: Path) -> None:
    (folder / "own").mkdir()
    (folder / "own" / "spec.toml").write_text(
        'name = "own"\nversion = 1\nabout = "x"\n[[checks]]\nname = "x"\nkind = "contains"\n'
        '[[gates]]\naggregate = "pass_rate"\nat_least = 0.8\n',
        encoding="utf-8",
    )
    words = ["--evalset", "items.jsonl", "--predictions", "said.jsonl", "--run-id", "one"]
    done = benchbook_here("score", "own", *words, cwd=folder)
    assert done.returncode == 0  # of the run itself, whatever its score
    said = " ".join(done.stdout.decode().split())
    by_gates = "not release-ready by the values alone; 2 items can't show READY: at least 14 can"
    assert f"By its gates INCONCLUSIVE: {by_gates}" in said
    assert "Items that passed at least 80 %" in said
    assert benchbook_here("gate", "one", cwd=folder).returncode == 1
    by_values = benchbook_here("gate", "one", "--confidence", "none", cwd=folder)
    assert (by_values.returncode, b"NOT_READY" in by_values.stdout) == (1, True)
    dry = benchbook_here("score", "own", *words[:4], "--run-id", "dry", "--dry-run", "--quiet", cwd=folder)
    assert dry.returncode == 0, dry.stderr.decode()
    for by in ([], ["--by-rule"]):  # nothing was scored, so nothing is decided
        assert benchbook_here("gate", "dry", *by, cwd=folder).returncode == 1


def test_checks_without_gates_are_told_so(folder: Path) -> None:
    words = ["--evalset", "items.jsonl", "--predictions", "said.jsonl", "--run-id", "one", "--quiet"]
    assert benchbook_here("score", "contains@v1", *words, cwd=folder).returncode == 0
    done = benchbook_here("gate", "one", cwd=folder)
    assert (done.returncode, b"contains@v1 has no release gates; ask with --min-score" in done.stderr) == (2, True)
