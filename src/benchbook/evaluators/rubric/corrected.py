"""A rubric's aggregates under other scores than its judge's: what people's labels correct."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import msgspec

from benchbook.evaluators.correctable import Correctable, JudgeCost, JudgeWork, MeanOfScores, SampleCounts, Worth
from benchbook.evaluators.rubric.aggregate_kinds import OfSamples
from benchbook.evaluators.rubric.aggregates import table_of
from benchbook.evaluators.rubric.outcomes import outcome_in
from benchbook.evaluators.rubric.rows import AggregatesFile, EarlyStop, RubricRow
from benchbook.evaluators.rubric.scoring import SampleOutcome, score_sample
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.rubric.tables import Derived


def can_be_corrected(spec: RubricSpec) -> bool:
    """True if people can say all that the rubric's judge says.

    Where a criterion need not apply, an aggregate is over other samples by the judge than by people; and of quotes, or
    of an item's own criteria, people say nothing.
    """
    return not (spec.by_item or spec.counted_quotes or any(one.may_not_apply for one in spec.criteria))


class CorrectableRubric(Correctable):
    """A rubric that `can_be_corrected`, without what a run declared unmeasured."""

    def __init__(self, spec: RubricSpec) -> None:
        self._spec = spec

    @cached_property
    def _table(self) -> tuple[OfSamples, ...]:
        """Every aggregate that samples without a score would leave open."""
        return tuple(one for one in table_of(self._spec).values() if isinstance(one, OfSamples) and one.is_open)

    @property
    def means(self) -> tuple[MeanOfScores, ...]:
        names = [one.score_key for one in self._spec.criteria]
        return tuple(
            MeanOfScores(
                one.name,
                frozenset(names if one.of is None else (names[one.of],)),
                one.lowest,
                one.lowest + one.span,
                one.is_rate,
            )
            for one in self._table
        )

    @property
    def compared(self) -> Mapping[str, str]:
        return {"score": "aggregate_score", "passing": "pass_rate"}

    def worth(self, row: RubricRow) -> Worth:
        return self.worth_of(outcome_in(row, self._spec))

    def worth_of(self, outcome: SampleOutcome) -> Worth:
        """The same, from a sample's outcome."""

        def worth(scores: Sequence[int]) -> list[float]:
            given = msgspec.structs.replace(outcome, scores=tuple(scores))
            scored = score_sample(given, self._spec)
            return [(one.of_sample(given, scored) or 0) * one.span / one.unit for one in self._table]

        return worth

    def counts(self, derived: Derived) -> SampleCounts:
        file = derived.aggregates
        n_samples, n_scored, n_unscored = file.aggregates.n_samples, file.aggregates.n_scored, file.ledger.n_unscored
        given = [sum(getattr(file, f"{one.name}_counts").values()) for one in self._spec.criteria]
        by_name = {one.name: n_scored if one.of is None else given[one.of] for one in self._table}
        bases = {name: (n, n + n_unscored) for name, n in by_name.items()}
        is_whole = file.ledger.n_attempted >= file.ledger.n_planned or _ended_early(file)
        return SampleCounts(
            n_samples,
            bases | {"pass_rate": (n_samples, n_samples)},  # a sample without a score does not pass
            is_whole=derived.manifest.state == "complete" and is_whole,
        )

    def judge(self, derived: Derived) -> JudgeWork:
        manifest, file = derived.manifest, derived.aggregates
        return JudgeWork(
            manifest.evaluator_model_id,
            manifest.evaluator_model_version,
            file.ledger.n_unscored,
            file.ledger.unscored_by_reason,
            file.parse_retries,
            JudgeCost(
                usd=file.evaluator_cost_usd,
                input_tokens=file.evaluator_input_tokens,
                output_tokens=file.evaluator_output_tokens,
                latency_p50_ms=file.evaluator_latency_p50_ms,
            ),
        )


def _ended_early(file: AggregatesFile) -> bool:
    return isinstance(file.early_stop, EarlyStop) and file.early_stop.after_items is not None
