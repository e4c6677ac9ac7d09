"""A panel's part of its run's page: the judges, how they agree, and the way to what they split on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from ui.making import HOSTILE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


def test_what_the_judges_split_on_is_a_list_that_opens_and_leads_to_each(open_page: Callable[..., Any]) -> None:
    page = open_page("/runs/panel")
    splits = page.get_by_role("grid", name="Samples that the judges split on")
    expect(splits).to_have_count(0)
    page.get_by_text("What to look at first: 2 samples that the judges split on").click()
    rows = splits.locator(".vrow:not(.waiting)")
    expect(rows).to_have_count(2)  # items 0 and 1
    expect(rows.first).to_contain_text("differs")
    expect(rows.first).to_contain_text("2 0")
    rows.get_by_role("link", name="i0").click()
    panel = page.get_by_role("complementary").or_(page.locator(".item-panel"))
    expect(panel.get_by_text(f"Raw reply of judge {HOSTILE[0]}")).to_be_visible()
    expect(panel.get_by_text("Raw reply of judge b")).to_be_visible()
    expect(splits).to_be_visible()  # it stays open, and back leads to it
    splits.focus()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(panel.get_by_role("heading", level=3)).to_have_text("i1")
    assert page.evaluate("window.ran") is None


def test_a_panel_is_told_in_sentences_and_drawn_judge_by_judge(open_page: Callable[..., Any]) -> None:
    page = open_page("/runs/panel")
    part = page.get_by_role("region", name="Panel of judges")
    expect(part.locator(".lead")).to_contain_text("they split on 2; on 1 pass or fail hangs on whom one asks.")
    score = part.get_by_role("figure").filter(has=page.get_by_role("heading", name="Mean sample score"))
    expect(score.get_by_role("listitem")).to_contain_text(["the panel (majority)", HOSTILE[0], "b"])
    alike = part.get_by_role("region", name="How often two judges give the same scores")
    expect(alike.get_by_role("cell", name="33.3 % n = 3")).to_have_count(2)
    expect(part.get_by_role("table", name="The run as each judge alone would have it")).to_be_hidden()


@pytest.mark.parametrize("path", ["/judges?run=shop", "/runs/panel?splits=open", "/label?labels=people&view=results"])
def test_nothing_is_pushed_down_and_no_column_cut_on_a_phone(open_page: Callable[..., Any], path: str) -> None:
    page = open_page("/label", phone=True)
    page.add_init_script(
        "window.pushed = 0; new PerformanceObserver((list) => { for (const one of list.getEntries())"
        " window.pushed += one.value }).observe({ type: 'layout-shift', buffered: true })"
    )
    page.goto(path)
    expect(page.locator(".lead").first).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)
    assert page.evaluate("window.pushed") < 0.1
    # Of pictures and lists nothing reaches beyond what holds it.
    wide = page.evaluate(
        "[...document.querySelectorAll('.spans, .league, .heat, .grid, .splits, .lead')]"
        ".filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.className)"
    )
    assert wide == []


def test_a_run_of_one_judge_has_no_panel(open_page: Callable[..., Any]) -> None:
    page = open_page("/runs/judged")
    expect(page.get_by_role("heading", name="Samples", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Panel of judges")).to_have_count(0)
