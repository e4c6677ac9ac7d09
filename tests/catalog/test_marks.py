"""Marks in the catalog: filters that go by them, and totals of the runs that fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbook.catalog.database import Catalog, open_catalog
from benchbook.catalog.marks import IndexedMarks
from benchbook.catalog.numbers import aggregates_of, headline_of
from benchbook.catalog.queries import list_runs
from benchbook.catalog.run_filters import RunFilter
from benchbook.catalog.totals import FilterValue, filter_values, totals
from benchbook.record.marks import MarkFile, MarksChange
from catalog.test_queries import add, ids


def change(marks: IndexedMarks | MarkFile, *run_ids: str, **what: Any) -> None:
    marks.change(run_ids, lambda _, before: MarksChange(**what).of(before))


@pytest.fixture
def marked(catalog: Catalog, folder: Path) -> Catalog:
    """Four runs: a and b with marks, c archived, d with a tag of its own; and marks of a run that is not there."""
    add(catalog, "a", model_id="org/m", decision="READY", n_attempted=10, n_tokens=5, cost_nano=1_500_000_000)
    add(catalog, "b", model_id="org/m", dataset_id="set", n_attempted=20, n_tokens=7)
    add(catalog, "c", model_id="org/n", n_attempted=40, cost_nano=1)
    add(catalog, "d", state="stopped", tags='["begun, so","x"]', decision="READY")
    marks = IndexedMarks(folder, catalog)
    change(marks, "a", name="Grösster", note="the LAST one", add_tags=("best", ","))
    change(marks, "b", add_tags=("best",))
    change(marks, "c", archived=True, add_tags=("best", "old"))
    change(marks, "gone", archived=True, add_tags=("best",))
    marks.index()
    return catalog


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, "abcd"),
        ({"archived": False}, "abd"),
        ({"archived": True}, "c"),
        ({"tag": "best"}, "abc"),
        ({"tag": "best", "archived": False}, "ab"),
        ({"tag": ","}, "a"),
        ({"tag": "bes"}, ""),
        ({"tag": "%"}, ""),
        ({"tag": "x"}, "d"),
        ({"tag": "begun, so"}, "d"),
        ({"tag": "so"}, ""),
        ({"tag": "' OR 1=1 --"}, ""),
        ({"text": "GRÖSSTER last"}, "a"),
        ({"text": "best"}, "abc"),
        ({"text": "a last"}, "a"),
        ({"judge": "org/m"}, ""),
    ],
)
def test_filters_by_marks(marked: Catalog, wanted: dict[str, Any], expected: str) -> None:
    assert ids(marked, wanted=RunFilter(**wanted), sort="run", descending=False) == list(expected)
    assert list_runs(marked, RunFilter(**wanted), limit=1).n == len(expected)


def test_totals_say_of_how_many_runs_they_know(marked: Catalog) -> None:
    found = totals(marked, RunFilter(archived=False))
    assert (found.n_runs, found.n_samples) == (3, 30)
    assert (found.n_tokens, found.n_with_tokens, found.cost_nano, found.n_with_cost) == (12, 2, 1_500_000_000, 1)
    assert (found.by_state, found.by_decision) == ({"complete": 2, "stopped": 1}, {"READY": 2})
    none = totals(marked, RunFilter(model="none"))
    assert (none.n_runs, none.n_samples, none.n_tokens, none.cost_nano, none.by_state) == (0, 0, None, None, {})


def test_the_values_to_filter_by_are_those_of_runs_that_are_shown(marked: Catalog) -> None:
    found = filter_values(marked)
    assert found.models == (FilterValue(value="org/m", n_runs=2),)
    assert found.tags == (FilterValue(value=",", n_runs=1), FilterValue(value="best", n_runs=2))
    assert found.eval_sets == (FilterValue(value="set", n_runs=1),)
    assert (found.judges, found.n_archived) == ((), 1)


def test_a_new_catalog_has_the_marks_again(marked: Catalog, folder: Path, fresh_address: Any) -> None:
    with open_catalog(fresh_address()) as other:
        add(other, "a")
        add(other, "c")
        IndexedMarks(folder, other)
        assert ids(other, wanted=RunFilter(archived=False)) == ["a"]
        (folder / ".server" / "tags.jsonl").unlink()
        IndexedMarks(folder, other)  # what is no longer in the file goes
        assert ids(other, wanted=RunFilter(archived=False), sort="run", descending=False) == ["a", "c"]


def test_what_another_process_writes_is_indexed_before_it_is_asked_for(marked: Catalog, folder: Path) -> None:
    marks = IndexedMarks(folder, marked)
    change(MarkFile(folder), "b", archived=True, remove_tags=("best",))
    marks.index()
    assert ids(marked, wanted=RunFilter(tag="best", archived=False)) == ["a"]


# ── what a run took ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param({}, (None, None, None), id="nothing-told"),
        pytest.param(
            {"aggregates": {"total_tokens": 120}, "evaluator_input_tokens": 70, "evaluator_output_tokens": None,
             "candidate_cost_usd": "0.1234567891", "evaluator_cost_usd": None},
            (None, 190, 123_456_789),
            id="a-model-and-a-judge",
        ),
        pytest.param(
            {"n_evaluations": 96, "n_attempted": 204, "judges": [
                {"input_tokens": 5, "output_tokens": None, "cost_usd": "1.5"},
                {"input_tokens": 1, "output_tokens": 2, "cost_usd": None}]},
            (96, 8, 1_500_000_000),
            id="judges-and-probes",
        ),
        pytest.param(
            {"aggregates": {"total_input_tokens": 0, "total_output_tokens": 0, "total_tokens": 0},
             "evaluator_input_tokens": 0, "evaluator_output_tokens": 0,
             "candidate_cost_usd": "0.000000", "evaluator_cost_usd": "0.000000"},
            (None, None, None),
            id="no-reply-told-its-tokens",
        ),
        pytest.param(
            {"aggregates": {"total_input_tokens": 0, "total_output_tokens": 0, "total_tokens": 0},
             "evaluator_input_tokens": 70, "evaluator_output_tokens": 5,
             "candidate_cost_usd": None, "evaluator_cost_usd": "0.000000"},
            (None, 75, 0),
            id="the-judge-alone-told-them-and-came-from-the-cache",
        ),
        pytest.param({"n_evaluations": 3, "judges": [{"input_tokens": 0, "output_tokens": 0, "cost_usd": "0"}]},
                     (3, None, None), id="a-judge-that-told-none"),
        pytest.param({"candidate_cost_usd": "nan", "judges": [{"cost_usd": "1e999"}, 7]}, (None,) * 3, id="hostile"),
        pytest.param(
            {"total_tokens": -5, "candidate_cost_usd": "9999999",
             "judges": [{"input_tokens": 10**30}, {"output_tokens": 3}]},
            (None, 3, None),
            id="beyond-belief",
        ),
    ],
)  # fmt: skip
def test_what_a_run_took(content: dict[str, Any], expected: tuple[int | None, ...]) -> None:
    found = headline_of(None, content, aggregates_of(content))
    assert (found.n_evaluations, found.n_tokens, found.cost_nano) == expected
