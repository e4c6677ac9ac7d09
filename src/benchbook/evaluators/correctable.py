"""Corrections of a judged run by people's labels, beside its scores: of its aggregates, and so of the decision by them.

An evaluator that can say what an answer would be worth with other scores than its own gives a `Correctable`
(`Evaluator.correctable`); `labels` knows no more of its scoring than that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

Worth = Callable[[Sequence[int]], Sequence[float]]
"""Of one answer: what it adds to each mean, counted from the mean's lowest, if its scores by criterion are these."""


@dataclass(frozen=True, slots=True)
class MeanOfScores:
    """An aggregate that is a mean of one number a sample, which the sample's scores by the criteria `of` decide.

    It lies from `lowest` to `highest`; of a rate the numbers are 0 and 1.
    """

    name: str
    of: frozenset[str]  # `LabelCriterion.name`
    lowest: int = 0
    highest: int = 1
    is_rate: bool = True


@dataclass(frozen=True, slots=True)
class SampleCounts:
    """How many samples a run's aggregates are over."""

    n_samples: int
    bases: Mapping[str, tuple[int, int]]  # by mean: as it stands, and with the unscored samples filled in (R6.3)
    is_whole: bool = True  # every sample that was planned is there


class JudgeCost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost, tokens and latency of judging; None where nobody reported it."""

    usd: str | None
    input_tokens: int
    output_tokens: int
    latency_p50_ms: float | None


@dataclass(frozen=True, slots=True)
class JudgeWork:
    """Who judged a run, how often its reply could not be read, and what it took."""

    model_id: str
    model_version: str | None
    n_unscored: int
    unscored_by_reason: Mapping[str, int]
    parse_retries: int
    cost: JudgeCost


class Correctable(ABC):
    """An evaluator's side of corrections by labels. `derived` are the files of a run, of the evaluator's type; scores
    are in the order of its `label_criteria`, of which each applies to every answer."""

    @property
    @abstractmethod
    def means(self) -> tuple[MeanOfScores, ...]:
        """The aggregates that depend on the judge, in the order in which they are written."""

    @property
    @abstractmethod
    def compared(self) -> Mapping[str, str]:
        """The names of those of `means` that runs are compared by, under the comparison's: `score` and `passing`."""

    @abstractmethod
    def worth(self, row: Any) -> Worth:
        """The numbers that a scored answer adds to `means`: `row` is its row of samples.parquet."""

    @abstractmethod
    def counts(self, derived: Any) -> SampleCounts:
        """How many samples the means are over."""

    @abstractmethod
    def judge(self, derived: Any) -> JudgeWork:
        """The judge whose scores are corrected."""
