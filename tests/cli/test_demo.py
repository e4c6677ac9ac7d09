"""`benchbook demo`: the story, played by scripts, as it is where no model is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from running import benchbook_here


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_story_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.cli.demo_parts.small_model_is_here", lambda: False)
    found = benchbook_here("demo")
    shown = found.stdout.decode("utf-8")
    assert found.returncode == 0, found.stderr
    for words in (
        "No model is asked, scripts play",
        "release-ready by the rubric's rule; 4 groups can't show it",
        "verified: every number follows from 34 facts",
        "of a copy was changed",
        "4 lost, 2 won of 16",
        "After the guarantee, repairs start at 25 euros.",
        'NOT FOUND  "The driver rings at your neighbour\'s door first."',
        "benchbook serve",
    ):
        assert words in shown
    assert [Path(name).exists() for name in ("runs", "reports")] == [True, True]


def test_the_story_as_json() -> None:
    found = benchbook_here("demo", "--scripted", "--json", "--repeats", "2")
    told = json.loads(found.stdout)
    assert told["real_model"] is False
    assert told["verification"]["holds"] is True
    assert told["verification"]["changed_copy"]["findings"]
    assert told["aggregates"]["ledger"]["n_scored"] == 32
    classes = told["comparison"]["comparisons"][0]["classes"]
    assert (classes["regressed"], classes["improved"], classes["same_correct"]) == (4, 2, 10)
    evaluations = told["judging"]["evaluations"]
    assert [one["valid"] for one in evaluations] == [True, False]
    lost = [quote["quote"] for one in evaluations for quote in one["quotes"] if quote["located"] == "not_found"]
    assert lost == ["The driver rings at your neighbour's door first."]
    assert len(list(Path("runs").iterdir())) == 4


def test_without_the_page_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.ask.installed.server_is_here", lambda: False)
    found = benchbook_here("demo", "--scripted", "--runs", "elsewhere")
    assert b"pip install 'benchbook[server]' && benchbook serve --runs elsewhere" in found.stdout
