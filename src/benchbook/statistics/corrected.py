"""A rate that a judge reported, corrected for the errors that the judge makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from benchbook.statistics.distributions import normal_quantile
from benchbook.statistics.ground import FEW_LABELS, Basis, Estimate, check_confidence, check_counts, check_draws


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate(Estimate):
    """The share that truly is positive. `estimate` lies in 0..1, `raw_estimate` is what the formula gave.

    `standard_error` is of the raw estimate, by the delta method; `n` counts judged samples, without the labelled ones.
    """

    raw_estimate: float | None
    sensitivity: float | None
    specificity: float | None
    n_labelled: int


@dataclass(frozen=True, slots=True)
class _Rates:
    """Flagged share, sensitivity and specificity, each with the number it was estimated from."""

    flagged: float
    n: float
    sensitivity: float
    positives: float
    specificity: float
    negatives: float

    @property
    def youden(self) -> float:
        return self.sensitivity + self.specificity - 1

    @property
    def true_share(self) -> float:
        return (self.flagged + self.specificity - 1) / self.youden

    @property
    def variances(self) -> tuple[float, float, float]:
        """The variances of the flagged share, of sensitivity and of specificity."""
        return (
            self.flagged * (1 - self.flagged) / self.n,
            self.sensitivity * (1 - self.sensitivity) / self.positives,
            self.specificity * (1 - self.specificity) / self.negatives,
        )

    @property
    def standard_error(self) -> float:
        """The standard error by the delta method (Rogan and Gladen 1978)."""
        flagged, sensitivity, specificity = self.variances
        share = self.true_share
        return sqrt(flagged + share**2 * sensitivity + (1 - share) ** 2 * specificity) / self.youden


@dataclass(frozen=True, slots=True)
class _Counts:
    """The counts of a judge and of people. Raises: ValueError for a part larger than its whole."""

    flagged: int
    n: int
    true_positives: int
    positives: int
    true_negatives: int
    negatives: int

    def __post_init__(self) -> None:
        check_counts(self.flagged, self.n, "flagged")
        check_counts(self.true_positives, self.positives, "true_positives")
        check_counts(self.true_negatives, self.negatives, "true_negatives")

    @property
    def why_not(self) -> str | None:
        """Why nothing can be said, in whole numbers: 0.9 + 0.1 may be a hair above 1 in floats."""
        if not (self.n and self.positives and self.negatives):
            return "no_data"
        right = self.true_positives * self.negatives + self.true_negatives * self.positives
        return "judge_no_better_than_chance" if right <= self.positives * self.negatives else None

    def rates(self) -> _Rates:
        return self._with(0.0, 0.0)

    def adjusted(self, z: float) -> _Rates:
        """The rates with z^2/2 samples added each way to the judged ones, and one to the labelled ones."""
        return self._with(z * z / 2, 1.0)

    def _with(self, judged: float, labelled: float) -> _Rates:
        n, positives, negatives = self.n + 2 * judged, self.positives + 2 * labelled, self.negatives + 2 * labelled
        return _Rates(
            (self.flagged + judged) / n,
            n,
            (self.true_positives + labelled) / positives,
            positives,
            (self.true_negatives + labelled) / negatives,
            negatives,
        )


def rogan_gladen(
    flagged: int,
    n: int,
    *,
    true_positives: int,
    positives: int,
    true_negatives: int,
    negatives: int,
    confidence: float = 0.95,
    seed: int = 0,
    n_resamples: int = 10_000,
) -> CorrectedRate:
    """(flagged share + specificity - 1) / (sensitivity + specificity - 1) (Rogan and Gladen 1978).

    The judge flagged `flagged` of `n`; of the samples that people labelled, it flagged `true_positives` of the
    `positives` and passed `true_negatives` of the `negatives`. Interval: Lang and Reiczigel 2014; where their adjusted
    judge is no better than chance, a parametric bootstrap. In tiny samples the estimate may lie outside of it. Null:
    `no_data` where a sample is empty, `judge_no_better_than_chance` where sensitivity + specificity <= 1.

    Raises: ValueError for impossible counts.
    """
    check_confidence(confidence)
    check_draws(n_resamples, "n_resamples")
    counts = _Counts(flagged, n, true_positives, positives, true_negatives, negatives)
    reason = counts.why_not
    if reason is not None:
        return _nothing(counts, confidence, reason)
    rates, adjusted = counts.rates(), counts.adjusted(normal_quantile((1 + confidence) / 2))
    if adjusted.youden > 0:
        interval = _lang_reiczigel(adjusted, confidence)
    else:
        interval = _bootstrap(rates, confidence, seed, n_resamples)
    raw = rates.true_share
    few = min(positives, negatives) < FEW_LABELS
    return CorrectedRate(
        estimate=_clip(raw),
        low=_clip(interval.low),
        high=_clip(interval.high),
        confidence=confidence,
        method=interval.method,
        n=n,
        warnings=("clipped",) * (raw != _clip(raw)) + ("few_labels",) * few + interval.warnings,
        standard_error=rates.standard_error,
        seed=interval.seed,
        raw_estimate=raw,
        sensitivity=rates.sensitivity,
        specificity=rates.specificity,
        n_labelled=positives + negatives,
    )


@dataclass(frozen=True, slots=True)
class _Interval:
    low: float
    high: float
    method: str
    warnings: tuple[str, ...] = ()
    seed: int | None = None


def _lang_reiczigel(adjusted: _Rates, confidence: float) -> _Interval:
    """Lang and Reiczigel 2014, equation 4: the adjusted estimate, shifted, plus and minus z standard errors."""
    z = normal_quantile((1 + confidence) / 2)
    share, (_, sensitivity, specificity) = adjusted.true_share, adjusted.variances
    middle = share + 2 * z * z * (share * sensitivity - (1 - share) * specificity)
    half = z * adjusted.standard_error
    return _Interval(middle - half, middle + half, "lang_reiczigel")


def _bootstrap(rates: _Rates, confidence: float, seed: int, n_resamples: int) -> _Interval:
    """Percentiles over redrawn counts. A redrawn judge no better than chance allows any share, from 0 to 1."""
    rng = np.random.default_rng(seed)
    flagged, sensitivity, specificity = (
        rng.binomial(int(n), share, n_resamples) / n
        for share, n in (
            (rates.flagged, rates.n),
            (rates.sensitivity, rates.positives),
            (rates.specificity, rates.negatives),
        )
    )
    youden = sensitivity + specificity - 1
    useful = youden > 1e-12
    shares = np.clip((flagged + specificity - 1) / np.where(useful, youden, 1.0), 0.0, 1.0)
    low = np.quantile(np.where(useful, shares, 0.0), (1 - confidence) / 2)
    high = np.quantile(np.where(useful, shares, 1.0), (1 + confidence) / 2)
    warnings = () if useful.all() else ("judge_near_chance",)
    return _Interval(float(low), float(high), "parametric_bootstrap", warnings, seed)


def _nothing(counts: _Counts, confidence: float, reason: str) -> CorrectedRate:
    return CorrectedRate(
        estimate=None,
        low=None,
        high=None,
        confidence=confidence,
        method="lang_reiczigel",
        n=counts.n,
        reason=reason,
        raw_estimate=None,
        sensitivity=counts.true_positives / counts.positives if counts.positives else None,
        specificity=counts.true_negatives / counts.negatives if counts.negatives else None,
        n_labelled=counts.positives + counts.negatives,
    )


def _clip(share: float) -> float:
    return min(1.0, max(0.0, share))


@dataclass(frozen=True, slots=True)
class Stratum:
    """The `n` samples with one judgement: people labelled `n_labelled`, and found `positives` of these positive."""

    n: int
    n_labelled: int
    positives: int

    def __post_init__(self) -> None:
        check_counts(self.n_labelled, self.n, "n_labelled")
        check_counts(self.positives, self.n_labelled, "positives")

    @property
    def share(self) -> float:
        """The share of positives; a half where nobody labelled any: Jeffreys' mean."""
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
    basis = Basis(n, confidence, "post_stratified", seed=seed)
    if not n_labelled:
        return basis.nothing("no_data")
    rng = np.random.default_rng(seed)
    weight = rng.beta(flagged.n + 0.5, others.n + 0.5, n_resamples)
    of_flagged, of_others = (
        rng.beta(one.positives + 0.5, one.n_labelled - one.positives + 0.5, n_resamples) for one in (flagged, others)
    )
    found = weight * of_flagged + (1 - weight) * of_others
    estimate = (flagged.n * flagged.share + others.n * others.share) / n
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    few = any(one.n and one.n_labelled < min(FEW_LABELS, one.n) for one in (flagged, others))
    bounds = min(float(low), estimate), max(float(high), estimate)
    return basis.interval(estimate, *bounds, float(found.std()), ("few_labels",) * few)
