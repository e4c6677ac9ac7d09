"""What is read over HTTP, over SQLite and over PostgreSQL: held against the records themselves."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.comparison.compared import compare
from benchbook.comparison.records import compared_run
from benchbook.record.folder import Record
from benchbook.views.words import reason
from judging import DIMENSIONS
from running import run
from scored import scored
from scripted_server import always_good
from scripted_server import running as scripted
from server.making import HOSTILE, Api, api_over

ITEM_IDS = ["a", "b", "c", "d", "e"]


def record(api: Api, run_id: str) -> Record:
    return Record(api.app.services.settings.runs / run_id)


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def ids(api: Api, query: str = "") -> list[str]:
    return [run["run_id"] for run in api.json(f"/api/v1/runs?{query}")["runs"]]


def test_a_run_says_what_its_record_says(api: Api) -> None:
    run = api.json("/api/v1/runs/a")
    manifest = json.loads(record(api, "a").manifest.read_bytes())
    assert (run["state"], run["decision"], run["primary_name"], run["primary"]) == (
        "complete", "pass", "primary_score", 0.4,
    )  # fmt: skip
    assert run["journal_sha256"] == manifest["journal_sha256"]
    assert (run["n_items"], run["n_scored"], run["n_unscored"]) == (5, 4, 1)
    assert run["loss"][:2] == [2.0, 1.0]
    assert run["loss"][5] is None  # logged as NaN
    assert api.json("/api/v1/runs/live")["state"] == "interrupted"  # begun, and nobody is at work
    broken = api.json("/api/v1/runs/broken")
    assert (broken["state"], broken["primary"]) == ("damaged", None)
    assert broken["error"].startswith("samples.parquet: was changed")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("spec=rubric@v1&sort=run&order=asc", ["rubric", "rubric2"]),
        ("model=org/m@1", ["a"]),
        ("decision=unavailable", ["dry"]),
        ("state=damaged&text=BROKEN", ["broken"]),
        ("text=openai%20rubric2", ["rubric2"]),
        ("sort=score&order=desc&spec=answer_correctness@v1&state=complete", ["other", "a", "c", "b", "dry"]),
        ("text=%27%20OR%201=1%20--", []),
        ("eval_set=nothing", []),
        ("tag=none", []),
    ],
)
def test_filters_and_sorts(api: Api, query: str, expected: list[str]) -> None:
    assert ids(api, query) == expected


@pytest.mark.parametrize("query", ["", "?sort=score&order=asc", "?sort=model", "?sort=run&order=asc&spec=rubric@v1"])
def test_pages_of_runs_have_each_run_once(api: Api, query: str) -> None:
    whole = api.json(f"/api/v1/runs{query}")["runs"]
    assert api.pages(f"/api/v1/runs{query}", "runs", 2) == whole


# ── derived files ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("run_id", ["a", "dry", "rubric"])
@pytest.mark.parametrize("name", ["aggregates", "decision", "manifest"])
def test_derived_files_are_those_of_the_record(api: Api, run_id: str, name: str) -> None:
    stored = json.loads((record(api, run_id).path / f"{name}.json").read_bytes())
    answered = api.json(f"/api/v1/runs/{run_id}/{name}")
    assert {key: answered[key] for key in stored} == stored


def test_reasons_are_said_as_reports_say_them(api: Api) -> None:
    found = api.json("/api/v1/runs/rubric/decision")
    assert found["said"] == [reason(one) for one in found["reasons"]]


def test_a_gate_is_said_as_reports_say_it(api: Api) -> None:
    """Four perfect answers: all gates hold by their values, and of none is that shown."""
    words = api.json("/api/v1/runs/rubric/decision")["words"]
    assert (words["headline"], words["tone"]) == ("Inconclusive", "doubt")
    assert words["meaning"][1:] == ["Decided by what is shown at 95 % confidence. By the rubric's rule: release-ready."]
    assert [(one["title"], len(one["entries"])) for one in words["reasons"]] == [("Why", 5)]
    said = [(one["label"], one["rule"], one["value"]) for one in words["gates"]]
    assert said[:3] == [
        ("Mean sample score", "at least 0.80", "1.0000"),
        ("Pass rate", "at least 85 %", "100.0 %"),
        ("Faithfulness failure rate", "at most 5 %", "0.0 %"),
    ]
    states = {(one["tone"], one["text"], one["detail"]) for one in words["gates"]}
    assert states == {("doubt", "Holds", "by its value; it is not shown")}
    assert [row[0] for row in words["gates_table"]["rows"]] == [one["label"] for one in words["gates"]]


def test_a_run_of_predictions_is_said_as_reports_say_it(api: Api) -> None:
    words = api.json("/api/v1/runs/a/decision")["words"]
    assert words["headline"] == "Score 0.4000 by answer_correctness@v1; the run itself completed"
    assert words["meaning"][0].startswith("2 of 5 items correct; the score is ")
    assert api.json("/api/v1/runs/dry/decision")["words"]["headline"] == "Nothing was scored"


def test_gates_of_checks_are_said_as_those_of_a_rubric(tmp_path: Path) -> None:
    """Three of five items pass, where nine of ten were asked for; and a spec without gates decides nothing."""
    check = 'version = 1\nabout = "Right."\n[[checks]]\nname = "right"\nkind = "contains"\n'
    gate = '[[gates]]\naggregate = "pass_rate"\nat_least = 0.9\n'
    for name, text in (("gated", check + gate), ("open", check)):
        (folder := tmp_path / f"{name}@v1").mkdir()
        (folder / "spec.toml").write_text(f'name = "{name}"\n{text}', encoding="utf-8")
        scored(tmp_path, run_id=name, spec=str(folder))
    api = api_over(tmp_path / "runs", str(tmp_path / "catalog.sqlite"))
    found, plain = (api.json(f"/api/v1/runs/{name}/decision") for name in ("gated", "open"))
    api.app.stop()
    assert (found["verdict"], found["decision"], found["release_ready"]) == ("pass", "INCONCLUSIVE", False)
    assert "capped_by" not in found
    assert found["said"] == [reason(one) for one in found["reasons"]]
    assert [(one["rule"], one["value"]) for one in found["words"]["gates"]] == [("at least 90 %", "60.0 %")]
    assert [row[:3] for row in found["words"]["gates_table"]["rows"]] == [["Pass rate", "at least 90 %", "60.0 %"]]
    assert plain.keys() == {"verdict", "reason", "words"}
    assert plain["words"].keys() == {"headline", "tone", "meaning", "reasons"}


def test_a_refused_decision_is_said_as_reports_say_it(tmp_path: Path) -> None:  # R7.1
    def nameless(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        return always_good(role, n, request) | {"model": "m"}

    with scripted(nameless) as server:
        run(tmp_path, server, 2, run_id="nameless", model="openai/m", max_connections=1)
    api = api_over(tmp_path / "runs", str(tmp_path / "catalog.sqlite"))
    api.app.services.watcher.look()
    found = api.json("/api/v1/runs/nameless/decision")
    api.app.stop()
    assert (found["decision"], found["release_ready"]) == (None, False)
    assert found["reasons"] == ["refused: required metadata is missing: model_version"]
    assert (found["words"]["headline"], found["words"]["tone"]) == ("No decision", "none")
    assert found["words"]["reasons"] == [{"title": "Missing metadata:", "entries": ["model_version"]}]


def test_what_can_not_change_is_sent_once(api: Api) -> None:
    urls = [
        "/api/v1/runs/a/aggregates", "/api/v1/runs/a/samples?limit=2", "/api/v1/runs/a/samples/0",
        "/api/tunix/runs/a/predictions", "/api/v1/comparisons?run=a&run=b", "/api/v1/comparisons/items?run=a&run=b",
        "/api/v1/runs/a/metrics/loss", "/api/v1/runs/a/samples.parquet",
        "/api/v1/leaderboards?dataset=items&spec=rubric@v1",
    ]  # fmt: skip
    for url in urls:
        first = api.get(url)
        assert first.headers["cache-control"] == "private, no-cache"
        again = api.get(url, headers={"if-none-match": f'"other", W/{first.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
    assert "etag" not in api.get("/api/v1/runs").headers


def test_head_is_get_without_a_body(api: Api) -> None:
    whole = {"accept-encoding": "identity"}
    answer = api.ask("HEAD", "/api/v1/runs/a", headers=whole)
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) == len(api.get("/api/v1/runs/a", headers=whole).content)
    assert api.ask("HEAD", "/api/v1/runs/a/samples.ndjson").content == b""


# ── samples ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ITEM_IDS),
        ("outcome=passed", ["b", "c"]),
        ("outcome=failed", ["a", "d", "e"]),
        ("outcome=unscored", []),
        ("section=core", ["a", "b"]),
        ("difficulty=easy", ["a", "d"]),
        ("reason=numerically_equal", ["d"]),
        ("reason=no_prediction", ["e"]),
        ("text=paris", ["b"]),
        ("text=IT%20is", ["a"]),
        ("text=.*", []),
        ("sort=item_id&order=desc", ITEM_IDS[::-1]),
        ("sort=score&order=desc", ["b", "c", "a", "d", "e"]),
        ("sort=section&order=asc", ["a", "b", "c", "d", "e"]),
    ],
)
def test_samples(api: Api, query: str, expected: list[str]) -> None:
    url = f"/api/v1/runs/a/samples?{query}"
    found = api.json(url)
    assert [row["item_id"] for row in found["samples"]] == expected
    assert found["n"] == len(expected)
    assert api.pages(url, "samples", 2) == found["samples"]
    assert api.json(f"{url}&offset=1&limit=2")["samples"] == found["samples"][1:3]


def test_one_sample_whole(api: Api) -> None:
    hostile = api.json("/api/v1/runs/c/samples/0")
    shown = HOSTILE.replace("\ud800", "\\ud800")  # a lone surrogate as its escape, as in the table
    assert (hostile["text"], hostile["row"]["predicted"]) == (shown, shown)
    assert (hostile["prompt"], hostile["expected"], hostile["reasons"]) == ("1 + 1?", "2", ["different"])
    judged = api.json("/api/v1/runs/rubric/samples/2")
    assert (judged["prompt"], judged["expected"], judged["score"]) == ("What is 2 + 1?", "3", 1.0)
    assert json.loads(judged["judge_replies"][0]["text"])["accuracy_score"] == 2


def test_samples_to_take_away(api: Api) -> None:
    table = record(api, "a").samples
    lines = api.get("/api/v1/runs/a/samples.ndjson")
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert rows == [row | {"context": None} for row in pl.read_parquet(table).to_dicts()]
    assert lines.headers["content-disposition"] == 'attachment; filename="a-samples.ndjson"'
    assert api.get("/api/v1/runs/a/samples.parquet").content == table.read_bytes()


def test_samples_for_a_spreadsheet_have_what_was_asked(api: Api) -> None:
    answer = api.get("/api/v1/runs/rubric/samples.csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="rubric-samples.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text, newline=""), strict=True))
    assert [(row["prompt"], row["expected_answer"]) for row in rows][2] == ("What is 2 + 1?", "3")
    assert len(rows) == len(pl.read_parquet(record(api, "rubric").samples))
    lines = api.get("/api/v1/runs/rubric/samples.ndjson").text.splitlines()
    assert [json.loads(line)["prompt"] for line in lines] == [row["prompt"] for row in rows]


@pytest.mark.parametrize(
    ("run", "text", "items"),
    [
        pytest.param("rubric", "what%20is%202%20%2B", ["i2"], id="of-a-rubric"),
        pytest.param("a", "capital", ["b"], id="of-answers"),
        pytest.param("a", "2", ["a", "c", "d"], id="in-a-prompt-or-an-answer"),
        pytest.param("a", "never%20asked", [], id="nowhere"),
    ],
)
def test_a_search_finds_words_of_the_prompt(api: Api, run: str, text: str, items: list[str]) -> None:
    found = api.json(f"/api/v1/runs/{run}/samples?text={text}")
    assert ([row["item_id"] for row in found["samples"]], found["n"]) == (items, len(items))


# ── predictions ──────────────────────────────────────────────────────────────────────────────────────────────


def test_predictions_in_the_source_s_form(api: Api) -> None:
    found = api.json("/api/tunix/runs/a/predictions")
    assert (found["status"], found["run_id"], found["next_cursor"]) == ("available", "a", None)
    assert found["predictions"][0] == {
        "item_id": "a", "expected": "2", "predicted": "It is 2.", "correctness": 0.0, "eval_time_ms": 7, "step": 300,
    }  # fmt: skip
    assert found["predictions"][4]["predicted"] is None
    assert api.pages("/api/tunix/runs/a/predictions", "predictions", 2) == found["predictions"]
    right = api.pages("/api/tunix/runs/a/predictions?correctness=1", "predictions", 1)
    assert [row["item_id"] for row in right] == ["b", "c"]
    lines = api.get("/api/v1/runs/a/predictions.ndjson").text.splitlines()
    assert [json.loads(line) for line in lines] == found["predictions"]


def test_hostile_predictions_come_as_they_are(api: Api) -> None:
    row = api.json("/api/tunix/runs/c/predictions")["predictions"][0]
    assert row["predicted"] == HOSTILE.replace("\ud800", "\\ud800")
    assert row["correctness"] == 0.0  # the run's own key of that name does not take its place
    assert row["kéy"] == "=1+1"


def test_no_rows_are_made_up(api: Api) -> None:
    dry = api.json("/api/tunix/runs/dry/predictions")
    assert dry == {
        "status": "unavailable",
        "run_id": "dry",
        "reason": "this was a dry run (MockJudge in the place of answer_correctness@v1): it makes no predictions",
    }
    assert api.json("/api/tunix/runs/rubric/predictions")["status"] == "unavailable"
    assert api.json("/api/tunix/runs/broken/predictions")["status"] == "unavailable"
    assert api.json("/api/tunix/runs/live/predictions")["predictions"] == []
    assert api.problem("/api/v1/runs/dry/predictions.ndjson")[0] == 409


# ── training ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_curves(api: Api) -> None:
    found = api.json("/api/v1/runs/a/training-metrics?name=loss&name=lr&name=none")
    assert (found["names"], [curve["name"] for curve in found["curves"]]) == (["loss", "lr"], ["loss", "lr"])
    loss = api.json("/api/v1/runs/a/metrics/loss")
    assert loss == found["curves"][0]
    assert (loss["steps"], loss["values"][5], loss["n_points"]) == (list(range(10)), None, 10)
    thinned = api.json("/api/v1/runs/a/metrics/loss?max_points=5")
    assert thinned["steps"][0] == 0
    assert thinned["steps"][-1] == 9
    assert (len(thinned["steps"]) <= 5, thinned["n_points"]) == (True, 10)
    assert api.problem("/api/v1/runs/b/metrics/loss") == (404, "this run has no training metrics")
    assert api.problem("/api/v1/runs/a/metrics/none")[0] == 404


# ── comparisons ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_pair_is_the_comparison_of_its_records(api: Api) -> None:
    found = api.json("/api/v1/comparisons?run=a&run=b")
    expected = compare(compared_run(record(api, "a")), compared_run(record(api, "b")))
    assert (found["a"], found["b"], found["n_compared"]) == ("a", "b", 5)
    assert found["classes"] == dict(expected.counts)
    assert [found["score"][name] for name in ("difference", "low", "high", "p")] == [
        expected.score.difference, expected.score.low, expected.score.high, expected.score.p,
    ]  # fmt: skip
    assert found["containment"]["n_a"] == expected.containment.n_a  # type: ignore[union-attr]
    assert [one["path"] for one in found["metadata"]] == [one.path for one in expected.metadata]
    assert found["unknown_in_both"] == list(expected.unknown)


def test_several_runs(api: Api) -> None:
    found = api.json("/api/v1/comparisons/set?run=a&run=b&run=c")
    assert (found["runs"], [pair["b"] for pair in found["pairs"]]) == (["a", "b", "c"], ["b", "c"])
    assert found["pairs"][0]["p_holm"] is not None
    assert found["leaderboard"]["places"][0]["run"] == "a"
    assert api.json("/api/v1/comparisons/set?run=a&run=other")["leaderboard"] is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [("a", "improved"), ("b", "regressed"), ("c", "regressed"), ("d", "same_wrong"), ("e", "same_wrong")]),
        ("class=regressed", [("b", "regressed"), ("c", "regressed")]),
        ("section=core&class=regressed", [("b", "regressed")]),
        ("difficulty=easy", [("a", "improved"), ("d", "same_wrong")]),
        ("reason=numerically_equal", [("d", "same_wrong")]),
        ("text=LYON", [("b", "regressed")]),
        ("text=capital+of", [("b", "regressed")]),
        ("text=(", []),
        ("sort=item_id&order=desc&class=regressed", [("c", "regressed"), ("b", "regressed")]),
        ("sort=change&class=same_wrong", [("d", "same_wrong"), ("e", "same_wrong")]),
    ],
)
def test_items(api: Api, query: str, expected: list[tuple[str, str]]) -> None:
    url = f"/api/v1/comparisons/items?run=a&run=b&{query}"
    found = api.json(url)
    assert [(row["item_id"], row["class"]) for row in found["items"]] == expected
    assert found["n"] == len(expected)
    assert api.pages(url, "items", 2) == found["items"]
    for row in found["items"]:
        whole = api.json(f"/api/v1/comparisons/items/{row['position']}?run=a&run=b")
        assert {name: whole[name] for name in row} == row


def test_one_item_with_its_difference_by_word(api: Api) -> None:
    item = api.json("/api/v1/comparisons/items/1?run=a&run=c")
    assert (item["class"], item["segments"], item["text_b"]) == ("regressed", None, None)
    item = api.json("/api/v1/comparisons/items/0?run=a&run=c")
    for side, op in (("a", "deleted"), ("b", "inserted")):
        parts = [one["text"] for one in item["segments"] if one["op"] in ("same", op)]
        assert "".join(parts) == item[f"text_{side}"]


def test_items_of_other_sets_are_in_one_run_only(api: Api) -> None:
    rows = api.json("/api/v1/comparisons/items?run=a&run=other")["items"]
    assert {row["class"] for row in rows} == {"only_in_a", "only_in_b"}
    assert len(rows) == 7


def test_items_to_take_away(api: Api) -> None:
    query = "run=a&run=c&class=same_wrong"
    lines = [json.loads(line) for line in api.get(f"/api/v1/comparisons/items.ndjson?{query}").text.splitlines()]
    assert [row["item_id"] for row in lines] == ["a", "d", "e"]
    table = pl.read_parquet(io.BytesIO(api.get(f"/api/v1/comparisons/items.parquet?{query}").content))
    assert table.to_dicts() == lines
    answer = api.get(f"/api/v1/comparisons/items.csv?{query}")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["item_id"] for row in rows] == ["a", "d", "e"]
    assert "\x1b" not in answer.text
    assert "\\u202e" in answer.text
    page = api.get("/api/v1/comparisons/report.html?run=a&run=c")
    assert page.headers["content-disposition"].startswith("attachment")
    assert "<script>alert(1)" not in page.text


def test_histories(api: Api) -> None:
    runs = "run=a&run=b&run=c"
    found = api.json(f"/api/v1/comparisons/history?{runs}")
    assert {row["item_id"]: row["marks"] for row in found["items"]} == {
        "a": "010", "b": "100", "c": "101", "d": "000", "e": "000",
    }  # fmt: skip
    assert api.pages(f"/api/v1/comparisons/history?{runs}", "items", 2) == found["items"]
    flipping = api.json(f"/api/v1/comparisons/history?{runs}&history=flipping")
    assert [row["item_id"] for row in flipping["items"]] == ["a", "c"]
    assert api.json(f"/api/v1/comparisons/history?{runs}&text=PARIS")["n"] == 1
    summary = api.json(f"/api/v1/comparisons/history/summary?{runs}")
    assert summary["counts"]["flipping"] == 2
    assert summary["n_right"] == [2, 1, 1]
    assert api.json(f"/api/v1/comparisons/history/summary?{runs}&by=contained")["by"] == "contained"


# ── eval sets, leaderboards ──────────────────────────────────────────────────────────────────────────────────


def test_eval_sets_and_leaderboards(api: Api) -> None:
    found = api.json("/api/v1/evalsets")
    assert "golden_v1" in found["shipped"]
    mine = next(row for row in found["evalsets"] if row["best"] == 0.4)
    assert mine["dataset_id"] == "items"
    board = api.json(f"/api/v1/leaderboards?dataset={mine['dataset_sha256']}")
    assert [place["run"] for place in board["places"]] == ["a", "b", "c"]
    assert (board["places"][0]["rank"], board["places"][0]["standing"]) == (1, "among_best")
    apart = {one["run"]: one["reason"] for one in board["apart"]}
    assert apart["dry"] == "a dry run: its answers are made up"
    assert api.problem("/api/v1/leaderboards?dataset=nothing")[0] == 404
    status, detail = api.problem("/api/v1/leaderboards?dataset=items")
    assert (status, "several eval sets have this id" in detail) == (409, True)


# ── judges ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_experiments(api: Api) -> None:
    (listed,) = api.json("/api/v1/judges")["experiments"]
    assert (listed["run_id"], listed["judges"], listed["n_evaluations"]) == ("experiment", ["j", "k"], 16)
    found = api.json("/api/v1/judges/experiment")
    assert found["n_valid"] == listed["n_valid"] == 12
    assert [(one["name"], one["lowest"], one["highest"]) for one in found["protocol"]["dimensions"]] == [
        (name, 0, 2) for name in DIMENSIONS
    ]
    assert (found["protocol"]["lowest"], found["protocol"]["highest"], found["protocol"]["span"]) == (0, 8, 8)
    assert api.json("/api/v1/runs/a")["samples_are"] == "answers"
    assert api.json("/api/v1/runs/experiment/samples?outcome=failed")["n"] == 4


def test_evaluations_with_their_evidence(api: Api) -> None:
    url = "/api/v1/evaluations?run=experiment"
    everything = api.json(url)
    assert everything["n"] == 16
    assert api.pages(url, "evaluations", 5) == everything["evaluations"]
    assert api.json(f"{url}&judge=j&method=cross_judge&variant=base&question=q0")["n"] == 1
    bad = api.json(f"{url}&valid=false")
    assert (bad["n"], bad["evaluations"][0]["flags"]) == (4, ["PROTOCOL_VIOLATION"])
    assert api.json(f"{url}&flag=PROTOCOL_VIOLATION&verdict=PASS")["n"] == 4
    one = api.json(f"/api/v1/evaluations/{bad['evaluations'][0]['sample']}?run=experiment")
    found, lost = one["evidence"][0], one["evidence"][3]
    (span,) = found["spans"]
    assert one["text"][span["start"] : span["end"]] == found["quote"]
    assert (lost["located"], lost["spans"], lost["quote"]) == ("not_found", [], "nobody wrote this <b>here</b>")
    assert (one["task"], one["details"][0]["flag"]) == ("When does it open?", "PROTOCOL_VIOLATION")
    assert api.problem("/api/v1/evaluations/999?run=experiment")[0] == 404
    assert api.problem("/api/v1/evaluations?run=a")[0] == 409


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_page(api: Api, tmp_path: Path) -> None:
    from benchbook.server.pages import Pages

    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>", encoding="utf-8")
    (tmp_path / "assets" / "index-DiwrgTda.js").write_text("1", encoding="utf-8")
    api.app._pages, built = Pages(tmp_path), api.app._pages
    try:
        for path in ("/", "/runs/any", "/runs/a%2Fb", "/compare", "/compare/"):
            page = api.get(path)
            assert (page.text, page.headers["cache-control"]) == ("<!doctype html>", "no-cache")
            policy = page.headers["content-security-policy"]
            assert "unsafe" not in policy
            assert "script-src 'self';" in policy
        again = api.get("/", headers={"if-none-match": api.get("/").headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        script = api.get("/assets/index-DiwrgTda.js")
        assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert script.headers["content-type"].startswith("text/javascript")
        for path in ("/assets/none.js", "/%2e%2e/secret", "/assets/..%2findex.html", "/elsewhere", "/runs/a/b"):
            assert api.problem(path)[0] == 404
            nowhere = api.get(path, headers={"accept": "text/html,*/*;q=0.8", "if-none-match": page.headers["etag"]})
            assert (nowhere.status_code, nowhere.text) == (404, "<!doctype html>")
            assert nowhere.headers["content-security-policy"] == policy
        assert api.problem("/", "POST")[0] == 405
    finally:
        api.app._pages = built
