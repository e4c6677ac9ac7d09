"""Whatever is asked wrongly ends in a 4xx that says what, and nothing more (`Api.ask` looks for paths in it)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from benchbook.catalog.queries import list_runs
from server.making import HOST, Api

V1 = "/api/v1"
PAIR = f"{V1}/comparisons/items?run=a&run=b"


@pytest.mark.parametrize(
    ("url", "status", "says"),
    [
        # unknown
        (f"{V1}/runs/none", 404, "there is no run 'none'"),
        (f"{V1}/nothing", 404, "there is no such address"),
        (f"{V1}/runs/a/samples/5", 404, "there is no sample 5"),
        (f"{V1}/runs/a/samples/-1", 404, "a sample is named by its number"),
        (f"{V1}/runs/a/samples/99999999999999999999", 404, "a sample is named by its number"),
        (f"{V1}/runs/a/samples/٣", 404, "a sample is named by its number"),
        (f"{V1}/comparisons/items/5?run=a&run=b", 404, "these runs have 5 items"),
        (f"{V1}/comparisons?run=a&run=none", 404, "there is no run 'none'"),
        (f"{V1}/labels/none", 404, "there are no labels"),
        # traversal, in every segment that holds an id
        (f"{V1}/runs/..%2f..%2fetc%2fpasswd", 404, "there is no run '../../etc/passwd'"),
        (f"{V1}/runs/..%2fruns%2fa/samples", 404, "there is no run"),
        (f"{V1}/runs/a%00/samples", 404, "there is no run"),
        (f"{V1}/runs/%2e%2e", 404, "there is no run"),
        (f"{V1}/runs/a/metrics/..%2f..%2fmanifest.json", 404, "this run logged no metric"),
        (f"{V1}/labels/..%2fa", 404, "there are no labels"),
        (f"{V1}/comparisons?run=a&run=../a", 404, "there is no run '../a'"),
        (f"{V1}/runs/a/predictions/chunks", 404, "no predictions are being sent"),
        (f"{V1}/runs/%ff", 400, "the path is no UTF-8"),
        # SQL
        (f"{V1}/runs/a'%20OR%20'1'='1", 404, "there is no run"),
        (f"{V1}/runs?sort=run_id;DROP TABLE runs", 400, "Invalid enum value"),
        (f"{V1}/runs?order=asc,run_id", 400, "Invalid enum value"),
        # pages
        (f"{V1}/runs?limit=1001", 400, "Expected `int` <= 1000"),
        (f"{V1}/runs?limit=0", 400, "Expected `int` >= 1"),
        (f"{V1}/runs?limit=ten", 400, "Expected `int`"),
        (f"{V1}/runs?cursor=nonsense", 422, "query: cursor: found a text that is none"),
        (f"{V1}/runs?cursor=eyJzb3J0IjoicnVuIn0", 422, "query: cursor: found a text that is none"),
        ("/api/tunix/runs/a/predictions?limit=5000", 400, "Expected `int` <= 1000"),
        ("/api/tunix/runs/a/predictions?cursor=eyJwb3NpdGlvbiI6LTV9", 422, "query: cursor: found a text that is none"),
        (f"{PAIR}&offset=-1", 400, "Expected `int` >= 0"),
        (f"{PAIR}&offset=99999999999", 400, "Expected `int` <= 1000000000"),
        # parameters
        (f"{V1}/runs?modle=m", 400, "unknown field `modle`"),
        (f"{V1}/runs?spec=a&spec=b", 400, "spec is there more than once"),
        (f"{V1}/runs?text={'x' * 201}", 400, "Expected `str` of length <= 200"),
        (f"{V1}/runs?text=%ff", 400, "the query can't be read"),
        (f"{V1}/runs?{'&'.join('text=x' for _ in range(200))}", 400, "the query can't be read"),
        (f"{V1}/runs?text={'x' * 20_000}", 414, "at most 16,384 bytes"),
        (f"{V1}/comparisons?run=a", 400, "Expected `array` of length >= 2"),
        (f"{V1}/comparisons", 400, "missing required field `run`"),
        (f"{V1}/comparisons?run=a&run=a", 422, "run 'a' is named twice"),
        (f"{V1}/comparisons/history?run=a&run=b", 400, "Expected `array` of length >= 3"),
        (f"{PAIR}&class=worse", 400, "Invalid enum value 'worse'"),
        (f"{V1}/runs/a/metrics/loss?max_points=4", 400, "Expected `int` >= 5"),
        # records that allow no answer
        (f"{V1}/comparisons?run=a&run=rubric", 422, "compare runs of one scorer"),
        (f"{V1}/comparisons/items?run=a&run=rubric", 422, "compare runs of one scorer"),
        (f"{V1}/runs/live/aggregates", 409, "is stopped, can be resumed: its numbers come at its end"),
        (f"{V1}/runs/broken/samples", 409, "the record is damaged"),
        (f"{V1}/runs/none/nothing", 404, "there is no such address"),
    ],
)
def test_questions(api: Api, url: str, status: int, says: str) -> None:
    found, detail = api.problem(url)
    assert (found, says in detail) == (status, True), detail


def test_a_cursor_belongs_to_its_list(api: Api) -> None:
    cursor = api.json(f"{PAIR}&limit=2")["next_cursor"]
    assert api.json(f"{PAIR}&limit=3&cursor={cursor}")["items"][0]["item_id"] == "c"
    for other in (f"{PAIR}&class=regressed", f"{V1}/comparisons/items?run=b&run=a", f"{PAIR}&text=x"):
        status, detail = api.problem(f"{other}&cursor={cursor}")
        assert (status, detail.startswith("query: cursor: found a cursor of another list; expected ")) == (422, True)
    assert api.problem(f"{PAIR}&cursor={cursor}&offset=2")[0] == 400
    runs = api.json(f"{V1}/runs?limit=1&sort=run")["next_cursor"]
    assert api.problem(f"{V1}/runs?limit=1&sort=score&cursor={runs}")[0] == 422


@pytest.mark.parametrize(
    ("method", "url", "more", "status", "says"),
    [
        ("PUT", f"{V1}/runs/a/tags", {"content": b"{"}, 400, "body: no JSON"),
        ("PUT", f"{V1}/runs/a/tags", {"content": b"\xff"}, 400, "body: no JSON"),
        ("PUT", f"{V1}/runs/a/tags", {"content": b"[" * 200_000}, 422, "body: Expected `object`"),
        ("PUT", f"{V1}/runs/a/tags", {"json": {"tags": "x"}}, 422, "body: Expected `array`"),
        ("PUT", f"{V1}/runs/a/tags", {"json": {"tags": [""]}}, 422, "body: Expected `str` of length >= 1"),
        ("PUT", f"{V1}/runs/a/tags", {"json": {"tags": ["x"] * 51}}, 422, "of length <= 50"),
        ("PUT", f"{V1}/runs/a/tags", {"json": {"tags": [], "who": 1}}, 422, "unknown field `who`"),
        ("PUT", f"{V1}/runs/none/tags", {"json": {"tags": []}}, 404, "there is no run"),
        ("PUT", f"{V1}/runs/a/tags", {"content": b"x" * (1 << 20) + b"x"}, 413, "at most 1,048,576 bytes"),
        ("POST", f"{V1}/runs/a/verify", {"content": b"x"}, 400, "body: expected none"),
        ("POST", f"{V1}/login", {"json": {"token": "x"}}, 409, "this server asks for no token"),
        ("POST", f"{V1}/runs/a/cancel", {}, 409, "this run has ended, or goes on where"),
        ("POST", f"{V1}/runs/none/cancel", {}, 404, "there is no run"),
        ("DELETE", f"{V1}/runs/a", {}, 405, "this address takes GET"),
        ("PATCH", f"{V1}/runs", {}, 405, "this address takes GET, POST"),
        ("OPTIONS", f"{V1}/runs", {}, 405, "this address takes GET, POST"),
        ("POST", f"{V1}/labels", {"json": {"run": "rubric", "book": "../x"}}, 422, "matching regex"),
        ("POST", f"{V1}/labels", {"json": {"run": "a", "book": "x", "n": 1000}}, 422, "expected 1 to"),
        ("POST", f"{V1}/labels", {"json": {"run": "rubric", "book": "a", "n": 2}}, 422, "is there already"),
    ],
)
def test_writes(api: Api, method: str, url: str, more: dict[str, Any], status: int, says: str) -> None:
    more = {"headers": {"content-type": "application/json"}, **more}
    found, detail = api.problem(url, method, **more)
    assert (found, says in detail) == (status, True), detail


def test_a_body_is_what_it_says_it_is(api: Api) -> None:
    for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        found = api.problem(f"{V1}/runs/a/tags", "PUT", content=b'{"tags": []}', headers={"content-type": media})
        assert found == (415, "content-type: expected application/json")


def test_a_body_without_a_length_is_counted(api: Api) -> None:
    """Sent in parts that say nothing of how many follow."""
    sent: list[dict[str, Any]] = []
    headers = [(b"host", HOST.encode()), (b"content-type", b"application/json")]
    scope = {
        "type": "http", "method": "PUT", "path": f"{V1}/runs/a/tags", "raw_path": f"{V1}/runs/a/tags".encode(),
        "query_string": b"", "headers": headers, "http_version": "1.1",
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 100_000, "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(api.app(scope, receive, send))
    assert sent[0]["status"] == 413
    assert json.loads(sent[1]["body"])["detail"] == "body: expected at most 1,048,576 bytes"


def test_a_mistake_of_ours_tells_nothing(api: Api, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("secret path /etc")

    monkeypatch.setattr("benchbook.server.runs.list_runs", broken)
    answer = api.get(f"{V1}/runs")
    assert answer.json() == {"type": "about:blank", "title": "Internal Server Error", "status": 500, "detail": None}
    assert list_runs(api.app.services.catalog).runs
    assert "listRuns broke" in caplog.text
