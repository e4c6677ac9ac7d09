"""The analysis of a panel of judges: each judge alone, how they agree, and what they split on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import msgspec

from benchbook.evaluators.exact import as_float, ratio
from benchbook.evaluators.gates import DecisionName
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.made import Made
from benchbook.evaluators.panel_rules import PanelRule
from benchbook.statistics.ground import Agreement


class JudgeAlone(Made, frozen=True, kw_only=True):
    """The run as it would be with this judge alone; rates and means are those of every run, with those of the criteria
    that the rubric shows."""

    __slots__ = ()

    judge: int
    name: str
    model_id: str
    model_version: str | None
    n_asked: int
    n_scored: int
    unscored_by_reason: dict[str, int]  # evaluator_error, with the parse_error_reason behind a colon
    aggregate_score: float | None
    pass_rate: float | None
    intervals: dict[str, Interval]  # of these means and rates
    decision: DecisionName | None  # by points (R6.3); None where the run is not whole, or stopped early
    same_as_panel: float | None  # share of the samples that both scored in which all scores are the panel's
    input_tokens: int
    output_tokens: int
    latency_p50_ms: float | None


class JudgePairAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two judges on the samples that both scored; kappa has quadratic weights."""

    judge_a: str
    judge_b: str
    n: int
    same_scores: float | None
    kappa: dict[str, Agreement]  # by criterion


class Split(Made, frozen=True, kw_only=True):
    """A sample on which the judges do not agree. The scores of each criterion are in the judges' order; None of one who
    gave none."""

    __slots__ = ()

    sample: int
    item_id: str
    repeat: int
    verdicts_differ: bool
    spread: int
    n_dissenting: int


class PanelAnalysis(Made, frozen=True, kw_only=True):
    """The analysis of a panel. `splits` is ranked: first what a person should look at first."""

    __slots__ = ()

    rule: PanelRule
    n_judged: int  # samples with an answer, that at least two judges scored
    n_unanimous: int
    n_verdicts_differ: int
    n_scored_without_all: int  # scored, for the judges who gave no score could not have changed it
    n_left_open: int  # not scored, for a judge who gave no score could have
    judges: list[JudgeAlone]
    pairs: list[JudgePairAgreement]
    alpha: dict[str, Agreement]  # by criterion; Krippendorff's, ordinal, of all judges
    n_clusters: int | None  # groups, or items under repeats: intervals are by whole clusters; None where there are none
    splits: list[Split]


@dataclass(frozen=True, slots=True)
class JudgesScores:
    """The judges' scores by one criterion: a row a judge, a column for each thing that they scored, and None where one
    gave nothing. `scale` are the scores that can be given.

    `clusters` says what each column shares with others; None where every one stands for itself.
    """

    scale: tuple[int, ...]
    given: Sequence[Sequence[int | None]]
    clusters: Sequence[str] | None


Marks = tuple[int | None, ...]  # all that a judge gave one sample


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """How judges agree. `marks` has a row a judge and a column a sample; None where a judge gave none. The rest is of
    the intervals, by resampling."""

    criteria: Mapping[str, JudgesScores]
    marks: Sequence[Sequence[Marks | None]]
    confidence: float
    seed: int
    n_resamples: int

    def alpha(self) -> dict[str, Agreement]:
        """The agreement of all judges together, by criterion."""
        from benchbook.statistics import krippendorff_alpha  # loads NumPy

        return {
            name: krippendorff_alpha(
                one.given,
                clusters=one.clusters,
                confidence=self.confidence,
                seed=self.seed,
                n_resamples=self.n_resamples,
            )
            for name, one in self.criteria.items()
        }

    def pairs(self, names: Sequence[str]) -> list[JudgePairAgreement]:
        """The agreement of every two judges; `names` are theirs, by their numbers."""
        return [self._pair(names, a, b) for a, b in combinations(range(len(names)), 2)]

    def _pair(self, names: Sequence[str], a: int, b: int) -> JudgePairAgreement:
        both = [pair for pair in zip(self.marks[a], self.marks[b], strict=True) if None not in pair]
        return JudgePairAgreement(
            judge_a=names[a],
            judge_b=names[b],
            n=len(both),
            same_scores=as_float(ratio(sum(one == other for one, other in both), len(both))),
            kappa={name: self._kappa(one, a, b) for name, one in self.criteria.items()},
        )

    def _kappa(self, criterion: JudgesScores, a: int, b: int) -> Agreement:
        from benchbook.statistics import cohens_kappa  # loads NumPy

        one, other, clusters = criterion.given[a], criterion.given[b], criterion.clusters
        both = [place for place, pair in enumerate(zip(one, other, strict=True)) if None not in pair]
        return cohens_kappa(
            [one[place] for place in both],
            [other[place] for place in both],
            criterion.scale,
            weights="quadratic",
            clusters=None if clusters is None else [clusters[place] for place in both],
            confidence=self.confidence,
            seed=self.seed,
            n_resamples=self.n_resamples,
        )


def rank_of(split: Split) -> tuple[int, int, int, int]:
    """First where pass or fail depends on the judge, then where scores lie far apart, then where many dissent."""
    return -split.verdicts_differ, -split.spread, -split.n_dissenting, split.sample
