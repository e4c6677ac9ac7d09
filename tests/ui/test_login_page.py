"""Logging in as somebody who has never seen the page, with each kind of token."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchbook.server.access import TokenFile, default_token_file

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

Open = Callable[..., Any]


@pytest.fixture
def guarded(open_page: Open, guarded_server: str) -> Open:
    """Opens a page of the server that asks for tokens. That it says so in the console is no fault."""
    return partial(open_page, at=guarded_server, faulty=True)


@pytest.fixture
def tokens(runs: Path) -> TokenFile:
    return TokenFile(default_token_file(runs))


def log_in(page: Any, text: str) -> None:
    page.get_by_label("Token").fill(text)
    page.keyboard.press("Enter")


def test_a_deep_link_leads_through_the_login_and_back(guarded: Open, guarded_server: str, tokens: TokenFile) -> None:
    page = guarded("/runs/judged?sample=0&at=0")
    expect(page.get_by_role("heading", name="You are not logged in")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Log in").click()
    expect(page.get_by_label("Token")).to_be_focused()
    log_in(page, "bb_00000000_nobody")
    expect(page.get_by_role("alert")).to_have_text("That token is not known here, or was revoked.")
    log_in(page, f" {tokens.create('nina', ['read'])[0]}\n")  # as it is copied
    expect(page.get_by_role("heading", name="judged", exact=True)).to_be_visible()
    expect(page).to_have_url(f"{guarded_server}/runs/judged?sample=0&at=0")
    expect(page.locator(".who")).to_contain_text("nina")
    page.reload()
    expect(page.locator(".who")).to_contain_text("nina")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    page.goto("/runs/judged")
    expect(page.get_by_role("heading", name="You are not logged in")).to_be_visible()


@pytest.mark.parametrize("to", ["//example.org/x", "/\\example.org", "https://example.org", "javascript:alert(1)"])
def test_a_login_leads_to_no_other_site(guarded: Open, guarded_server: str, tokens: TokenFile, to: str) -> None:
    page = guarded(f"/login?to={to}")
    log_in(page, tokens.create("otto", ["read"])[0])
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(page).to_have_url(f"{guarded_server}/")


def test_who_may_only_read_is_not_offered_more(guarded: Open, tokens: TokenFile) -> None:
    page = guarded("/login")
    log_in(page, tokens.create("rita", ["read"])[0])
    expect(page.get_by_role("button", name="Log out")).to_be_visible()  # else the login's own way leads on from there
    page.get_by_role("link", name="Label").click()
    expect(page.get_by_text("Your token may look, not label")).to_be_visible()
    expect(page.get_by_role("link", name="Settle")).to_have_count(0)
    page.get_by_role("link", name="What people and the judge say").last.click()
    expect(page.get_by_role("heading", name="What the judge is worth")).to_be_visible()
    page.goto("/label?labels=people&labeller=rita")
    expect(page.get_by_role("alert")).to_contain_text("this needs the scope label, which the token lacks")
    page.goto("/runs/judged")
    expect(page.get_by_text("Every byte holds")).to_have_count(0)
    expect(page.get_by_label("New tag")).to_have_count(0)
    page.get_by_role("button", name="Verify this record").click()
    expect(page.get_by_text("Every byte holds")).to_be_visible()


def test_a_token_labels_under_its_own_name(guarded: Open, tokens: TokenFile) -> None:
    page = guarded("/login")
    log_in(page, tokens.create("lena", ["read", "label"])[0])
    expect(page.get_by_role("button", name="Log out")).to_be_visible()  # else it may yet be led to the first page
    page.get_by_role("link", name="Label").click()
    expect(page.get_by_text("You label as lena, your token's name.")).to_be_visible()
    expect(page.get_by_label("Your name")).to_have_count(0)
    page.get_by_role("link", name="Label", exact=True).last.click()
    expect(page.get_by_text("lena on people")).to_be_visible()
    page.goto("/label?labels=people&labeller=ann")
    expect(page.get_by_role("alert")).to_contain_text("this token labels as 'lena'")


def test_a_token_that_is_revoked_ends_what_is_open(guarded: Open, tokens: TokenFile) -> None:
    text, token = tokens.create("rudi", ["read", "label"])
    page = guarded("/login")
    log_in(page, text)
    page.get_by_role("link", name="judged", exact=True).click()
    expect(page.get_by_label("New tag")).to_be_visible()
    tokens.revoke(token.token_id)
    page.get_by_label("New tag").fill("late")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("You are not logged in.")
    page.get_by_role("alert").get_by_role("link", name="Log in").click()
    log_in(page, text)
    expect(page.get_by_role("alert")).to_have_text("That token is not known here, or was revoked.")
    log_in(page, tokens.create("rudi", ["read", "label"])[0])
    expect(page.get_by_role("heading", name="judged", exact=True)).to_be_visible()
