"""Answers of a run that goes on, each scored as it will be at the end."""

from __future__ import annotations

from collections.abc import Sequence

from benchbook.ask.work import is_answered
from benchbook.evaluators.answers.metric import NO_FIELDS, Metric, Scored
from benchbook.evaluators.answers.rows import last_reply, predicted_text, why_unanswered
from benchbook.evaluators.candidate import candidate_plan_of
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.kept import recorded_evalset
from benchbook.evaluators.so_far import CountedSamples, SampleDone
from benchbook.record.facts import RunStarted, SampleFact
from benchbook.record.folder import Record


class AnswersSoFar(CountedSamples):
    """The answers of a run, over its own copy of the eval set. `metric` is None where scores come later."""

    def __init__(self, record: Record, started: RunStarted, metric: Metric | None) -> None:
        needs = metric is not None and metric.needs_expected_answer
        self._keeps_fields = metric is not None and metric.keeps_fields
        self._evalset = recorded_evalset(record, started, needs_expected_answer=needs, keeps_fields=self._keeps_fields)
        self._plan, self._derivation = candidate_plan_of(started), derivation_of(started)
        self._metric = metric

    def done(self, facts: Sequence[SampleFact]) -> SampleDone | None:
        if not is_answered(facts):
            return None
        sample = facts[0].sample
        place = sample % self._plan.n_items
        item = self._evalset[place]
        predicted = predicted_text(last_reply(facts), self._plan, self._derivation)
        if self._metric is None or why_unanswered(facts) is not None:
            return SampleDone(item.id, text=predicted)
        fields = self._evalset.fields(place) if self._keeps_fields else NO_FIELDS
        found = self._metric.score_sample(sample, item, fields, predicted)
        if not isinstance(found, Scored):
            return SampleDone(item.id, text=predicted)
        return SampleDone(item.id, found.score_nano, found.passed, predicted)

    def close(self) -> None:
        self._evalset.close()
