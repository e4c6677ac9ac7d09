"""Looking at an audit before all of its answers are judged, without more false alarms.

The answers are judged in stages. At each stage an error is spent, so little at first that hardly any is lost for the
end (Lan and DeMets 1983, with the spending of O'Brien and Fleming 1979). The levels of the stages add up to the whole,
so that no assumption is made of how one stage's data hang together with the next's (Bonferroni over the stages).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

from benchbook.statistics.distributions import normal_cdf, normal_quantile

SHARES = (0.25, 0.5, 1.0)  # of the answers, at the end of each stage
LEAST = 40  # answers, at which there is a first look


def ends_of_stages(n_answers: int, *, until_decided: bool) -> tuple[int, ...]:
    """The number of answers that are judged by the end of each stage; all at once, unless `until_decided`."""
    if not until_decided:
        return (n_answers,)
    return tuple(ceil(n_answers * share) for share in SHARES if n_answers * share >= LEAST or share == 1)


@dataclass(frozen=True, slots=True)
class Look:
    """The look at the end of a stage: after so many of the answers, at a confidence of its own."""

    n_answers: int
    confidence: float


def look_at(stage: int, ends: tuple[int, ...], confidence: float) -> Look:
    """The look after this stage, from 0; all of an audit's looks together have `confidence`."""
    spent = [_spent(end / ends[-1], 1 - confidence) for end in ends]
    return Look(ends[stage], 1 - (spent[stage] - (spent[stage - 1] if stage else 0.0)))


def _spent(share: float, error: float) -> float:
    return 2 * (1 - normal_cdf(normal_quantile(1 - error / 2) / sqrt(share)))
