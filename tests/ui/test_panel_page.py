"""A panel's part of its run's page: the judges, how they agree, and the way to what they split on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from ui.making import HOSTILE

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


def test_what_the_judges_split_on_is_one_click_away(open_page: Callable[..., Any]) -> None:
    page = open_page("/runs/panel")
    splits = page.get_by_role("region", name="What to look at first")
    expect(splits.get_by_role("row")).to_have_count(3)  # its head, and items 0 and 1
    expect(splits.get_by_role("row").nth(1)).to_contain_text("differs")
    expect(splits.get_by_role("row").nth(1)).to_contain_text("2 0")
    splits.get_by_role("link", name="i0").click()
    panel = page.get_by_role("complementary").or_(page.locator(".item-panel"))
    expect(panel.get_by_text(f"Raw reply of judge {HOSTILE[0]}")).to_be_visible()
    expect(panel.get_by_text("Raw reply of judge b")).to_be_visible()
    assert page.evaluate("window.ran") is None


def test_a_run_of_one_judge_has_no_panel(open_page: Callable[..., Any]) -> None:
    page = open_page("/runs/judged")
    expect(page.get_by_role("heading", name="Samples", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Panel of judges")).to_have_count(0)
