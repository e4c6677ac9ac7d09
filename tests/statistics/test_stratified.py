"""Means of strata that were not drawn in proportion: by hand, at the edges, and how often their intervals hold."""

from __future__ import annotations

import pytest

from benchbook.statistics import SampledStratum, stratified_mean


def test_each_stratum_counts_by_its_size() -> None:
    """90 samples of which 2 of 4 are 1, 10 of which 3 of 4 are: 0.9 * 0.5 + 0.1 * 0.75."""
    found = stratified_mean([SampledStratum(90, [1, 0, 1, 0]), SampledStratum(10, [1, 1, 0, 1])])
    assert found.estimate == pytest.approx(0.525)
    assert found.warnings == ("few_labels",)
    assert found.n == 100


def test_one_stratum_has_jeffreys_interval() -> None:
    """700 of 5,000, drawn from so many that these are as good as endless: SciPy's `beta.ppf` at 700.5 and 4300.5."""
    found = stratified_mean([SampledStratum(10**9, [1.0] * 700 + [0.0] * 4300)])
    assert (found.low, found.high) == pytest.approx((0.1305915, 0.1498251), abs=2e-5)


def test_another_scale_is_the_same_scaled() -> None:
    values = [0.0, 1.0, 0.5, 0.5], [1.0, 1.0, 0.5, 1.0]
    small = stratified_mean([SampledStratum(60, values[0]), SampledStratum(40, values[1])])
    large = stratified_mean(
        [SampledStratum(60, [3 + 2 * x for x in values[0]]), SampledStratum(40, [3 + 2 * x for x in values[1]])],
        lowest=3,
        highest=5,
    )
    assert small.estimate is not None
    assert small.low is not None
    assert small.high is not None
    assert (large.estimate, large.low, large.high) == pytest.approx(
        (3 + 2 * small.estimate, 3 + 2 * small.low, 3 + 2 * small.high)
    )


def test_without_labels_there_is_nothing_and_a_stratum_without_borrows() -> None:
    assert stratified_mean([SampledStratum(5, []), SampledStratum(0, [])]).reason == "no_data"
    found = stratified_mean([SampledStratum(50, [1.0, 0.0]), SampledStratum(50, [])])
    assert found.estimate == 0.5
    without = stratified_mean([SampledStratum(50, [1.0, 0.0]), SampledStratum(50, [0.0, 1.0])])
    assert found.low is not None
    assert without.low is not None
    assert found.low < without.low


@pytest.mark.parametrize(
    ("strata", "says"),
    [
        pytest.param([SampledStratum(5, [2.0])], "between", id="off-the-scale"),
        pytest.param([SampledStratum(5, [float("nan")])], "finite", id="not-a-number"),
    ],
)
def test_what_can_not_be_is_refused(strata: list[SampledStratum], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        stratified_mean(strata)
    with pytest.raises(ValueError, match="values"):
        SampledStratum(1, [0.0, 1.0])
