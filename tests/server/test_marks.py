"""Marks over HTTP: two tabs that write at once, many runs in one go, lists that go by them, and files of lists."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import polars as pl
import pytest

from benchbook.record.marks import MarkFile, MarksChange
from server.making import Api
from server.test_writing import V1, runs_of, send

MARKS = "/runs/a/marks"


def patch(api: Api, status: int = 200, run_id: str = "a", etag: str | None = None, **change: Any) -> Any:
    headers = {} if etag is None else {"if-match": etag}
    return send(api, "PATCH", f"/runs/{run_id}/marks", status, json=change, headers=headers)


def test_two_tabs_that_add_a_tag_lose_none(writing: Api) -> None:
    patch(writing, add_tags=["first"])
    assert patch(writing, add_tags=["second"])["tags"] == ["first", "second"]
    assert patch(writing, add_tags=["third"], remove_tags=["first"])["tags"] == ["second", "third"]
    assert writing.json(f"{V1}/runs/a")["tags"] == ["second", "third"]


def test_a_text_is_replaced_only_by_who_saw_it(writing: Api) -> None:
    seen = writing.json(f"{V1}{MARKS}")
    assert seen == {"run_id": "a", "name": "", "note": "", "tags": [], "archived": False, "etag": seen["etag"]}
    assert "expected the header If-Match" in patch(writing, 428, note="mine")["detail"]
    after = patch(writing, etag=seen["etag"], note="mine", name=" Best ")
    assert (after["name"], after["note"], after["etag"] != seen["etag"]) == ("Best", "mine", True)

    late = writing.ask("PATCH", f"{V1}{MARKS}", json={"note": "theirs"}, headers={"if-match": seen["etag"]})
    assert (late.status_code, late.headers["etag"]) == (412, after["etag"])
    assert "now: name 'Best'; note 'mine'; tags none" in late.json()["detail"]
    assert writing.json(f"{V1}/runs/a")["note"] == "mine"
    assert patch(writing, etag=f'"other", W/{late.headers["etag"]}', note="theirs")["note"] == "theirs"
    assert patch(writing, etag="*", note="")["note"] == ""


def test_the_old_way_to_set_tags_stays_and_may_be_made_safe(writing: Api) -> None:
    url = f"{V1}/runs/a/tags"
    first = writing.ask("PUT", url, json={"tags": ["b", "a", "b"]})
    assert first.json() == {"run_id": "a", "tags": ["a", "b"]}
    assert writing.ask("PUT", url, json={"tags": ["c"]}).status_code == 200  # without If-Match: whatever was there goes
    late = writing.ask("PUT", url, json={"tags": ["d"]}, headers={"if-match": first.headers["etag"]})
    assert (late.status_code, "tags 'c'" in late.json()["detail"]) == (412, True)


def test_what_is_archived_is_left_out_unless_it_is_asked_for(writing: Api) -> None:
    everything = writing.json(f"{V1}/runs")
    patch(writing, archived=True)
    assert "a" not in [run["run_id"] for run in writing.pages(f"{V1}/runs", "runs", 2)]
    assert writing.json(f"{V1}/runs")["n"] == everything["n"] - 1
    assert writing.json(f"{V1}/runs?archived=any")["n"] == everything["n"]
    (only,) = writing.json(f"{V1}/runs?archived=only")["runs"]
    assert (only["run_id"], only["archived"]) == ("a", True)
    assert writing.json(f"{V1}/runs/a")["archived"] is True
    assert patch(writing, archived=False)["archived"] is False
    assert writing.json(f"{V1}/runs")["n"] == everything["n"]


def test_many_runs_at_once_all_or_none(writing: Api) -> None:
    wanted = {"runs": ["a", "b", "a"], "add_tags": ["batch"], "archived": True}
    found = send(writing, "POST", "/marks", json=wanted)["marks"]
    assert [(one["run_id"], one["tags"], one["archived"]) for one in found] == [
        ("a", ["batch"], True), ("b", ["batch"], True),
    ]  # fmt: skip
    assert send(writing, "POST", "/marks", 404, json={"runs": ["c", "none"], "add_tags": ["x"]})["detail"]
    assert writing.json(f"{V1}/runs?tag=x&archived=any")["n"] == 0
    refused = send(writing, "POST", "/marks", 422, json={"runs": ["a"], "note": "x"})
    assert "found name or note; expected neither" in refused["detail"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"add_tags": [""]}, "length >= 1"),
        ({"add_tags": ["x"] * 51}, "length <= 50"),
        ({"note": "x" * 2_001}, "length <= 2000"),
        ({"name": 1}, "Expected `str`"),
        ({"tags": ["x"]}, "unknown field `tags`"),
    ],
)
def test_what_is_no_change(writing: Api, change: dict[str, Any], expected: str) -> None:
    assert expected in patch(writing, 422, **change)["detail"]


def test_a_list_goes_by_what_the_command_line_wrote(writing: Api) -> None:
    MarkFile(runs_of(writing)).change(("b",), lambda _, before: MarksChange(name="Ours", add_tags=("x",)).of(before))
    for question in ("tag=x", "text=ours", "text=b%20OURS"):
        assert [run["run_id"] for run in writing.json(f"{V1}/runs?{question}")["runs"]] == ["b"]
    assert writing.json(f"{V1}/filters")["tags"] == [{"value": "x", "n_runs": 1}]


# ── the list ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_list_is_read_from_any_place_and_counts(api: Api) -> None:
    whole = api.pages(f"{V1}/runs?sort=score", "runs", 3)
    for place in range(len(whole) + 1):
        page = api.json(f"{V1}/runs?sort=score&offset={place}&limit=2")
        assert [run["run_id"] for run in page["runs"]] == [run["run_id"] for run in whole[place : place + 2]]
        assert page["n"] == len(whole)
    cursor = api.json(f"{V1}/runs?limit=1")["next_cursor"]
    assert "expected one of them" in api.problem(f"{V1}/runs?cursor={cursor}&offset=1")[1]


def test_totals_are_those_of_the_list(api: Api) -> None:
    for question in ("", "?decision=pass", "?state=complete&text=rubric", "?spec=none"):
        runs = api.json(f"{V1}/runs{question}{'&' if question else '?'}limit=100")["runs"]
        totals = api.json(f"{V1}/totals{question}")
        assert totals["n_runs"] == len(runs)
        assert totals["n_samples"] == sum(run["n_attempted"] or 0 for run in runs)
        told = [run["n_tokens"] for run in runs if run["n_tokens"] is not None]
        assert (totals["n_tokens"], totals["n_with_tokens"]) == (sum(told) if told else None, len(told))
        assert sum(totals["by_state"].values()) == len(runs)


def test_an_experiment_has_one_number_of_evaluations(api: Api) -> None:
    run = api.json(f"{V1}/runs/experiment")
    (listed,) = api.json(f"{V1}/judges")["experiments"]
    assert run["n_evaluations"] == listed["n_evaluations"] == run["n_scored"] + run["n_unscored"]


def test_the_list_as_files(writing: Api) -> None:
    patch(writing, etag="*", name="=HYPERLINK(1)", note="half a\ttab", add_tags=["@x", "y"])
    rows = [json.loads(line) for line in writing.get(f"{V1}/runs.ndjson?sort=run&order=asc").text.splitlines()]
    answer = writing.json(f"{V1}/runs?sort=run&order=asc&limit=100")["runs"]
    assert rows == [{name: value for name, value in run.items() if name != "loss"} for run in answer]

    text = writing.get(f"{V1}/runs.csv?sort=run&order=asc").text
    table = list(csv.DictReader(io.StringIO(text)))
    assert [row["run_id"] for row in table] == [row["run_id"] for row in rows]
    assert (table[0]["name"], table[0]["tags"]) == ("'=HYPERLINK(1)", "'@x; y")
    assert (table[0]["n_items"], table[0]["archived"]) == ("5", "false")

    frame = pl.read_parquet(io.BytesIO(writing.get(f"{V1}/runs.parquet?sort=run&order=asc").content))
    assert frame.to_dicts() == rows
    assert writing.get(f"{V1}/runs.csv?text=none").text.count("\r\n") == 1
    assert pl.read_parquet(io.BytesIO(writing.get(f"{V1}/runs.parquet?text=none").content)).is_empty()
