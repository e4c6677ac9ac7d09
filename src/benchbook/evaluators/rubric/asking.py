"""What a run of a rubric asks: the candidate, then each judge, who may be asked twice (SPEC R1.3, R3.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from benchbook.ask.asking import Call
from benchbook.ask.limits import Stop
from benchbook.ask.work import Resume
from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.candidate import template_of
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.recorded_outputs import imported_samples
from benchbook.evaluators.rubric.early_stop import StoppingRule, samples_in_order
from benchbook.evaluators.rubric.plan import Plan, Requests
from benchbook.evaluators.rubric.reading import spec_of
from benchbook.evaluators.rubric.steps import AskCandidate, AskJudge, Done, SampleHistory, next_step, read_history
from benchbook.evaluators.rubric.warnings import RejectedReplies, judge_names
from benchbook.record.facts import Failure, Reply
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter

__all__ = ["RubricQuestions", "endpoint_name"]


def endpoint_name(judge: int) -> str:
    """What the endpoint of a plan's judge is called: the role, where there is but one; the candidate's is its role."""
    return "judge" if judge == 0 else f"judge {judge}"


class RubricQuestions:
    """The samples of a record, over its own copy of the eval set, which is closed at the end."""

    def __init__(self, record: Record, plan: Plan, evalset: EvalSet, stop: Stop) -> None:
        started = record.started()
        self._record = record
        self._plan = plan
        self._spec = spec_of(record, plan)
        self._evalset = evalset
        self._stop = stop
        self._derivation = derivation_of(started)
        self._requests = Requests(plan, self._spec, template_of(record, started))
        self._rule = StoppingRule(plan, self._spec, self._derivation, stop, self._item_of)
        self._rejected = RejectedReplies(judge_names(plan))
        self.is_finished = self._rule.is_finished

    @property
    def n_samples(self) -> int:
        return self._plan.n_samples

    @property
    def is_decided(self) -> bool:
        return self._rule.is_decided

    def endpoint_of(self, reply: Reply) -> str:
        return endpoint_name(reply.judge) if reply.role == "judge" else reply.role

    def order(self, journal: JournalWriter, resume: Resume) -> Iterable[int]:
        order = samples_in_order(self._plan)
        if self._plan.candidate.provider != "recorded":
            return order
        started = self._record.started()
        outputs = self._record.input(started.inputs["outputs"])
        form, columns = started.identity["output_form"], started.identity["output_columns"]
        imported = imported_samples(outputs, form, columns, self._evalset, self._plan.repeats, resume, journal)
        # An order that chance draws needs all of them first.
        return imported if self._plan.until_decided is msgspec.UNSET else _after(imported, order)

    def begin(self, sample: int, facts: Sequence[Reply | Failure]) -> _RubricSteps:
        item = self._item_of(sample)
        # A first repeat's first attempt may come from the cache; the others would measure nothing (R3.5, R7.3).
        history = read_history(facts, self._plan, self._spec, self._derivation, item)
        return _RubricSteps(
            sample, item, history, self._requests, self._note_finished,
            first_repeat=sample < self._plan.n_items,
        )  # fmt: skip

    def _item_of(self, sample: int) -> Item:
        return self._evalset[sample % self._plan.n_items]

    def _note_finished(self, sample: int, history: SampleHistory) -> None:
        self._rule.add(sample, history)
        if (reason := self._rejected.note(history)) is not None:
            self._stop.because(reason, failed=True, usage=True)

    def close(self) -> None:
        self._evalset.close()


def _after(imported: Iterable[int], order: Iterable[int]) -> Iterator[int]:
    for _ in imported:
        pass
    yield from order


class _RubricSteps:
    """One sample. `on_finished` is called with each that is finished in this sitting, and its history."""

    def __init__(
        self,
        sample: int,
        item: Item,
        history: SampleHistory,
        requests: Requests,
        on_finished: Callable[[int, SampleHistory], None],
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
