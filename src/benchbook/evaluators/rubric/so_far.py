"""Samples of a run under a rubric that goes on, each scored as it will be at the end."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.rubric.asking import is_finished
from benchbook.evaluators.rubric.outcomes import outcome_of
from benchbook.evaluators.rubric.plan import plan_of
from benchbook.evaluators.rubric.reading import spec_of
from benchbook.evaluators.rubric.scoring import score_sample
from benchbook.evaluators.rubric.steps import read_history
from benchbook.evaluators.so_far import CountedSamples, SampleDone
from benchbook.record.facts import RunStarted, SampleFact
from benchbook.record.folder import Record


class RubricSoFar(CountedSamples):
    """The samples of a run, over its own copy of the eval set."""

    def __init__(self, record: Record, started: RunStarted) -> None:
        self._plan, self._derivation = plan_of(started), derivation_of(started)
        self._spec = spec_of(record, self._plan)
        self._evalset = recorded_evalset(record, started)

    def done(self, facts: Sequence[SampleFact]) -> SampleDone | None:
        item = self._evalset[facts[0].sample % self._plan.n_items]
        history = read_history(facts, self._plan, self._spec, self._derivation, item)
        if not is_finished(history):
            return None
        score = score_sample(outcome_of(history), self._spec)
        passed = None if score.sample_score_nano is None else score.passed
        return SampleDone(item.id, score.sample_score_nano, passed, history.answer)

    def close(self) -> None:
        self._evalset.close()
