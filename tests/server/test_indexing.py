"""A server that has just been started: it answers while it indexes, and says how far it is."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from benchbook.catalog.database import open_catalog
from benchbook.catalog.indexing import refresh
from benchbook.record.folder import Record
from benchbook.server.running import make_app
from catalog.making import made
from scored import scored
from server.making import Api, settings
from server.test_live import serving, wait_until_ready

V1 = "/api/v1"


@contextmanager
def nobody_else_writes(catalog: Path) -> Iterator[None]:
    """While it lasts, nothing can be indexed."""
    with closing(sqlite3.connect(catalog, isolation_level=None)) as held:
        held.execute("BEGIN IMMEDIATE")
        yield
        held.execute("ROLLBACK")


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A catalog that knows `a`, of two records: `b` was made since. `gone` is in it alone."""
    path = tmp_path / "c.sqlite"
    for run_id in ("a", "gone"):
        scored(tmp_path, run_id=run_id)
    with open_catalog(path) as opened:
        refresh(opened, tmp_path / "runs")
    shutil.rmtree(tmp_path / "runs" / "gone")
    scored(tmp_path, run_id="b")
    return path


def test_it_answers_at_once_and_says_that_it_is_not_ready(tmp_path: Path, catalog: Path) -> None:
    with (
        nobody_else_writes(catalog),
        serving(tmp_path / "runs", "--catalog", str(catalog), is_ready=False) as (address, _),
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        assert client.get("/healthz").status_code == 200
        ready = client.get("/readyz")
        while "1 of 2" not in ready.json()["detail"]:  # the folder is being listed
            ready = client.get("/readyz")
        assert (ready.status_code, ready.headers["retry-after"]) == (503, "1")
        assert ready.json()["detail"] == "indexing: 1 of 2 records is indexed"
        page = client.get(f"{V1}/runs").json()
        assert page["indexing"] == {"done": 1, "total": 2, "words": "1 of 2 records is indexed"}
        assert client.get(f"{V1}/indexing").json() == page["indexing"]
        assert client.get(f"{V1}/runs/a").json()["state"] == "complete"
        behind = client.get(f"{V1}/comparisons?run=a&run=b")
        assert (behind.status_code, behind.headers["retry-after"]) == (503, "1")
        detail = "run 'b' is being indexed: 1 of 2 records is indexed; ask again"
        assert behind.json()["detail"] == detail
        assert client.get(f"{V1}/runs/none").status_code == 404


def test_it_comes_to_know_all_of_them(tmp_path: Path, catalog: Path) -> None:
    with serving(tmp_path / "runs", "--catalog", str(catalog)) as (address, _), httpx.Client(timeout=60) as client:
        wait_until_ready(address)
        page = client.get(f"{address}{V1}/runs").json()
        assert ([run["run_id"] for run in page["runs"]], page["indexing"]) == (["b", "a"], None)
        assert client.get(f"{address}{V1}/indexing").json() == {"done": None, "total": None, "words": None}


def test_a_row_that_is_older_than_its_record_is_no_answer(tmp_path: Path, catalog: Path) -> None:
    record = Record(tmp_path / "runs" / "a")
    record.decision.write_bytes(record.decision.read_bytes() + b" ")
    app = make_app(settings(tmp_path / "runs", str(catalog)), is_indexed=False)
    api = Api(app)
    answer = api.get(f"{V1}/runs/a")
    detail = "run 'a' is being indexed: the folder of records is being listed; ask again"
    assert (answer.status_code, answer.json()["detail"]) == (503, detail)
    assert api.problem(f"{V1}/runs/none")[0] == 404
    app.services.watcher.look()
    assert api.json(f"{V1}/runs/a")["state"] == "damaged"
    assert api.problem(f"{V1}/runs/gone")[0] == 404
    app.stop()


class _Wants:
    """Someone who asks for `c` once the folder is listed."""

    is_over = False

    def __init__(self) -> None:
        self.told: list[tuple[int, int]] = []

    def indexed(self, done: int, total: int) -> None:
        self.told.append((done, total))

    def wanted(self) -> tuple[str, ...]:
        return ("c", "none")


def test_what_is_asked_for_is_read_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchbook.catalog import indexing

    order: list[str] = []
    read = indexing.index_record
    monkeypatch.setattr(indexing, "index_record", lambda *given: (order.append(given[1].run_id), read(*given))[1])
    for run_id in "abcd":
        made(tmp_path / "runs", run_id)
    wants = _Wants()
    with open_catalog(tmp_path / "c.sqlite") as opened:
        refresh(opened, tmp_path / "runs", wants)
        assert order[0] == "c"
        assert sorted(order) == ["a", "b", "c", "d"]
        assert wants.told == [(n, 4) for n in range(5)]
        order.clear()
        refresh(opened, tmp_path / "runs", wants)
    assert (order, wants.told[-1]) == ([], (4, 4))
