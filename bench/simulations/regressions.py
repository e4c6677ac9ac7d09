"""`gate --baseline`: not worse by more than a margin, by the comparison and the gate that the command uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from benchbook.comparison.compared import Comparison, compare
from benchbook.comparison.difference import item_difference
from benchbook.comparison.items import ComparedRun, compared_columns, compared_items
from benchbook.comparison.regressions import check_regressions
from benchbook.evaluators.exact import NANO
from benchbook.evaluators.registry import evaluator_named
from benchbook.statistics import non_inferiority, paired_rates
from simulations.ground import Line, Measured, at_most, distinct

SPEC, MARGIN = "answer_correctness@v1", 0.05
_SCHEMA: Mapping[str, Any] = {
    "sample": pl.Int64, "item_id": pl.String, "repeat": pl.Int64, "prompt": pl.String, "expected": pl.String,
    "predicted": pl.String, "correctness": pl.Float64, "miss_reason": pl.String, "error": pl.String,
}  # fmt: skip


AT_THE_MARGIN = ((20, 0.05, 0.0), (58, 0.05, 0.0), (100, 0.05, 0.0), (100, 0.1, 0.05), (300, 0.15, 0.1))


def lines(draws: int) -> Iterator[Line]:
    draws = max(20, draws // 2)
    for n, lost, won in AT_THE_MARGIN:
        yield _false_pass(n, lost, won, draws)
    for n, differ in ((100, 0.28), (400, 0.28)):
        yield _same_model(n, differ, draws)


def _drawn(n: int, lost: float, won: float, draws: int) -> Iterator[tuple[float, tuple[int, int, int]]]:
    rng = np.random.default_rng([11, n, round(100 * lost)])
    for times, (n_lost, n_won, _) in distinct(rng.multinomial(n, [lost, won, 1 - lost - won], draws)):
        yield times, (n_lost, n_won, n)


def _false_pass(n: int, lost: float, won: float, draws: int) -> Line:
    """The run is worse by the margin itself: whoever says that it is not is wrong as often as can be. Beside it, how
    often a run passes that is as good, if as many items differ."""
    wrong = _passes(n, lost, won, draws)
    right = _passes(n, (lost + won) / 2, (lost + won) / 2, draws)
    today, *rest = (Measured(name, wrong[name], right[name]) for name in GATES)
    case = f"false pass at a margin of 0.05: {n} items, {100 * lost:g} % lost, {100 * won:g} % won"
    return Line(
        where="gate --baseline", case=case, goal=at_most(5), today=today, others=tuple(rest),
        cost="passes if equal, %", less_is_better=False, draws=draws,
    )  # fmt: skip


def _passes(n: int, lost: float, won: float, draws: int) -> dict[str, float]:
    """How often each gate lets a run pass, in percent."""
    held = dict.fromkeys(GATES, 0.0)
    for times, one in _drawn(n, lost, won, draws):
        for name, gate in GATES.items():
            held[name] += times * gate(*one)
    return {name: 100 * one / draws for name, one in held.items()}


def _same_model(n: int, differ: float, draws: int) -> Line:
    """The same model twice: how often the gate says no; beside it, how often it can't tell."""
    said = dict.fromkeys(("holds", "does_not_hold", "undecided"), 0.0)
    some_regressed = 0.0
    for times, one in _drawn(n, differ / 2, differ / 2, draws):
        said[outcome(*one)] += times
        some_regressed += times * (one[0] > 0)
    return Line(
        where="gate --baseline",
        case=f"false alarm: the same model twice, {n} items, {100 * differ:g} % differ",
        goal=at_most(2.5),
        today=Measured("score bound", 100 * said["does_not_hold"] / draws, 100 * said["undecided"] / draws),
        others=(Measured("no item may regress", 100 * some_regressed / draws, 0.0),),
        cost="can't tell, %",
        draws=draws,
    )


@cache
def outcome(n_lost: int, n_won: int, n: int) -> str:
    """The gate's outcome for two runs of passes, by the margin."""
    template = _compared(n)
    differences = [-1] * n_lost + [1] * n_won + [0] * (n - n_lost - n_won)
    passes = pl.DataFrame(
        {"a": [NANO * (one < 0) for one in differences], "b": [NANO * (one > 0) for one in differences]}
    )
    score = item_difference(passes.with_columns(cluster=pl.lit(None, pl.Int64)), margin=MARGIN)
    classes = pl.Series([{-1: "regressed", 1: "improved", 0: "same_correct"}[one] for one in differences])
    items = template.items.with_columns(classes.cast(template.items["class"].dtype).alias("class"))
    return check_regressions(replace(template, items=items, score=score)).outcome


@cache
def _compared(n: int) -> Comparison:
    """A comparison of `n` items that are right in both: all that the gate asks beside the score."""
    return compare(_run("a", "1" * n), _run("b", "1" * n), margin=MARGIN)


def _run(name: str, marks: str) -> ComparedRun:
    """A run whose items are right where `marks` has a 1."""
    rows = [
        {
            "sample": place, "item_id": f"i{place}", "repeat": 0, "prompt": f"Prompt {place}?", "expected": "yes",
            "predicted": "yes" if mark == "1" else "no", "correctness": float(mark),
            "miss_reason": None if mark == "1" else "different",
        }
        for place, mark in enumerate(marks)
    ]  # fmt: skip
    evaluator = evaluator_named(SPEC)
    return ComparedRun(name, SPEC, compared_items(pl.DataFrame(rows, _SCHEMA), evaluator), compared_columns(evaluator))


def _by_t(n_lost: int, n_won: int, n: int) -> bool:
    differences = np.repeat([-1.0, 1.0, 0.0], [n_lost, n_won, n - n_lost - n_won])
    return bool(non_inferiority(np.zeros(n), differences, MARGIN).holds)


GATES: Mapping[str, Callable[[int, int, int], bool]] = {
    "score bound": lambda *one: outcome(*one) == "holds",
    "mid-p bound": lambda n_lost, n_won, n: (paired_rates(n_lost, n_won, n, 0.9).low or -1.0) > -MARGIN,
    "paired t": _by_t,
    "5 % may regress": lambda n_lost, _, n: n_lost <= MARGIN * n,
}
