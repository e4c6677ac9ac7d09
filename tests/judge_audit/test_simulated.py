"""`script/bench judge_audits` with few draws: what it says of planted biases in the manual is what it still finds."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest
from scipy import stats

from support import ROOT


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("judge_audits", ROOT / "bench" / "judge_audits.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["judge_audits"] = importlib.util.module_from_spec(spec)  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


def at_least(n: int, share: float) -> int:
    return int(stats.binom.ppf(0.001, n, share))


def at_most(n: int, share: float) -> int:
    return int(stats.binom.ppf(0.999, n, share))


@pytest.mark.slow
@pytest.mark.parametrize("until_decided", [False, True])
def test_audits_without_a_bias_claim_one_seldom_and_with_one_find_it(bench: ModuleType, until_decided: bool) -> None:
    none = bench.simulated(None, 0.0, 80, 20, until_decided=until_decided, seed=1)
    assert none.false * 20 <= at_most(20, 0.05)
    some = bench.simulated("longer", -0.2, bench.needed(-0.2), 20, until_decided=until_decided, seed=2)
    assert some.found * 20 >= at_least(20, 0.88)
    assert some.false * 20 <= at_most(20, 0.05)


@pytest.mark.slow
def test_an_order_that_is_preferred_is_found_in_pairs(bench: ModuleType) -> None:
    assert bench.leaning(0.0, 100, 60, seed=3).false * 60 <= at_most(60, 0.055)
    assert bench.leaning(0.2, bench.pairs_needed(0.2, 1), 60, seed=4).found * 60 >= at_least(60, 0.86)
    n_effects = len(bench.SAME_OF_PAIRS)
    assert bench.ordered(0.0, 40, 20, seed=5).false * 20 <= at_most(20, 0.05)
    assert bench.ordered(0.3, bench.pairs_needed(0.3, n_effects), 20, seed=6).found * 20 >= at_least(20, 0.86)
