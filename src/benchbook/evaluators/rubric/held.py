"""Holds a run's facts against what its plan leads to: each request rendered again, in the order of a sample's steps."""

from __future__ import annotations

import msgspec

from benchbook.evalsets import Item
from benchbook.evaluators.candidate import template_of
from benchbook.evaluators.derivation import ONLY_THE_MODEL, derivation_of
from benchbook.evaluators.held_facts import AFTER_THE_END, NOBODY_ASKED, FactsOfPart, HeldFacts, other_request, said
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.recorded_outputs import KnownOutputs, read_outputs
from benchbook.evaluators.rubric.asking import is_finished
from benchbook.evaluators.rubric.plan import Plan, Requests, plan_of
from benchbook.evaluators.rubric.reading import spec_of
from benchbook.evaluators.rubric.steps import SampleHistory
from benchbook.record.derived_files import Discrepancy
from benchbook.record.facts import Failure, Reply, RunStarted, SampleFact
from benchbook.record.folder import Record
from benchbook.record.state import JournalState

OTHER_OUTPUT = "the file of outputs says something else than this fact"


class RubricPartCheck:
    """Looks at the facts of some samples, in the order of the plan. `held` has what was found."""

    def __init__(self, record: Record, started: RunStarted, outputs: KnownOutputs | None) -> None:
        self._record = record
        self._plan: Plan = plan_of(started)
        self._spec = spec_of(record, self._plan)
        self._derivation = derivation_of(started)
        self._outputs = outputs
        self.requests = Requests(self._plan, self._spec, template_of(record, started))
        self.held = FactsOfPart(record.journal)
        self.n_outputs = 0  # of those that were made elsewhere

    def begin(self) -> None:
        """Forget what was found: the next part begins."""
        self.held = FactsOfPart(self._record.journal)
        self.n_outputs = 0

    @property
    def asks_all(self) -> bool:
        """True if the model was asked for every answer: none was made elsewhere."""
        return self._outputs is None

    def look_at(self, sample: int, item: Item, facts: list[SampleFact]) -> SampleHistory:
        """Hold the facts of a sample one after the other; what they come to is returned."""
        self.n_outputs += self._outputs is not None and sample in self._outputs
        history = SampleHistory(self._plan, self._spec, self._derivation, item)
        hashes: dict[str | int, str] = {}  # of what the candidate is asked, and each judge
        for fact in facts:
            hold = self._of_candidate if fact.role == "candidate" else self._of_judge
            what = hold(fact, history, hashes, item)
            if what is not None and not self.held.are_enough:
                self.held.add(fact, what)
            history.add(fact)
        self.held.n_finished += is_finished(history)
        return history

    def _of_candidate(
        self, fact: SampleFact, history: SampleHistory, hashes: dict[str | int, str], item: Item
    ) -> str | None:
        failure = history.candidate_failure
        if history.candidate is not None or (failure is not None and failure.ends == "sample"):
            return AFTER_THE_END
        if fact.attempt != 1:
            return f"found {said(fact)}; the plan asks it once"
        if self._outputs is not None and self._derivation < ONLY_THE_MODEL and fact.request_sha256 is None:
            return None if isinstance(fact, Failure) or self._outputs.have(fact) else OTHER_OUTPUT
        if self._outputs is None or not isinstance(fact, Reply):
            if "candidate" not in hashes:
                hashes["candidate"] = self.requests.candidate_sha256(item)
            return None if fact.request_sha256 == hashes["candidate"] else other_request("candidate ")
        if fact.request_sha256 is not None:
            return NOBODY_ASKED
        return None if self._outputs.have(fact) else OTHER_OUTPUT

    def _of_judge(
        self, fact: SampleFact, history: SampleHistory, hashes: dict[str | int, str], item: Item
    ) -> str | None:
        if history.answer is None:
            return "a judge was asked, and there was no answer to judge"
        if not 0 <= fact.judge < len(history.judges):
            return None  # whoever reads the facts refuses it
        judging = history.judges[fact.judge]
        if judging.is_done:
            return AFTER_THE_END
        if fact.attempt != len(judging.replies) + 1:
            return f"found {said(fact)}; expected attempt {len(judging.replies) + 1}"
        if fact.judge not in hashes:
            hashes[fact.judge] = self.requests.judge_sha256(item, history.answer, fact.judge)
        return None if fact.request_sha256 == hashes[fact.judge] else other_request("judge ")


class RubricFactsCheck:
    """The findings about all samples, in whichever parts they come."""

    def __init__(self, record: Record, state: JournalState) -> None:
        self._plan = plan_of(state.started)
        outputs = _outputs_of(record, state.started, self._plan)
        self._n_outputs_left = outputs.n if outputs is not None and state.ended is not None else 0
        self._held = HeldFacts(record, state)
        self.of_part = RubricPartCheck(record, state.started, outputs)

    def merge(self, held: FactsOfPart, n_outputs: int) -> None:
        """Add what was found of the samples that come after these."""
        self._held.merge(held)
        self._n_outputs_left -= n_outputs

    def findings(self) -> list[Discrepancy]:
        if self._n_outputs_left > 0 and not self._held.findings:
            what = f"lacks {self._n_outputs_left} of the outputs in the file that it was made of"
            return [Discrepancy("journal", None, what)]
        if self._plan.until_decided is msgspec.UNSET:  # else the decision ends it
            self._held.hold_end()
        return self._held.findings


def _outputs_of(record: Record, started: RunStarted, plan: Plan) -> KnownOutputs | None:
    """The outputs that were made elsewhere; None where the model was asked."""
    if plan.candidate.provider != "recorded":
        return None
    form, columns = started.identity["output_form"], started.identity["output_columns"]
    with recorded_evalset(record, started) as evalset:
        outputs = read_outputs(record.input(started.inputs["outputs"]), form, columns, evalset, plan.repeats)
        return KnownOutputs(outputs, plan.n_samples)
