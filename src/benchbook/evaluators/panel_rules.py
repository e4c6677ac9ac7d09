"""Several judges of one answer: their scores as one score of `rubric@v1` (docs/decisions/0016).

R1 knows the scores 0, 1 and 2 and no others, and R4 and R6 count zeros and twos. So a panel's score is one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

__all__ = ["PANEL_RULES", "PanelRule", "panel_score"]


PanelRule = Literal["majority", "mean", "worst"]

PANEL_RULES: Mapping[PanelRule, str] = {
    "majority": "the score that more than half of the judges give; where none is, the middle one, of two the lower",
    "mean": "the mean of their scores, to the nearest whole score; from halfway between two, the lower",
    "worst": "the lowest of their scores",
}
_LOWEST, _HIGHEST = 0, 2


def panel_score(scores: Sequence[int | None], rule: PanelRule) -> int | None:
    """The panel's score; `scores` has one for each judge, None of one who gave none.

    A judge without a score might have given any. The panel has a score where that makes no difference, else None.
    """
    fill = _RULES[rule]
    # Every rule gives no less where a score is higher, so the two ends say what all between them would.
    lowest = fill(sorted(_LOWEST if score is None else score for score in scores))
    highest = fill(sorted(_HIGHEST if score is None else score for score in scores))
    return lowest if lowest == highest else None


def _middle(ordered: Sequence[int]) -> int:
    """The lower median. A score that more than half give is in the middle, too."""
    return ordered[(len(ordered) - 1) // 2]


def _rounded_mean(ordered: Sequence[int]) -> int:
    """ceil(mean - 1/2), in whole numbers: halves go down."""
    n, total = len(ordered), sum(ordered)
    return -((n - 2 * total) // (2 * n))


_RULES: Mapping[PanelRule, Callable[[Sequence[int]], int]] = {
    "majority": _middle,
    "mean": _rounded_mean,
    "worst": min,
}
