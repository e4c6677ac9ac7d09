"""Several runs over HTTP, by any metric and against any of them: the numbers are those of the library."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from benchbook.comparison.by_metric import by_metric
from benchbook.comparison.compared import compare, compare_runs
from benchbook.comparison.records import compared_run
from benchbook.record.folder import Record
from server.making import Api

NONE = "these runs have none of that name"
SET = "/api/v1/comparisons/set"


def plain(found: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(found))


def runs_of(api: Api, *names: str) -> list[object]:
    return [compared_run(Record(api.app.services.settings.runs / name)) for name in names]


@pytest.mark.parametrize("metric", ["score", "contained"])
@pytest.mark.parametrize("names", [("a", "b", "c"), ("c", "a", "b"), ("b", "a")])
def test_rows_are_those_of_the_library(api: Api, names: tuple[str, ...], metric: str) -> None:
    query = "&".join(f"run={name}" for name in sorted(names))
    found = api.json(f"{SET}?{query}&baseline={names[0]}&metric={metric}")
    expected = by_metric(compare_runs(runs_of(api, *names), by=metric))  # type: ignore[arg-type]
    wanted = {row.run: plain(row) for row in expected.rows}
    assert (found["runs"], found["baseline"], found["metric"]) == (sorted(names), names[0], metric)
    assert found["rows"] == [wanted[name] for name in sorted(names)]
    assert (found["n_ranked"], found["unranked"]) == (expected.n_ranked, None)
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [
        (names[0], name) for name in sorted(names) if name != names[0]
    ]


def test_a_rubric_has_criteria_measures_and_aggregates_to_choose_from(api: Api) -> None:
    found = api.json(f"{SET}?run=rubric&run=rubric2&metric=latency_e2e_p95_ms")
    titles = {one["name"]: (one["title"], one["kind"], one["higher_is_better"]) for one in found["metrics"]}
    assert list(titles)[:6] == [
        "score", "passing", "accuracy_score", "faithfulness_score", "latency_e2e_ms", "total_tokens",
    ]  # fmt: skip
    assert titles["accuracy_score"] == ("Accuracy, 0 to 2", "grade", True)
    assert titles["latency_e2e_ms"] == ("Latency", "ms", False)
    assert titles["latency_e2e_p95_ms"] == ("Latency end to end, p95", "ms", None)
    assert "aggregate_score" not in titles  # that is the score
    assert found["rows"][1]["difference"] is None
    assert found["unranked"].startswith("it is a number of each run as a whole")


def test_slices_of_a_pair_are_by_its_metric(api: Api) -> None:
    found = api.json("/api/v1/comparisons?run=a&run=b&metric=contained")
    a, b = runs_of(api, "a", "b")
    assert found["metric"] == "contained"
    assert found["slices"] == plain(compare(a, b, by="contained").slices)  # type: ignore[arg-type]
    assert found["score"] == api.json("/api/v1/comparisons?run=a&run=b")["score"]


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("run=a&run=b&baseline=c", "baseline 'c' is none of the runs that are compared"),
        ("run=a&run=b&metric=none", f"metric none: {NONE}; expected score, contained, eval_time_ms"),
        ("run=a&run=a", "run 'a' is named twice"),
    ],
)
def test_what_can_not_be_is_refused(api: Api, query: str, detail: str) -> None:
    assert api.problem(f"{SET}?{query}") == (422, detail)


def test_runs_come_in_their_order_with_what_they_are_compared_as(api: Api) -> None:
    """Whatever order they are picked in, the oldest is the baseline; a log tells the step of its run."""
    found = api.json("/api/v1/comparisons/runs?run=c&run=b&run=a")
    assert [(one["run"]["run_id"], one["step"]) for one in found["runs"]] == [("a", 9), ("b", None), ("c", None)]
    assert (found["baseline"], found["baseline_rule"]) == ("a", "start")
    rows = {name: api.json(f"/api/v1/runs/{name}") for name in ("a", "rubric", "live", "experiment")}
    assert {name: row["compared_as"] for name, row in rows.items()} == {
        "a": "answer_correctness", "rubric": "rubric", "live": None, "experiment": None,
    }  # fmt: skip
    assert rows["live"]["not_compared"] == "it is interrupted: its numbers come at its end"
    assert rows["experiment"]["not_compared"].startswith("its samples are judges' evaluations")
