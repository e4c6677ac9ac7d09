"""The page while something goes on: a run, a verification, indexing, or a server that is away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchbook.catalog.database import open_catalog
from benchbook.catalog.indexing import refresh
from running import write_items
from scored import scored
from scripted_server import running as scripted
from server.test_indexing import nobody_else_writes
from server.test_live import serving
from server.test_started_runs import CONFIG, Gate
from server.test_states import at_work
from ui.test_pages import rows, violations

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

expect.set_options(timeout=30_000)
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

# A page whose server ends before it is closed complains of that: `faulty`.
Open = Callable[..., Any]
NOT_ANSWERING = "The server does not answer."


@contextmanager
def lab(folder: Path, gate: Gate) -> Iterator[str]:
    """A server whose folder of inputs has a config that may be started, and one that may not."""
    inputs = folder / "inputs"
    inputs.mkdir()
    write_items(inputs / "items.jsonl", 8)
    with scripted(gate) as model:
        (inputs / "nightly.toml").write_text(CONFIG.format(url=model.base_url), encoding="utf-8")
        (inputs / "other.toml").write_text(CONFIG.format(url="http://elsewhere.example/v1"), encoding="utf-8")
        with serving(folder / "runs", "--inputs", str(inputs), "--endpoint", model.base_url) as (address, _):
            try:
                yield address
            finally:
                gate.goes_on.set()


def test_a_run_is_started_watched_cancelled_and_gone_on_with(open_page: Open, tmp_path: Path) -> None:
    gate = Gate(3)
    with lab(tmp_path, gate) as address:
        page = open_page("/", at=address, faulty=True)
        page.get_by_role("link", name="Start a run").click()
        expect(page.get_by_role("radio", name=re.compile("other.toml"))).to_be_disabled()
        expect(page.get_by_text("found an address that was not allowed")).to_be_visible()
        page.get_by_role("radio", name=re.compile("nightly.toml")).check()
        expect(page.get_by_text("8 samples: 16 calls")).to_be_visible()
        assert violations(page) == []
        page.get_by_role("button", name="Start this run").click()
        progress = page.get_by_role("region", name="Progress")
        expect(progress).to_contain_text("3 of 8 samples")
        expect(progress).to_contain_text("n = 3 so far; not final")
        expect(progress.get_by_role("region", name="Latest samples").locator("tbody tr")).to_have_count(3)
        expect(page.locator(".page-head .chip").first).to_have_text("running")
        assert violations(page) == []
        ends_after_its_record(page)
        with page.expect_response(re.compile("cancel")):  # else the others may be answered before it is asked
            progress.get_by_role("button", name="Cancel this run").click()
        gate.n = 1_000
        gate.goes_on.set()
        expect(page.locator(".page-head .chip").first).to_have_text("stopped, can be resumed")
        progress.get_by_role("button", name="Resume this run").click()
        expect(page.get_by_role("region", name="Decision")).to_be_visible()
        expect(progress).to_have_count(0)


def ends_after_its_record(page: Any) -> None:
    """The first answer of a stopped run is that of a busy machine, whose process has not quite ended."""
    first = [True]

    def answer(route: Any) -> None:
        reply = route.fetch()
        found = reply.json()
        if found.get("state") == "interrupted" and first:
            first.clear()
            found |= {"may_cancel": True, "may_resume": False}
        route.fulfill(response=reply, json=found)

    page.route(re.compile("/progress$"), answer)


def test_a_killed_run_is_said_to_be_stopped_by_itself(open_page: Open, tmp_path: Path) -> None:
    with at_work(tmp_path, 2) as (child, _), serving(tmp_path / "runs") as (address, _):
        page = open_page("/runs/run", at=address, faulty=True)
        expect(page.locator(".page-head .chip").first).to_have_text("running")
        child.kill()
        child.wait()
        expect(page.locator(".page-head .chip").first).to_have_text("stopped, can be resumed")
        expect(page.get_by_text("benchbook run --resume run")).to_be_visible()
        page.goto("/")
        expect(page.get_by_role("row", name=re.compile("run stopped, can be resumed"))).to_be_visible()


def test_a_verification_can_be_left_and_come_back_to(open_page: Open) -> None:
    page = open_page("/runs/third")
    page.get_by_role("button", name="Verify this record").click()
    page.get_by_role("link", name="Leaderboard").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.goto("/runs/third")
    expect(page.get_by_text("Every byte holds")).to_be_visible()


def test_the_bar_of_a_server_that_is_away_comes_and_goes_by_itself(open_page: Open, tmp_path: Path) -> None:
    scored(tmp_path, run_id="a")
    with serving(tmp_path / "runs") as (address, process):
        page = open_page("/runs/a", at=address, faulty=True)
        expect(page.get_by_role("region", name="Score", exact=True)).to_be_visible()
        process.kill()
        process.wait()
        expect(page.get_by_text(NOT_ANSWERING)).to_be_visible()
        expect(page.get_by_role("region", name="Score", exact=True)).to_be_visible()  # what came before stays
        page.get_by_role("link", name="Judges").click()  # a page whose script was not loaded yet
        expect(page.get_by_text(re.compile("This page broke"))).to_have_count(0)
    with serving(tmp_path / "runs", "--port", address.rpartition(":")[2]):
        expect(page.get_by_text(NOT_ANSWERING)).to_have_count(0)
        expect(page.get_by_role("heading", name="No experiment with judges yet")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("region", name="Score", exact=True)).to_be_visible()


def test_what_is_indexed_is_said_and_the_list_fills(open_page: Open, tmp_path: Path) -> None:
    catalog = tmp_path / "c.sqlite"
    scored(tmp_path, run_id="a")
    with open_catalog(catalog) as opened:
        refresh(opened, tmp_path / "runs")
    scored(tmp_path, run_id="b")
    with serving_while_locked(tmp_path / "runs", catalog) as (address, let_go):
        page = open_page("/", at=address, faulty=True)
        expect(page.get_by_text("Lists are not whole yet: 1 of 2 records is indexed.")).to_be_visible()
        expect(rows(page, "Runs")).to_have_count(1)
        let_go()
        expect(rows(page, "Runs")).to_have_count(2)
        expect(page.get_by_text("Lists are not whole yet")).to_have_count(0)


@contextmanager
def serving_while_locked(runs: Path, catalog: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """A server that can index nothing until it is let go."""
    lock = nobody_else_writes(catalog)
    lock.__enter__()
    held = True

    def let_go() -> None:
        nonlocal held
        if held:
            held = False
            lock.__exit__(None, None, None)

    try:
        with serving(runs, "--catalog", str(catalog), is_ready=False) as (address, _):
            yield address, let_go
    finally:
        let_go()
