"""Ends a run whose judge can't be read: ten answers in a row tell as much as all of them, and cost less (SPEC R3.5)."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.derivations.judge_mending import rejections_of
from benchbook.derivations.rubric_steps import History

__all__ = ["REJECTED_IN_A_ROW", "RejectedReplies"]

REJECTED_IN_A_ROW = 10


class RejectedReplies:
    """Looks at every sample that is finished in a sitting. `names` are what texts call the judges, by their numbers."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._in_a_row = [0] * len(names)
        self._last_reason: list[str | None] = [None] * len(names)

    def note(self, history: History) -> str | None:
        """Why the run is to stop, once there is a reason."""
        for number, judging in enumerate(history.judges):
            if judging.parsed is not None:
                self._in_a_row[number], self._last_reason[number] = 0, None
        for rejection in rejections_of(history):
            judge = rejection.judge
            again = rejection.reason == self._last_reason[judge]
            self._in_a_row[judge] = self._in_a_row[judge] + 1 if again else 1
            self._last_reason[judge] = rejection.reason
            if self._in_a_row[judge] >= REJECTED_IN_A_ROW:
                return (
                    f"both replies of the {self._names[judge]} were rejected for {REJECTED_IN_A_ROW} answers in a row "
                    f"({rejection.said}). What may mend it: {rejection.mended}. Two rejected replies are final (R3.5): "
                    "start a new run with it"
                )
        return None
