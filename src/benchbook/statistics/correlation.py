"""Rank correlations of two judgements of the same items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import atanh, sqrt, tanh

import numpy as np

from benchbook.statistics._arrays import Floats, Values
from benchbook.statistics._distributions import normal_quantile
from benchbook.statistics._inputs import as_pairs, check_confidence
from benchbook.statistics.results import Estimate, without_interval

__all__ = ["RankCorrelation", "rank_correlation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """From -1 (opposite order) to 1 (the same order)."""

    kendall_tau_b: Estimate
    spearman: Estimate


def rank_correlation(a: Values, b: Values, confidence: float = 0.95) -> RankCorrelation:
    """Kendall's tau-b and Spearman's rho, with intervals by Fisher's z (Bonett and Wright 2000).

    Standard errors of z: sqrt(0.437 / (n - 4)) and sqrt((1 + rho^2 / 2) / (n - 3)). Null: `no_data`, `one_value`, or
    `no_variance` where one side's values are all alike; null bounds: `sample_too_small`, `perfect_correlation`.
    """
    x, y = as_pairs(a, b)
    check_confidence(confidence)
    n, reason = int(x.size), _why_not(x, y)
    if reason is not None:
        tau, rho = (
            without_interval(None, n=n, confidence=confidence, method=method, reason=reason)
            for method in ("kendall_tau_b", "spearman")
        )
        return RankCorrelation(kendall_tau_b=tau, spearman=rho)
    from scipy.stats import kendalltau, spearmanr

    return RankCorrelation(
        kendall_tau_b=_by_fisher(float(kendalltau(x, y).statistic), n, 4, lambda _: 0.437, confidence, "kendall_tau_b"),
        spearman=_by_fisher(
            float(spearmanr(x, y).statistic), n, 3, lambda rho: 1 + rho * rho / 2, confidence, "spearman"
        ),
    )


def _why_not(x: Floats, y: Floats) -> str | None:
    if x.size < 2:
        return "one_value" if x.size else "no_data"
    return "no_variance" if np.ptp(x) == 0 or np.ptp(y) == 0 else None


def _by_fisher(
    r: float, n: int, lost: int, variance: Callable[[float], float], confidence: float, method: str
) -> Estimate:
    r = max(-1.0, min(1.0, r))
    if n <= lost:
        return without_interval(r, n=n, confidence=confidence, method=method, reason="sample_too_small")
    if abs(r) > 1 - 1e-12:
        return without_interval(
            float(round(r)), n=n, confidence=confidence, method=method, reason="perfect_correlation"
        )
    half = normal_quantile((1 + confidence) / 2) * sqrt(variance(r) / (n - lost))
    return Estimate(
        estimate=r,
        low=tanh(atanh(r) - half),
        high=tanh(atanh(r) + half),
        confidence=confidence,
        method=method,
        n=n,
    )
