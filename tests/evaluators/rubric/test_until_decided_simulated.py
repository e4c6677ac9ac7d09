"""How often a run that ends once it is decided decides otherwise than all items would, and what it saves.

Sets of items are made whose gates hold by far, hardly, or hardly not; each is asked in 2,000 orders. The rule is
computed for all orders at once, and held against the rule that runs use for some of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from benchbook.evaluators.exact import NANO
from benchbook.evaluators.rubric.early_stop_gates import EarlyStopping, values_of
from benchbook.evaluators.rubric.release import decide
from benchbook.evaluators.rubric.scoring import SampleOutcome
from benchbook.evaluators.rubric.tally import tally
from benchbook.statistics.sequences import FRACTIONS
from rubric_v1 import V1, outcome_v1
from until_decided_table import SIMULATED

pytestmark = pytest.mark.slow

ORDERS, ERROR = 2000, 0.05
SCALE = V1
_answer = partial(outcome_v1, latency_e2e_ms=1000, input_tokens=500, output_tokens=100)
GOOD = _answer(accuracy_score=2, faithfulness_score=2)
HALF = _answer(accuracy_score=1, faithfulness_score=1)
WRONG = _answer(accuracy_score=0, faithfulness_score=1)
MADE_UP = _answer(accuracy_score=1, faithfulness_score=0)
SLOW = outcome_v1(accuracy_score=2, faithfulness_score=2, latency_e2e_ms=20_000, input_tokens=500, output_tokens=100)
UNSCORED = _answer(evaluator_error="parse_error")


def the_set(name: str, n: int) -> list[SampleOutcome]:
    """`n` items. Of 100, so many are other than good; where a gate is met hardly or hardly not, to the very item."""
    match name:
        case "perfect":
            return [GOOD] * n
        case "good":
            return _mixed(n, {HALF: 0.10, WRONG: 0.02, MADE_UP: 0.01, SLOW: 0.01})
        case "fair":
            return _mixed(n, {HALF: 0.20, WRONG: 0.06, MADE_UP: 0.02, SLOW: 0.02})
        case "hardly_ready":  # pass rate, faithfulness and latency all at their limits
            at = -(-n * 5 // 100) - 1
            return _filled(n, [WRONG] * (n * 15 // 100 - 2 * at), [MADE_UP] * at, [SLOW] * at)
        case "hardly_not":  # one pass short
            return _filled(n, [WRONG] * (n * 15 // 100 + 1))
        case "made_up":  # one claim too many that nothing bears out
            return _filled(n, [MADE_UP] * (n * 5 // 100 + 1))
        case "unscored":  # ready by what is scored, and short of a pass if the worst is taken of the others
            return _filled(n, [WRONG] * (n * 13 // 100), [UNSCORED] * (n * 2 // 100 + 1))
        case "bad":
            return _mixed(n, {WRONG: 0.25, MADE_UP: 0.02, HALF: 0.10})
        case _:
            raise ValueError(name)


def _mixed(n: int, shares: dict[SampleOutcome, float]) -> list[SampleOutcome]:
    return _filled(n, *([outcome] * round(n * share) for outcome, share in shares.items()))


def _filled(n: int, *parts: list[SampleOutcome]) -> list[SampleOutcome]:
    others = [outcome for part in parts for outcome in part]
    return [*others, *[GOOD] * (n - len(others))]


@dataclass(frozen=True)
class Found:
    """By order: READY 1, NOT_READY -1, all asked 0; and the items that were asked."""

    decisions: np.ndarray
    asked: np.ndarray


def simulate(outcomes: list[SampleOutcome], orders: np.ndarray) -> Found:
    """`EarlyStopping` for all `orders` (one a row) at once."""
    n_orders, n = orders.shape
    values = np.array([[(one.worst, one.best) for one in values_of(outcome, SCALE)] for outcome in outcomes])
    bets = values.astype(float) / NANO
    bets[:, :, 1] = 1 - bets[:, :, 1]
    limits = np.array([[0.80, 0.20], [0.85, 0.15], [0.95, 0.05], [0.95 + 1.05 / n, 0.05 + 1.95 / n]])
    at_least = np.array([[True, False]] * 3 + [[True, True]])
    capital = np.full((n_orders, 4, 2, len(FRACTIONS)), 1 / len(FRACTIONS))
    owed = np.tile(limits * n, (n_orders, 1, 1))
    claim = np.zeros((n_orders, 4), int)  # 1 holds, -1 fails
    decisions, asked, rows = np.zeros(n_orders, int), np.full(n_orders, n), np.arange(n_orders)
    for place in range(n):
        x = bets[orders[rows, place]]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            worth = np.where(owed > 1e-9, x * (n - place) / owed - 1, 0.0)
            capital *= 1 + worth[..., None] * np.array(FRACTIONS)
        owed = owed - x
        proved = (owed < -1e-6) | (at_least & (owed < 1e-6))
        shown = proved | (capital.sum(axis=3) * np.array([ERROR, ERROR / 4]) >= 1)
        claim = np.where(claim != 0, claim, np.where(shown[:, :, 0], 1, np.where(shown[:, :, 1], -1, 0)))
        decided = np.where((claim == -1).any(axis=1), -1, (claim == 1).all(axis=1).astype(int))
        ends = decided != 0
        if place + 1 < n and ends.any():
            decisions[rows[ends]], asked[rows[ends]] = decided[ends], place + 1
            rows, capital, owed, claim = rows[~ends], capital[~ends], owed[~ends], claim[~ends]
        if not rows.size:
            break
    return Found(decisions, asked)


def orders_of(n: int, seed: int, how_many: int = ORDERS) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(n) for _ in range(how_many)])


def figures(name: str, n: int) -> tuple[str, float, float, float, float]:
    outcomes = the_set(name, n)
    whole = decide(tally(outcomes, SCALE)).decision
    found = simulate(outcomes, orders_of(n, seed=n))
    code = {"READY": 1, "NOT_READY": -1, "INCONCLUSIVE": 2}[whole]
    early = found.decisions != 0
    wrong = early & (found.decisions != code)
    saved = 1 - found.asked / n
    return whole, 100 * early.mean(), 100 * wrong.mean(), float(np.median(found.asked)), 100 * saved.mean()


@pytest.mark.slow
@pytest.mark.parametrize("row", SIMULATED.strip().split("\n"), ids=lambda row: " ".join(row.split()[:2]))
def test_a_run_until_decided_errs_and_saves_as_the_manual_says(row: str) -> None:
    name, items, decision, early, wrong, asked, saved = row.split()
    found = figures(name, int(items))
    assert found[0] == decision
    assert found[2] <= 100 * ERROR
    assert found[1:] == pytest.approx((float(early), float(wrong), float(asked), float(saved)), abs=0.06)


@pytest.mark.parametrize("name", ["good", "hardly_ready", "unscored", "bad"])
def test_the_simulated_rule_is_the_one_that_runs_use(name: str) -> None:
    n = 150
    outcomes, orders = the_set(name, n), orders_of(n, seed=3, how_many=25)
    found = simulate(outcomes, orders)
    for order, decision, asked in zip(orders.tolist(), found.decisions, found.asked, strict=True):
        rule = EarlyStopping(order, 1, ERROR, V1)
        for item in random.Random(4).sample(range(n), n):  # finished in any order
            rule.add(item, outcomes[item])
        expected = None if decision == 0 else ("READY" if decision == 1 else "NOT_READY", asked)
        assert expected == (rule.decision and (rule.decision.decision, rule.decision.after_items))
