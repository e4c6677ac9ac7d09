"""The page as files, in Chromium: from a folder, and from a web server below a path. Nobody is asked anything."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbook.record.folder import Record
from benchbook.server.site.writing import write_site

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

from ui.test_pages import rows, violations

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

Open = Callable[..., Any]
SHOWN = ("base", "tuned", "third", "judged", "panel", "talked", "experiment")


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "a folder # of mine"
    write_site(runs, {name: Record(runs / name) for name in SHOWN}, folder)
    return folder


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def hosted(site: Path) -> Iterator[str]:
    """The address of a plain file server, below whose path the site lies."""
    handler = functools.partial(_Quiet, directory=str(site.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{site.name.replace(' ', '%20').replace('#', '%23')}/"
        server.shutdown()


@pytest.fixture(params=["folder", "path"])
def opened(request: pytest.FixtureRequest, open_page: Open, site: Path) -> Open:
    """Opens an address of the site, from the folder or below the path of a web server."""
    at = f"{site.as_uri()}/" if request.param == "folder" else str(request.getfixturevalue("hosted"))
    return lambda path="", **more: open_page(f"index.html#{path}" if path else "index.html", at=at, **more)


def test_runs_are_listed_filtered_and_opened(opened: Open) -> None:
    page = opened()
    expect(rows(page, "Runs")).to_have_count(len(SHOWN))
    page.get_by_role("searchbox").fill("base-model")
    expect(rows(page, "Runs")).to_have_count(1)
    page.get_by_role("link", name="base", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("base")
    expect(page.get_by_text("how to check it")).to_be_visible()
    expect(page.get_by_role("button", name="Verify this record")).to_have_count(0)
    page.go_back()
    expect(rows(page, "Runs")).to_have_count(1)


def test_runs_are_compared_item_by_item(opened: Open) -> None:
    page = opened("/compare?run=base&run=tuned&run=third&class=improved&item=30&at=5")
    expect(page.get_by_role("heading", name="3 runs")).to_be_visible()
    expect(page.get_by_text("27 fit")).to_be_visible()
    expect(rows(page).first).to_contain_text("improved")
    for run in ("base", "tuned", "third"):
        expect(page.locator(".item-panel").get_by_text(run, exact=True)).to_be_visible()
    page.get_by_label("Text", exact=True).first.fill("no such text anywhere")
    expect(page.get_by_text("0 fit")).to_be_visible()


def test_skipping_to_the_page_stays_on_it(opened: Open) -> None:
    page = opened("/runs/base")
    expect(page.get_by_role("heading", level=1)).to_contain_text("base")
    page.get_by_role("button", name="Skip to the page").press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_contain_text("base")


def test_what_is_not_held_is_said(opened: Open) -> None:
    page = opened("/runs/nobody", faulty=True)
    expect(page.get_by_text("This copy of the page does not hold that")).to_be_visible()


@pytest.mark.parametrize(
    "path", ["", "/runs/judged?sample=0&at=0", "/compare?run=base&run=tuned", "/judges?run=experiment", "/leaderboard"]
)
def test_axe_finds_nothing(open_page: Open, site: Path, path: str) -> None:
    page = open_page(
        f"index.html#{path}" if path else "index.html", at=f"{site.as_uri()}/", faulty=True
    )  # axe asks for styles
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    if "sample=" in path:  # until it has come the page shows nothing
        expect(page.get_by_label("Sample", exact=True)).to_be_visible()
    assert violations(page) == []
