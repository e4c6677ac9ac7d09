"""The items of compared runs: their numbers and filters, what a list of them comes to, and all answers to one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labelled import judged_run
from scored import scored
from server.making import Api, api_over

V1 = "/api/v1/comparisons"
ITEMS = f"{V1}/items?run=a&run=b"
SUMMARY = f"{V1}/items/summary?run=a&run=b"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """`one` and `two`, judged by accuracy and faithfulness: the second loses an item's accuracy, and wins another's."""
    folder = tmp_path_factory.mktemp("judged")
    judged_run(folder, [(2, 2), (2, 2), (0, 1), None], run_id="one")
    judged_run(folder, [(0, 2), (2, 2), (1, 0), (2, 2)], run_id="two")
    judged_run(folder, [(2, 2), (0, 0)], run_id="short")
    opened = api_over(folder / "runs", str(folder / "catalog.sqlite"))
    yield opened
    opened.app.stop()


def ids(found: Any) -> list[str]:
    return [row["item_id"] for row in found["items"]]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("a_min=1", ["b", "c"]),
        ("a_max=0", ["a", "d", "e"]),
        ("b_min=0.5", ["a"]),
        ("difference_min=0&difference_max=0", ["d", "e"]),
        ("difference_max=-1&section=core", ["b"]),
        ("moved=won", ["a"]),
        ("metric=contained&moved=lost", ["b", "c"]),
        ("metric=contained&moved=same", ["a", "d", "e"]),
        ("metric=contained&a_min=1", ["a", "b", "c"]),
        ("reason_a=numerically_equal", ["d"]),
        ("reason_b=no_prediction", ["c", "d", "e"]),
        ("reason_b=numerically_equal", []),
        ("text_changed=false&class=same_wrong", ["e"]),
        ("sort=difference", ["b", "c", "d", "e", "a"]),
        ("sort=difference&order=desc", ["a", "d", "e", "b", "c"]),
        ("sort=b&order=desc&text=a", ["a", "b", "c", "e"]),
        ("metric=contained&sort=a", ["d", "e", "a", "b", "c"]),
    ],
)
def test_filters_and_orders_by_numbers(api: Api, query: str, wanted: list[str]) -> None:
    assert ids(api.json(f"{ITEMS}&{query}")) == wanted
    if "sort" not in query:
        lines = api.get(f"{V1}/items.ndjson?run=a&run=b&{query}").text.splitlines()
        assert len(lines) == len(wanted)
        assert api.json(f"{SUMMARY}&{query}")["n"] == len(wanted)


@pytest.mark.parametrize("metric", ["passing", "nothing", "<b>"])
def test_a_metric_that_the_runs_lack_is_refused(api: Api, metric: str) -> None:
    for url in (ITEMS, SUMMARY, f"{V1}/items.csv?run=a&run=b"):
        status, detail = api.problem(f"{url}&metric={metric}&a_min=0")
        known = "one of score, contained, eval_time_ms, output_tokens"
        assert (status, detail.rpartition("expected ")[2]) == (422, known)


@pytest.mark.parametrize("limit", ["nan", "inf", "x", "1e400"])
def test_a_limit_is_a_number(api: Api, limit: str) -> None:
    assert api.problem(f"{ITEMS}&difference_min={limit}")[0] == 400


def test_what_a_list_comes_to(api: Api) -> None:
    found = api.json(SUMMARY)
    assert (found["n"], found["metric"]) == (5, "score")
    assert [(one["start"], one["low"], one["high"], one["n"]) for one in found["differences"]] == [
        (-1, -1, -1, 2), (0, 0, 0, 2), (1, 1, 1, 1),
    ]  # fmt: skip
    assert [(one["a"], one["b"], one["n"]) for one in found["cells"]] == [(0, 0, 2), (0, 1, 1), (1, 0, 2)]
    assert [(one["field"], one["value"], one["lost"], one["won"], one["same"]) for one in found["slices"]] == [
        ("section", "core", 1, 1, 0), ("section", "edge_case", 1, 0, 0),
        ("difficulty", "easy", 0, 1, 1), ("difficulty", "hard", 1, 0, 0),
    ]  # fmt: skip
    assert [(one["metric"], one["lost"], one["won"], one["same"]) for one in found["moves"]] == [
        ("score", 2, 1, 2), ("contained", 2, 0, 3),
    ]  # fmt: skip
    assert {one["reason"]: (one["n_a"], one["n_b"]) for one in found["reasons"]} == {
        "different": (0, 1), "expected_inside_longer_text": (1, 0), "no_prediction": (1, 3),
        "numerically_equal": (1, 0),
    }  # fmt: skip
    filtered = api.json(f"{SUMMARY}&section=core")
    assert (filtered["n"], [one["value"] for one in filtered["slices"]]) == (2, ["core", "easy", "hard"])
    assert filtered["reasons"] == found["reasons"]  # those that can be chosen


def test_each_bin_is_a_filter_that_gives_its_items(tmp_path: Path) -> None:
    """Graded scores, of which there are more than bins: whatever is clicked, its number of items is shown."""
    grades = [(accuracy, faithfulness) for accuracy in (0, 1, 2) for faithfulness in (0, 1, 2)]
    judged_run(tmp_path, [grades[number % 9] for number in range(40)], run_id="a")
    judged_run(tmp_path, [grades[number * number % 9] for number in range(40)], run_id="b")
    api = api_over(tmp_path / "runs", str(tmp_path / "catalog.sqlite"))
    found = api.json(SUMMARY)
    assert sum(one["n"] for one in found["differences"]) == 40
    for one in found["differences"]:
        if one["n"]:
            limits = f"difference_min={one['low']}&difference_max={one['high']}"
            assert api.json(f"{ITEMS}&{limits}")["n"] == one["n"]
    for one in found["cells"]:
        a, b = found["bins_a"][one["a"]], found["bins_b"][one["b"]]
        limits = f"a_min={a['low']}&a_max={a['high']}&b_min={b['low']}&b_max={b['high']}"
        assert api.json(f"{ITEMS}&{limits}")["n"] == one["n"]
    api.app.stop()


def test_criteria_are_numbers_of_items(judged: Api) -> None:
    url = f"{V1}/items?run=one&run=two"
    assert ids(judged.json(f"{url}&metric=accuracy_score&moved=lost")) == ["i000"]
    assert ids(judged.json(f"{url}&metric=accuracy_score&moved=won")) == ["i002"]
    assert ids(judged.json(f"{url}&metric=faithfulness_score&moved=lost")) == ["i002"]
    assert ids(judged.json(f"{url}&metric=passing&moved=lost&a_min=1")) == ["i000"]
    row = judged.json(f"{url}&sort=difference")["items"][0]
    assert (row["metrics_a"]["accuracy_score"], row["metrics_b"]["accuracy_score"]) == (2, 0)
    assert row["contained_a"] is None
    moves = {one["metric"]: one for one in judged.json(f"{V1}/items/summary?run=one&run=two")["moves"]}
    assert (moves["accuracy_score"]["title"], moves["accuracy_score"]["kind"]) == ("Accuracy, 0 to 2", "grade")
    assert not moves["total_tokens"]["higher_is_better"]


def test_all_answers_to_an_item(api: Api) -> None:
    found = api.json(f"{V1}/items/0?run=a&run=b&run=c")
    assert [(one["run"], one["sample"], one["score"], one["contained"]) for one in found["answers"]] == [
        ("a", 0, 0, True), ("b", 0, 1, True), ("c", 0, 0, False),
    ]  # fmt: skip
    assert [one["reasons"] for one in found["answers"]] == [["expected_inside_longer_text"], [], ["different"]]
    assert found["answers"][0]["expected_at"] == [{"start": 6, "end": 7, "within": None}]
    assert found["answers"][0]["segments"] is None
    for one in found["answers"][1:]:
        deleted = [part["text"] for part in one["segments"] if part["op"] != "inserted"]
        assert "".join(deleted) == found["answers"][0]["text"]
    assert found["segments"] == found["answers"][1]["segments"]
    swapped = api.json(f"{V1}/items/0?run=b&run=c&run=a")
    assert [one["text"] for one in swapped["answers"]] == [found["answers"][place]["text"] for place in (1, 2, 0)]


def test_an_item_that_a_run_lacks(api: Api) -> None:
    rows = api.json(f"{V1}/items?run=a&run=other")["items"]
    last = rows[-1]
    assert last["class"] == "only_in_b"
    found = api.json(f"{V1}/items/{last['position']}?run=a&run=other&run=b")
    assert [(one["sample"], one["text"]) for one in found["answers"]][::2] == [(None, None), (None, None)]
    assert found["answers"][1]["text"] == last["text_b"]


def test_an_answer_has_what_its_judge_said(judged: Api) -> None:
    found = judged.json(f"{V1}/items/2?run=one&run=two&run=short")
    first, second, third = found["answers"]
    assert third["sample"] is None
    assert [one["title"] for one in first["judged"]["criteria"]] == ["Accuracy", "Faithfulness"]
    assert [one["given"] for one in second["judged"]["criteria"]] == ["1", "0"]
    assert {one["name"]: one["value"] for one in second["numbers"]}["accuracy_score"] == 1
    assert isinstance(second["rationale"], str)
    assert second["reasons"] == ["faithfulness_below_minimum"]
    assert (first["expected_at"], first["contained"]) == ([], None)


def test_a_history_leads_to_its_item(api: Api) -> None:
    for row in api.json(f"{V1}/history?run=a&run=b&run=c")["items"]:
        found = api.json(f"{V1}/items/{row['item']}?run=a&run=b&run=c")
        assert (found["item_id"], len(found["answers"])) == (row["item_id"], 3)


def test_a_part_of_a_longer_number_is_told(tmp_path: Path) -> None:
    for run, text in (("a", "It is 12.25."), ("b", "12 \U0001f4e6 12!")):
        item = {"id": "x", "prompt": "?", "expected_answer": "12"}
        scored(tmp_path, [{"item_id": "x", "predicted": text}], [item], run_id=run)
    api = api_over(tmp_path / "runs", str(tmp_path / "catalog.sqlite"))
    first, second = api.json(f"{V1}/items/0?run=a&run=b")["answers"]
    assert (first["contained"], first["expected_at"]) == (True, [{"start": 6, "end": 8, "within": "number"}])
    assert [(one["start"], one["end"]) for one in second["expected_at"]] == [(0, 2), (6, 8)]
    api.app.stop()


def test_a_text_that_is_typed_is_found_as_one_that_is_pasted(tmp_path: Path) -> None:
    """A search goes on among the rows that the part before it found; letters beyond ASCII count in their own case."""
    texts = ["Zug", "ZUGSPITZE", "zu Gast", "\xdcberzug", "\xfcber"]
    items = [{"id": f"i{n}", "prompt": f"q{n}?", "expected_answer": "x"} for n in range(len(texts))]
    for run in ("a", "b"):
        said = [{"item_id": f"i{n}", "predicted": text} for n, text in enumerate(texts)]
        scored(tmp_path, said, items, run_id=run)
    typed = api_over(tmp_path / "runs", str(tmp_path / "typed.sqlite"))
    for text in ("z", "zu", "zug", "ZUGS", "zug", "\xfc", "\xfcb", "\xdcb", "g"):
        pasted = api_over(tmp_path / "runs", str(tmp_path / "pasted.sqlite"))
        assert ids(typed.json(f"{ITEMS}&text={text}")) == ids(pasted.json(f"{ITEMS}&text={text}")), text
        pasted.app.stop()
    assert ids(typed.json(f"{ITEMS}&text=zugs")) == ["i1"]
    assert ids(typed.json(f"{ITEMS}&text=%C3%BCb")) == ["i4"]
    typed.app.stop()
