"""The questions of a run under a rubric, their order, and when enough was asked (SPEC R1.3, R3.5).

The candidate first, then each judge, who may be asked twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from benchbook.ask.asking import Call
from benchbook.ask.limits import Stop
from benchbook.ask.work import Resume
from benchbook.evalsets import EvalSet, Item
from benchbook.evaluators.candidate import template_of
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.recorded_outputs import imported_samples
from benchbook.evaluators.rubric.early_stop_gates import EarlyDecision, EarlyStopping
from benchbook.evaluators.rubric.early_stop_pairs import EarlyDifference, OtherRun, PairedStopping
from benchbook.evaluators.rubric.outcomes import outcome_of
from benchbook.evaluators.rubric.plan import Plan, Requests, UntilDecided
from benchbook.evaluators.rubric.reading import spec_of
from benchbook.evaluators.rubric.rows import EarlyStop, PairedStop
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.steps import (
    AskCandidate,
    AskJudge,
    Done,
    ItemOf,
    SampleHistory,
    next_step,
    no_item,
    read_history,
)
from benchbook.evaluators.rubric.warnings import RejectedReplies, judge_names
from benchbook.record.facts import Failure, Reply, SampleFact
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter

Early = EarlyDecision | EarlyDifference


def items_in_order(rule: UntilDecided, evalset_sha256: str, n_items: int) -> list[int]:
    """The items' numbers in the order that chance gave them.

    Chance comes from hashes of seed, eval set and item: no library's next version changes the order.
    """
    drawn = f"ask/{rule.seed}/{evalset_sha256}/"
    return sorted(range(n_items), key=lambda item: (hashlib.sha256(f"{drawn}{item}".encode()).digest(), item))


def samples_in_order(plan: Plan) -> Iterable[int]:
    """Every sample of the plan in the order in which they are asked; an item's repeats follow each other where the run
    may stop early."""
    if not isinstance(plan.until_decided, UntilDecided):
        return range(plan.n_samples)
    order = items_in_order(plan.until_decided, plan.evalset_sha256, plan.n_items)
    return (repeat * plan.n_items + item for item in order for repeat in range(plan.repeats))


def early_stopping(plan: Plan, spec: RubricSpec) -> EarlyStopping | PairedStopping | None:
    """The rule that a plan stops by; None where it asks everything."""
    rule = plan.until_decided
    if not isinstance(rule, UntilDecided):
        return None
    order = items_in_order(rule, plan.evalset_sha256, plan.n_items)
    if isinstance(rule.against, OtherRun):
        return PairedStopping(order, plan.repeats, rule.error, rule.against, spec)
    return EarlyStopping(order, plan.repeats, rule.error, spec)


def early_decision(
    plan: Plan,
    spec: RubricSpec,
    samples: Iterable[tuple[int, list[SampleFact]]],
    derivation: int,
    item_of: ItemOf = no_item,
) -> Early | None:
    """The decision before all items were asked, by the facts of the samples alone; None where there was none."""
    stopping = early_stopping(plan, spec)
    if stopping is None:
        return None
    for sample, facts in samples:
        history = read_history(facts, plan, spec, derivation, item_of(sample))
        if is_finished(history):
            stopping.add(sample, outcome_of(history))
    return stopping.decision


def items_that_decided(plan: Plan, early: Early | None) -> frozenset[int] | None:
    """The items that numbers are made of; None for all of them."""
    if early is None or not isinstance(plan.until_decided, UntilDecided):
        return None
    return frozenset(items_in_order(plan.until_decided, plan.evalset_sha256, plan.n_items)[: early.after_items])


def early_stop_of(plan: Plan, early: Early | None, n_counted: int, n_after: int) -> EarlyStop | msgspec.UnsetType:
    """How the run stopped early, for aggregates.json; nothing where the plan asks for all items."""
    rule = plan.until_decided
    if not isinstance(rule, UntilDecided):
        return msgspec.UNSET
    return EarlyStop(
        decision=early.decision if isinstance(early, EarlyDecision) else None,
        after_items=early.after_items if early else None,
        n_items=plan.n_items,
        error=rule.error,
        seed=rule.seed,
        method=rule.method,
        gates=early.gates if isinstance(early, EarlyDecision) else (),
        n_samples_counted=n_counted,
        n_samples_after=n_after,
        n_samples_not_asked=plan.n_samples - n_counted - n_after,
        against=_paired_stop(rule.against, early) if isinstance(rule.against, OtherRun) else msgspec.UNSET,
    )


def _paired_stop(other: OtherRun, early: Early | None) -> PairedStop:
    shown = early if isinstance(early, EarlyDifference) else None
    return PairedStop(
        run_id=other.run_id,
        journal_sha256=other.journal_sha256,
        verdict=None if shown is None else shown.verdict,
        n_won=None if shown is None else shown.n_won,
        n_lost=None if shown is None else shown.n_lost,
        n_same=None if shown is None else shown.n_same,
        n_open=None if shown is None else shown.n_open,
    )


def is_finished(history: SampleHistory) -> bool:
    """True if nothing is left to be asked of a sample."""
    return isinstance(next_step(history), Done)


def was_asked(facts: Sequence[SampleFact]) -> bool:
    """True if anybody was asked: an output that was recorded elsewhere is a fact, too."""
    return any(fact.request_sha256 is not None for fact in facts)


class StoppingRule:
    """Looks at every sample that is finished: those that a journal has already, then those of this sitting."""

    def __init__(self, plan: Plan, spec: RubricSpec, derivation: int, stop: Stop, item_of: ItemOf) -> None:
        self._plan = plan
        self._spec = spec
        self._derivation = derivation
        self._stopping = early_stopping(plan, spec)
        self._stop = stop
        self._item_of: ItemOf = item_of if spec.needs_item else no_item  # to find an item takes time

    @property
    def is_decided(self) -> bool:
        return self._stopping is not None and self._stopping.decision is not None

    def is_finished(self, facts: list[SampleFact]) -> bool:
        """True if nothing is left to be asked of a sample, by what the journal has of it so far; it is then added."""
        item = self._item_of(facts[0].sample)
        history = read_history(facts, self._plan, self._spec, self._derivation, item)
        if not is_finished(history):
            return False
        self.add(facts[0].sample, history)
        return True

    def add(self, sample: int, history: SampleHistory) -> None:
        """Add a finished sample. The first that decides ends the asking; what is under way comes to its end."""
        if self._stopping is None or self.is_decided:
            return
        self._stopping.add(sample, outcome_of(history))
        if self._stopping.decision is not None:
            self._stop.because(self._stopping.decision.words)


def endpoint_name(judge: int) -> str:
    """The name of the endpoint of a plan's judge: the role, where there is one judge; the candidate's is its role."""
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
        self._rejected = RejectedReplies(judge_names(plan), plan.judges)
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
        return is_finished(self._history)

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
