"""A test for each item, by pytest itself: its own `pytester` runs the plugin over real records."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.comparison.records import set_baseline
from benchbook.errors import UsageError
from benchbook.evaluators.registry import score_predictions
from benchbook.evaluators.settings import ScoreConfig
from benchbook.integrations.regression_cases import case_names, regression_cases
from benchbook.record.folder import open_record

pytest_plugins = ["pytester"]

RIGHT = {"a": "1", "b": "2", "c": "3"}


def evalset(folder: Path, answers: dict[str, str], name: str = "set") -> Path:
    path = folder / f"{name}.jsonl"
    items = [{"id": one, "prompt": f"Prompt of {one}?", "expected_answer": answer} for one, answer in answers.items()]
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path


def scored(
    folder: Path, run_id: str, predicted: dict[str, str], items: dict[str, str] = RIGHT, **settings: str
) -> Path:
    """A record of these predictions, in `folder/runs`."""
    predictions = folder / "predictions.jsonl"
    rows = [{"item_id": one, "predicted": text} for one, text in predicted.items()]
    predictions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    values = {"evalset": str(evalset(folder, items)), "predictions": str(predictions), "runs": str(folder / "runs")}
    config = ScoreConfig(**(values | settings), run_id=run_id)
    return score_predictions(config).record.path


@pytest.fixture(scope="module", autouse=True)
def all_is_imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """pytester forgets what was imported within it, and numpy can't be imported twice."""
    folder = tmp_path_factory.mktemp("imported")
    scored(folder, "old", RIGHT)
    scored(folder, "new", RIGHT | {"b": "wrong"})
    regression_cases("new", "old", runs=folder / "runs")


@pytest.fixture(autouse=True)
def no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The manual's page tests that pytest finds the plugin by itself; here it is named, and others stay away."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "benchbook.integrations.pytest_plugin", "-p", "no:cacheprovider", *words)


def against(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    return run(pytester, "-v", "-rs", "--benchbook-run", "new", "--benchbook-baseline", "old", *words)


def test_items_under_checks_are_tests_too(tmp_path: Path) -> None:
    for run_id, said in (("old", RIGHT), ("new", RIGHT | {"b": "two", "c": "It is 3."})):
        scored(tmp_path, run_id, said, spec="contains@v1")
    cases = regression_cases("new", "old", runs=tmp_path / "runs")
    assert {case.name: case.outcome for case in cases} == {
        "what-was-measured": "passed", "a": "passed", "b": "failed", "c": "passed"
    }  # fmt: skip
    assert "not_inside" in next(case.words for case in cases if case.name == "b")


def test_an_item_that_regressed_fails_and_the_others_pass(pytester: pytest.Pytester) -> None:
    scored(pytester.path, "old", {"a": "1", "b": "2", "c": "no"})
    scored(pytester.path, "new", {"a": "1", "b": "It is 2.", "c": "3"})
    result = against(pytester)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [
            "benchbook::what-was-measured PASSED*",
            "benchbook::a PASSED*",
            "benchbook::b FAILED*",
            "benchbook::c PASSED*",
            "item b regressed: 1 in the baseline, 0 in this run",
            "  prompt    Prompt of b?",
            "  expected  2",
            "  baseline  2",
            "  this run  It is 2.",
            "  why       expected_inside_longer_text",
        ]
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_an_item_without_a_score_fails_and_a_new_one_is_skipped(pytester: pytest.Pytester) -> None:
    old = RIGHT | {"gone": "4", "changed": "5"}
    new = RIGHT | {"changed": "6", "new": "7"}
    scored(pytester.path, "old", old, old)
    scored(pytester.path, "new", new, new)
    result = against(pytester)
    result.assert_outcomes(passed=3, failed=2, skipped=2)
    result.stdout.fnmatch_lines(
        [
            "benchbook::what-was-measured FAILED*",
            "benchbook::gone FAILED*",
            "what was measured differs: evalset (dataset_version_or_hash*); allow it with *-different evalset*",
            "the baseline has a score for it and this run has none: what is missing may have regressed",
        ]
    )
    result = against(pytester, "--benchbook-allow-different", "evalset")
    result.assert_outcomes(passed=4, skipped=3)
    result.stdout.fnmatch_lines(["*expected answer is another than in the baseline*"])
    assert result.ret == pytest.ExitCode.OK


def test_with_a_margin_the_score_is_tested_and_not_each_item(pytester: pytest.Pytester) -> None:
    items = {f"i{n}": str(n) for n in range(40)}
    scored(pytester.path, "old", items, items)
    scored(pytester.path, "new", items | {"i3": "wrong"}, items)
    result = against(pytester, "--benchbook-margin", "0.2")
    result.assert_outcomes(passed=41, skipped=1)
    result.stdout.fnmatch_lines(["benchbook::not-worse-than-the-baseline PASSED*", "*item i3 regressed*"])
    against(pytester, "--benchbook-margin", "0.05").assert_outcomes(passed=40, skipped=2)
    scored(pytester.path, "worse", dict.fromkeys(items, "wrong"), items)
    words = ("--benchbook-run", "worse", "--benchbook-baseline", "old", "--benchbook-margin", "0.2")
    run(pytester, *words).assert_outcomes(passed=1, failed=1, skipped=40)


def test_beside_other_tests_and_chosen_by_marker_and_name(pytester: pytest.Pytester) -> None:
    scored(pytester.path, "old", RIGHT)
    scored(pytester.path, "new", RIGHT | {"b": "wrong"})
    pytester.makepyfile("def test_other(): pass")
    against(pytester, "--strict-markers").assert_outcomes(passed=4, failed=1)
    against(pytester, "-m", "benchbook").assert_outcomes(passed=3, failed=1, deselected=1)
    result = against(pytester, "-k", "what-was")
    result.assert_outcomes(passed=1, deselected=4)
    result.stdout.fnmatch_lines(["*collected 5 items / 4 deselected / 1 selected"])
    run(pytester, "-v").assert_outcomes(passed=1)
    run(pytester, "--markers").stdout.fnmatch_lines(["@pytest.mark.benchbook: an item of a run*"])


def test_as_junit(pytester: pytest.Pytester) -> None:
    scored(pytester.path, "old", RIGHT)
    scored(pytester.path, "new", RIGHT | {"b": "\x1b[31mred\u202e"})
    against(pytester, "--junitxml", "report.xml")
    suite = ET.parse(pytester.path / "report.xml").getroot().find("testsuite")
    assert suite is not None
    assert [case.get("name") for case in suite.iter("testcase")] == ["what-was-measured", "a", "b", "c"]
    (failure,) = suite.iter("failure")
    assert "this run  \\u001b[31mred\\u202e" in "".join(failure.itertext())


def test_the_baseline_that_is_set(pytester: pytest.Pytester) -> None:
    old = scored(pytester.path, "old", RIGHT)
    new = scored(pytester.path, "new", RIGHT | {"b": "wrong"})
    result = run(pytester, "--benchbook-run", str(new))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: runs: no baseline is set; *--benchbook-baseline"])
    set_baseline(pytester.path / "runs", open_record(old))
    run(pytester, "--benchbook-run", str(new)).assert_outcomes(passed=3, failed=1)


def test_a_run_that_crashed_fails_where_nothing_can_regress(pytester: pytest.Pytester) -> None:
    scored(pytester.path, "old", dict.fromkeys(RIGHT, "wrong"))
    items = str(evalset(pytester.path, RIGHT))
    runs = str(pytester.path / "runs")
    score_predictions(ScoreConfig(evalset=items, runs=runs, run_id="new", run_status="crashed", reason="no memory"))
    result = against(pytester)
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["benchbook::the-run-itself FAILED*", "the run itself failed: crashed"])


