"""`benchbook evalset` and `python -m benchbook.evalsets.validate`, as a user calls them (SPEC A10)."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from running import benchbook_here
from support import cases, shared_data

GOOD = {"id": "i1", "prompt": "What is 1 plus 1? Reply with the number only.", "expected_answer": "2",
        "section": "core", "category": "arithmetic", "difficulty": "easy"}  # fmt: skip


def call(*arguments: str | Path, module: str = "benchbook") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def call_here(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The same without a process of its own."""
    done = benchbook_here(*map(str, arguments))
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def a_set(folder: Path, *items: dict[str, Any], name: str = "set.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path


@pytest.mark.cases
@pytest.mark.parametrize("case", cases("evalset_lines"))
def test_both_commands_say_what_the_case_says(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(base64.b64decode(case["base64"]))
    for done in (
        call_here("evalset", "validate", "--json", path),
        call("--json", path, module="benchbook.evalsets.validate"),
    ):
        assert done.stderr == ""
        found = json.loads(done.stdout)["findings"]
        assert [{key: each[key] for key in ("line", "code", "field", "severity")} for each in found] == (
            case["expect"]["findings"]
        )
        assert {each["path"] for each in found} <= {str(path)}
        assert all(each["reason"] for each in found)
        assert done.returncode == case["expect"]["exit"]


def test_findings_are_lines_with_file_line_field_and_code(tmp_path: Path) -> None:
    path = a_set(tmp_path, GOOD, GOOD | {"id": "i2", "prompt": "\x1b[31mred?", "section": "Core"})
    done = call("evalset", "validate", path)
    assert done.returncode == 1
    assert done.stdout == (
        f"{path}:2: error: section: found 'Core'; expected core, trace_sensitive, edge_case (did you mean core?) "
        "[unknown_value]\n"
    )
    assert done.stderr == "1 error, 0 warnings\n"


def test_a_set_that_only_says_less_is_told_whom_it_is_for(tmp_path: Path) -> None:
    path = a_set(tmp_path, {"id": "a", "prompt": "P?", "expected_answer": "x"})
    done = call("evalset", "validate", path)
    assert done.stderr.endswith("`benchbook run` takes it as it is.\n`benchbook score` takes it as it is.\n")
    assert call("evalset", "validate", "--as", "score", path).returncode == 0


def test_several_files_are_told_apart_and_one_error_is_enough(tmp_path: Path) -> None:
    good, bad = a_set(tmp_path, GOOD), a_set(tmp_path, GOOD | {"difficulty": "x"}, name="bad.jsonl")
    done = call("evalset", "validate", good, bad)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{bad}:1: error: difficulty:")


def test_sarif_is_what_editors_read(tmp_path: Path) -> None:
    path = a_set(tmp_path, GOOD, GOOD)
    done = call("evalset", "validate", "--sarif", path)
    log = json.loads(done.stdout)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["region"] == {"startLine": 2}
    assert [result["ruleId"] for result in run["results"]] == ["duplicate_id", "duplicate_prompt"]
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("name", "profile"),
    [("golden-v1", "golden-v1"), ("eval_v1", "eval_v1"), ("eval_v2", "eval_v2"), ("support_v1", "rubric")],
)
def test_the_shipped_sets_validate_by_name(name: str, profile: str) -> None:
    done = call_here("evalset", "validate", "--as", profile, name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "0 errors, 0 warnings\n")


def test_it_says_what_is_wrong_with_the_sources_own_set() -> None:
    path = shared_data("tunix-rt") / "eval_v2_original.jsonl"
    done = call("evalset", "validate", "--json", "--as", "eval_v2", path)
    found = json.loads(done.stdout)
    assert done.returncode == 1
    composition = {each["reason"] for each in found["findings"] if each["code"] == "composition"}
    assert "52 items with 'easy'; eval_v2 has 34 (18 too many)" in composition
    assert "11 items with 'hard'; eval_v2 has 25 (14 missing)" in composition
    near = [each["line"] for each in found["findings"] if each["code"] == "near_duplicate_prompt"]
    assert near == [90]  # What is the capital of FRANCE?


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["validate", "nowhere.jsonl"], "nowhere.jsonl: no such file", id="no-file"),
        pytest.param(["validate"], "Missing argument", id="no-argument"),
        pytest.param(["validate", "--json", "--sarif", "eval_v1"], "--json and --sarif", id="two-forms"),
        pytest.param(["validate", "--as", "eval_v3", "eval_v1"], "eval_v3", id="unknown-profile"),
        pytest.param(["show", "nowhere.jsonl"], "no such file", id="show-no-file"),
        pytest.param(["diff", "eval_v1"], "Missing argument", id="diff-one"),
    ],
)
def test_wrong_use_ends_with_2(arguments: list[str], said: str) -> None:
    done = call_here("evalset", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_show_counts_what_is_in_a_set() -> None:
    shown = json.loads(call("evalset", "show", "--json", "eval_v2").stdout)
    assert shown["n_items"] == 100
    counts = {(row["field"], row["value"]): row["n_items"] for row in shown["composition"]}
    assert counts["section", "core"] == 60
    assert counts["difficulty", "hard"] == 25
    table = call("evalset", "show", "eval_v2")
    assert "section        core                     60     60 %" in table.stdout.splitlines()


def test_diff_says_what_changed(tmp_path: Path) -> None:
    before = a_set(tmp_path, GOOD, GOOD | {"id": "i2"}, GOOD | {"id": "i3"}, name="a.jsonl")
    after = a_set(tmp_path, GOOD | {"id": "i3"}, GOOD | {"expected_answer": "two"}, GOOD | {"id": "i4"}, name="b.jsonl")
    done = call("evalset", "diff", before, after)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "1 added, 1 removed, 1 changed, 1 the same; in another order",
        "+ i4",
        "- i2",
        "~ i1: expected_answer: 2 -> two",
    ]
    assert call("evalset", "diff", "--exit-code", before, after).returncode == 1
    assert call("evalset", "diff", "--exit-code", before, before).returncode == 0
    found = json.loads(call("evalset", "diff", "--json", before, after).stdout)
    assert found["changed"] == [{"id": "i1", "fields": {"expected_answer": ["2", "two"]}}]


