"""Where an expected answer stands in a text, and what it is a part of there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.evaluators.inside import MOST_PLACES, places_of


@pytest.mark.parametrize(
    ("expected", "text", "wanted"),
    [
        pytest.param("12", "It is 12.", [(6, 8, None)], id="before-a-full-stop"),
        pytest.param("12", "12.25", [(0, 2, "number")], id="before-a-fraction"),
        pytest.param("12", "312", [(1, 3, "number")], id="behind-a-digit"),
        pytest.param("12", "12,000 or 1,12", [(0, 2, "number"), (12, 14, "number")], id="across-commas"),
        pytest.param("12", "1, 12, 3", [(3, 5, None)], id="in-a-list"),
        pytest.param("12", "-12 or (-12)", [(1, 3, "number"), (9, 11, "number")], id="behind-a-sign"),
        pytest.param("12", "14-2 is 26-12", [(11, 13, None)], id="behind-a-minus-between-numbers"),
        pytest.param("-12", "is -12", [(3, 6, None)], id="with-its-own-sign"),
        pytest.param("12", "12cm, b12", [(0, 2, "word"), (7, 9, "word")], id="with-letters"),
        pytest.param("0.5", "0.5, .5", [(0, 3, None)], id="a-fraction-by-itself"),
        pytest.param(" Paris\n", "PARIS, parisian", [(0, 5, None), (7, 12, "word")], id="case-and-spaces-apart"),
        pytest.param("ss", "Stra\xdfe", [(4, 5, "word")], id="a-letter-that-folds-to-two"),
        pytest.param("\u6771\u4eac", "\u5728\u6771\u4eac\u90fd", [(1, 3, None)], id="no-spaces-between-words"),
        pytest.param("x", "y", [], id="not-there"),
        pytest.param(" ", "a b", [], id="blank"),
        pytest.param("a", "", [], id="in-an-empty-text"),
    ],
)
def test_places(expected: str, text: str, wanted: list[tuple[int, int, str | None]]) -> None:
    assert [(one.start, one.end, one.within) for one in places_of(expected, text)] == wanted


def test_no_more_places_than_anybody_reads() -> None:
    assert len(places_of("a", "a " * 10_000)) == MOST_PLACES


@given(st.text(max_size=4), st.text(max_size=30))
def test_each_place_holds_the_expected_answer(expected: str, text: str) -> None:
    wanted = expected.strip().casefold()
    found = places_of(expected, text)
    assert all(wanted in text[one.start : one.end].casefold() for one in found)
    assert bool(found) == (wanted != "" and wanted in text.casefold())