def test_files_that_were_edited_change_nothing(pytester: pytest.Pytester) -> None:
    scored(pytester.path, "old", RIGHT)
    new = scored(pytester.path, "new", RIGHT | {"b": "wrong"})
    (new / "samples.parquet").write_bytes((pytester.path / "runs" / "old" / "samples.parquet").read_bytes())
    against(pytester).assert_outcomes(passed=3, failed=1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--benchbook-run", "none"), "ERROR: none: not a record *"),
        (("--benchbook-run", "old", "--benchbook-baseline", "none"), "ERROR: none: not a record *"),
        (
            ("--benchbook-run", "old", "--benchbook-baseline", "old", "--benchbook-allow-different", "colour"),
            "ERROR: allow-different: found 'colour'; expected evalset, *",
        ),
    ],
)
def test_wrong_use(pytester: pytest.Pytester, words: tuple[str, ...], message: str) -> None:
    set_baseline(pytester.path / "runs", open_record(scored(pytester.path, "old", RIGHT)))
    result = run(pytester, *words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_runs_without_an_item_in_common(tmp_path: Path) -> None:
    scored(tmp_path, "old", {"a": "1"}, {"a": "1"})
    scored(tmp_path, "new", {"z": "1"}, {"z": "1"})
    cases: list[Any] = regression_cases("new", "old", runs=tmp_path / "runs", allow_different=["evalset"])
    assert [tuple(case) for case in cases] == [
        ("what-was-measured", "failed", "the run and its baseline have no scored item in common"),
        ("a", "skipped", "the baseline alone has it"),
        ("z", "skipped", "this run alone has it, so there is nothing to hold it against"),
    ]
    with pytest.raises(UsageError, match="not a record"):
        regression_cases("new", "old", runs=tmp_path)


@pytest.mark.parametrize(
    ("item_id", "name"),
    [
        ("q1", "q1"),
        ("Q_1.b-2", "Q_1.b-2"),
        # The digits are those of `printf %s … | sha256sum`.
        ("a b", "a-b~c8687a08aa5d6ed2"),
        ("../x::y[z]", "x-y-z~"),
        ("\u6570", "~"),
        ("\ud800", "~"),
        ("-k", "k~"),
        ("", "~"),
        ("what-was-measured", "what-was-measured~2"),
    ],
)
def test_the_name_of_an_item(item_id: str, name: str) -> None:
    (found,) = case_names([item_id])
    assert found.startswith(name)


@given(st.lists(st.text(max_size=80)))
def test_names_are_safe_and_all_different(ids: list[str]) -> None:
    names = list(case_names(ids))
    assert len(set(names)) == len(names)
    assert all(len(name) < 90 and re.fullmatch(r"[A-Za-z0-9._~-]+", name) for name in names)
