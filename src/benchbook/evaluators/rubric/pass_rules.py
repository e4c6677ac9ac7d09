"""When a sample passes under a user's own rubric, where not simply every limit has to hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbook.evaluators.rubric.spec import Criterion

__all__ = ["NOT_ANSWERED", "SCORE_BELOW_MINIMUM", "TOO_FEW_CRITERIA", "PassRule"]


NOT_ANSWERED = "no_answer"
SCORE_BELOW_MINIMUM = "score_below_minimum"
TOO_FEW_CRITERIA = "too_few_criteria"


@dataclass(frozen=True, slots=True)
class PassRule:
    """One of the two: a least sample score, beside all limits that there are; or how many criteria must be at their
    `at_least`, instead of all of them. Limits of measures hold by either. By none of them all limits have to hold, and
    an answer must have come."""

    min_score_nano: int | None = None
    at_least: int | None = None

    def reasons(
        self,
        limits: Sequence[str],
        criteria: Sequence[Criterion],
        scores: Sequence[int | None],
        score_nano: int | None,
        *,
        no_answer: bool,
    ) -> tuple[str, ...]:
        """Why a sample does not pass, none where it does. `limits` are the limits that do not hold.

        What does not apply asks for nothing: of three criteria to be met where two apply, two are. No answer never
        passes (R1.3).
        """
        found = list(limits)
        if self.at_least is not None:
            found = self._of_count(limits, criteria, scores)
        elif self.min_score_nano is not None and score_nano is not None and score_nano < self.min_score_nano:
            found.append(SCORE_BELOW_MINIMUM)
        if no_answer and not found:
            found.append(NOT_ANSWERED)
        return tuple(found)

    def _of_count(
        self, limits: Sequence[str], criteria: Sequence[Criterion], scores: Sequence[int | None]
    ) -> list[str]:
        given = [
            (one, score)
            for one, score in zip(criteria, scores, strict=True)
            if one.at_least is not None and score is not None
        ]
        below = [one.below_minimum for one, score in given if one.at_least is not None and score < one.at_least]
        if len(given) - len(below) < min(self.at_least or 0, len(given)):
            return [TOO_FEW_CRITERIA, *limits]
        return [one for one in limits if one not in below]
