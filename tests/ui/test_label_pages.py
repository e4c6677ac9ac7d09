"""Labelling, settling and what follows, in Chromium by keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.labels.labels import open_labels
from ui.making import HOSTILE

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

Open = Callable[..., Any]


def card(page: Any, name: str) -> Any:
    return page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=name, exact=True))


def press(page: Any, key: str) -> None:
    """A key that labels, or takes a label back: until the last one is recorded none is taken, and no button either."""
    button = (
        page.get_by_role("button", name="Undo my last label") if key == "u" else page.locator(".score-button").first
    )
    expect(button).to_be_enabled()
    page.keyboard.press(key)


def test_labels_are_given_by_keys_and_taken_back(open_page: Open) -> None:
    page = open_page("/label")
    expect(card(page, "labels").get_by_role("button", name="Label")).to_be_disabled()
    page.get_by_label("Your name").fill("bea")
    card(page, "labels").get_by_role("link", name="Label").click()
    expect(page.get_by_text("0 of 4 labels")).to_be_visible()
    assert "scripted/j" not in page.content()  # nothing of the judge
    press(page, "2")
    expect(page.get_by_text("1 of 4 labels")).to_be_visible()
    expect(page.get_by_role("heading", name="Faithfulness")).to_be_visible()
    press(page, "u")
    expect(page.get_by_text("0 of 4 labels")).to_be_visible()
    page.keyboard.press("n")
    page.keyboard.type("0 of 10, says 2")  # digits in a note score nothing
    page.keyboard.press("Escape")
    for n in range(1, 5):
        press(page, "1")
        expect(page.get_by_text(f"{n} of 4 labels")).to_be_visible()
    expect(page.get_by_text("Nothing is left for you to label")).to_be_visible()
    expect(page.get_by_role("region", name="What people say").last).to_contain_text("Accuracy")
    expect(page.get_by_role("heading", name="What the judge is worth")).to_be_visible()


def test_a_rubric_of_ones_own_is_labelled_by_its_words(open_page: Open, runs: Path) -> None:
    page = open_page("/label?labels=own-labels&labeller=bea")
    expect(page.get_by_role("heading", name="Sources")).to_be_visible()
    expect(page.get_by_text("Are the sources named?")).to_be_visible()
    expect(page.locator(".score-button")).to_have_text(["2 2", "1 1", "0 0", "- does not apply"])
    press(page, "-")
    expect(page.get_by_text("Sources: does not apply, recorded")).to_be_visible()
    expect(page.get_by_role("heading", name="Clear")).to_be_visible()
    expect(page.get_by_text(HOSTILE[1])).to_be_visible()
    expect(page.locator(".score-button")).to_have_text(["1 yes", "0 no"])
    press(page, "0")
    expect(page.get_by_text("Nothing is left for you to label")).to_be_visible()
    expect(page.get_by_role("heading", name="What the scores are worth")).to_be_visible()
    given = [(one.field, one.score) for one in open_labels(runs / "own-labels").state.labels()]
    assert given == [("sources_score", None), ("clear_score", 0)]


def test_a_key_that_is_held_down_scores_once(open_page: Open) -> None:
    page = open_page("/label?labels=labels&labeller=held")
    expect(page.get_by_text("0 of 4 labels")).to_be_visible()
    for _ in range(5):  # without a key up in between the browser says that it repeats
        page.keyboard.down("2")
    expect(page.get_by_text("1 of 4 labels")).to_be_visible()
    page.keyboard.up("2")
    press(page, "u")
    expect(page.get_by_text("0 of 4 labels")).to_be_visible()


def test_what_two_people_scored_differently_is_settled_by_keys(open_page: Open, runs: Path) -> None:
    page = open_page("/label")
    page.get_by_label("Your name").fill("eve")
    card(page, "people").get_by_role("link", name="Settle 3 in dispute").click()
    listed = page.get_by_role("navigation", name="In dispute").get_by_role("button")
    expect(listed).to_have_count(3)
    said = page.get_by_role("list", name="What two people said")
    expect(said).to_have_text("one said 2one said 1: <b>half</b> of it is made up")
    for hidden in ("ann", "bob", "scripted/j", "rationale"):
        assert hidden not in page.locator("main").inner_html()
    page.keyboard.press("j")
    expect(page.get_by_role("heading", name="Accuracy")).to_be_visible()
    press(page, "1")  # the second of three; the third is next
    expect(listed).to_have_count(2)
    expect(page.get_by_text("1 of 3 settled")).to_be_visible()
    expect(said).to_contain_text("one said 0")
    address = page.url
    press(page, "u")  # and back it is
    expect(listed).to_have_count(3)
    expect(said).to_contain_text("one said 1")
    for n in (2, 1):
        press(page, "2")
        expect(listed).to_have_count(n)
    press(page, "0")
    expect(page.get_by_text("Nothing is left to settle")).to_be_visible()
    expect(page.get_by_role("region", name="As people would judge")).to_be_visible()
    state = open_labels(runs / "people").state
    settled = [(one.labeller, one.score) for one in state.labels() if one.round == "adjudicated"]
    assert sorted(settled) == [("eve", 0), ("eve", 2), ("eve", 2)]
    again = open_page(address)  # a link to one that is settled by now
    expect(again.get_by_text("Nothing is left to settle")).to_be_visible()
    for n in (2, 1, 0):
        press(again, "u")
        expect(again.get_by_text(f"{n} of 3 settled")).to_be_visible()
    expect(again.get_by_role("navigation", name="In dispute").get_by_role("button")).to_have_count(3)


def test_what_somebody_else_settled_first_is_said(open_page: Open, runs: Path) -> None:
    first, second = (
        open_page(f"/label?labels=people&labeller={name}&view=settle", faulty=True) for name in ("ida", "kim")
    )
    expect(first.get_by_text("0 of 3 settled")).to_be_visible()
    expect(second.get_by_text("0 of 3 settled")).to_be_visible()
    press(first, "2")
    expect(first.get_by_text("1 of 3 settled")).to_be_visible()
    press(second, "0")
    expect(second.get_by_text("That was not recorded")).to_be_visible()
    expect(second.get_by_text("1 of 3 settled")).to_be_visible()
    press(first, "u")
    expect(first.get_by_text("0 of 3 settled")).to_be_visible()


def test_the_judge_is_held_against_people_in_the_words_of_the_command(open_page: Open) -> None:
    page = open_page("/label")
    card(page, "people").get_by_role("link", name="What people and the judge say").click()
    said = page.locator(".lead p")
    expect(said.first).to_contain_text("The decision is “Inconclusive” as judged, and the same as people would judge")
    agrees = re.compile(
        r"Accuracy: the judge agrees with people on \d of 3 answers"
    )  # which samples are drawn is chance
    expect(said.filter(has_text=agrees)).to_have_count(1)
    # The judge gave the four samples what people would see in the sheet; the disputes are left out.
    expect(page.get_by_role("region", name="What people say").last).to_contain_text("Two people differ")
    expect(page.get_by_role("region", name="As judged", exact=True)).to_contain_text("Inconclusive")
    grid = page.get_by_role("region", name="Accuracy: scores of people and judge")
    expect(grid.get_by_role("row")).to_have_count(4)
    expect(grid.locator("td.framed")).to_have_count(3)  # both gave the same
    gate = page.get_by_role("figure").filter(has=page.get_by_role("heading", name="Pass rate", exact=True))
    expect(gate.get_by_role("listitem")).to_contain_text(["As judged", "As people would judge"])
    expect(page.get_by_text("two people differ and nobody has settled it; left out").first).to_be_visible()
    table = page.get_by_role("region", name="Whether the judge's replies could be read")
    expect(table).to_be_hidden()
    page.get_by_text("All of it as tables").click()
    expect(table).to_be_visible()
    for raw in ("READY", "NOT_READY", "INCONCLUSIVE", "post_stratified", "ppi++", "one_value", "_mean", "_rate"):
        assert raw not in page.locator("main").inner_text()
