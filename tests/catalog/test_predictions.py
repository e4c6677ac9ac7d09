"""Per-item predictions in the catalog: those of the record, in any text, found by an index (SPEC A5, A6)."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchbook.catalog.database import Catalog, from_stored, to_stored
from benchbook.catalog.indexing import index_record, refresh
from benchbook.catalog.queries import find_run
from benchbook.server.predictions import _QUERY, _QUERY_OF
from catalog.making import correctness_row, finish, made, plans_of, predictions_of, start


def test_a_run_has_the_predictions_of_its_record(folder: Path, catalog: Catalog) -> None:
    record = start(folder, "a")
    refresh(catalog, folder)
    assert predictions_of(catalog, "a") == []
    finish(record)
    refresh(catalog, folder)
    assert [row.predicted for row in predictions_of(catalog, "a")] == ["4"] * 4


def test_every_page_is_found_by_an_index(folder: Path, catalog: Catalog) -> None:
    """Not by walking to it: the plan goes to the place, and sorts nothing."""
    index_record(catalog, made(folder, "a", [correctness_row(position) for position in range(3)]))
    plans = plans_of(catalog)
    asked = {"run": "a", "after": 0, "most": 1, "correctness": 1.0}
    with catalog.read() as connection:
        for query in (_QUERY, _QUERY_OF):
            connection.execute(query, asked).all()
    place = r"\(run_id=\?( AND correctness=\?)? AND position>\?\)|Index Cond: .*run_id.*position.? > "
    own = [plan for plan in plans if "predictions" in plan]
    assert len(own) == 2
    for plan in own:
        assert re.search(place, plan), plan
        assert "Sort" not in plan
        assert "TEMP B-TREE" not in plan


def test_a_dry_run_has_no_table_and_says_why(folder: Path, catalog: Catalog) -> None:
    record = start(folder, "a", dry_run=True)
    for is_done in (False, True):
        if is_done:
            finish(record)  # with a table of samples that someone made up
        refresh(catalog, folder)
        found = find_run(catalog, "a")
        assert found is not None
        reason = found.predictions_unavailable or ""
        assert reason.startswith("this was a dry run (MockJudge in the place of answer_correctness@v1)")
        assert predictions_of(catalog, "a") == []


# ── any text ─────────────────────────────────────────────────────────────────────────────────────────────────

HOSTILE = [
    "\x00", "a\x00b", "\ud835", "\udcff\x1a", "\x1a", "\x1a0000", "\\u0000", "'; DROP TABLE runs; --", "%_\\",
    "\u202eabc", "𝔘", "e\u0301", "\ufffe\uffff", "\r\n\u2028", "x" * 100_000,
]  # fmt: skip


def test_hostile_text_from_a_record(folder: Path, catalog: Catalog) -> None:
    texts = [text for text in HOSTILE if not any("\ud800" <= one <= "\udfff" for one in text)]  # Parquet has none
    rows = [correctness_row(position, text, item_id=text) for position, text in enumerate(texts)]
    index_record(catalog, made(folder, "a", rows, model="m\x00\x1a", dataset="'; --"))
    found = predictions_of(catalog, "a")
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
