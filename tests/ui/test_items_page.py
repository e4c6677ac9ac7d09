"""The items of compared runs: answers side by side, columns of choice, and pictures that filter."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ui.test_pages import Open, rows, says

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

THREE = "/compare?run=base&run=tuned&run=third"


def is_in_view(page: Any, selector: str) -> bool:
    top, bottom, height = page.eval_on_selector(
        selector, "e => { const b = e.getBoundingClientRect(); return [b.top, b.bottom, innerHeight]; }"
    )
    return bool(-4 <= top < height / 2 and bottom > 100)


def test_every_run_has_its_answer_beside_the_others(open_page: Open) -> None:
    page = open_page(f"{THREE}&at=21&item=21")
    for letter, text in (("A", "It is 22.25 by base"), ("B", "It is 22.25 by tuned"), ("C", "22")):
        expect(page.get_by_label(f"Answer of {letter}")).to_have_text(text)
    first, third = page.get_by_label("Run A"), page.get_by_label("Run C")
    expect(first.locator("mark")).to_have_attribute("data-within", "inside a longer number")
    expect(first).to_contain_text("stands here only inside a longer number")
    expect(third.locator("mark")).not_to_have_attribute("data-within", re.compile("."))
    expect(third.locator("ins").first).to_be_attached()
    page.get_by_role("button", name="Differences from A").click()
    says(page, diff=["off"])
    expect(page.locator(".answers ins, .answers del")).to_have_count(0)
    expect(first.locator("mark")).to_have_count(1)  # the place of what was expected stays
    page.reload()
    expect(page.get_by_role("button", name="Differences from A")).to_have_attribute("aria-pressed", "false")


def test_a_judged_item_says_what_the_judge_said_and_no_reason_of_another_evaluator(open_page: Open) -> None:
    page = open_page("/compare?run=judged&run=refused&at=1&item=1")
    judged = page.get_by_label("Run A")
    expect(judged.locator(".criteria dt")).to_have_text(["Accuracy", "Faithfulness"])
    expect(judged.locator(".dimensions")).to_contain_text("Faithfulness, 0 to 2")
    judged.get_by_text("Rationale of the judge").click()
    expect(judged.get_by_label("Rationale for A")).to_be_visible()
    expect(page.get_by_role("region", name="Lost and won by B")).to_be_visible()  # the summary has come
    expect(page.get_by_label("Why it missed")).to_have_count(0)


def test_markdown_leads_nowhere(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned&at=4&item=4&as=rendered")
    answer = page.get_by_label("Answer of B")
    expect(answer).to_contain_text("link (javascript:window.ran=5)")
    expect(answer).to_contain_text("<a href='javascript:window.ran=6'>x</a>")
    expect(answer.locator("a, img, script")).to_have_count(0)
    page.get_by_role("button", name="Markdown and JSON").click()
    expect(answer).to_contain_text("[link](javascript:window.ran=5)")


def test_parts_of_pictures_filter_and_chips_take_filters_away(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned")
    status = page.get_by_role("status").filter(has_text=re.compile(r"fit$|in all$"))
    lost = page.get_by_role("list", name=re.compile("^Differences")).get_by_role("button", name=re.compile("^−1"))
    n = re.search(r"(\d+) items?$", lost.get_attribute("aria-label") or "")
    assert n is not None
    lost.focus()
    page.keyboard.press("Enter")
    says(page, difference_min=["-1"], difference_max=["-1"])
    expect(status).to_have_text(f"{n[1]} fit")
    chips = page.get_by_role("list", name="Filters that are set")
    expect(chips).to_contain_text("Score, B − A: −1.00")
    page.get_by_role("region", name=re.compile("^By slice")).get_by_role(
        "button", name=re.compile("^edge_case:")
    ).click()
    says(page, section=["edge_case"])
    chips.get_by_role("button", name="Take away: Score").click()
    expect(chips.get_by_role("listitem")).to_have_count(2)  # the section, and “Clear filters”
    page.get_by_role("region", name=re.compile("^Lost and won")).get_by_role(
        "button", name=re.compile("nswer in the text.*, same")
    ).click()
    says(page, metric=["contained"], moved=["same"])
    page.get_by_role("button", name="Clear filters").click()
    expect(status).to_have_text("90 in all")
    against = page.get_by_role("region", name=re.compile("^B against A"))
    against.get_by_role("button", name=re.compile("^A 1, B 1")).click()
    says(page, a_min=["1"], b_max=["1"])


def test_limits_filter_and_heads_sort(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned&a_min=x")
    page.get_by_text("Limits", exact=True).click()
    page.get_by_label("Score, B, at least").fill("1")
    says(page, b_min=["1"])
    expect(rows(page).first).to_contain_text("→ 1.0000")
    head = page.get_by_role("columnheader", name="Scores")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    says(page, sort=["b"], order=["desc"])
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")


def test_columns_and_heights_are_kept_for_the_next_time(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="Answer of B").check()
    page.get_by_role("checkbox", name="Slice").uncheck()
    page.get_by_role("button", name="3 lines").click()
    says(page, cols=["class,item,prompt,answer_b,scores"], lines=["3"])
    page.goto("/compare?run=base&run=third")
    heads = page.get_by_role("grid", name="Items").get_by_role("columnheader")
    expect(heads).to_have_text([re.compile(name) for name in ("Class", "Item", "Prompt", "Answer of B", "Scores")])
    first = rows(page).first
    expect(first).to_be_visible()
    assert first.bounding_box()["height"] == 76
    cut = "cells => cells.every((cell) => cell.scrollWidth <= cell.clientWidth)"
    assert page.locator(".vrow .number").evaluate_all(cut)


@pytest.mark.parametrize("phone", [False, True])
def test_an_address_lands_at_its_item_and_stays(open_page: Open, phone: bool) -> None:
    page = open_page(f"{THREE}&at=60&item=60", phone=phone)
    expect(page.locator(".plot canvas")).to_be_visible()
    expect(page.get_by_label("Answer of C")).to_be_attached()
    page.wait_for_function("document.querySelector('.item-panel').getBoundingClientRect().top < innerHeight / 2")
    assert is_in_view(page, ".item-panel")
    if not phone:
        expect(page.locator(".items .vrow.chosen")).to_contain_text("item-060")
    page.reload()
    expect(page.get_by_label("Answer of C")).to_be_attached()
    page.wait_for_function("document.querySelector('.item-panel').getBoundingClientRect().top < innerHeight / 2")


def test_a_history_opens_its_item(open_page: Open) -> None:
    page = open_page(f"{THREE}&history=learned")
    rows(page, "Items over the runs").first.click()
    says(page, hitem=re.compile(r"\d+"))
    panel = page.locator(".history .item-panel")
    expect(panel.get_by_label("Answer of C")).to_be_visible()
    page.keyboard.press("j")
    expect(panel).to_be_visible()
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_have_count(0)
