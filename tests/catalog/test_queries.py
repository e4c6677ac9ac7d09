"""Lists of runs and leaderboards: filters, orders and pages that agree in both databases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from sqlalchemy import insert

from benchbook.catalog.database import Catalog, aggregates, runs
from benchbook.catalog.indexing import index_record
from benchbook.catalog.queries import SORTS, RunFilter, _Place, cursor_of, eval_sets, list_runs, runs_on
from benchbook.errors import ConfigError
from catalog.making import aggregates_of, made, plans_of
from support import examples


def add(catalog: Catalog, run_id: str, **values: Any) -> None:
    """A row as indexing would write it; these tests are about reading."""
    row = {
        "run_id": run_id, "record_path": run_id, "state": "complete", "spec": "s@v1", "judges": "[]", "tags": "[]",
        "stamp": "", "search": run_id.casefold(),
    }  # fmt: skip
    numbers = values.pop("numbers", {})
    with catalog.write() as connection:
        connection.execute(insert(runs), row | values)
        for name, nano in numbers.items():
            connection.execute(insert(aggregates), {"run_id": run_id, "name": name, "value_nano": nano})


def ids(catalog: Catalog, *, limit: int = 100, **words: Any) -> list[str]:
    """The run ids of all pages."""
    found: list[str] = []
    after: str | None = None
    while True:
        page = list_runs(catalog, limit=limit, after=after, **words)
        found += [row.run_id for row in page.runs]
        assert len(found) < 1_000, "the pages go round"
        after = page.next_cursor
        if after is None:
            return found


# ── filters ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def several(catalog: Catalog) -> Catalog:
    add(catalog, "a", model_id="org/m", decision="READY", dataset_id="golden", dataset_sha256="1" * 64,
        search="a\norg/m\ngrösste 100%", numbers={"pass_rate": 900_000_000})  # fmt: skip
    add(catalog, "b", model_id="org/M", spec="t@v1", search="b\norg/m", numbers={"pass_rate": 400_000_000})
    add(catalog, "c", state="running", dataset_id="silver", dataset_sha256="2" * 64, samples_are="evaluations",
        search="c\nx_y")  # fmt: skip
    return catalog


WANTED: list[tuple[dict[str, Any], str]] = [
    ({}, "abc"),
    ({"spec": "t@v1"}, "b"),
    ({"samples_are": "evaluations"}, "c"),
    ({"model": "org/m"}, "a"),
    ({"eval_set": "golden"}, "a"),
    ({"eval_set": "2" * 64}, "c"),
    ({"decision": "READY"}, "a"),
    ({"state": "running"}, "c"),
    ({"text": "ORG/M"}, "ab"),
    ({"text": "org b"}, "b"),
    ({"text": "GRÖSSTE"}, "a"),
    ({"text": "0%"}, "a"),
    ({"text": "%"}, "a"),
    ({"text": "_"}, "c"),
    ({"text": "\x00"}, ""),
    ({"text": "\ud800"}, ""),
    ({"text": "' OR 1=1 --"}, ""),
    ({"text": "/"}, "ab"),
    ({"model": "' OR 1=1 --"}, ""),
    ({"at_least": {"pass_rate": 500_000_000}}, "a"),
    ({"at_least": {"pass_rate": 400_000_000}}, "ab"),
    ({"at_least": {"' OR 1=1 --": 0}}, ""),
    ({"text": "org", "spec": "s@v1"}, "a"),
]


def test_filters(several: Catalog) -> None:
    for wanted, expected in WANTED:
        assert ids(several, wanted=RunFilter(**wanted), sort="run", descending=False) == list(expected), wanted


def test_what_is_no_question(several: Catalog) -> None:
    with pytest.raises(ConfigError, match=r"^text: found 201 characters; expected at most 200"):
        list_runs(several, RunFilter(text="x" * 201))
    with pytest.raises(ConfigError, match=r"^sort: found 'run_id; DROP TABLE runs'; expected started, score"):
        list_runs(several, sort="run_id; DROP TABLE runs")
    with pytest.raises(ConfigError, match=r"^at_least: "):
        list_runs(several, RunFilter(at_least={"pass_rate": 1 << 70}))
    with pytest.raises(ConfigError, match=r"^limit: "):
        list_runs(several, limit=0)


@pytest.mark.parametrize(
    "place",
    [
        _Place("score", True, "text", "a"),
        _Place("score", True, 1 << 70, "a"),
        _Place("score", False, 1, "a"),
        _Place("model", True, 1, "a"),
    ],
)
def test_a_cursor_of_another_list(several: Catalog, place: _Place) -> None:
    sort = place.sort
    with pytest.raises(ConfigError, match="a cursor of another list"):
        list_runs(several, sort=sort, after=cursor_of(place))


def test_no_pattern_is_slow_or_refused_by_the_database(several: Catalog) -> None:
    assert list_runs(several, RunFilter(text="%" * 200)).runs == ()
    assert list_runs(several, RunFilter(text="% " * 100)).runs[0].run_id == "a"


# ── orders and pages ─────────────────────────────────────────────────────────────────────────────────────────

ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-3, 3)),
        st.one_of(st.none(), st.sampled_from(["", "a", "B", "é", "\x00", "z"])),
    ),
    max_size=9,
)  # fmt: skip


@given(rows=ROWS, limit=st.integers(1, 4), descending=st.booleans())
@examples(25, HealthCheck.function_scoped_fixture)
def test_pages_are_the_whole_list_in_order(
    rows: list[tuple[int | None, str | None]], limit: int, descending: bool, catalog: Catalog
) -> None:
    with catalog.write() as connection:
        connection.execute(runs.delete())
    names = {column.name for column in SORTS.values()} - {"run_id"}
    numbers = {name for name in names if name.startswith("n_") or name.endswith("_nano")}
    for number, (score, text) in enumerate(rows):
        values = dict.fromkeys(numbers, score) | dict.fromkeys(names - numbers, text)
        add(catalog, f"r{number}", **values | {"state": text or ""})
    for sort, column in SORTS.items():

        def key(number: int, name: str = column.name) -> tuple[bool, Any, str]:
            score, text = rows[number]
            value = score if name in numbers else {"run_id": f"r{number}", "state": text or ""}.get(name, text)
            # NUL is stored as U+001A and digits: still before every letter.
            return (value is not None, value if value is not None else "", f"r{number}")

        expected = [f"r{number}" for number in sorted(range(len(rows)), key=key, reverse=descending)]
        assert ids(catalog, sort=sort, descending=descending, limit=limit) == expected
        for offset in range(len(rows) + 2):
            page = list_runs(catalog, sort=sort, descending=descending, offset=offset, limit=limit)
            assert [row.run_id for row in page.runs] == expected[offset : offset + limit]
            assert page.n == len(rows)


def test_every_page_is_found_by_an_index(several: Catalog) -> None:
    plans = plans_of(several)
    for sort in SORTS:
        for descending in (True, False):
            first = list_runs(several, sort=sort, descending=descending, limit=1)
            list_runs(several, sort=sort, descending=descending, limit=1, after=first.next_cursor)
    assert len(plans) >= 20
    for plan in plans:
        assert "Sort" not in plan, plan
        assert "TEMP B-TREE" not in plan, plan
        assert re.search("USING (COVERING )?INDEX|Index Scan|Index Only Scan", plan), plan


# ── leaderboards ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_runs_on_an_eval_set_are_listed_best_first(catalog: Catalog) -> None:
    same = {"dataset_sha256": "1" * 64, "dataset_id": "golden"}
    add(catalog, "b", **same, primary_nano=5)
    add(catalog, "a", **same, primary_nano=5)
    add(catalog, "c", **same, primary_nano=7)
    add(catalog, "unscored", **same)
    add(catalog, "going on", **same, primary_nano=9, state="running")
    add(catalog, "another spec", **same, spec="t@v1", primary_nano=9)
    add(catalog, "another set", dataset_sha256="2" * 64, primary_nano=9)
    found = runs_on(catalog, "1" * 64, "s@v1")
    assert [row.run_id for row in found] == ["going on", "c", "a", "b", "unscored"]
    assert runs_on(catalog, "1" * 64, "' OR 1=1 --") == []
    sets = [(row.dataset_id, row.dataset_sha256[0], row.spec, row.n_runs, row.best_nano) for row in eval_sets(catalog)]
    assert sets == [(None, "2", "s@v1", 1, 9), ("golden", "1", "s@v1", 5, 9), ("golden", "1", "t@v1", 1, 9)]


def test_numbers_are_exact(folder: Path, catalog: Catalog) -> None:
    numbers = {
        "third": 0.333333333, "tiny": 1e-9, "below": 4e-10, "tie": 0.0000000005, "negative": -1.5,
        "many": 2_000_000_000,        "too_many": 10**12, "nothing": None, "yes": True, "cost": "0.001250", "list": [1],
    }  # fmt: skip
    index_record(catalog, made(folder, "a", aggregates={"aggregates": numbers, "primary_score": 0.1}))
    assert aggregates_of(catalog, "a") == {
        "third": 333_333_333, "tiny": 1, "below": 0, "tie": 0, "negative": -1_500_000_000, "many": 2 * 10**18,
        "too_many": "1000000000000", "nothing": None, "yes": "true", "cost": "0.001250", "primary_score": 100_000_000,
    }  # fmt: skip
