"""The results of holding a judge against people. A number has its interval and n, or a reason why it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from benchbook.evaluators.correctable import Worth
from benchbook.evaluators.gates import Decision, DecisionName
from benchbook.statistics import Agreement, Estimate

AgreementName = Literal[
    "cohens_kappa",
    "cohens_kappa_linear",
    "cohens_kappa_quadratic",
    "gwet_ac1",
    "gwet_ac2_quadratic",
    "krippendorff_alpha_ordinal",
]


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """An answer that an evaluator scored, with what it is sliced and clustered by.

    A score, by criterion, is None where the criterion does not apply. `cluster` names what the answer shares with
    others (its group, or its item under repeats); None where nothing does. `slices` are its section, category and
    difficulty, as far as it has them. `worth` is what it adds to aggregates, where labels correct those. `stratum`
    is its own in a draw that took more of some strata than of others.
    """

    sample: int
    scores: tuple[int | None, ...]
    answer_chars: int
    slices: tuple[tuple[str, str], ...]
    cluster: str | None = None
    worth: Worth | None = None
    stratum: str | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """The confidence of intervals; `seed` is that of resampling."""

    confidence: float = 0.95
    seed: int = 0
    n_resamples: int = 10_000


class SliceBias(msgspec.Struct, frozen=True, kw_only=True):
    """The judge's mean score minus people's, over the labelled samples that share a value."""

    slice: str  # section, category, difficulty, or length of the answer
    value: str
    difference: Estimate
    p: float | None  # by the sign-flip test
    p_holm: float | None  # over all slices of the field


class Bias(msgspec.Struct, frozen=True, kw_only=True):
    """The bias of the judge: above 0, it is kinder than people are."""

    overall: Estimate
    slices: tuple[SliceBias, ...]
    with_length: Estimate  # Spearman's rank correlation of judge minus people with the answer's length


class FieldTrial(msgspec.Struct, frozen=True, kw_only=True):
    """One criterion of the judge against people. `confusion[people][judge]` counts samples."""

    field: str  # the criterion's name
    n: int
    confusion: dict[str, dict[str, int]]
    same: Estimate  # the share of these samples to which the judge gave people's own score
    agreement: dict[AgreementName, Agreement]
    bias: Bias


class Corrected(msgspec.Struct, frozen=True, kw_only=True):
    """An aggregate over the judged samples as the judge has it, and as people would have it.

    `by_labels_alone` leaves the judge out: less sharp, and right where the judge is uninformative, or where people
    found nothing that a correction could be made from.
    """

    aggregate: str
    as_judged: float | None
    corrected: Estimate  # of a rate a CorrectedRate, of a mean a PredictionPoweredMean, where one can be made
    by_labels_alone: Estimate
    n_judged: int
    n_labelled: int


class CorrectedGate(msgspec.Struct, frozen=True, kw_only=True):
    """A gate under the corrected value of the whole run.

    `source` says where that comes from: labels alone where the correction gives no interval, the run itself where no
    judge has a say. `worst` and `best` are what the interval and the unscored samples leave possible; None where
    nothing can be said, for `reason`.
    """

    aggregate: str
    direction: Literal["at_least", "at_most"]
    limit: float
    source: Literal["corrected", "labels_alone", "run"]
    frozen: float | None
    value: float | None
    worst: float | None
    best: float | None
    holds: bool  # the value does
    holds_for_sure: bool  # the worst does
    can_hold: bool  # the best does; true where nothing can be said
    reason: str | None = None


class CorrectedDecision(msgspec.Struct, frozen=True, kw_only=True):
    """READY where every gate holds at its worst, NOT_READY where one does not hold at its best, else INCONCLUSIVE."""

    decision: DecisionName
    by_values_alone: DecisionName  # the decision if the values were certain
    reasons: tuple[str, ...]
    gates: tuple[CorrectedGate, ...]
    confidence: float


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """A judge held against people's labels."""

    n_judged: int
    n_labelled: int  # judged samples with a label by some criterion that is not in dispute
    n_clusters: int | None
    confidence: float
    seed: int
    fields: tuple[FieldTrial, ...]
    corrected: tuple[Corrected, ...]
    frozen_decision: Decision | None
    corrected_decision: CorrectedDecision | None
    warnings: tuple[str, ...]
