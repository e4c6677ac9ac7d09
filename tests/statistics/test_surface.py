"""What the room offers, and what loading it costs."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import get_type_hints

import pytest

from benchbook import statistics


def test_every_public_name_is_there() -> None:
    """Adding a name is a promise; here it is kept."""
    assert statistics.__all__ == sorted(statistics.__all__, key=lambda name: (not name.isupper(), name.islower(), name))
    assert set(statistics.__all__) == set(statistics._MODULE_OF)
    for name, module in statistics._MODULE_OF.items():
        assert getattr(statistics, name) is getattr(import_module(f"benchbook.statistics.{module}"), name)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'p_hack'"):
        statistics.p_hack  # noqa: B018


@pytest.mark.parametrize("name", [name for name in statistics.__all__ if name.islower()])
def test_every_function_says_what_it_does_and_returns_something_typed(name: str) -> None:
    function = getattr(statistics, name)
    assert function.__doc__
    assert function.__annotations__["return"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("use", "unloaded"),
    [
        pytest.param("", {"numpy", "scipy"}, id="import"),
        pytest.param(
            "from benchbook.statistics import Estimate, wilson; wilson(8, 10)", {"numpy", "scipy"}, id="wilson"
        ),
        pytest.param("st.t_interval([1, 0, 1])", {"scipy", "statsmodels"}, id="t-interval"),
        pytest.param("st.clustered_mean([1, 0, 1], 'aab')", {"scipy", "statsmodels"}, id="clustered-mean"),
        pytest.param("st.percentile_interval([3, 1, 2], 0.5)", {"scipy", "statsmodels"}, id="percentile"),
        pytest.param("st.paired_binary([1, 0], [1, 1])", {"scipy", "statsmodels"}, id="paired"),
        pytest.param("st.rank_runs({'a': [1, 0], 'b': [1, 1]})", {"scipy", "statsmodels"}, id="ranking"),
        pytest.param(
            "st.pair_strengths('aab', 'bba', [1, 0, 1], clusters='xyz')", {"scipy", "statsmodels"}, id="strengths"
        ),
    ],
)
def test_what_every_run_needs_loads_nothing_heavy(use: str, unloaded: set[str]) -> None:
    code = f"import sys, benchbook.statistics as st\n{use}\nprint(*sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True).stdout
    assert not unloaded & set(output.split())


def test_results_are_frozen_and_have_no_dict() -> None:
    found = statistics.wilson(8, 10)
    with pytest.raises(AttributeError):
        found.low = 0.0  # type: ignore[misc]
    assert not hasattr(found, "__dict__")
    assert get_type_hints(type(found))["low"] == float | None
