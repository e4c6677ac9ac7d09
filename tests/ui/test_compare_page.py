"""All runs of a comparison at once: by a metric of choice, against a baseline of choice, over checkpoints."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from ui.test_pages import says

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

Open = Callable[..., Any]
DOWNWARD = "/compare?run=third&run=tuned&run=base"  # picked from the newest on


def line(page: Any, place: int) -> Any:
    """A run's row in the table, from the first on."""
    return page.locator(".forest-line").nth(place)


def test_every_run_stands_there_with_all_that_is_known_of_it(open_page: Open) -> None:
    page = open_page(DOWNWARD)
    expect(line(page, 0)).to_contain_text("base-model@1")  # the oldest is the baseline, not the one picked first
    expect(line(page, 0)).to_contain_text("the baseline: it was started first")
    expect(line(page, 1)).to_contain_text("0.4000 0.3049 to 0.5033, n 90")
    expect(line(page, 1)).to_contain_text("+0.2889 +0.1819 to +0.3848")
    expect(line(page, 1)).to_contain_text("better")
    expect(line(page, 1)).to_contain_text("2 (2)")
    page.get_by_label("Rows").select_option("best")
    expect(line(page, 0)).to_contain_text("third-model@1")
    says(page, rows=["best"])


def test_a_row_is_held_against_the_baseline_by_mouse_and_keyboard(open_page: Open) -> None:
    page = open_page(DOWNWARD)
    expect(page.get_by_role("heading", name="B against A", exact=True)).to_be_visible()
    line(page, 2).locator(".forest-value").click()
    expect(page.get_by_role("heading", name="C against A", exact=True)).to_be_visible()
    says(page, b=["0"], baseline=["base"])
    page.get_by_role("button", name="Hold B against A").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="B against A", exact=True)).to_be_visible()
    says(page, b=["1"])


def test_the_baseline_is_a_choice_of_one_click(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned")
    expect(page.get_by_text("+0.2889").first).to_be_visible()
    page.get_by_label("tuned-model@1 is the baseline").click()
    expect(line(page, 0)).to_contain_text("the baseline: chosen")
    expect(line(page, 1)).to_contain_text("−0.2889")
    expect(line(page, 1)).to_contain_text("worse")
    says(page, baseline=["tuned"])
    page.go_back()
    expect(line(page, 1)).to_contain_text("+0.2889")


def test_the_metric_drives_rows_cards_and_slices(open_page: Open) -> None:
    page = open_page(f"{DOWNWARD}&metric=contained")
    expect(page.get_by_role("table", name="Runs by Answer in the text (diagnosis)")).to_be_visible()
    expect(line(page, 1)).to_contain_text("0.9667")
    expect(page.locator(".card h3").first).to_have_text("Answer in the text (diagnosis)")
    expect(page.locator(".slices summary")).to_contain_text("Answer in the text (diagnosis) by section")
    page.get_by_label("Metric", exact=True).select_option("score")
    expect(page.locator(".card h3").first).to_have_text("Score")
    assert "metric=" not in page.url


def test_runs_of_a_rubric_are_shown_by_criteria_latency_and_aggregates(open_page: Open) -> None:
    page = open_page("/compare?run=judged&run=panel&metric=total_tokens")
    expect(line(page, 0)).to_contain_text("judged")
    expect(page.get_by_text("Not both of these runs have “Tokens”")).to_be_visible()
    choice = page.get_by_label("Metric", exact=True)
    expect(choice.locator("optgroup")).to_have_count(2)
    choice.select_option("accuracy_score")
    expect(page.get_by_role("table", name="Runs by Accuracy, 0 to 2")).to_be_visible()
    choice.select_option("latency_e2e_p95_ms")
    expect(line(page, 1)).to_contain_text("not tested")
    expect(page.get_by_text("cards and slices are by the score")).to_be_visible()


def test_runs_are_added_and_taken_away_and_others_say_why_not(open_page: Open) -> None:
    page = open_page("/compare?run=base")
    expect(page.get_by_text("One is chosen; choose another.")).to_be_visible()
    page.get_by_label("Find a run to add").fill("tuned")
    page.get_by_role("button", name="Add tuned").click()
    expect(line(page, 1)).to_contain_text("tuned-model@1")
    page.get_by_role("button", name="Add a run").click()
    page.get_by_label("Find a run to add").fill("judged")
    expect(page.get_by_role("button", name="Add judged")).to_be_disabled()
    expect(page.get_by_label("Runs to add")).to_contain_text(
        "base was scored under answer_correctness@v1, judged under rubric@v1: their scores answer different questions"
    )
    page.get_by_label("Find a run to add").fill("experiment")
    expect(page.get_by_label("Runs to add")).to_contain_text("its samples are judges' evaluations of outputs")
    page.get_by_label("Find a run to add").fill("third")
    page.get_by_role("button", name="Add third").click()
    expect(line(page, 2)).to_contain_text("third-model@1")
    says(page, run=["base", "tuned", "third"])
    page.get_by_role("button", name="Take C away").click()
    expect(page.locator(".forest-line")).to_have_count(2)


def test_metrics_stand_over_the_runs_beside_the_loss(open_page: Open) -> None:
    page = open_page(f"{DOWNWARD}&over=contained")
    expect(page.get_by_role("img", name="Score: A 0.1111, B 0.4000, C 0.7778")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("^Answer in the text .diagnosis.: A 0.9667"))).to_be_visible()
    page.get_by_text("Metrics over training").first.click()
    page.get_by_role("group", name="Metrics over training").get_by_role("button", name="Answer in the text").click()
    expect(page.locator(".over-training")).to_have_count(1)


def test_a_value_hides_nothing_of_its_interval_and_names_keep_to_two_lines(open_page: Open) -> None:
    page = open_page(DOWNWARD)
    page.set_viewport_size({"width": 1024, "height": 800})
    expect(line(page, 2)).to_be_visible()
    for bar in page.locator(".forest-line .forest-row:has(.reach)").all():
        reach, at = (bar.locator(part).bounding_box() for part in (".reach", ".at"))
        assert at["width"] <= 4 < reach["width"]
    heights = [one.bounding_box()["height"] for one in page.locator(".forest-names .strong").all()]
    assert max(heights) < 45
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
