"""`benchbook judge pairs RUN RUN --judge`, as a user sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelled import judged_run
from running import benchbook_here

_VERDICT = {"better_score": "first", "usable_score": "yes", "rationale": "so"}
_REFEREE = ("--judge", "scripted/j@1", "--judge-path", "referee.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, and what is asked of the first pair of them."""
    folder = tmp_path_factory.mktemp("asked")
    for run_id in ("a", "b"):
        judged_run(folder, [(2, 2), (1, 1), (2, 1)], run_id=run_id)
    referee = {"replies": [{"text": json.dumps(_VERDICT), "input_tokens": 100, "output_tokens": 10}]}
    (folder / "referee.json").write_text(json.dumps(referee), "utf-8")
    shown = said(folder, "judge", "pairs", "a", "b", *_REFEREE, "--pairs-id", "p")
    assert "pairs/p: complete; `benchbook judge pairs pairs/p` ranks it again" in shown
    return folder


def said(folder: Path, *words: str, code: int = 0) -> str:
    found = benchbook_here(*words, cwd=folder)
    assert found.returncode == code, found.stderr
    return " ".join((found.stdout + found.stderr).decode("utf-8").split())


def test_what_it_would_ask_is_said_before(folder: Path) -> None:
    prices = ("--judge-input-price", "1", "--judge-output-price", "2")
    shown = said(folder, "judge", "pairs", "a", "b", *_REFEREE, *prices, "--pairs-id", "dry", "--dry-run")
    assert "judge scripted/j@1, under pairs@v1" in shown
    assert "pairs 1 of runs, 3 of answers, each in both orders calls 6, parse retries aside" in shown
    assert "cost at most about $0.0" in shown
    assert not (folder / "pairs" / "dry").exists()
    as_json = benchbook_here("judge", "pairs", "a", "b", *_REFEREE, "--dry-run", "--json", cwd=folder)
    found = json.loads(as_json.stdout)
    assert (found["calls"], found["n_items"], found["models"]) == (6, 3, ["a", "b"])  # of one model: by their runs


def test_what_was_asked_is_ranked_again_and_verified(folder: Path) -> None:
    shown = said(folder, "judge", "pairs", "p")
    assert "2 models by verdicts of scripted/j@1 on 3 pairs of answers to 3 items" in shown
    assert "3 pairs judged in both orders: 3 changed with the order; a win that does not survive counts" in shown
    found = json.loads(benchbook_here("judge", "pairs", "pairs/p", "--swap", "half", "--json", cwd=folder).stdout)
    assert (found[0]["n_pairs"], found[0]["n_changed"], found[0]["models"][0]["n"]) == (3, 3, 6)
    assert "pairs/p: verified. 32 facts, the pairs are complete" in said(folder, "verify", "pairs/p")


def test_a_limit_on_dollars_is_on_both_orders(folder: Path) -> None:
    """Each verdict costs 0.0001 dollars and more: six do not fit into 0.0004."""
    priced = ("--judge-input-price", "1", "--judge-output-price", "1", "--max-cost-usd", "0.0004")
    one_by_one = ("--max-connections", "1")
    stopped = said(folder, "judge", "pairs", "a", "b", *_REFEREE, *priced, *one_by_one, "--pairs-id", "dear", code=3)
    assert "Resume: benchbook judge pairs --resume pairs/dear" in stopped
    assert "is not complete" in said(folder, "judge", "pairs", "dear", code=2)
    shown = said(folder, "judge", "pairs", "--resume", "dear", "--max-cost-usd", "1", "--quiet")
    assert "3 pairs judged in both orders" in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "Missing argument: FILE of verdicts, or RUN RUN and a --judge."),
        (("a", "b"), "a: is a record; say with --judge who compares its answers with another run's"),
        (("a", "c", *_REFEREE), "c: not a record"),
        (("a", *_REFEREE), "1 run: expected 2 to 100, to compare in pairs"),
        (("a", "b", *_REFEREE, "--baseline", "c"), "--baseline c: none of the runs that are compared"),
        (("a", "b", *_REFEREE, "--spec", "rubric@v1"), "a rubric with a criterion better of three grades"),
        (("a", "b", *_REFEREE, "--pairs-id", "p"), "is there already; go on with it: judge pairs --resume pairs/p"),
        (("a", "--resume", "p"), "--resume goes on with the runs that are there"),
        (("--resume", "q"), "q: no runs in pairs, here or in pairs/"),
        (("a", "b", "--judge", "openai/j@1", "--spec", "nothing"), "nothing"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, words: tuple[str, ...], expected: str) -> None:
    assert expected in said(folder, "judge", "pairs", *words, code=2)


def test_a_rubric_of_ones_own(folder: Path) -> None:
    said(folder, "rubric", "init", "politer", "--pairs")
    assert "better: 0 to 2, any passes" in said(folder, "rubric", "check", "politer@v1")
    shown = said(folder, "judge", "pairs", "a", "b", *_REFEREE, "--spec", "politer@v1", "--pairs-id", "own", "--quiet")
    assert "on 3 pairs of answers" in shown
    assert not (folder / "pairs" / "own" / "pairs@v1").exists()
    assert "verified" in said(folder, "verify", "pairs/own")
