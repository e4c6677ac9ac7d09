"""`benchbook plan`: words, numbers, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from running import benchbook, benchbook_here


def test_words() -> None:
    done = benchbook("plan", "--baseline", "0.7", "--detect", "0.05", "--discordance", "0.15")
    assert done.returncode == 0
    text = done.stdout.decode()
    assert text.startswith("461 items, the same for both runs: 922 answers in all\n")
    assert "mid-p McNemar" in text
    assert "5 % lost, 10 % won" in text


def test_json() -> None:
    done = benchbook_here(
        "plan", "--baseline", "0.7", "--detect", "0.05", "--unpaired", "--clusters", "10", "--icc", "0.1", "--json"
    )
    found = json.loads(done.stdout)
    assert (found["n_items"], found["clusters"], found["method"]) == (2377, 238, "two_proportions")


def test_wrong_use_ends_with_2() -> None:
    done = benchbook_here("plan", "--baseline", "0.98", "--detect", "0.05")
    assert done.returncode == 2
    assert b"detect: found 0.05" in done.stderr


def test_repeats_lessen_what_is_within_an_item() -> None:
    alone = ["plan", "--baseline", "0.7", "--detect", "0.05", "--discordance", "0.15", "--json"]
    once, thrice = (
        json.loads(benchbook_here(*alone, *more).stdout) for more in ([], ["--repeats", "3", "--within", "0.6"])
    )
    assert thrice["n_items"] == pytest.approx(once["n_items"] * (0.4 + 0.6 / 3), rel=0.02)
    assert thrice["n_answers"] == 2 * 3 * thrice["n_items"]
    assert b"within: found nothing" in benchbook_here(*alone, "--repeats", "3").stderr


def test_how_many_items_ready_takes() -> None:
    done = benchbook_here("plan", "--ready")
    assert done.stdout.startswith(b"59 items at least, to be READY at 95 % confidence")
    found = json.loads(benchbook_here("plan", "--ready", "--confidence", "0.99", "--json").stdout)
    assert (found["n_items"], found["by_gate"]["pass_rate"]) == (90, 29)
    assert benchbook_here("plan", "--baseline", "0.7").returncode == 2
    assert benchbook_here("plan", "--baseline", "0.7", "--detect", "0.1", "--spec", "rubric@v1").returncode == 2
    assert benchbook_here("plan", "--baseline", "0.7", "--detect", "0.1", "--confidence", "0.9").returncode == 2


def test_how_many_items_ready_takes_of_checks(tmp_path: Path) -> None:
    """0.9 ** 28 is 0.0523, 0.9 ** 29 is 0.0471: 29 that pass show that nine of ten do, and of 0.5 it takes 5."""
    spec = """name = "own"\nversion = 1\nabout = "a"\n[[checks]]\nname = "right"\nkind = "contains"
expected = "{{item.expected_answer}}"\ncompare = "whole"\n[[gates]]\naggregate = "pass_rate"\nat_least = 0.9
[[gates]]\naggregate = "no_prediction_rate"\nat_most = 0.5\n"""
    (tmp_path / "own@v1").mkdir()
    (tmp_path / "own@v1" / "spec.toml").write_text(spec, encoding="utf-8")
    found = json.loads(benchbook_here("plan", "--ready", "--spec", "own@v1", "--json", cwd=tmp_path).stdout)
    assert (found["n_items"], found["by_gate"]) == (29, {"pass_rate": 29, "no_prediction_rate": 5})
    none = benchbook_here("plan", "--ready", "--spec", "contains@v1")
    assert (none.returncode, b"contains@v1: has no gate" in none.stderr) == (2, True)


def test_how_many_answers_an_audit_of_a_judge_takes() -> None:
    said = benchbook_here("plan", "--judge-effect", "0.1").stdout.decode("utf-8")
    assert said.startswith("114 answers find a change of the judge's score by 0.1 of its scale in 90 % of audits, if")
    found = json.loads(
        benchbook_here("plan", "--judge-effect", "0.05", "--sd", "0.4", "--power", "0.8", "--json").stdout
    )
    assert (found["n_answers"], found["power"], found["sd"], found["n_effects"]) == (847, 0.8, 0.4, 9)
    wrong = benchbook_here("plan", "--baseline", "0.7", "--detect", "0.1", "--sd", "0.4")
    assert (wrong.returncode, b"--sd goes with --judge-effect" in wrong.stderr) == (2, True)
