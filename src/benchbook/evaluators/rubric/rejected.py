"""Judges' replies that were not read (R3.5): they are counted, and ten answers in a row end the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from benchbook.evaluators.rejections import REJECTED_IN_A_ROW, InARow, Rejection, explained
from benchbook.evaluators.rubric.plan import Panel, Plan
from benchbook.evaluators.rubric.steps import SampleHistory

__all__ = ["RejectedCounts", "RejectedReplies", "rejections_of"]


_OF_QUOTES: Mapping[str, tuple[str, str]] = {
    "quote_not_found": (
        "quote_not_found: its quote does not stand in what it judged",
        'quote = "report" in the rubric, which counts them, or another judge',
    ),
    "bad_quote": (
        "bad_quote: what it gave is no quote",
        "a prompt that asks for some words of the answer, letter by letter, or another judge",
    ),
}


def rejections_of(history: SampleHistory) -> list[Rejection]:
    """Of every judge whose replies to this answer were all rejected."""
    found = []
    for number, judging in enumerate(history.judges):
        if judging.error == "parse_error" and judging.rejected is not None:
            plan = history.plan
            said, mended = _OF_QUOTES.get(judging.rejected.reason) or explained(
                judging.replies[-1][0], judging.rejected.reason, judging.rejected.detail, plan.judges[number],
                _setting(plan, number),
            )  # fmt: skip
            found.append(Rejection(number, judging.rejected.reason, said, mended))
    return found


def _setting(plan: Plan, judge: int) -> str:
    """What stands before a setting of this judge."""
    return f"judges[{judge}]." if isinstance(plan.panel, Panel) else "judge_"


class RejectedCounts:
    """Counts, while samples go by, of which judge nothing could be read, by what was wrong.

    Now and then it happens, and is counted with what was not scored; half of the time something is set wrong.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._counts: Counter[tuple[int, str, str]] = Counter()
        self._n_judged = [0] * len(names)

    def add(self, history: SampleHistory) -> None:
        for number, judging in enumerate(history.judges):
            self._n_judged[number] += bool(judging.replies)
        for one in rejections_of(history):
            self._counts[one.judge, one.said.partition(":")[0], one.mended] += 1

    def warnings(self) -> list[str]:
        """Of one kind each, most first."""
        return [
            f"Of {n:,} {'answer' if n == 1 else 'answers'} no reply of the {self._names[judge]} could be read: {said}. "
            f"What may mend it, in a new run: {mended}."
            for (judge, said, mended), n in sorted(self._counts.items(), key=lambda pair: (-pair[1], pair[0]))
            if 2 * n >= self._n_judged[judge]
        ]


class RejectedReplies:
    """Looks at every sample that is finished in a sitting. `names` are what texts call the judges, by their numbers."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._row = InARow(len(names))

    def note(self, history: SampleHistory) -> str | None:
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
