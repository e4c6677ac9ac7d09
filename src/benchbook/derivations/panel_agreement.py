"""How the judges of a panel agree: all of them together, and two by two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from benchbook.derivations.panel_results import JudgePairAgreement
from benchbook.records.facts import LabelField
from benchbook.records.labels_state import FIELDS, SCORES
from benchbook.scorers.exact import as_float, ratio
from benchbook.statistics import Agreement, cohens_kappa, krippendorff_alpha

__all__ = ["PanelAgreement"]


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """`scores` has, for each field, a row a judge and a column a sample; None where a judge gave none.

    `clusters` says what each sample shares with others; None where every sample stands for itself. The rest is of the
    intervals, by resampling.
    """

    scores: Mapping[LabelField, Sequence[Sequence[int | None]]]
    clusters: Sequence[str] | None
    confidence: float
    seed: int
    n_resamples: int

    def alpha(self, field: LabelField) -> Agreement:
        return krippendorff_alpha(
            self.scores[field],
            clusters=self.clusters,
            confidence=self.confidence,
            seed=self.seed,
            n_resamples=self.n_resamples,
        )

    def pairs(self, names: Sequence[str]) -> list[JudgePairAgreement]:
        """Every two judges; `names` are theirs, by their numbers."""
        return [self._pair(names, a, b) for a, b in combinations(range(len(names)), 2)]

    def _pair(self, names: Sequence[str], a: int, b: int) -> JudgePairAgreement:
        one, other = ([self.scores[field][judge] for field in FIELDS] for judge in (a, b))
        # A judge gives both scores or none, so one of them tells.
        both = [place for place, pair in enumerate(zip(one[0], other[0], strict=True)) if None not in pair]
        same = sum(all(x[place] == y[place] for x, y in zip(one, other, strict=True)) for place in both)
        return JudgePairAgreement(
            judge_a=names[a],
            judge_b=names[b],
            n=len(both),
            same_scores=as_float(ratio(same, len(both))),
            kappa={field: self._kappa(x, y, both) for field, x, y in zip(FIELDS, one, other, strict=True)},
        )

    def _kappa(self, a: Sequence[int | None], b: Sequence[int | None], both: Sequence[int]) -> Agreement:
        return cohens_kappa(
            [a[place] for place in both],
            [b[place] for place in both],
            SCORES,
            weights="quadratic",
            clusters=None if self.clusters is None else [self.clusters[place] for place in both],
            confidence=self.confidence,
            seed=self.seed,
            n_resamples=self.n_resamples,
        )
