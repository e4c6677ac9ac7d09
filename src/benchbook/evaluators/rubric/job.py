"""What a `rubric@v1` run asks: the candidate, then its judge, who may be asked twice (SPEC R1.3, R3.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchbook.ask.asking import Call
from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.rubric.plan import Plan
from benchbook.evaluators.rubric.requests import Requests
from benchbook.evaluators.rubric.steps import AskCandidate, AskJudge, Done, History, next_step, read_history
from benchbook.record.facts import Failure, Reply

__all__ = ["RubricJob", "endpoint_name"]


def endpoint_name(judge: int) -> str:
    """What the endpoint of a plan's judge is called: the role, where there is but one; the candidate's is its role."""
    return "judge" if judge == 0 else f"judge {judge}"


class RubricJob:
    """`order` has every sample's number as it is to be asked.

    `on_finished` is told of each sample that is finished in this sitting, with its history.
    """

    def __init__(
        self,
        plan: Plan,
        derivation: int,
        evalset: EvalSet,
        requests: Requests,
        order: Iterable[int],
        on_finished: Callable[[int, History], None],
    ) -> None:
        self._plan = plan
        self._derivation = derivation
        self._evalset = evalset
        self._requests = requests
        self._order = order
        self._on_finished = on_finished

    @property
    def n_samples(self) -> int:
        return self._plan.n_samples

    def order(self) -> Iterable[int]:
        return self._order

    def begin(self, sample: int, facts: Sequence[Reply | Failure]) -> _RubricSteps:
        item = self._evalset[sample % self._plan.n_items]
        # A first repeat's first attempt may come from the cache; the others would measure nothing (R3.5, R7.3).
        return _RubricSteps(
            sample, item, read_history(facts, self._plan, self._derivation), self._requests, self._on_finished,
            first_repeat=sample < self._plan.n_items,
        )  # fmt: skip


class _RubricSteps:
    def __init__(
        self,
        sample: int,
        item: Item,
        history: History,
        requests: Requests,
        on_finished: Callable[[int, History], None],
        *,
        first_repeat: bool,
    ) -> None:
        self._sample = sample
        self._item = item
        self._history = history
        self._requests = requests
        self._on_finished = on_finished
        self._first_repeat = first_repeat
        self._asked = False  # anything, in this sitting
        self._given_up: set[int] = set()  # judges that could not be reached in this sitting

    @property
    def is_finished(self) -> bool:
        return isinstance(next_step(self._history), Done)

    def add(self, fact: Reply | Failure) -> None:
        self._history.add(fact)
        if isinstance(fact, Failure) and fact.role == "judge" and fact.ends == "sitting":
            self._given_up.add(fact.judge)

    def next_call(self) -> Call | None:
        candidate = self._history.candidate_failure
        if candidate is not None and candidate.ends == "sitting" and self._asked:
            return None
        self._asked = True
        match next_step(self._history, self._given_up):
            case AskCandidate():
                body = self._requests.candidate(self._item)
                return Call(self._sample, "candidate", 1, body, "candidate", self._first_repeat, begins=True)
            case AskJudge(judge, attempt, answer):
                body = self._requests.judge(self._item, answer, judge)
                cacheable = self._first_repeat and attempt == 1
                return Call(self._sample, "judge", attempt, body, endpoint_name(judge), cacheable, judge=judge)
            case Done():
                if self.is_finished:
                    self._on_finished(self._sample, self._history)
                return None
