"""What is said of a panel of judges: each of them alone, how they agree, and what they split on."""

from __future__ import annotations

import msgspec

from benchbook.decisions import DecisionName
from benchbook.records.facts import LabelField
from benchbook.scorers.rubric_panel import PanelRule
from benchbook.statistics import Agreement

__all__ = ["JudgeAlone", "JudgePairAgreement", "PanelAnalysis", "Split"]


class JudgeAlone(msgspec.Struct, frozen=True, kw_only=True):
    """The run as it would be with this judge alone; rates and means are those of SPEC R4."""

    judge: int
    name: str
    model_id: str
    model_version: str | None
    n_asked: int
    n_scored: int
    unscored_by_reason: dict[str, int]  # evaluator_error, with the parse_error_reason behind a colon
    accuracy_mean: float | None
    faithfulness_mean: float | None
    aggregate_score: float | None
    pass_rate: float | None
    faithfulness_failure_rate: float | None
    decision: DecisionName | None  # by points (R6.3); None where the run is not whole, or stopped early
    same_as_panel: float | None  # share of the samples that both scored in which both scores are the panel's
    input_tokens: int
    output_tokens: int
    latency_p50_ms: float | None


class JudgePairAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two judges on the samples that both scored; kappa has quadratic weights."""

    judge_a: str
    judge_b: str
    n: int
    same_scores: float | None
    kappa: dict[LabelField, Agreement]


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """A sample on which the judges do not agree. Scores are in the judges' order; None of one who gave none."""

    sample: int
    item_id: str
    repeat: int
    verdicts_differ: bool
    spread: int
    n_dissenting: int
    accuracy_scores: list[int | None]
    faithfulness_scores: list[int | None]


class PanelAnalysis(msgspec.Struct, frozen=True, kw_only=True):
    """`splits` is ranked: first what a person should look at first."""

    rule: PanelRule
    n_judged: int  # samples with an answer, that at least two judges scored
    n_unanimous: int
    n_verdicts_differ: int
    n_scored_without_all: int  # scored, for the judges who gave no score could not have changed it
    n_left_open: int  # not scored, for a judge who gave no score could have
    judges: list[JudgeAlone]
    pairs: list[JudgePairAgreement]
    alpha: dict[LabelField, Agreement]  # Krippendorff's, ordinal, of all judges
    n_clusters: int | None  # groups, or items under repeats: intervals are by whole clusters; None where there are none
    splits: list[Split]
