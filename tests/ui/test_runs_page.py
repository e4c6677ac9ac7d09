"""The list of runs: columns, totals, one list of all, picking, and many put in order; two tabs that write at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.making import made
from ui.conftest import served
from ui.test_pages import Open, rows, says, violations

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]
N = 150  # more than a page of the API, and than are drawn


@pytest.fixture(scope="module")
def many(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over many small runs, which these tests write to: run-000 began first, and costs the least."""
    folder = tmp_path_factory.mktemp("listed") / "runs"
    folder.mkdir()
    for number in range(N):
        cost = {"total_input_tokens": 6, "candidate_cost_usd": f"0.{number:03d}"}
        card = {"primary_score": number / N, "n_items": 3, "n_scored": 3, **cost}
        at = f"2026-01-01T{number // 60:02d}:{number % 60:02d}:00.000Z"
        made(folder, f"run-{number:03d}", items=3, model=f"lab/m{number % 3}@1", aggregates=card, timestamp_utc=at)
    with served(folder) as address:
        yield address


def first(page: Any) -> Any:
    return rows(page, "Runs").first


def test_columns_are_chosen_kept_and_sorted_by(open_page: Open, many: str) -> None:
    page = open_page("/", at=many)
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("checkbox", name="Cost").check()
    page.get_by_role("checkbox", name="Loss").uncheck()
    says(page, columns=["run,model,eval_set,decision,score,cost,started"])
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Cost").click()
    expect(page.get_by_role("columnheader", name="Cost")).to_have_attribute("aria-sort", "descending")
    expect(first(page)).to_contain_text("$0.149")
    page.get_by_role("button", name="Cost").click()
    expect(first(page)).to_contain_text("run-000")
    page.goto("/")  # this browser begins with them now
    expect(page.get_by_role("columnheader", name="Cost")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Loss")).to_have_count(0)


def test_one_list_keeps_its_place_on_reload_and_back(open_page: Open, many: str) -> None:
    page = open_page("/?sort=run&order=asc", at=many, faulty=True)  # a run's page asks for what these records lack
    expect(first(page)).to_contain_text("run-000")
    page.locator(".vrows").evaluate("list => list.scrollTop = 100 * list.querySelector('.vrow').offsetHeight")
    says(page, at=["100"])
    expect(page.get_by_role("link", name="run-101")).to_be_visible()
    assert rows(page, "Runs").count() < 60
    page.reload()
    expect(page.get_by_role("link", name="run-101")).to_be_in_viewport()
    page.get_by_role("link", name="run-102").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("run-102")
    page.go_back()
    expect(page.get_by_role("link", name="run-101")).to_be_in_viewport()
    says(page, at=["100"])


def test_totals_are_of_the_runs_that_fit_and_so_are_files(open_page: Open, many: str) -> None:
    page = open_page("/?text=lab/m0", at=many)
    status = page.locator(".run-totals [role=status]")
    expect(status).to_have_text("50 runs, 150 samples, $3.675")  # 0.000 + 0.003 + … + 0.147
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert (len(lines), lines[1].split(",")[0]) == (51, '"run-147"')
    page.get_by_role("button", name="Complete 50").click()
    says(page, state=["complete"])
    expect(page.get_by_role("button", name="Complete 50")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Model").select_option("lab/m1@1")
    expect(page.get_by_text("No run fits")).to_be_visible()
    expect(status).to_have_text("0 runs, 0 samples")


def test_picking_survives_filters_and_says_why_not(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_label("Compare base").check()
    page.get_by_role("searchbox").fill("experiment")
    expect(rows(page, "Runs")).to_have_count(1)  # else it moves while it is being clicked
    box = page.get_by_label("Compare experiment")
    expect(box).to_have_attribute("aria-disabled", "true")
    box.click(force=True)  # it is there to be asked why not
    expect(box).not_to_be_checked()
    expect(page.locator(".pick-bar [role=status]")).to_contain_text("judges")
    page.get_by_role("searchbox").fill("third")
    expect(rows(page, "Runs")).to_have_count(1)
    expect(first(page)).to_contain_text("third")
    first(page).locator(".run-cell").nth(2).click()
    page.keyboard.press("x")
    expect(page.get_by_role("link", name="Compare 2 runs")).to_be_visible()
    page.get_by_role("button", name="Pick base no longer").click()
    says(page, pick=["third"])


def test_many_runs_are_put_in_order_at_once(open_page: Open, many: str) -> None:
    page = open_page("/?text=lab/m2&sort=run&order=asc", at=many)
    page.get_by_role("button", name="Organise").click()
    page.get_by_label("Check run-002").check()
    page.get_by_label("Check run-005").check()
    page.get_by_label("Tag", exact=True).first.fill("spring")
    page.get_by_role("button", name="Add tag").click()
    expect(page.get_by_text("Tagged spring: 2 runs.")).to_be_visible()
    expect(first(page).locator(".tag")).to_have_text("spring")
    page.get_by_role("button", name="Check all 50").click()
    expect(page.get_by_text("50 runs checked.")).to_be_visible()
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(page.get_by_text("No run fits")).to_be_visible()
    page.goto("/?archived=only&tag=spring")
    expect(rows(page, "Runs")).to_have_count(2)
    expect(first(page)).to_contain_text("archived")


def test_two_tabs_lose_nothing_of_each_other(open_page: Open, many: str) -> None:
    one, other = (open_page("/runs/run-001", at=many, faulty=True) for _ in range(2))
    for page, tag in ((one, "mine"), (other, "theirs")):
        page.get_by_label("New tag").fill(tag)
        page.get_by_label("New tag").press("Enter")
        expect(page.get_by_role("button", name=f"Take tag {tag} away")).to_be_visible()
    expect(other.locator(".tag")).to_have_text(["mine", "theirs"])

    for page, note in ((one, "first"), (other, "second")):
        page.get_by_role("button", name="Write").click()
        page.get_by_label("Note").fill(note)
    one.get_by_role("button", name="Save").click()
    expect(one.locator(".note")).to_have_text("first")
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_role("alert")).to_contain_text("Somebody else wrote meanwhile")
    expect(other.get_by_role("alert")).to_contain_text("first")
    other.get_by_role("button", name="Take theirs in").click()
    other.get_by_label("Name", exact=True).fill("The second")
    other.get_by_role("button", name="Save").click()
    expect(other.locator(".note")).to_have_text("first\nsecond")
    expect(other.get_by_role("heading", level=1)).to_have_text(re.compile("^The second"))
    other.goto("/?text=second")
    expect(first(other)).to_contain_text("run-001")


@pytest.mark.parametrize("look", [{}, {"phone": True, "dark": True}])
def test_axe_finds_nothing_in_what_opens(open_page: Open, many: str, look: dict[str, bool]) -> None:
    page = open_page("/?organise=1&archived=any", at=many, **look)
    expect(rows(page, "Runs").first).to_be_visible()
    expect(first(page)).to_be_visible()
    if not look:
        page.get_by_role("button", name="Columns").click()
    found = violations(page)
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
