"""A server over made records, and Debian's Chromium; each test has a page of its own that is watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchbook.server.access import TokenFile, default_token_file
from chromium import started_browser
from server.test_live import serving
from ui.making import make_records


@contextmanager
def served(runs: Path, *more: str) -> Iterator[str]:
    """The address of `benchbook serve` over `runs`, for many tests; in the end it ends by itself."""
    with serving(runs, "--quiet", *more, log=runs.parent / "server.log") as (address, process):
        yield address
        process.terminate()
        process.wait(timeout=120)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    make_records(folder)
    return folder / "runs"


@pytest.fixture(scope="session")
def server(runs: Path) -> Iterator[str]:
    with served(runs) as address:
        yield address


@pytest.fixture(scope="session")
def guarded_server(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same records at an address that others reach, so that it asks for tokens."""
    TokenFile(default_token_file(runs)).create("admin", ["read"])
    catalog = tmp_path_factory.mktemp("guarded") / "catalog.sqlite"
    with served(runs, "--host", "0.0.0.0", "--catalog", str(catalog)) as address:
        yield address


@pytest.fixture(scope="session")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("empty") / "runs"
    folder.mkdir()
    with served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def browser(server: str, empty_server: str, guarded_server: str) -> Iterator[Any]:
    """For one module: while it is open, this thread has a running event loop, in which the runner can't be run."""
    del server, empty_server, guarded_server  # they come first
    with started_browser() as started:
        yield started


@pytest.fixture
def open_page(browser: Any, server: str) -> Iterator[Callable[..., Any]]:
    """Opens a page of the server's. In the end nothing of what it showed ran, and nothing was asked elsewhere."""
    contexts, faults = [], []

    def open_it(
        path: str,
        *,
        phone: bool = False,
        width: int = 1360,
        dark: bool = False,
        at: str = server,
        faulty: bool = False,
    ) -> Any:
        context = browser.new_context(
            viewport={"width": 390, "height": 844} if phone else {"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            base_url=at,
        )
        context.set_default_timeout(30_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"{path}: {error}"))
        page.on("request", lambda request: faults.append(request.url) if not request.url.startswith(at) else None)
        if not faulty:  # a page of an error is one that asks for what is not there
            page.on("console", lambda said: faults.append(f"{path}: {said.text}") if said.type == "error" else None)
        page.goto(path)
        return page

    yield open_it
    for context in contexts:
        for page in context.pages:
            assert page.evaluate("window.ran") is None
        context.close()
    assert faults == []
