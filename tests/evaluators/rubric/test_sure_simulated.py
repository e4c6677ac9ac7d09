"""How often READY and NOT_READY are wrong at each gate's edge: at most 5 % (R6.4). By points it was half of all.

Samples are drawn at random from kinds of outcomes in which a gate lies at its very limit, so that a claim either way is
as wrong as it can be. The same counts are decided once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache

import numpy as np
import pytest

from benchbook.evaluators.rubric import release
from benchbook.evaluators.rubric.release import decide, decide_by_bounds
from benchbook.evaluators.rubric.scoring import SampleOutcome, score_sample
from benchbook.evaluators.rubric.tally import RubricTally
from evaluators.rubric.degenerate import GOOD, HALF, MADE_UP, SLOW, UNSCORED, WRONG
from rubric_v1 import V1, outcome_v1
from sure_table import NAMES, SURE

SCALE = V1
DRAWS, FEWER_DRAWS, ERROR = 4000, 600, 5.0
LONG = outcome_v1(accuracy_score=2, faithfulness_score=2, latency_e2e_ms=7000, input_tokens=5000, output_tokens=900)
NOTHING = outcome_v1(accuracy_score=0, faithfulness_score=None, score_origin="rule:no_answer")
_LONG = (score_sample(LONG, SCALE).sample_score_nano or 0) / 1e9
_HALF = (score_sample(HALF, SCALE).sample_score_nano or 0) / 1e9

SETS: Mapping[str, Mapping[SampleOutcome, float]] = {
    "pass_rate": {WRONG: 0.15, GOOD: 0.85},
    "faithfulness": {MADE_UP: 0.05, GOOD: 0.95},
    "latency": {SLOW: 0.05, GOOD: 0.95},
    "score": {HALF: 0.2 / (1 - _HALF), GOOD: 1 - 0.2 / (1 - _HALF)},
    "score_rare": {NOTHING: 1 - 0.8 / _LONG, LONG: 0.8 / _LONG},
    "all_at_once": {WRONG: 0.05, MADE_UP: 0.05, SLOW: 0.05, GOOD: 0.85},
    "unscored": {MADE_UP: 0.03, UNSCORED: 0.02, GOOD: 0.95},
}


@pytest.fixture(scope="module", autouse=True)
def _found_once() -> Iterator[None]:
    """The ranks of a percentile depend on how many values there are alone: thousands of draws ask for the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(release, "percentile_ranks", cache(release.percentile_ranks))
        yield


def tally_of(counts: Mapping[SampleOutcome, int]) -> RubricTally:
    """A tally of so many of each: every sum of one sample, times their number."""
    whole = RubricTally(SCALE)
    for outcome, times in counts.items():
        one = RubricTally(SCALE)
        one.add(outcome, score_sample(outcome, SCALE))
        _add(whole, one, times)
    return whole


_NOT_ADDED = ("spec", "scores", "at_unanswered", "clusters", "values", "unanswered_clusters")


def _add(whole: object, one: object, times: int) -> None:
    for field in fields(one):  # type: ignore[arg-type]
        value, sum_so_far = getattr(one, field.name), getattr(whole, field.name)
        match value:
            case _ if value is None or not times or field.name in _NOT_ADDED:
                pass
            case _ if field.name in ("least", "most"):
                both = [value] if sum_so_far is None else [value, sum_so_far]
                setattr(whole, field.name, min(both) if field.name == "least" else max(both))
            case int():
                setattr(whole, field.name, sum_so_far + times * value)
            case tuple():
                for count, count_so_far in zip(value, sum_so_far, strict=True):
                    count_so_far.update({key: times * n for key, n in count.items()})
            case Counter():
                sum_so_far.update({key: times * count for key, count in value.items()})
            case _:
                _add(sum_so_far, value, times)


def test_so_many_of_each_are_counted_as_one_by_one() -> None:
    counts = {GOOD: 30, MADE_UP: 2, UNSCORED: 3, SLOW: 1, NOTHING: 2}
    alone = RubricTally(SCALE)
    for outcome, times in counts.items():
        for _ in range(times):
            alone.add(outcome, score_sample(outcome, SCALE))
    assert tally_of(counts) == alone


def figures(name: str, n: int, draws: int = DRAWS) -> tuple[float, float, float, float]:
    """READY and NOT_READY in percent, by bounds and by points."""
    kinds = SETS[name]
    drawn = np.random.default_rng([n, *name.encode()]).multinomial(n, list(kinds.values()), draws)
    distinct, times = np.unique(drawn, axis=0, return_counts=True)
    found: Counter[str] = Counter()
    for row, count in zip(distinct.tolist(), times.tolist(), strict=True):
        counted = tally_of(dict(zip(kinds, row, strict=True)))
        found["bounds", decide_by_bounds(counted, settle=False).decision] += count  # type: ignore[index]
        found["points", decide(counted).decision] += count  # type: ignore[index]
    shares = [
        round(100 * found[by, decision] / draws, 1)  # type: ignore[index]
        for by in ("bounds", "points")
        for decision in ("READY", "NOT_READY")
    ]
    return shares[0], shares[1], shares[2], shares[3]


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_neither_claim_is_wrong_in_more_than_5_percent(name: str) -> None:
    for n in (5, 59, 150, 1000):
        ready, not_ready, *_ = figures(name, n, FEWER_DRAWS)
        most = ERROR + 2.5 * (ERROR * (100 - ERROR) / FEWER_DRAWS) ** 0.5  # what so few draws leave to chance
        assert (ready <= most, not_ready <= most) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize("line", SURE.strip().splitlines(), ids=lambda line: " ".join(line.split()[:2]))
def test_the_table_of_the_manual(line: str) -> None:
    name, n, *told = line.split()
    found = figures(name, int(n))
    assert name in NAMES
    assert found == pytest.approx([float(one) for one in told], abs=0.11)
    assert max(found[:2]) <= ERROR + 2.5 * (ERROR * (100 - ERROR) / DRAWS) ** 0.5
