"""A panel of judges over HTTP: the same words and numbers as the command line's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbook.ask.starting import RunResult
from benchbook.evaluators.rubric.panel import panel_analysis
from benchbook.record.tables import read_rows
from benchbook.views.rubric.panel import panel_lines
from panels import replies_of, run_panel
from rubric_v1 import PANEL_ROW, V1
from running import run
from scripted_server import always_good, running
from server.making import HOSTILE, Api, api_over

NAMED = "http://127.0.0.1:9/v1"  # whom runs may ask that are started over HTTP
NAME = f"a {HOSTILE}".replace("\ud800", "")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunResult]:
    folder = tmp_path_factory.mktemp("panel")
    with running(replies_of({"a": lambda _: (2, 2), "b": lambda item: (item % 3, 2)})) as server:
        judges = [{"model": "openai/a@1", "name": NAME}, {"model": "openai/b@1"}]
        result = run_panel(folder, server, judges, 130, run_id="panel")
    with running(always_good) as server:
        run(folder, server, 2, run_id="one")
    return folder / "runs", result


@pytest.fixture
def api(ran: tuple[Path, RunResult], tmp_path: Path) -> Iterator[Api]:
    opened = api_over(ran[0], str(tmp_path / "catalog.sqlite"), endpoints=(NAMED, "scripted"))
    yield opened
    opened.app.stop()


def test_a_panel_is_told_as_everywhere_else(ran: tuple[Path, RunResult], api: Api) -> None:
    derived = ran[1].derived
    expected = panel_analysis(derived.manifest, derived.aggregates, read_rows(ran[1].record.samples, PANEL_ROW), V1)
    found = api.json("/api/v1/runs/panel/panel")
    assert found["lines"] == panel_lines(expected)
    assert [judge["name"] for judge in found["panel"]["judges"]] == [NAME, "b"]
    assert (found["n_splits"], len(found["panel"]["splits"])) == (87, 87)
    assert found["panel"]["splits"][0]["accuracy_scores"] == [2, 0]
    assert found["judges_table"]["rows"][0][0] == "the panel (majority)"


def test_all_that_the_judges_split_on_comes_by_pages(api: Api) -> None:
    whole = api.json("/api/v1/runs/panel/panel")["panel"]["splits"]
    pages = [api.json(f"/api/v1/runs/panel/panel/splits?limit=50&offset={offset}") for offset in (0, 50, 100)]
    assert [page["n"] for page in pages] == [87] * 3
    assert [split for page in pages for split in page["splits"]] == whole
    assert api.problem("/api/v1/runs/one/panel/splits")[0] == 404


def test_what_does_not_change_is_not_sent_again(api: Api) -> None:
    first = api.get("/api/v1/runs/panel/panel")
    again = api.get("/api/v1/runs/panel/panel", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("run_id", ["one", "nowhere"])
def test_a_run_without_a_panel_has_none(api: Api, run_id: str) -> None:
    status, _ = api.problem(f"/api/v1/runs/{run_id}/panel")
    assert status == 404


def test_a_sample_says_whose_each_reply_is(api: Api) -> None:
    replies = api.json("/api/v1/runs/panel/samples/1")["judge_replies"]
    assert [reply["judge"] for reply in replies] == [NAME, "b"]
    alone = api.json("/api/v1/runs/one/samples/1")["judge_replies"]
    assert [reply["judge"] for reply in alone] == [None]


def test_a_panel_may_be_started_with_what_one_judge_may_have(api: Api, tmp_path: Path) -> None:
    config = {"evalset": "@support_v1", "model": "openai/m@1", "model_base_url": NAMED, "panel_rule": "worst"}
    first = {"model": "openai/a@1", "base_url": NAMED}
    for judge, name in (
        ({"model": "openai/b@1", "base_url": "http://elsewhere:1/v1"}, "judges[1].base_url"),
        (first | {"model": "openai/b@1", "api_key_env": "HOME"}, "judges[1].api_key_env"),
        ({"model": "scripted/b@1", "path": "/etc/passwd"}, "judges[1].path"),
    ):
        body = {"config": config | {"judges": [first, judge]}}
        status, detail = api.problem("/api/v1/runs", "POST", json=body)
        assert status in (400, 422)
        assert name in detail
