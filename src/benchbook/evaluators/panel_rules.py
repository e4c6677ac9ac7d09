"""Several judges of one answer: their scores of a criterion as one score of it (docs/decisions/0016).

A criterion knows the scores of its scale and no others, and R4 and R6 count its lowest and highest. So a panel's score
is one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

PanelRule = Literal["majority", "mean", "worst"]

PANEL_RULES: Mapping[PanelRule, str] = {
    "majority": "the score that more than half of the judges give; where none is, the middle one, of two the lower",
    "mean": "the mean of their scores, to the nearest whole score; from halfway between two, the lower",
    "worst": "the lowest of their scores",
}


DEFAULT_RULE: PanelRule = "majority"  # docs/decisions/0042


def panel_score(scores: Sequence[int | None], rule: PanelRule, lowest: int, highest: int) -> int | None:
    """The panel's score on a scale from `lowest` to `highest`; `scores` has one for each judge, None of one who gave
    none.

    A judge without a score might have given any. The panel has a score where that makes no difference, else None.
    """
    fill = _RULES[rule]
    # Every rule gives no less where a score is higher, so the two ends say what all between them would.
    least = fill(sorted(lowest if score is None else score for score in scores))
    most = fill(sorted(highest if score is None else score for score in scores))
    return least if least == most else None


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
