"""`benchbook panel`, and a panel in every report: hostile names and texts are text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchbook.cli.main import benchbook as group
from panels import replies_of, run_panel
from running import run
from scripted_server import always_good, running

HOSTILE = "<b>=1+1</b>\u202e|`\x1b[31m"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 30 items, with judges of whom one has a hostile name; they split on items 5 to 29."""
    folder = tmp_path_factory.mktemp("panel")
    votes = {"a": lambda item: (2, 2) if item < 5 else (0, 2), "b": lambda _: (2, 2)}
    with running(replies_of(votes)) as server:
        judges = [{"model": "openai/a@1", "name": HOSTILE}, {"model": "openai/b@1"}]
        run_panel(folder, server, judges, 30, run_id="panel")
    with running(always_good) as server:
        run(folder, server, 2, run_id="one")
    return folder / "runs"


def shown(runs: Path, *words: str) -> str:
    found = CliRunner().invoke(group, [*words, "--runs", str(runs)], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


def test_the_first_twenty_splits_are_shown_and_how_many_more_there_are(runs: Path) -> None:
    short, whole = shown(runs, "panel", "panel"), shown(runs, "panel", "panel", "--all")
    assert short.count("differs") == 20
    assert "and 5 more: --all" in short
    assert whole.count("differs") == 25
    assert "\x1b" not in whole
    assert "\u202e" not in whole


def test_json_has_all_of_it(runs: Path) -> None:
    found = json.loads(shown(runs, "panel", "panel", "--json"))
    assert len(found["splits"]) == 25
    assert [judge["name"] for judge in found["judges"]] == [HOSTILE, "b"]


def test_one_judge_is_no_panel(runs: Path) -> None:
    found = CliRunner().invoke(group, ["panel", "one", "--runs", str(runs)])
    assert "one judge judged it" in str(found.exception)


def test_every_report_has_the_panel(runs: Path, tmp_path: Path) -> None:
    shown(runs, "rescore", "panel", "--reports", str(tmp_path))
    page = (tmp_path / "panel" / "report.html").read_text(encoding="utf-8")
    assert 'id="panel"' in page
    assert "<b>=1+1" not in page
    assert page.count("Judge <bdi>") >= 20  # above each raw reply
    markdown = (tmp_path / "panel" / "report.md").read_text(encoding="utf-8")
    assert "## Panel" in markdown
    assert "<b>" not in markdown
    table = (tmp_path / "panel" / "samples.csv").read_text(encoding="utf-8")
    assert table.splitlines()[0].endswith('"votes","verdicts_differ","spread","n_dissenting","candidate_error"')


def test_show_says_whose_each_reply_is(runs: Path) -> None:
    assert "reply of judge b, 1 (fact" in shown(runs, "show", "panel", "--sample", "0")
