"""The first rows of a comparison, which come before all of it is at hand: the same as afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.comparison.records import RowsOfItems, compared_part, compared_run, rows_of_items
from benchbook.errors import RecordError
from benchbook.evaluators.registry import evaluator_of
from benchbook.record.folder import Record
from scored import ITEMS, PREDICTIONS, scored
from server.making import Api

ITEMS_URL = "/api/v1/comparisons/items"


def is_at_hand(api: Api, *runs: str) -> bool:
    found = [api.app.services.run(run) for run in runs]
    key = ("items", *(f"{one.row.run_id} {one.state_id}" for one in found))
    return api.app.services.kept.peek(key) is not None


def test_pages_before_all_of_the_list_are_those_after_it(writing: Api) -> None:
    url = f"{ITEMS_URL}?run=a&run=c"
    asked = ["", "&limit=2", "&limit=2&offset=2", "&limit=2&offset=4", "&offset=9"]
    before = [writing.json(f"{url}{more}") for more in asked]
    assert [len(page["items"]) for page in before] == [5, 2, 2, 1, 0]
    assert not is_at_hand(writing, "a", "c")
    writing.json("/api/v1/comparisons?run=a&run=c")  # makes the list
    assert is_at_hand(writing, "a", "c")
    assert [writing.json(f"{url}{more}") for more in asked] == before


@pytest.mark.parametrize(
    ("runs", "more"),
    [
        pytest.param("run=a&run=b", "&class=regressed", id="filtered"),
        pytest.param("run=a&run=b", "&sort=change", id="sorted"),
        pytest.param("run=a&run=b", "&order=desc", id="backwards"),
        pytest.param("run=a&run=other", "", id="over-different-sets"),
        pytest.param("run=rubric&run=rubric2", "", id="under-a-scorer-that-may-fail"),
    ],
)
def test_other_pages_need_all_of_it(writing: Api, runs: str, more: str) -> None:
    writing.json(f"{ITEMS_URL}?{runs}{more}")
    assert is_at_hand(writing, *(part.removeprefix("run=") for part in runs.split("&")))


def changed(field: str, value: Any) -> Callable[[Path], None]:
    def change(manifest: Path) -> None:
        manifest.write_text(json.dumps(json.loads(manifest.read_bytes()) | {field: value}), encoding="utf-8")

    return change


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(changed("spec", "rubric@v1"), id="another-scorer"),
        pytest.param(changed("repeats", 2), id="repeats"),
        pytest.param(changed("inputs", {}), id="no-eval-set"),
        pytest.param(changed("inputs", None), id="no-inputs"),
        pytest.param(changed("n_items", 6), id="more-items-than-rows"),
    ],
)
def test_rows_that_are_not_the_items_of_the_set(tmp_path: Path, change: Callable[[Path], None]) -> None:
    record: Record = scored(tmp_path).record
    known = rows_of_items(record)
    assert known is not None
    assert (known.spec, known.n_items) == ("answer_correctness@v1", len(ITEMS))
    change(record.manifest)
    assert rows_of_items(record) is None


def test_a_part_is_a_part_of_the_whole(tmp_path: Path) -> None:
    record: Record = scored(tmp_path, PREDICTIONS[1:]).record
    whole = compared_run(record).items
    for first, end in ((0, 2), (1, 5), (3, 9), (5, 5)):
        assert compared_part(record, evaluator_of(record), first, end).equals(whole[first:end])


def test_without_a_table(tmp_path: Path) -> None:
    record: Record = scored(tmp_path).record
    record.samples.unlink()
    with pytest.raises(RecordError, match=r"samples.parquet: not there"):
        rows_of_items(record)


def test_runs_over_one_set_are_aligned(tmp_path: Path) -> None:
    a, b = (rows_of_items(scored(tmp_path, run_id=name).record) for name in ("a", "b"))
    assert isinstance(a, RowsOfItems)
    assert a == b
