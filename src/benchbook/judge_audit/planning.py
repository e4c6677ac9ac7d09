"""How many answers an audit needs to find an effect, and the smallest that it finds with those that there are."""

from __future__ import annotations

from math import ceil, hypot, sqrt

import msgspec

from benchbook.judge_audit.variants import VARIANTS, variants_for
from benchbook.statistics.distributions import normal_quantile

POWER = 0.9
SD = 0.25  # of the differences, where nothing is known of the judge: as if one answer in four moved by half the scale
SD_OF_PAIRS = 0.5  # of verdicts on pairs: as if one in four moved by all of it
_SAME = [name for name in variants_for(pairs=False) if VARIANTS[name].expected == "same"]
N_EFFECTS = len(_SAME)  # that are adjusted for one another, of answers that are judged alone


class AnswersNeeded(msgspec.Struct, frozen=True, kw_only=True):
    """Answers to find a mean `effect` on a judge's score (0 to 1) with chance `power`, where the differences of single
    answers have the standard deviation `sd`, and `n_effects` are looked for at once.
    """

    n_answers: int
    effect: float
    sd: float
    power: float
    n_effects: int


def answers_needed(
    effect: float, *, sd: float = SD, power: float = POWER, n_effects: int = N_EFFECTS, error: float = 0.05
) -> AnswersNeeded:
    """The number for the hardest case, in which this effect is the first of Holm's steps (Bonferroni's level).

    By the test that is used: signs of differences are flipped, so that what they spread by where there is no effect
    holds the effect itself (as Connor 1987 has it of McNemar's test). Raises: ValueError for numbers that can't be.
    """
    if not 0 < abs(effect) <= 1 or not sd > 0:
        raise ValueError(f"an effect must lie between 0 and 1, and sd above 0, not {effect} and {sd}")
    least, chance = _quantiles(power, n_effects, error)
    spread = least * hypot(sd, effect) + chance * sd
    return AnswersNeeded(n_answers=ceil((spread / effect) ** 2), effect=effect, sd=sd, power=power, n_effects=n_effects)


def effect_found(n: int, *, sd: float = SD, power: float = POWER, n_effects: int = N_EFFECTS) -> float:
    """The smallest mean effect that `n` answers find with this chance; at most 1, the whole scale.

    Raises: ValueError below one answer.
    """
    if n < 1:
        raise ValueError(f"{n} answers find nothing")
    least, chance = _quantiles(power, n_effects, 0.05)
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        enough = least * hypot(sd, middle) + chance * sd <= middle * sqrt(n)
        low, high = (low, middle) if enough else (middle, high)
    return high


def _quantiles(power: float, n_effects: int, error: float) -> tuple[float, float]:
    return normal_quantile(1 - error / n_effects / 2), normal_quantile(power)
