"""The page behind another server's path: it finds its files and its data, whatever stands before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest

from running import benchbook_here, run
from scripted_server import always_good, running
from server.making import HOST, make_app, settings
from server.test_below import Front, ask


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    with running(always_good) as server:
        run(folder, server, 2)
    return folder / "runs"


@pytest.fixture(params=["/proxy/8765", "/user/me/proxy/8765", "/mlops/bench"])
def front(request: pytest.FixtureRequest, runs: Path, tmp_path: Path) -> Iterator[Front]:
    app = make_app(settings(runs, str(tmp_path / "catalog.sqlite")))
    yield Front(app, str(request.param), cuts=True)
    app.stop()


def test_nothing_begins_at_the_root(front: Front) -> None:
    """55-page-below-a-path: as jupyter-server-proxy, Posit Workbench and nginx put it."""
    index = ask(front, f"{front.path}/")
    found = re.findall(r'(?:src|href)="([^"]*)"', index.text)
    assert found
    assert not [address for address in found if address.startswith("/")]
    for address in found:
        assert ask(front, urljoin(f"http://{HOST}{front.path}/", address)).status_code == 200
    assert len(ask(front, f"{front.path}/api/v1/runs").json()["runs"]) == 1


def test_a_path_that_is_handed_on_whole_can_be_named() -> None:
    """55-page-below-a-path: `--root-path`."""
    assert b"--root-path" in benchbook_here("serve", "--help").stdout
