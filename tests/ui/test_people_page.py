"""Runs as people would judge, in Chromium: what labels turn comes first, and answers are drawn to be labelled."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from labelled import judged_run
from server.test_by_people import N, label
from ui.conftest import served
from ui.test_every_page import is_clean

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

Open = Callable[..., Any]
OTHERWISE = "People would decide otherwise"


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over a, b and c: the judge is kindest to b, whose answers people find wrong; c's answers are a's."""
    folder = tmp_path_factory.mktemp("for-people")
    other = [{"answer": f"Other {number:03d}."} for number in range(N)]
    for name, scores, items in (("a", (1, 2), ()), ("b", (2, 2), other), ("c", (2, 2), ())):
        record = judged_run(folder / name, [scores] * N, items=items, run_id=name)
        shutil.copytree(record.path, folder / "runs" / name)
        if name != "c":
            label(record, folder / "runs" / f"people-of-{name}", (2, 2) if name == "a" else (0, 0))
    with served(folder / "runs") as address:
        yield address


@pytest.fixture(scope="module")
def browser(people: str, browser: Any) -> Any:
    del people  # it comes first
    return browser


def words_above(page: Any, first: Any, second: Any) -> bool:
    """True if one stands above the other."""
    return bool(first.bounding_box()["y"] < second.bounding_box()["y"])


def test_what_labels_turn_stands_above_the_comparison(open_page: Open, people: str) -> None:
    page = open_page("/compare?run=a&run=b&run=c", at=people)
    turned = page.get_by_role("region", name="What people's labels turn")
    expect(turned).to_contain_text(
        "By score, people would judge the other way: as judged B is better than A, as people would judge it is worse."
    )
    expect(turned).to_contain_text("By score, C is better than A as judged alone: both gave the same answers")
    scores = page.get_by_role("heading", name="B against A", exact=True)
    assert words_above(page, turned, scores)
    section = page.get_by_role("region", name="As people would judge", exact=True)
    expect(section).to_contain_text("by labels of 12 items of A and 12 of B. B is worse.")
    row = section.get_by_role("row").filter(has_text="Score, as people would judge")
    expect(row).to_contain_text("−0.")
    expect(row).to_contain_text("worse")
    assert "{a}" not in page.content()
    section.get_by_role("link", name="people-of-b").click()
    expect(page.get_by_role("heading", name="What the judge is worth")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/compare?run=a&run=b&run=c", "As people would judge"),
        ("/leaderboard", "For people: the score"),
        ("/runs/b", OTHERWISE),
        ("/label?draw=a", "Name of the set"),
    ],
)
def test_what_is_shown_of_people_fits_and_is_for_everybody(open_page: Open, people: str, path: str, shown: str) -> None:
    for look in ({"width": 390, "dark": True}, {"width": 1360}):
        page = open_page(path, at=people, **look)
        expect(page.get_by_text(shown).first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), look
        is_clean(page)


def test_the_letters_are_those_of_the_page(open_page: Open, people: str) -> None:
    page = open_page("/compare?run=a&run=b&run=c&baseline=a&b=2", at=people)
    section = page.get_by_role("region", name="As people would judge", exact=True)
    expect(section).to_contain_text("C − A")
    expect(section).to_contain_text("12 of them with the same answer in both")


@pytest.mark.parametrize("phone", [False, True])
def test_the_leaderboard_has_a_column_for_people(open_page: Open, people: str, phone: bool) -> None:
    page = open_page("/leaderboard", at=people, phone=phone)
    expect(page.get_by_text("For people: the score as people would judge")).to_be_visible()
    if not phone:
        expect(page.get_by_role("columnheader", name="For people")).to_be_visible()
    row = page.get_by_role("row").filter(has=page.get_by_role("checkbox", name="Compare b"))
    expect(row).to_contain_text("people 0." if phone else " to ")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_run_says_first_where_people_would_decide_otherwise(open_page: Open, people: str) -> None:
    page = open_page("/runs/b", at=people)
    turned = page.get_by_role("region", name=OTHERWISE)
    expect(turned).to_contain_text("“Inconclusive” as judged, and “Not ready” as people would judge")
    decision = page.get_by_role("region", name="Decision", exact=True)
    assert words_above(page, turned, decision)
    expect(page.get_by_role("region", name="As judged, by people-of-b")).to_contain_text("Inconclusive")
    expect(page.get_by_role("region", name="As people would judge, by people-of-b")).to_contain_text("Not ready")
    other = open_page("/runs/a", at=people)
    expect(other.get_by_role("heading", name="By people's labels")).to_be_visible()
    expect(other.get_by_role("region", name=OTHERWISE)).to_have_count(0)
    plain = open_page("/runs/c", at=people)
    expect(plain.get_by_role("region", name="Decision", exact=True)).to_be_visible()
    expect(plain.get_by_text("By people's labels")).to_have_count(0)


def test_answers_are_drawn_on_the_page(open_page: Open, people: str) -> None:
    page = open_page("/runs/c", at=people, faulty=True)  # too many are asked for once
    page.get_by_role("link", name="Label answers").click()
    expect(page.get_by_label("Name of the set")).to_have_value("c-labels")
    page.get_by_label("How many").fill("100")
    page.get_by_role("button", name="Draw").click()
    expect(page.get_by_text("Nothing was drawn")).to_be_visible()  # there are 12
    page.get_by_label("How many").fill("5")
    page.get_by_role("button", name="Draw").click()
    expect(page.get_by_text("5 answers drawn into c-labels.")).to_be_visible()
    page.get_by_role("link", name="Label them").click()
    expect(page.get_by_role("heading", name="c-labels")).to_be_visible()

    page = open_page("/label?draw=a", at=people)
    page.get_by_label("Drawn").select_option("decision")
    expect(page.get_by_text("Such labels correct this run's own decision")).to_be_visible()
    page.get_by_label("Name of the set").fill("for-the-decision")
    page.get_by_role("button", name="Draw").click()
    drawn = page.get_by_role("status", name="Drawn")
    expect(drawn).to_contain_text("drawn into for-the-decision.")
    expect(drawn).to_contain_text("settle")
