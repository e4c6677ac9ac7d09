"""READY of `rubric@v1` where the truth lies at a gate's limit, and the fewest samples with which it can be had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, repeat

from benchbook.evaluators.rubric.needed import least_for_ready
from benchbook.evaluators.rubric.release import by_points, decide_by_bounds
from benchbook.evaluators.rubric.scoring import SampleOutcome, score_sample
from benchbook.evaluators.rubric.spec import rubric_v1
from benchbook.evaluators.rubric.tally import RubricTally
from benchbook.statistics import wilson
from simulations.ground import Line, Measured, at_least, at_most, tables

V1 = rubric_v1()
MADE_UP_LIMIT, PASS_LIMIT = 0.05, 0.85
Outcomes = Mapping[SampleOutcome, int]


def _quick(accuracy: int, faithfulness: int) -> SampleOutcome:
    return SampleOutcome(scores=(accuracy, faithfulness), latency_e2e_ms=1000, input_tokens=500, output_tokens=100)


GOOD, WRONG, MADE_UP = _quick(2, 2), _quick(0, 2), _quick(2, 0)
UNSCORED = SampleOutcome(
    scores=(None, None), evaluator_error="parse_error", latency_e2e_ms=1000, input_tokens=500, output_tokens=100
)

SCORES = {outcome: score_sample(outcome, V1) for outcome in (GOOD, WRONG, MADE_UP, UNSCORED)}

CASES: Mapping[str, tuple[SampleOutcome, float]] = {
    "3 % made up, and 2 % without a score that are": (MADE_UP, 0.03),
    "13 % wrong, and 2 % without a score that are": (WRONG, 0.13),
}


def lines(draws: int) -> Iterator[Line]:
    for case, (bad, share) in CASES.items():
        for n in (100, 400):
            yield _ready(case, bad, share, n, draws)
    yield from _least()


def _ready(case: str, bad: SampleOutcome, share: float, n: int, draws: int) -> Line:
    """A sample without a score is as bad as the bad ones, and a gate lies at its limit: so each READY is wrong."""
    said = dict.fromkeys(("bound of the worst case", "bound, and worst case apart", "by points"), 0.0)
    total = 0.0
    for weight, (n_bad, n_unscored, _) in tables(n, share, 0.02, draws):
        counts = {bad: n_bad, UNSCORED: n_unscored, GOOD: n - n_bad - n_unscored}
        total += weight
        tally = _tally(counts)
        said["bound of the worst case"] += weight * _is_ready(tally)
        said["bound, and worst case apart"] += weight * _apart(counts)
        said["by points"] += weight * by_points(tally).release_ready
    today, *rest = (Measured(name, 100 * one / total) for name, one in said.items())
    return Line(
        where="unscored and bounds", case=f"READY, wrongly: {n} samples, {case}", goal=at_most(5), today=today,
        others=tuple(rest),
    )  # fmt: skip


def _apart(counts: Outcomes) -> bool:
    """As it once was: the interval of what is scored, and beside it the values with all others at their worst."""
    n, passed, made_up = sum(counts.values()), counts[GOOD], counts.get(MADE_UP, 0)
    n_scored, bad = n - counts[UNSCORED], n - passed
    if MADE_UP in counts:
        high = wilson(made_up, n_scored).high
        return high is not None and high <= MADE_UP_LIMIT and bad <= MADE_UP_LIMIT * n
    low = wilson(passed, n_scored).low
    return low is not None and low >= PASS_LIMIT and passed >= PASS_LIMIT * n


def _least() -> Iterator[Line]:
    """Perfect samples at the number that is told, and at one less; and how often it would be wrong."""
    least = least_for_ready(V1, 0.95)
    for n, goal in ((least, at_least(100)), (least - 1, at_most(0))):
        ready = _is_ready(_tally({GOOD: n}))
        yield Line(
            where="plan", case=f"READY of {n} perfect samples; {least} are told to be the least", goal=goal,
            today=Measured("one-sided bound", 100.0 * ready),
            others=(Measured("Wilson's interval", 100.0 * bool((wilson(0, n).high or 1) <= MADE_UP_LIMIT)),),
        )  # fmt: skip


def _is_ready(tally: RubricTally) -> bool:
    return decide_by_bounds(tally, settle=False).decision == "READY"


def _tally(counts: Outcomes) -> RubricTally:
    tally = RubricTally(V1)
    for outcome in chain.from_iterable(repeat(one, times) for one, times in counts.items()):
        tally.add(outcome, SCORES[outcome])
    return tally
