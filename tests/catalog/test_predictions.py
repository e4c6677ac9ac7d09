"""Per-item predictions: appended once, read by pages, never made up (SPEC A5, A6)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchbook.catalog.database import Catalog, from_stored, to_stored
from benchbook.catalog.indexing import index_record, refresh
from benchbook.catalog.predictions import (
    Appended,
    Prediction,
    PredictionsPage,
    append_predictions,
    iterate_predictions,
    predictions_page,
)
from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.answers.scorecard import Unavailable
from catalog.making import correctness_row, finish, made, plans_of, start


def prediction(position: int, **more: Any) -> Prediction:
    values = {"item_id": f"i{position}", "expected": "4", "predicted": "4", "correctness": 1.0, "eval_time_ms": 7}
    return Prediction(position=position, **(values | more))


@pytest.fixture
def going_on(folder: Path, catalog: Catalog) -> Catalog:
    index_record(catalog, start(folder, "a"))
    return catalog


# ── appending ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_rows_again_are_no_change(going_on: Catalog) -> None:
    chunk = [prediction(0), prediction(1, predicted=None, correctness=0.0, eval_time_ms=None, own='{"k":[1]}')]
    assert append_predictions(going_on, "a", chunk) == Appended(added=2, unchanged=0)
    assert append_predictions(going_on, "a", [*chunk, prediction(2), prediction(2)]) == Appended(added=1, unchanged=3)
    assert append_predictions(going_on, "a", []) == Appended(added=0, unchanged=0)
    assert list(iterate_predictions(going_on, "a")) == [*chunk, prediction(2)]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (prediction(0, predicted="5", correctness=0.0), 'predicted is "4", not "5"; correctness is 1.0, not 0.0'),
        (prediction(0, item_id="j"), 'item_id is "i0", not "j"'),
        (prediction(0, eval_time_ms=None), "eval_time_ms is 7, not null"),
        (prediction(0, own="{}"), 'own is null, not "{}"'),
        (prediction(0, predicted="4\x1b[2J"), r'predicted is "4", not "4\u001b[2J"'),
    ],
)
def test_another_row_under_a_key_is_refused_with_all_that_came_with_it(
    going_on: Catalog, other: Prediction, says: str
) -> None:
    append_predictions(going_on, "a", [prediction(0)])
    many = [prediction(position) for position in range(1, 600)]  # more than a statement's worth
    with pytest.raises(UsageError) as refused:
        append_predictions(going_on, "a", [*many, other])
    assert str(refused.value) == f"run a, position 0 (i0): is there already, and {says}. Predictions are never changed"
    assert list(iterate_predictions(going_on, "a")) == [prediction(0)]
    with pytest.raises(UsageError, match="position 1 "):
        append_predictions(going_on, "a", [prediction(1), prediction(1, expected="5")])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (prediction(-1), "Expected `int` >= 0"),
        (prediction(1 << 63), "Expected `int` <= "),
        (prediction(0, eval_time_ms=1 << 64), "Expected `int` <= "),
        (prediction(0, correctness=float("nan")), "a finite correctness"),
        (prediction(0, item_id=""), "expected an item_id"),
        (prediction(0, own="[1]"), "Expected `object`, got `array`"),
        (prediction(0, own="{"), "position 0: "),
    ],
)
def test_what_no_record_could_hold_is_refused(going_on: Catalog, wrong: Prediction, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        append_predictions(going_on, "a", [prediction(9), wrong])
    assert says in str(refused.value)
    assert list(iterate_predictions(going_on, "a")) == []


def test_a_complete_run_takes_only_what_it_has(folder: Path, catalog: Catalog) -> None:
    index_record(catalog, made(folder, "a", [correctness_row(0)]))
    assert append_predictions(catalog, "a", [prediction(0, eval_time_ms=10)]) == Appended(added=0, unchanged=1)
    with pytest.raises(UsageError, match="run a is complete: its predictions are those of its record, and position 1"):
        append_predictions(catalog, "a", [prediction(1)])
    with pytest.raises(UsageError, match="run b is not in the catalog"):
        append_predictions(catalog, "b", [prediction(1)])


def test_what_was_appended_gives_way_to_the_record(folder: Path, catalog: Catalog) -> None:
    record = start(folder, "a")
    refresh(catalog, folder)
    append_predictions(catalog, "a", [prediction(0, predicted="preview")])
    index_record(catalog, record)
    assert len(list(iterate_predictions(catalog, "a"))) == 1
    finish(record)
    refresh(catalog, folder)
    assert [row.predicted for row in iterate_predictions(catalog, "a")] == ["4"] * 4


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_pages_cover_every_row_once_and_in_order(folder: Path, catalog: Catalog) -> None:
    rows = [correctness_row(position, "4" if position % 3 else "5") for position in range(25)]
    index_record(catalog, made(folder, "a", rows))
    index_record(catalog, made(folder, "b", rows[:1]))
    for correctness, expected in ((None, range(25)), (0.0, range(0, 25, 3)), (0.5, ())):
        seen: list[int] = []
        after: str | None = None
        while True:
            page = predictions_page(catalog, "a", after=after, limit=4, correctness=correctness)
            assert isinstance(page, PredictionsPage)
            assert 1 <= len(page.rows) <= 4 or not expected
            seen += [row.position for row in page.rows]
            after = page.next_cursor
            if after is None:
                break
        assert seen == list(expected)
    assert [row.position for row in iterate_predictions(catalog, "a", page=7)] == list(range(25))


def test_every_page_is_found_by_an_index(folder: Path, catalog: Catalog) -> None:
    """Not by walking to it: the plan goes to the place, and sorts nothing."""
    index_record(catalog, made(folder, "a", [correctness_row(position) for position in range(3)]))
    page = predictions_page(catalog, "a", limit=1)
    assert isinstance(page, PredictionsPage)
    plans = plans_of(catalog)
    predictions_page(catalog, "a", after=page.next_cursor, limit=1)
    predictions_page(catalog, "a", after=page.next_cursor, limit=1, correctness=1.0)
    place = r"\(run_id=\?( AND correctness=\?)? AND position>\?\)|Index Cond: .*run_id.*position.? > "
    own = [plan for plan in plans if "predictions" in plan]
    assert len(own) == 2
    for plan in own:
        assert re.search(place, plan), plan
        assert "Sort" not in plan
        assert "TEMP B-TREE" not in plan


def test_cursors_and_limits_that_are_none(going_on: Catalog) -> None:
    for after in ("", "x", "é", "W10", "WyJhIl0", "eyJwb3NpdGlvbiI6LTF9", "A" * 3_000):
        with pytest.raises(ConfigError, match=r"^after: "):
            predictions_page(going_on, "a", after=after)
    for limit in (0, -1, 1_001):
        with pytest.raises(ConfigError, match="expected 1 to 1000"):
            predictions_page(going_on, "a", limit=limit)


def test_an_unknown_run(catalog: Catalog) -> None:
    with pytest.raises(UsageError, match="is not in the catalog"):
        predictions_page(catalog, "a' OR 1=1 --")


def test_a_dry_run_has_no_table_and_says_why(folder: Path, catalog: Catalog) -> None:
    record = start(folder, "a", dry_run=True)
    for is_done in (False, True):
        if is_done:
            finish(record)  # with a table of samples that someone made up
        refresh(catalog, folder)
        found = predictions_page(catalog, "a")
        assert isinstance(found, Unavailable)
        assert found.reason.startswith("this was a dry run (MockJudge in the place of answer_correctness@v1)")
        with pytest.raises(UsageError, match="takes no predictions: this was a dry run"):
            append_predictions(catalog, "a", [prediction(0)])
        with pytest.raises(UsageError, match="predictions are unavailable: this was a dry run"):
            next(iterate_predictions(catalog, "a"))


# ── any text ─────────────────────────────────────────────────────────────────────────────────────────────────

HOSTILE = [
    "\x00", "a\x00b", "\ud835", "\udcff\x1a", "\x1a", "\x1a0000", "\\u0000", "'; DROP TABLE runs; --", "%_\\",
    "\u202eabc", "𝔘", "e\u0301", "\ufffe\uffff", "\r\n\u2028", "x" * 100_000,
]  # fmt: skip


def test_hostile_text_comes_back_as_it_was(going_on: Catalog) -> None:
    rows = [prediction(position, item_id=text, expected=text, predicted=text) for position, text in enumerate(HOSTILE)]
    append_predictions(going_on, "a", rows)
    assert append_predictions(going_on, "a", rows).unchanged == len(rows)
    assert list(iterate_predictions(going_on, "a")) == rows


def test_hostile_text_from_a_record(folder: Path, catalog: Catalog) -> None:
    texts = [text for text in HOSTILE if not any("\ud800" <= one <= "\udfff" for one in text)]  # Parquet has none
    rows = [correctness_row(position, text, item_id=text) for position, text in enumerate(texts)]
    index_record(catalog, made(folder, "a", rows, model="m\x00\x1a", dataset="'; --"))
    found = list(iterate_predictions(catalog, "a"))
    assert [(row.item_id, row.predicted) for row in found] == [(text, text) for text in texts]


@given(st.text(alphabet=st.characters(), max_size=30))
def test_every_text_is_stored_reversibly(text: str) -> None:
    stored = to_stored(text)
    assert from_stored(stored) == text
    stored.encode("utf-8")
    assert "\x00" not in stored


@given(st.lists(st.text(alphabet=st.sampled_from("\x00\x1a0ad\ud800\udfff"), max_size=6), max_size=30))
def test_different_texts_are_stored_differently(texts: list[str]) -> None:
    assert len({to_stored(text) for text in texts}) == len(set(texts))


@given(texts=st.lists(st.text(alphabet=st.characters(), max_size=8), min_size=1, max_size=8))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_goes_in_and_out(texts: list[str], going_on: Catalog) -> None:
    known = {row.position for row in iterate_predictions(going_on, "a")}
    rows = [prediction(len(known) + place, predicted=text) for place, text in enumerate(texts)]
    append_predictions(going_on, "a", rows)
    assert list(iterate_predictions(going_on, "a"))[len(known) :] == rows
