"""Items needed: against R's power.prop.test and closed forms, and with every wrong use named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.comparison.items_needed import items_needed
from benchbook.errors import ConfigError
from benchbook.views.several_runs import plan_words


@pytest.mark.parametrize(
    ("settings", "n"),
    [
        pytest.param({"baseline": 0.7, "detect": 0.05, "paired": False}, 1251, id="R-power.prop.test"),
        pytest.param({"baseline": 0.75, "detect": -0.05, "paired": False}, 1251, id="a-loss-is-as-hard-to-see"),
        # Connor's closed form says 469 and 1254; the mid-p test has a little more power.
        pytest.param({"baseline": 0.7, "detect": 0.05, "discordance": 0.15}, 461, id="mid-p"),
        pytest.param({"baseline": 0.7, "detect": 0.05}, 1253, id="runs-that-know-nothing-of-one-another"),
        # 1 + (10 - 1) * 0.1 = 1.9 times 1250.7
        pytest.param(
            {"baseline": 0.7, "detect": 0.05, "paired": False, "cluster_size": 10, "intraclass_correlation": 0.1},
            2377,
            id="clusters",
        ),
    ],
)
def test_items(settings: dict[str, Any], n: int) -> None:
    found = items_needed(**settings)
    assert (found.n_items, found.n_answers) == (n, 2 * n)
    assert found.formula in plan_words(found)[-1]
    assert plan_words(found)[0].startswith(f"{n:,} items")


def test_against_statsmodels() -> None:
    from statsmodels.stats.proportion import power_proportions_2indep

    n = items_needed(0.6, 0.1, paired=False, power=0.9, alpha=0.01).n_items
    powers = [power_proportions_2indep(0.1, 0.6, size, alpha=0.01).power for size in (n - 1, n)]
    assert powers[0] < 0.9 <= powers[1]


def test_clusters_are_counted() -> None:
    found = items_needed(0.7, 0.05, paired=False, cluster_size=10, intraclass_correlation=0.1)
    assert (found.design_effect, found.clusters) == (pytest.approx(1.9), 238)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"baseline": 1.2, "detect": 0.05}, "baseline: found 1.2"),
        ({"baseline": float("nan"), "detect": 0.05}, "baseline: found nan"),
        ({"baseline": 0.98, "detect": 0.05}, "detect: found 0.05; expected at most 0.02 up"),
        ({"baseline": 0.5, "detect": 0.0}, "detect: found 0"),
        ({"baseline": 0.5, "detect": 1e-12}, "detect: found 1e-12"),
        ({"baseline": 0.7, "detect": 0.05, "discordance": 0.01}, "discordance: found 0.01; expected from 0.05 to 0.55"),
        ({"baseline": 0.7, "detect": 0.05, "discordance": 0.9}, "discordance: found 0.9; expected from 0.05 to 0.55"),
        ({"baseline": 0.7, "detect": 0.05, "discordance": 0.1, "paired": False}, "discordance"),
        ({"baseline": 0.7, "detect": 0.05, "cluster_size": 3}, "clusters and icc"),
        ({"baseline": 0.7, "detect": 0.05, "cluster_size": 0, "intraclass_correlation": 0.1}, "clusters: found 0"),
        ({"baseline": 0.7, "detect": 0.05, "cluster_size": 3, "intraclass_correlation": 2}, "icc: found 2"),
    ],
)
def test_wrong_use_is_named(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError) as error:
        items_needed(**settings)
    assert named in str(error.value)


@given(
    baseline=st.floats(0.05, 0.95),
    detect=st.floats(-0.5, 0.5).filter(lambda one: abs(one) > 0.01),
    paired=st.booleans(),
)
def test_more_power_never_takes_fewer_items(baseline: float, detect: float, paired: bool) -> None:
    if not 0 <= baseline + detect <= 1:
        return
    sizes = [items_needed(baseline, detect, power=power, paired=paired).n_items for power in (0.5, 0.8, 0.95)]
    assert sizes == sorted(sizes)
    assert sizes[0] >= 1