@pytest.mark.parametrize(("kind", "profile"), [("answer_correctness", None), ("rubric", "rubric")])
def test_a_new_set_keeps_the_rules_and_overwrites_nothing(kind: str, profile: str | None, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    assert call("evalset", "new", "--for", kind, path).returncode == 0
    as_profile = ["--as", profile] if profile else []
    assert call("evalset", "validate", *as_profile, path).returncode == 0
    written = path.read_bytes()
    again = call("evalset", "new", path)
    assert again.returncode == 2
    assert "left as it is" in again.stderr
    assert path.read_bytes() == written


def test_the_shipped_sets_are_listed() -> None:
    rows = json.loads(call("evalset", "list", "--json").stdout)
    assert {row["name"]: row["n_items"] for row in rows}.items() >= {
        "golden_v1": 20, "eval_v1": 50, "eval_v2": 100,
    }.items()  # fmt: skip
    assert "golden_v1" in call("evalset", "list").stdout


def test_a_set_for_run_is_not_answered_with_an_error_for_each_item(tmp_path: Path) -> None:
    """It lacks fields in each of its items: three are named, the others counted."""
    rows = [json.dumps({"id": f"i{n}", "prompt": f"What is {n}?"}) for n in range(1_000)]
    (tmp_path / "items.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = benchbook_here("evalset", "validate", "items.jsonl", cwd=tmp_path)
    assert found.returncode == 1
    lines = found.stdout.decode().splitlines()
    missing = [line for line in lines if "expected_answer" in line]
    assert missing[3] == "expected_answer: 997 more items have none [missing_field]"
    assert len(missing) == 4
    assert found.stderr.decode().endswith(
        "`benchbook run` takes it as it is.\n`benchbook score` takes it not, and --as score says why.\n"
    )
    assert benchbook_here("evalset", "validate", "items.jsonl", "--as", "rubric", cwd=tmp_path).returncode == 0
