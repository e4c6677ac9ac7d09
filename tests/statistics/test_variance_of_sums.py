"""Variance components from sums alone are those from the values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.statistics import variance_components
from benchbook.statistics.means import variance_components_of_sums


@given(st.lists(st.lists(st.integers(0, 1000), max_size=4), max_size=8))
def test_sums_give_what_values_give(items: list[list[int]]) -> None:
    values = [value / 1000 for item in items for value in item]
    labels = [number for number, item in enumerate(items) for _ in item]
    expected = variance_components(values, labels)
    found = variance_components_of_sums(
        [(len(item), sum(item)) for item in items], sum(value**2 for item in items for value in item), 1000
    )
    assert (found.n, found.n_items, found.reason) == (expected.n, expected.n_items, expected.reason)
    for name in ("between", "within", "between_raw"):
        one, other = getattr(found, name), getattr(expected, name)
        assert one == other if other is None else one == pytest.approx(other, abs=1e-9)


def test_worked_out_by_hand() -> None:
    """Items (1, 3) and (5, 9): within (2 + 8) / 2 = 5; means 2 and 7 around 4.5, so 2 * 12.5 = 25; (25 - 5) / 2."""
    found = variance_components_of_sums([(2, 4), (2, 14)], 1 + 9 + 25 + 81)
    assert (found.within, found.between) == (5.0, 10.0)
