"""A rate that a judge reported, corrected by labels that were drawn from the judged samples (Tenenbein 1970).

Each judgement, flagged or not, is a stratum: of it people labelled some, drawn by chance, and all are counted. So the
corrected rate is the share of true ones among the flagged, weighted by how many are flagged, and that of the others.
Unlike sensitivity and specificity (Rogan and Gladen 1978), these shares are estimated where they are used; so the
interval is narrower, and labels that were drawn more often from one stratum do no harm.

The interval is Jeffreys' posterior: the three shares have independent beta distributions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchbook.statistics._inputs import check_confidence, check_counts, check_draws
from benchbook.statistics.results import Estimate, without_interval

__all__ = ["Stratum", "post_stratified_rate"]

FEW_LABELS = 10


@dataclass(frozen=True, slots=True)
class Stratum:
    """Of `n` samples with one judgement people labelled `n_labelled`, and found `positives` of these positive."""

    n: int
    n_labelled: int
    positives: int

    def __post_init__(self) -> None:
        check_counts(self.n_labelled, self.n, "n_labelled")
        check_counts(self.positives, self.n_labelled, "positives")

    @property
    def share(self) -> float:
        """A half where nobody labelled any: Jeffreys' mean."""
        return self.positives / self.n_labelled if self.n_labelled else 0.5


def post_stratified_rate(
    strata: Mapping[bool, Stratum], *, confidence: float = 0.95, seed: int = 0, n_resamples: int = 10_000
) -> Estimate:
    """The share of positives among all samples; `strata[True]` are those that the judge flagged.

    Null, `no_data`, without samples or labels. Warning `few_labels` where a stratum with samples has fewer than 10.

    Raises: ValueError for impossible counts.
    """
    check_confidence(confidence)
    check_draws(n_resamples, "n_resamples")
    flagged, others = strata[True], strata[False]
    n, n_labelled = flagged.n + others.n, flagged.n_labelled + others.n_labelled
    if not n_labelled:
        return without_interval(None, n=n, confidence=confidence, method="post_stratified", reason="no_data")
    rng = np.random.default_rng(seed)
    weight = rng.beta(flagged.n + 0.5, others.n + 0.5, n_resamples)
    of_flagged, of_others = (
        rng.beta(one.positives + 0.5, one.n_labelled - one.positives + 0.5, n_resamples) for one in (flagged, others)
    )
    found = weight * of_flagged + (1 - weight) * of_others
    estimate = (flagged.n * flagged.share + others.n * others.share) / n
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    few = any(one.n and one.n_labelled < min(FEW_LABELS, one.n) for one in (flagged, others))
    return Estimate(
        estimate=estimate,
        low=min(float(low), estimate),
        high=max(float(high), estimate),
        confidence=confidence,
        method="post_stratified",
        n=n,
        warnings=("few_labels",) * few,
        standard_error=float(found.std()),
        seed=seed,
    )
