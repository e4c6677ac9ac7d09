"""Imported runs on the page: whose log it was, and what its scorers said of each sample, as text and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from benchbook.exchange.importing import Wanted, import_log
from benchbook.exchange.log import LogFailure, LogScore, LogScorer
from scored_logs import MadeLog, sample
from talked import MARKUP

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

from ui.conftest import served
from ui.test_pages import rows, violations

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

Open = Callable[..., Any]
NAN = "NaN\x1b[31m"


@pytest.fixture(scope="module")
def imports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over two imported runs of one task."""
    folder = tmp_path_factory.mktemp("imported")
    scorers = (
        LogScorer(name="match", lowest=0.0, highest=1.0),
        LogScorer(name="graded", judge="openai/judge", lowest=0.0, highest=10.0),
    )
    why = LogScore(value=7.25, explanation=MARKUP)
    held = [
        sample("a", scores={"match": LogScore(value=1.0, said="C", answer="42"), "graded": why}, metadata={"n": [1]}),
        sample("b", scores={"match": LogScore(value=None, unscored=NAN)}, limit="token"),
        sample("c", answer=None, failure=LogFailure(message="connection reset")),
        sample("d", 0.0),
    ]
    for name in ("one", "two"):
        log = MadeLog(folder, held, scorers=scorers, model=f"x/{name}", task=f"sums {MARKUP}")
        import_log(log, Wanted(str(folder / "runs"), name))
    with served(folder / "runs") as address:
        yield address


@pytest.fixture
def opened(open_page: Open, imports: str) -> Open:
    return partial(open_page, at=imports)


def test_the_list_marks_what_was_imported(opened: Open) -> None:
    expect(opened("/").get_by_text("imported", exact=True)).to_have_count(2)


def test_two_logs_are_compared_by_their_score(opened: Open) -> None:
    page = opened("/compare?run=one&run=two")
    expect(page.get_by_role("heading", name="Score", exact=True, level=3)).to_be_visible()
    expect(page.get_by_role("button", name="Graded, 0 to 10", exact=True)).to_be_visible()


def test_a_run_says_whose_log_it_was_and_a_sample_what_each_scorer_said(opened: Open) -> None:
    page = opened("/runs/one?sample=0&at=0")
    identity = page.locator(".identity")
    expect(identity).to_contain_text("inspect 0.3 eval, version 2")
    expect(identity).to_contain_text("match, graded")
    expect(identity).to_contain_text(MARKUP)
    panel = page.locator(".item-panel")
    expect(panel.locator(".criteria > div").nth(0)).to_have_text("match1 said C 0 to 1Compared: 42")
    graded = panel.locator(".criteria > div").nth(1)
    expect(graded).to_contain_text("graded judged by openai/judge7.25 0 to 10")
    expect(graded.locator(".model-text")).to_contain_text(MARKUP)
    expect(panel.get_by_text("Metadata of the log")).to_be_visible()


def test_samples_without_a_score_say_why_and_are_found_by_it(opened: Open) -> None:
    page = opened("/runs/one")
    expect(rows(page, "Samples")).to_have_count(4)
    page.get_by_label("Why without a score").select_option(NAN)
    expect(rows(page, "Samples")).to_have_count(1)
    rows(page, "Samples").first.click()
    panel = page.locator(".item-panel")
    expect(panel).to_contain_text("Ended at its limit: token")
    expect(panel).to_contain_text("No score: NaN")
    expect(panel.locator(".criteria > div").nth(1)).to_contain_text("says nothing of it")
    failed = opened("/runs/one?sample=2&at=2").locator(".item-panel")
    expect(failed).to_contain_text("The tool failed: connection reset")


def test_axe_finds_nothing(opened: Open) -> None:
    page = opened("/runs/one?sample=0&at=0", phone=True)
    expect(page.locator(".item-panel .criteria")).to_be_visible()
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in violations(page)] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
