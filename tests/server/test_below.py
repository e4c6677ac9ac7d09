"""The server below a path: another server in front hands on what it was asked, with its path cut off or as it came."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from benchbook.errors import ConfigError
from benchbook.server.app import App
from benchbook.server.pages import checked_root_path, path_before
from benchbook.server.running import make_app
from server.making import HOST, copied, settings

PATHS = ("/proxy/8400", "/bench", "/runs")  # the last is a page of its own, too
V1 = "/api/v1"


class Front:
    """A server in front: `/bench/…` goes to the application, as it came or without `/bench`."""

    def __init__(self, app: App, path: str, *, cuts: bool) -> None:
        self.app, self.path, self.cuts = app, path, cuts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["path"].startswith(self.path)
        if self.cuts:
            n = len(self.path)
            scope = {**scope, "path": scope["path"][n:], "raw_path": scope["raw_path"][n:]}
        await self.app(scope, receive, send)


def ask(front: Front | App, address: str, method: str = "GET", **headers: str) -> httpx.Response:
    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(app=front)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            return await client.request(method, address, headers=headers)

    return asyncio.run(once())


def app_of(records: Path, folder: Path, **more: str) -> App:
    return make_app(settings(copied(records, folder), str(folder / "catalog.sqlite"), **more))


@pytest.fixture(scope="module", params=PATHS)
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=["cut-off", "as-it-came", "named-in-a-header"])
def front(
    request: pytest.FixtureRequest, path: str, records: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Front]:
    """For tests that only read."""
    more = {"root_path": path} if request.param == "as-it-came" else {}
    app = app_of(records, tmp_path_factory.mktemp("front"), **more)
    yield Front(app, path, cuts=request.param == "cut-off")
    app.stop()


PAGES = {
    "/": 200, "/runs": 200, "/runs/a": 200, "/runs/a%2Fb?sample=1": 200, "/compare?run=a&run=b": 200, "/login": 200,
    "/nowhere": 404, "/a/b/c": 404,
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_every_page_finds_its_files(page: str, path: str, front: Front) -> None:
    headers = {} if front.cuts or front.app.services.settings.root_path else {"x-forwarded-prefix": path}
    index = ask(front, f"{path}{page}", accept="text/html", **headers)
    assert index.status_code == PAGES[page]
    addresses = re.findall(r'(?:src|href)="([^"]*)"', index.text)
    assert len(addresses) >= 4
    for address in addresses:
        outside = urljoin(f"http://{HOST}{path}{page}", address)  # as a browser does
        assert outside.startswith(f"http://{HOST}{path}/")
        found = ask(front, outside, **headers)
        assert (found.status_code, found.headers["content-type"].partition(";")[0]) in [
            (200, "text/javascript"), (200, "text/css"), (200, "image/svg+xml")
        ]  # fmt: skip


def test_the_api_answers_below_the_path(path: str, front: Front) -> None:
    headers = {} if front.cuts or front.app.services.settings.root_path else {"x-forwarded-prefix": path}
    answer = ask(front, f"{path}{V1}/runs", **headers)
    assert (answer.status_code, len(answer.json()["runs"]) > 0) == (200, True)
    assert ask(front, f"{path}/healthz", **headers).status_code == 200


def test_without_the_mark_at_its_end_the_path_leads_to_the_page(records: Path, tmp_path: Path) -> None:
    app = app_of(records, tmp_path, root_path="/bench")
    answer = ask(app, "/bench")
    assert (answer.status_code, answer.headers["location"]) == (308, "/bench/")
    app.stop()


def test_each_depth_has_its_own_name_for_the_next_time(records: Path, tmp_path: Path) -> None:
    app = app_of(records, tmp_path)
    top, deep = ask(app, "/runs"), ask(app, "/runs/a")
    assert top.headers["etag"] != deep.headers["etag"]
    assert ask(app, "/runs/b", **{"if-none-match": deep.headers["etag"]}).status_code == 304
    assert ask(app, "/runs", **{"if-none-match": deep.headers["etag"]}).status_code == 200
    app.stop()


@pytest.mark.parametrize("text", ["https://example.org", "/a?b", "/a//b", "/a b", "/\u00e9", "/a#b", '/"x'])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="root_path"):
        checked_root_path(text)


@pytest.mark.parametrize(("text", "path"), [("", ""), ("/", ""), ("bench", "/bench"), ("/a/b/", "/a/b")])
def test_a_path_is_written_in_one_way(text: str, path: str) -> None:
    assert checked_root_path(text) == path


@pytest.mark.parametrize(
    ("raw_path", "root_path", "header", "found"),
    [
        (b"/bench/runs", "/bench", None, ("/bench", "/bench")),
        (b"/runs", "/bench", None, ("", "/bench")),
        (b"/benches", "/bench", None, ("", "/bench")),
        (b"/x/runs", "", "/x/", ("/x", "/x")),
        (b"/runs", "", "/x", ("", "/x")),
        (b"/runs", "", "//evil.example", ("", "")),
        (b"/runs", "", "https://evil.example/x", ("", "")),
        (b"/runs", "", '/"><script>', ("", "")),
        (b"/runs", "", "/a\r\nset-cookie: x", ("", "")),
    ],
)
def test_a_header_that_is_no_path_changes_nothing(
    raw_path: bytes, root_path: str, header: str | None, found: tuple[str, str]
) -> None:
    assert path_before(raw_path, root_path, header) == found
