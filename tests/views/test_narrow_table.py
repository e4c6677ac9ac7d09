"""A table whose names are cut so that it fits a terminal: none of them may read as another one of its column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.views.narrow_table import cut_apart, narrow_columns
from support import examples

CHECKPOINTS = ("local/tunix@step-000100", "local/tunix@step-000200")


@pytest.mark.parametrize(
    ("names", "width", "cut"),
    [
        pytest.param(["short", "a"], 9, ["short", "a"], id="nothing-to-cut"),
        pytest.param(["abcdefghijk"], 7, ["abc…ijk"], id="in-the-middle"),
        pytest.param(["one-and-the-end", "two-and-the-end"], 5, ["on…nd", "tw…nd"], id="apart-by-their-beginning"),
        pytest.param(["openai/g-1-mini-x", "openai/g-2-mini-x"], 11, ["op…1-mini-x", "op…2-mini-x"], id="amid"),
        pytest.param(list(CHECKPOINTS), 9, ["loca…0100", "loca…0200"], id="apart-by-their-end"),
    ],
)
def test_a_name_is_cut_where_it_stays_apart_from_the_others(names: list[str], width: int, cut: list[str]) -> None:
    assert cut_apart(names, width) == cut


def test_a_table_that_fits_is_left_alone() -> None:
    rows = [["a", "openai/m"], ["b", "openai/n"]]
    assert narrow_columns(("run", "model"), rows, 20, ("model",)) == rows


def test_the_widest_name_gives_way_first_and_no_other_column() -> None:
    rows = [["one-run-with-a-name", "m" * 30, "e" * 20]]
    found = narrow_columns(("run", "model", "evaluator"), rows, 60, ("model", "evaluator"))
    assert found is not None
    assert [len(cell) for cell in found[0]] == [19, 18, 19]


def test_no_cut_that_would_hide_which_is_which() -> None:
    rows = [[f"{'x' * 20}{letter}{'x' * 20}"] for letter in "ab"]
    assert narrow_columns(("model",), rows, 20, ("model",)) is None


_NAMES = st.text(alphabet="ab-@/", min_size=1, max_size=30)


@given(st.lists(st.tuples(_NAMES, _NAMES), min_size=1, max_size=8), st.integers(10, 70))
@examples(100)
def test_it_fits_or_is_refused_and_different_names_read_differently(rows: list[tuple[str, str]], width: int) -> None:
    found = narrow_columns(("run", "model"), rows, width, ("model",))
    if found is not None:
        assert max(len(run) for run, _ in found) + 2 + max(len(model) for _, model in found) <= width
        assert len({model for _, model in found}) == len({model for _, model in rows})
        assert [run for run, _ in found] == [run for run, _ in rows]
