"""Ends a run whose judge can't be read: ten answers in a row tell as much as all of them, and cost less (R3.5, P4)."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.derivations.judge_mending import Rejection, rejection_of_evaluation, rejections_of
from benchbook.derivations.plan import RolePlan
from benchbook.derivations.rubric_steps import History
from benchbook.records.facts import Reply

__all__ = ["REJECTED_IN_A_ROW", "RejectedEvaluations", "RejectedReplies"]

REJECTED_IN_A_ROW = 10


class _InARow:
    """Counts, for each judge, how many of its replies in a row were rejected for one reason."""

    def __init__(self, n_judges: int) -> None:
        self._in_a_row = [0] * n_judges
        self._last_reason: list[str | None] = [None] * n_judges

    def was_read(self, judge: int) -> None:
        self._in_a_row[judge], self._last_reason[judge] = 0, None

    def is_enough_with(self, one: Rejection) -> bool:
        again = one.reason == self._last_reason[one.judge]
        self._in_a_row[one.judge] = self._in_a_row[one.judge] + 1 if again else 1
        self._last_reason[one.judge] = one.reason
        return self._in_a_row[one.judge] >= REJECTED_IN_A_ROW


class RejectedReplies:
    """Looks at every sample that is finished in a sitting. `names` are what texts call the judges, by their numbers."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._row = _InARow(len(names))

    def note(self, history: History) -> str | None:
        """Why the run is to stop, once there is a reason."""
        for number, judging in enumerate(history.judges):
            if judging.parsed is not None:
                self._row.was_read(number)
        for one in rejections_of(history):
            if self._row.is_enough_with(one):
                return (
                    f"both replies of the {self._names[one.judge]} were rejected for {REJECTED_IN_A_ROW} answers in a "
                    f"row ({one.said}). What may mend it: {one.mended}. Two rejected replies are final (R3.5): "
                    "start a new run with it"
                )
        return None


class RejectedEvaluations:
    """The same for the judges of `judge_protocol@v1`, who are asked once; `names` and `judges` are in their order."""

    def __init__(self, names: Sequence[str], judges: Sequence[RolePlan]) -> None:
        self._names = names
        self._judges = judges
        self._row = _InARow(len(judges))

    def note(self, reply: Reply, judge: int) -> str | None:
        """Why the experiment is to stop, once there is a reason."""
        one = rejection_of_evaluation(reply, judge, self._judges[judge])
        if one is None:
            self._row.was_read(judge)
        elif self._row.is_enough_with(one):
            return (
                f"{REJECTED_IN_A_ROW} replies of the judge {self._names[judge]} in a row can't be read ({one.said}). "
                f"What may mend it: {one.mended}. An evaluation that can't be read is final (P4): start a new "
                "experiment with it"
            )
        return None
