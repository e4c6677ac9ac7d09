"""Shares and means as results.json has them: with n and a 95 % interval, to five decimals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from benchbook.labels.calibration_corrected import share_of
from benchbook.statistics import Estimate, mean_interval, wilson

Json = dict[str, Any]
_DECIMALS = 5  # so that another processor's last digit changes nothing


def share(hits: Sequence[bool], clusters: Sequence[Hashable]) -> Json:
    """The share of hits; what shares a cluster rises and falls together, and counts for less."""
    values = [float(hit) for hit in hits]
    found = share_of(values, [str(one) for one in clusters], 0.95)
    return {"k": sum(hits), "clusters": len(set(clusters)), **_figures("share", found)}


def share_alone(k: int, n: int) -> Json:
    """The share of `n` that stand alone: Wilson's interval."""
    return {"k": k, **_figures("share", wilson(k, n))}


def mean(values: Sequence[float]) -> Json:
    """The mean of values that stand alone: Student's interval."""
    return _figures("mean", mean_interval(values))


def _figures(name: str, found: Estimate) -> Json:
    return {name: _rounded(found.estimate), "low": _rounded(found.low), "high": _rounded(found.high), "n": found.n}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)
