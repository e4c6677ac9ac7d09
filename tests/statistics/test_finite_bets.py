"""Bets on what is left of a finite set: fair where the limit is the mean, by listing every order; proof by counting."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.statistics.sequences import FiniteBet


def _capital(order: tuple[int, ...], limit: int, draws: int) -> float:
    bet = FiniteBet(len(order), limit)
    for value in order[:draws]:
        bet.add(value)
    return bet.evidence


@pytest.mark.parametrize("values", [(0, 1, 1, 1, 0, 1), (3, 7, 10, 0, 5, 5), (10, 10, 10, 10, 10, 1)])
@pytest.mark.parametrize("draws", [1, 2, 3, 4])
def test_against_a_limit_that_is_the_mean_nobody_can_expect_to_win(values: tuple[int, ...], draws: int) -> None:
    """Over all orders, what 1 becomes is 1 on average: a martingale. (Limit and values in units that stay whole.)"""
    scaled = tuple(6 * value for value in values)
    mean = sum(values)
    capitals = []
    for order in permutations(scaled):
        bet = FiniteBet(6, mean)
        for value in order[:draws]:
            if bet.is_proved:  # the sum is reached, with nothing but zeros to come: those change nothing
                break
            bet.add(value)
        capitals.append(bet.evidence)
    assert sum(capitals) / len(capitals) == pytest.approx(1.0, abs=1e-9)


@given(st.permutations([0, 2, 5, 5, 8, 10, 10, 3]), st.integers(1, 9), st.integers(1, 7))
def test_a_smaller_limit_is_ruled_out_no_later(order: list[int], limit: int, draws: int) -> None:
    high, low = FiniteBet(8, limit + 1), FiniteBet(8, limit)
    for value in order[:draws]:
        high.add(value)
        low.add(value)
    assert low.is_proved or not high.is_proved
    assert low.is_proved or low.evidence >= high.evidence * (1 - 1e-12)


def test_what_is_reached_by_counting_is_proved_whatever_comes() -> None:
    bet = FiniteBet(4, 5)
    for value in (10, 9):
        bet.add(value)
    assert not bet.is_proved
    bet.add(1)
    assert bet.is_proved
    assert bet.shows(1e-300)
    strict = FiniteBet(4, 5, or_more=False)
    for value in (10, 10, 0):
        strict.add(value)
    assert not strict.is_proved  # 20 are reached, and more than that may not come
    strict.add(1)
    assert strict.is_proved
    with pytest.raises(ValueError, match="more values than the set has"):
        strict.add(0)


def test_the_capital_worked_out_by_hand() -> None:
    """Of two values with mean 1/2, the first is 1: it was worth 1/2, so a stake f grows to 1 + f. The mean of the
    twenty stakes is (0.05 + ... + 0.95 + 0.99) / 20 = (9.5 + 0.99) / 20."""
    bet = FiniteBet(2, 5, or_more=False)
    bet.add(10)
    assert bet.evidence == pytest.approx(1 + 10.49 / 20)
    assert bet.shows(0.66)
    assert not bet.shows(0.65)
