"""Links that land: at what they open, in a tab that is called so; back and reload find the place again."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

from ui.test_pages import rows

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

Open = Callable[..., Any]
AT_TOP = "document.querySelector('.item-panel').getBoundingClientRect().top < 20"
OPENED = {
    "sample": "/runs/base?at=60&sample=60",
    "sample without its row": "/runs/judged?sample=3",
    "evaluation": "/judges?run=experiment&evaluation=9",
    "item": "/compare?run=base&run=tuned&at=60&item=60",
}


def comes(page: Any, holds: str) -> None:
    """Waits until something holds in the page, whose policy lets Playwright's own way do so once alone."""
    end = time.monotonic() + 30
    while not page.evaluate(holds):
        assert time.monotonic() < end, holds
        page.wait_for_timeout(50)


@pytest.mark.parametrize("width", [390, 1024, 1440])
@pytest.mark.parametrize("name", OPENED)
def test_an_address_lands_at_what_it_opens(open_page: Open, name: str, width: int) -> None:
    page = open_page(OPENED[name], width=width)
    expect(page.locator(".item-panel .model-text").locator("visible=true").first).to_be_visible()
    expect(page.locator(".item-panel")).to_be_focused()
    comes(page, AT_TOP)
    if width > 390:
        expect(page.locator(".vrow.chosen")).to_be_attached()


def test_on_a_phone_what_is_pressed_is_in_view(open_page: Open) -> None:
    page = open_page("/runs/base", width=390)
    rows(page, "Samples").nth(3).click()
    comes(page, AT_TOP)


def test_back_and_reload_lead_to_where_the_page_was(open_page: Open) -> None:
    page = open_page("/runs/base")
    expect(rows(page, "Samples").first).to_be_visible()
    page.mouse.wheel(0, 500)
    comes(page, "scrollY >= 500")
    there = page.evaluate("scrollY")
    # Playwright would scroll up to what it clicks, and leave the page from there.
    page.get_by_role("navigation").get_by_role("link", name="Leaderboard").dispatch_event("click")
    expect(page.get_by_role("heading", name="Leaderboard", level=1)).to_be_visible()
    page.go_back()
    comes(page, f"scrollY === {there}")
    page.reload()
    comes(page, f"scrollY === {there}")
    page.go_forward()  # to a page that was never scrolled, from one that is
    expect(page.get_by_role("heading", name="Leaderboard", level=1)).to_be_visible()
    comes(page, "scrollY === 0")


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/", "Runs – Benchbook"),
        ("/runs/judged?sample=1", "judged, sample 1 – Benchbook"),
        ("/compare?run=base&run=tuned", "base vs tuned – Compare – Benchbook"),
        ("/nowhere", "Not found – Benchbook"),
    ],
)
def test_a_tab_is_called_by_what_is_open(open_page: Open, path: str, title: str) -> None:
    expect(open_page(path, faulty=path == "/nowhere")).to_have_title(title)


def test_a_link_is_copied_and_that_is_said(open_page: Open, server: str) -> None:
    page = open_page("/runs/judged")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status").filter(has_text="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{server}/runs/judged"


def test_a_browser_without_a_clipboard_copies_all_the_same(open_page: Open, server: str) -> None:
    page = open_page("/runs/judged")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate("document.addEventListener('copy', () => (window.copied = String(document.getSelection())))")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status").filter(has_text="Link copied")).to_be_visible()
    assert page.evaluate("window.copied") == f"{server}/runs/judged"
    expect(page.get_by_role("button", name="Copy link")).to_be_focused()


def test_the_keys_of_a_page_are_shown_on_a_key_and_rest_meanwhile(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned")
    expect(rows(page).first).to_be_visible()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys of this page")
    expect(dialog).to_contain_text("move in the list")
    page.keyboard.press("j")
    page.evaluate("document.querySelector('.masthead a').focus()")
    assert page.evaluate("document.activeElement.closest('dialog') !== null")  # nothing behind it can be had
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator(".vrow.chosen")).to_have_count(0)
    page.goto("/label?labels=labels&labeller=ann")
    expect(page.get_by_text("Answer to label", exact=True)).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog").locator("dt")).to_have_text(["210", "u", "n", "?"])


def test_paper_has_what_is_shown_and_no_more(open_page: Open) -> None:
    page = open_page("/runs/judged?sample=1", dark=True)
    expect(page.locator(".item-panel .model-text").first).to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", name="judged", exact=True)).to_be_visible()
    expect(page.locator(".item-panel .model-text").first).to_be_visible()
    for hidden in (".masthead", ".filters", ".keys"):
        expect(page.locator(hidden).locator("visible=true")).to_have_count(0)
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.querySelector('.item-panel')).overflowY") == "visible"


def test_a_page_that_broke_comes_back_with_another_address(open_page: Open) -> None:
    page = open_page("/", faulty=True)
    expect(page.get_by_role("link", name="judged", exact=True)).to_be_visible()
    page.route("**/api/v1/runs/judged", lambda route: route.fulfill(json={"run_id": "judged"}))  # no answer of ours
    page.get_by_role("link", name="judged", exact=True).click()
    expect(page.get_by_role("heading", name="This page broke")).to_be_visible()
    page.unroute("**/api/v1/runs/judged")
    page.get_by_role("navigation").get_by_role("link", name="Runs").click()
    expect(page.get_by_role("link", name="judged", exact=True)).to_be_visible()


def test_a_page_whose_code_could_not_be_had_comes_with_the_server(open_page: Open) -> None:
    page = open_page("/", faulty=True)
    expect(page.get_by_role("link", name="judged", exact=True)).to_be_visible()
    page.route(re.compile("assets|healthz|api"), lambda route: route.abort())
    page.get_by_role("navigation").get_by_role("link", name="Label").click()
    expect(page.get_by_text("The server does not answer").first).to_be_visible()
    page.unroute_all()
    expect(page.get_by_role("heading", name="Label", level=1)).to_be_visible()
